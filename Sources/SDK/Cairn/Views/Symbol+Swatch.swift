// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

extension Symbol {
    /// Side of a swatch, points.
    private static let side = 32.0
    private static let greatestScale = 16.0

    /// A PNG of the symbol as legends show it: 32 by 32 points on nothing, of `scale` pixels each
    /// (at most 16).
    ///
    /// A mark or text is in the middle, a line crosses the picture, a fill has a square. A picture
    /// by URL is loaded; throws what that throws.
    public func makeSwatch(scale: Double = 1) async throws -> Data {
        for picture in pictures { try await picture.load() }
        let scale = scale > 0 ? min(scale, Self.greatestScale) : 1
        let pixels = (Self.side * scale).rounded()
        // A pixel is a unit of the plane.
        let dpi = 72 * pixels / Self.side
        let frame = ViewFrame(
            center: Place(0, 0), scale: dpi / 0.0254, rotation: 0, width: pixels, height: pixels,
            dpi: dpi, spatialReference: .webMercator)
        let half = pixels * 3 / 8
        var canvas = PictureCanvas(frame)
        for part in (self as? CompositeSymbol)?.symbols ?? [self] {
            let shape: Geometry =
                switch part {
                case is SimpleLineSymbol:
                    Polyline(points: [Point(x: -half, y: 0), Point(x: half, y: 0)])
                case is SimpleFillSymbol:
                    Envelope(xMin: -half, yMin: -half, xMax: half, yMax: half)
                default: Point(x: 0, y: 0)
                }
            canvas.draw(shape, part, 1)
        }
        return Data(PNG.encode(canvas.raster))
    }
}
