// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Cairo
internal import Geometry
internal import Identify

/// Draws the features of one layer after another on a canvas.
///
/// Outlines of areas go to a canvas of their own, which is laid over when a layer ends: no area covers
/// half of its neighbour's border.
struct LayerPainter {
    private let canvas: Canvas
    private let frame: PixelFrame
    /// Pixels per point.
    private let pixelsPerPoint: Double
    private var outlines: Canvas?
    private var areOutlinesUsed = false
    private var dots: DotGrid

    /// The most segments that are stroked at once: Cairo cannot be stopped meanwhile.
    private static let strokeLimit = 4_096

    init(_ canvas: Canvas, _ frame: PixelFrame, dpi: Double) {
        self.canvas = canvas
        self.frame = frame
        pixelsPerPoint = dpi / 72
        dots = DotGrid(width: canvas.width, height: canvas.height)
    }

    /// Draws one feature.
    mutating func draw(_ shape: DrawnShape, _ symbol: LayerSymbol) throws(Failure) {
        switch (shape, symbol.form) {
        case (.positions(let places), .disc(let color, let size, let outline)):
            for place in places {
                let pixel = frame.pixel(place)
                guard frame.keeps(pixel), dots.take(pixel) else { continue }
                drawDisc(pixel, color, size, outline)
            }
        case (.paths(let paths), .line(let stroke)):
            drawLines(paths.flatMap(frame.path), stroke, on: canvas)
        case (.areas(let parts), .area(let color, let outline)):
            try draw(parts, color, outline)
        case (.positions, _), (.paths, _), (.areas, _): return
        }
    }

    /// Ends a layer: its outlines are put where they belong.
    mutating func endLayer() {
        if areOutlinesUsed, let outlines {
            canvas.paint(outlines)
            outlines.clear()
        }
        areOutlinesUsed = false
        dots.clear()
    }

    private func drawDisc(
        _ pixel: Coordinate, _ color: LayerSymbol.Color, _ size: Double,
        _ outline: LayerSymbol.Stroke
    ) {
        canvas.addCircle(x: pixel.x, y: pixel.y, radius: size / 2 * pixelsPerPoint)
        canvas.fill(PaintColor(color), .winding)
        canvas.stroke(PaintColor(outline.color), width: outline.widthPoints * pixelsPerPoint)
        canvas.clearPath()
    }

    private func drawLines(
        _ pieces: [[Coordinate]], _ stroke: LayerSymbol.Stroke, on canvas: Canvas
    ) {
        let width = stroke.widthPoints * pixelsPerPoint
        var count = 0
        for piece in pieces {
            guard let first = piece.first else { continue }
            canvas.move(to: first.x, first.y)
            for place in piece.dropFirst() {
                canvas.line(to: place.x, place.y)
                count += 1
                guard count >= Self.strokeLimit else { continue }
                canvas.stroke(PaintColor(stroke.color), width: width)
                canvas.clearPath()
                canvas.move(to: place.x, place.y)
                count = 0
            }
        }
        canvas.stroke(PaintColor(stroke.color), width: width)
        canvas.clearPath()
    }

    private mutating func draw(
        _ parts: [[[Coordinate]]], _ color: LayerSymbol.Color, _ outline: LayerSymbol.Stroke
    ) throws(Failure) {
        var rings: [[Coordinate]] = []
        for part in parts {
            for (index, ring) in part.enumerated() {
                let drawn = frame.ring(ring)
                guard !drawn.isEmpty else { continue }
                // Shells one way, holes the other: then winding gives the union of the parts.
                rings.append((drawn.signedArea >= 0) == (index == 0) ? drawn : drawn.reversed())
            }
        }
        guard !rings.isEmpty, !isTakenDot(rings) else { return }
        for ring in rings {
            canvas.move(to: ring[0].x, ring[0].y)
            for place in ring.dropFirst() { canvas.line(to: place.x, place.y) }
            canvas.close()
        }
        canvas.fill(PaintColor(color), parts.count > 1 ? .winding : .evenOdd)
        canvas.clearPath()
        drawLines(rings, outline, on: try outlineCanvas())
    }

    /// Whether these rings are no more than a dot, and one is there already.
    private mutating func isTakenDot(_ rings: [[Coordinate]]) -> Bool {
        guard rings.count == 1, rings[0].count <= 4 else { return false }
        let bounds = Shape.multipoint(rings[0]).envelope
        guard max(bounds.width, bounds.height) < 0.5 else { return false }
        return !dots.take(bounds.center)
    }

    private mutating func outlineCanvas() throws(Failure) -> Canvas {
        areOutlinesUsed = true
        if let outlines { return outlines }
        let made = try Failure.drawing { () throws(CairoError) in
            try Canvas(width: canvas.width, height: canvas.height, hasAlpha: true)
        }
        outlines = made
        return made
    }
}

/// Which half pixels of a picture have a dot: a second one there would look the same.
private struct DotGrid {
    private let columns: Int
    private let rows: Int
    private var taken: [Bool] = []

    init(width: Int, height: Int) {
        (columns, rows) = (2 * width, 2 * height)
    }

    /// False where one is; dots beyond the border are all let through.
    mutating func take(_ pixel: Coordinate) -> Bool {
        let (column, row) = (Int((2 * pixel.x).rounded(.down)), Int((2 * pixel.y).rounded(.down)))
        guard 0..<columns ~= column, 0..<rows ~= row else { return true }
        if taken.isEmpty { taken = [Bool](repeating: false, count: columns * rows) }
        if taken[row * columns + column] { return false }
        taken[row * columns + column] = true
        return true
    }

    mutating func clear() {
        for index in taken.indices where taken[index] { taken[index] = false }
    }
}

extension [Coordinate] {
    /// Twice the area of a closed ring; positive one way around.
    fileprivate var signedArea: Double {
        guard let origin = first else { return 0 }
        return zip(self, dropFirst()).reduce(0) { sum, edge in
            sum + (edge.0.x - origin.x) * (edge.1.y - origin.y)
                - (edge.1.x - origin.x) * (edge.0.y - origin.y)
        }
    }
}

extension PaintColor {
    init(_ color: LayerSymbol.Color) {
        self.init(
            red: Double(color.red) / 255, green: Double(color.green) / 255,
            blue: Double(color.blue) / 255, alpha: Double(color.alpha) / 255)
    }
}

extension Failure {
    /// Runs `body`; what Cairo refuses becomes a failure.
    static func drawing<Value>(
        _ body: () throws(CairoError) -> Value
    ) throws(Failure) -> Value {
        do throws(CairoError) {
            return try body()
        } catch {
            throw Failure(.internal, error.description)
        }
    }
}
