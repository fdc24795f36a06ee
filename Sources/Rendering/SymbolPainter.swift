// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Cairo
internal import Foundation
internal import Geometry

/// Paints symbols on a canvas, where pixels are known already.
struct SymbolPainter {
    /// Pixels per point.
    let pixelsPerPoint: Double
    /// Pictures that fill areas, by symbol.
    private var hatches: [LayerSymbol.Fill: Canvas] = [:]

    /// Pixels between the lines of a hatch at 96 dots per inch; divides 256, so that tiles fit.
    private static let hatchStep = 8.0

    init(dpi: Double) { pixelsPerPoint = dpi / 72 }

    /// Strokes the canvas's path.
    func stroke(_ stroke: LayerSymbol.Stroke, on canvas: Canvas) {
        guard stroke.isVisible else { return }
        let width = stroke.widthPoints * pixelsPerPoint
        canvas.stroke(
            PaintColor(stroke.color), width: width,
            dashes: stroke.style.dashes.map { $0 * max(width, 1) })
    }

    /// Fills the canvas's path, without its outline.
    mutating func fill(
        _ fill: LayerSymbol.Fill, on canvas: Canvas, _ rule: Canvas.FillRule
    ) throws(Failure) {
        switch fill.style {
        case .null: return
        case .solid: canvas.fill(PaintColor(fill.color), rule)
        case .horizontal, .vertical, .forwardDiagonal, .backwardDiagonal, .cross, .diagonalCross:
            canvas.fill(repeating: try hatch(fill), rule)
        }
    }

    /// Draws a marker, and forgets the path.
    func draw(_ marker: LayerSymbol.Marker, at pixel: Coordinate, on canvas: Canvas) {
        let half = marker.sizePoints / 2 * pixelsPerPoint
        if marker.style == .circle {
            canvas.addCircle(x: pixel.x, y: pixel.y, radius: half)
        } else {
            let angle = marker.angleDegrees * .pi / 180
            let (sine, cosine) = (half * sin(angle), half * cos(angle))
            for piece in marker.style.pieces {
                for (number, corner) in piece.enumerated() {
                    let x = pixel.x + corner.0 * cosine - corner.1 * sine
                    let y = pixel.y + corner.0 * sine + corner.1 * cosine
                    if number == 0 { canvas.move(to: x, y) } else { canvas.line(to: x, y) }
                }
                if marker.style.isFilled { canvas.close() }
            }
        }
        if marker.style.isFilled { canvas.fill(PaintColor(marker.color), .winding) }
        if let outline = marker.stroke { stroke(outline, on: canvas) }
        canvas.clearPath()
    }

    private mutating func hatch(_ fill: LayerSymbol.Fill) throws(Failure) -> Canvas {
        if let known = hatches[fill] { return known }
        let side = max(4, (Self.hatchStep * pixelsPerPoint * 72 / 96).rounded())
        let tile = try Failure.drawing { () throws(CairoError) in
            try Canvas(width: Int(side), height: Int(side), hasAlpha: true)
        }
        let (end, middle) = (side * 2, side / 2)
        // Diagonals again in the corners, where those of the neighbours reach in.
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
    /// Dashes and gaps in widths of the line, round ends of half a width not counted; Cairo 1.16 leaves
    /// out some dashes of length 0.
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
    /// Corners in a square of -1…1, y down; a disc has none.
    fileprivate var pieces: [[(Double, Double)]] {
        switch self {
        case .circle: []
        case .square: [[(-1, -1), (1, -1), (1, 1), (-1, 1)]]
        case .diamond: [[(0, -1), (1, 0), (0, 1), (-1, 0)]]
        case .triangle: [[(0, -1), (1, 1), (-1, 1)]]
        case .cross: [[(0, -1), (0, 1)], [(-1, 0), (1, 0)]]
        case .x: [[(-1, -1), (1, 1)], [(-1, 1), (1, -1)]]
        }
    }
}
