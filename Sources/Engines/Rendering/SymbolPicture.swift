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
