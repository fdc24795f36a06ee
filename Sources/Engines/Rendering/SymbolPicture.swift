// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Cairo
internal import Geometry

/// Draws single symbols, for legends.
public enum SymbolPicture {
    /// A PNG of `side` by `side` pixels, transparent around the symbol, at 96 dots per inch; nil
    /// when out of memory.
    public static func png(_ symbol: LayerSymbol, side: Int) -> [UInt8]? {
        guard let canvas = try? Canvas(width: side, height: side, hasAlpha: true),
            (try? draw(symbol, on: canvas, Double(side))) != nil
        else { return nil }
        return try? canvas.png(atMost: ExportRequest.byteBound)
    }

    /// A PNG of `side` by `side` pixels: one colour as a square with a thin outline, several as
    /// bands from the top down that fill all of it; nil when out of memory.
    public static func png(_ colors: [LayerSymbol.Color], side: Int) -> [UInt8]? {
        if colors.count == 1, colors[0].alpha > 0 {
            let outline = LayerSymbol.Stroke(LayerSymbol.Color(110, 110, 110), widthPoints: 0.75)
            return png(
                LayerSymbol(.fill(LayerSymbol.Fill(colors[0], outline: outline))), side: side)
        }
        var pixels: [UInt8] = []
        for row in 0..<side {
            let color =
                colors.isEmpty
                ? LayerSymbol.Color(0, 0, 0, alpha: 0) : colors[row * colors.count / side]
            for _ in 0..<side {
                pixels += [color.red, color.green, color.blue, color.alpha]
            }
        }
        let canvas = try? Canvas(width: side, height: side, rgba: pixels)
        return try? canvas?.png(atMost: ExportRequest.byteBound)
    }

    /// A symbol at a place of a sheet.
    public struct Placed: Sendable {
        /// A marker, or the fill of an area without its outline.
        public var symbol: LayerSymbol
        /// Its rectangle in pixels of 1/96 inch: the upper left corner, columns and rows.
        public var x, y, width, height: Int

        /// Places it.
        public init(_ symbol: LayerSymbol, x: Int, y: Int, width: Int, height: Int) {
            self.symbol = symbol
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }
    }

    /// A PNG with many symbols, transparent around them: markers in the middle of their rectangles,
    /// fills all over them.
    ///
    /// Sizes count pixels of 1/96 inch, of which each is `scale` columns and rows. Nil when out of
    /// memory.
    public static func png(
        _ symbols: [Placed], width: Int, height: Int, scale: Int
    ) -> [UInt8]? {
        guard let canvas = try? Canvas(width: width * scale, height: height * scale, hasAlpha: true)
        else { return nil }
        var painter = SymbolPainter(
            dpi: 96 * Double(scale), width: canvas.width, height: canvas.height)
        for placed in symbols {
            let (x, y) = (Double(placed.x * scale), Double(placed.y * scale))
            let (width, height) = (Double(placed.width * scale), Double(placed.height * scale))
            switch placed.symbol.form {
            case .marker(let marker):
                painter.draw(
                    marker, at: Coordinate(x: x + width / 2, y: y + height / 2), on: canvas)
            case .fill(let fill):
                let corners = [(0.0, 0.0), (width, 0), (width, height), (0, height), (0, 0)]
                let ring = corners.map { Coordinate(x: x + $0.0, y: y + $0.1) }
                guard (try? painter.fill([ring], fill, .winding, on: canvas)) != nil else {
                    return nil
                }
            case .line: continue
            }
        }
        return try? canvas.png(atMost: .max)
    }

    private static func draw(_ symbol: LayerSymbol, on canvas: Canvas, _ side: Double)
        throws(Failure)
    {
        var painter = SymbolPainter(dpi: 96, width: canvas.width, height: canvas.height)
        let (near, far) = (side * 0.15, side * 0.85)
        func line(_ corners: (Double, Double)...) -> [[Coordinate]] {
            [corners.map { Coordinate(x: $0.0, y: $0.1) }]
        }
        switch symbol.form {
        case .marker(let marker):
            painter.draw(marker, at: Coordinate(x: side / 2, y: side / 2), on: canvas)
        case .line(let stroke):
            painter.stroke(line((near, far), (far, near)), stroke, on: canvas)
        case .fill(let fill):
            let square = line((near, near), (far, near), (far, far), (near, far), (near, near))
            try painter.fill(square, fill, .winding, on: canvas)
            if let outline = fill.outline { painter.stroke(square, outline, on: canvas) }
        }
    }
}
