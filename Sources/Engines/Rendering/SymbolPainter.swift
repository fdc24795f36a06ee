// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Cairo
internal import Geometry
internal import Glibc

/// Paints symbols on a canvas, in pixels.
///
/// Solid shapes are painted through a ``CoverageGrid``; dashes and hatches by Cairo.
struct SymbolPainter {
    /// Pixels per point.
    let pixelsPerPoint: Double
    private var grid: CoverageGrid
    /// Tiles of hatched fills, by symbol.
    private var hatches: [LayerSymbol.Fill: Canvas] = [:]

    /// Distance of hatch lines in pixels at 96 dots per inch; divides 256, so that tiles fit.
    private static let hatchStep = 8.0
    /// Limit of segments stroked at once: Cairo cannot be interrupted.
    private static let strokeLimit = 4_096

    /// Creates a painter for canvases of one size, in pixels.
    init(dpi: Double, width: Int, height: Int) {
        pixelsPerPoint = dpi / 72
        grid = CoverageGrid(width: width, height: height)
    }

    /// Strokes lines; closed ones have no caps.
    mutating func stroke(
        _ lines: [[Coordinate]], _ stroke: LayerSymbol.Stroke, on canvas: Canvas
    ) {
        guard stroke.isVisible else { return }
        let width = stroke.widthPoints * pixelsPerPoint
        let dashes = stroke.style.dashes.map { $0 * max(width, 1) }
        var count = 0
        for line in lines {
            for start in stride(from: 0, to: max(1, line.count - 1), by: Self.strokeLimit) {
                // A part starts where the previous one ended.
                let part = line[start...].prefix(Self.strokeLimit + 1)
                if dashes.isEmpty {
                    grid.add(line: part, width: width)
                } else {
                    canvas.add(line: part)
                }
                count += part.count
                guard count > Self.strokeLimit else { continue }
                paint()
                count = 0
            }
        }
        paint()

        func paint() {
            if dashes.isEmpty {
                grid.paint(PaintColor(stroke.color), .winding, on: canvas)
            } else {
                canvas.stroke(PaintColor(stroke.color), width: width, dashes: dashes)
                canvas.clearPath()
            }
        }
    }

    /// Fills rings, without their outline.
    mutating func fill(
        _ rings: [[Coordinate]], _ fill: LayerSymbol.Fill, _ rule: Canvas.FillRule,
        on canvas: Canvas
    ) throws(Failure) {
        switch fill.style {
        case .null: return
        case .solid: self.fill(rings, fill.color, rule, on: canvas)
        case .horizontal, .vertical, .forwardDiagonal, .backwardDiagonal, .cross, .diagonalCross:
            for ring in rings {
                canvas.add(line: ring[...])
                canvas.close()
            }
            canvas.fill(repeating: try hatch(fill), rule)
            canvas.clearPath()
        }
    }

    private mutating func fill(
        _ rings: [[Coordinate]], _ color: LayerSymbol.Color, _ rule: Canvas.FillRule,
        on canvas: Canvas
    ) {
        for ring in rings { grid.add(ring: ring) }
        grid.paint(PaintColor(color), rule, on: canvas)
    }

    /// Draws a marker.
    mutating func draw(_ marker: LayerSymbol.Marker, at pixel: Coordinate, on canvas: Canvas) {
        let half = marker.sizePoints / 2 * pixelsPerPoint
        let angle = marker.angleDegrees * .pi / 180
        let (sine, cosine) = (half * sin(angle), half * cos(angle))
        let pieces = marker.style.pieces.map { piece in
            piece.map { corner in
                Coordinate(
                    x: pixel.x + corner.x * cosine - corner.y * sine,
                    y: pixel.y + corner.x * sine + corner.y * cosine)
            }
        }
        if marker.style.isFilled { fill(pieces, marker.color, .winding, on: canvas) }
        if let outline = marker.stroke { stroke(pieces, outline, on: canvas) }
    }

    private mutating func hatch(_ fill: LayerSymbol.Fill) throws(Failure) -> Canvas {
        if let known = hatches[fill] { return known }
        let side = max(4, (Self.hatchStep * pixelsPerPoint * 72 / 96).rounded())
        let tile = try Failure.drawing { () throws(CairoError) in
            try Canvas(width: Int(side), height: Int(side), hasAlpha: true)
        }
        let (end, middle) = (side * 2, side / 2)
        // Diagonals again in the corners, where those of the neighbouring tiles reach in.
        for shift in [-side, 0, side] {
            if [.horizontal, .cross].contains(fill.style), shift == 0 {
                tile.move(to: -side, middle)
                tile.line(to: end, middle)
            }
            if [.vertical, .cross].contains(fill.style), shift == 0 {
                tile.move(to: middle, -side)
                tile.line(to: middle, end)
            }
            if [.forwardDiagonal, .diagonalCross].contains(fill.style) {
                tile.move(to: -side + shift, end)
                tile.line(to: end + shift, -side)
            }
            if [.backwardDiagonal, .diagonalCross].contains(fill.style) {
                tile.move(to: -side + shift, -side)
                tile.line(to: end + shift, end)
            }
        }
        tile.stroke(PaintColor(fill.color), width: max(1, 0.75 * pixelsPerPoint))
        tile.clearPath()
        hatches[fill] = tile
        return tile
    }
}

extension LayerSymbol.LineStyle {
    /// Dashes and gaps in line widths, without round caps of half a width; Cairo 1.16 omits some
    /// dashes of length 0.
    fileprivate var dashes: [Double] {
        switch self {
        case .solid, .null: []
        case .dash: [3, 3]
        case .dot: [0.1, 2]
        case .dashDot: [3, 2.5, 0.1, 2.5]
        case .dashDotDot: [3, 2.5, 0.1, 2.5, 0.1, 2.5]
        }
    }
}

extension LayerSymbol.MarkerStyle {
    /// Corners in a square of -1…1, y down; filled pieces are closed.
    fileprivate var pieces: [[Coordinate]] {
        switch self {
        case .circle: Self.circle
        case .square: [Self.piece((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))]
        case .diamond: [Self.piece((0, -1), (1, 0), (0, 1), (-1, 0), (0, -1))]
        case .triangle: [Self.piece((0, -1), (1, 1), (-1, 1), (0, -1))]
        case .cross: [Self.piece((0, -1), (0, 1)), Self.piece((-1, 0), (1, 0))]
        case .x: [Self.piece((-1, -1), (1, 1)), Self.piece((-1, 1), (1, -1))]
        }
    }

    /// Off by a twentieth of a pixel at a radius of 40.
    private static let circle: [[Coordinate]] = {
        let places = (0..<64).map { number in
            let angle = Double(number) / 32 * .pi
            return Coordinate(x: cos(angle), y: sin(angle))
        }
        return [places + places.prefix(1)]
    }()

    private static func piece(_ corners: (Double, Double)...) -> [Coordinate] {
        corners.map { Coordinate(x: $0.0, y: $0.1) }
    }
}

extension Canvas {
    /// Adds a line as a new piece of the path.
    fileprivate func add(line: ArraySlice<Coordinate>) {
        guard let first = line.first else { return }
        move(to: first.x, first.y)
        for place in line.dropFirst() { self.line(to: place.x, place.y) }
    }
}
