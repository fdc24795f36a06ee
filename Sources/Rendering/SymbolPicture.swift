// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Cairo

/// Draws a symbol by itself, as a legend shows it.
public enum SymbolPicture {
    /// A PNG of `side` by `side` pixels, transparent around the symbol, at 96 dots per inch; nil where
    /// there is no memory for it.
    public static func png(_ symbol: LayerSymbol, side: Int) -> [UInt8]? {
        do throws(CairoError) {
            let canvas = try Canvas(width: side, height: side, hasAlpha: true)
            draw(symbol, on: canvas, Double(side))
            return try canvas.png(atMost: ExportRequest.byteBound)
        } catch {
            return nil
        }
    }

    private static func draw(_ symbol: LayerSymbol, on canvas: Canvas, _ side: Double) {
        let pixelsPerPoint = 96.0 / 72
        let (near, far) = (side * 0.15, side * 0.85)
        let outline: LayerSymbol.Stroke
        switch symbol.form {
        case .disc(let color, let size, let stroke):
            canvas.addCircle(x: side / 2, y: side / 2, radius: size / 2 * pixelsPerPoint)
            canvas.fill(PaintColor(color), .winding)
            outline = stroke
        case .line(let stroke):
            canvas.move(to: near, far)
            canvas.line(to: far, near)
            outline = stroke
        case .area(let color, let stroke):
            canvas.move(to: near, near)
            canvas.line(to: far, near)
            canvas.line(to: far, far)
            canvas.line(to: near, far)
            canvas.close()
            canvas.fill(PaintColor(color), .winding)
            outline = stroke
        }
        canvas.stroke(PaintColor(outline.color), width: outline.widthPoints * pixelsPerPoint)
        canvas.clearPath()
    }
}
