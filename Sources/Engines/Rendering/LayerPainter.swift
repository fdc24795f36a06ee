// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Cairo
internal import Geometry
internal import Identify

/// Draws the features of one layer after another on a canvas.
///
/// Outlines of areas go to a canvas of their own, which is composited when a layer ends: no area
/// covers half of its neighbour's border.
struct LayerPainter {
    private let canvas: Canvas
    /// The frame of the layer's shapes.
    private(set) var frame: PixelFrame
    private var symbols: SymbolPainter
    private var style: LayerStyle?
    private var outlines: Canvas?
    private var areOutlinesUsed = false
    private var dots: DotGrid

    init(_ canvas: Canvas, _ frame: PixelFrame, dpi: Double) {
        self.canvas = canvas
        self.frame = frame
        symbols = SymbolPainter(dpi: dpi, width: canvas.width, height: canvas.height)
        dots = DotGrid(width: canvas.width, height: canvas.height)
    }

    /// Starts a layer, ending the previous one.
    ///
    /// - Parameter reach: Maximum distance of symbols from their shapes, in pixels.
    mutating func beginLayer(_ style: LayerStyle, reach: Double) {
        endLayer()
        self.style = style
        frame.setMargin(reach)
        if style.transparency > 0 { canvas.beginGroup() }
    }

    /// Draws one feature of the layer.
    mutating func draw(_ feature: DrawnFeature) throws(Failure) {
        guard let style, let symbol = style.symbol(of: feature) else { return }
        switch (feature.shape, symbol.form) {
        case (.positions(let places), .marker(let marker)):
            for place in places {
                let pixel = frame.pixel(place)
                // An identical marker would cover this one.
                guard frame.keeps(pixel), !style.isUniform || dots.take(pixel) else { continue }
                symbols.draw(marker, at: pixel, on: canvas)
            }
        case (.paths(let paths), .line(let stroke)):
            symbols.stroke(paths.flatMap(frame.path), stroke, on: canvas)
        case (.areas(let parts), .fill(let fill)):
            try draw(parts, fill, mayLeaveOut: style.isUniform)
        case (.positions, _), (.paths, _), (.areas, _): return
        }
    }

    /// Draws a raster: red, green, blue and alpha of each pixel of the canvas.
    func draw(_ pixels: [UInt8]) throws(Failure) {
        canvas.paint(
            try Failure.drawing { () throws(CairoError) in
                try Canvas(width: canvas.width, height: canvas.height, rgba: pixels)
            })
    }

    /// Ends a layer by compositing its outlines.
    mutating func endLayer() {
        guard let style else { return }
        self.style = nil
        if areOutlinesUsed, let outlines {
            canvas.paint(outlines)
            outlines.clear()
        }
        areOutlinesUsed = false
        dots.clear()
        if style.transparency > 0 { canvas.endGroup(alpha: 1 - Double(style.transparency) / 100) }
    }

    private mutating func draw(
        _ parts: [[[Coordinate]]], _ fill: LayerSymbol.Fill, mayLeaveOut: Bool
    ) throws(Failure) {
        var rings: [[Coordinate]] = []
        for part in parts {
            for (index, ring) in part.enumerated() {
                let drawn = frame.ring(ring)
                guard !drawn.isEmpty else { continue }
                // Opposite winding of shells and holes: the winding rule then gives the union of
                // the parts.
                rings.append((drawn.signedArea >= 0) == (index == 0) ? drawn : drawn.reversed())
            }
        }
        guard !rings.isEmpty, !mayLeaveOut || !isTakenDot(rings) else { return }
        try symbols.fill(rings, fill, parts.count > 1 ? .winding : .evenOdd, on: canvas)
        guard let outline = fill.outline, outline.isVisible else { return }
        symbols.stroke(rings, outline, on: try outlineCanvas())
    }

    /// Whether these rings are a mere dot, at a place that has one already.
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

/// Half pixels of a picture that have a dot: a second one would look the same.
private struct DotGrid {
    private let columns: Int
    private let rows: Int
    /// A bit for each, 64 to a word.
    private var taken: [UInt64] = []
    private var isUsed = false

    init(width: Int, height: Int) {
        (columns, rows) = (2 * width, 2 * height)
    }

    /// False where the place has a dot; dots beyond the border always pass.
    mutating func take(_ pixel: Coordinate) -> Bool {
        let (column, row) = (Int((2 * pixel.x).rounded(.down)), Int((2 * pixel.y).rounded(.down)))
        guard 0..<columns ~= column, 0..<rows ~= row else { return true }
        if taken.isEmpty { taken = [UInt64](repeating: 0, count: columns * rows / 64 + 1) }
        isUsed = true
        let (word, bit) = (row * columns + column).quotientAndRemainder(dividingBy: 64)
        if taken[word] >> UInt64(bit) & 1 == 1 { return false }
        taken[word] |= 1 << UInt64(bit)
        return true
    }

    mutating func clear() {
        guard isUsed else { return }
        isUsed = false
        for index in taken.indices { taken[index] = 0 }
    }
}

extension [Coordinate] {
    /// Twice the signed area of a closed ring.
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
    /// Runs `body`; maps errors of Cairo to failures.
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
