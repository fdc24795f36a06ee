// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// What a layer shows: pictures of the server's, and shapes that are drawn here, the bottom one
/// first.
struct LayerPicture: Sendable {
    enum Content: Sendable {
        case png(Data, Envelope)
        /// Of the size of the view, as it is turned.
        case raster(Raster)
        case shapes([(geometry: Geometry, symbol: Symbol?)])
    }

    var parts: [(content: Content, opacity: Float)]

    init(png: Data, extent: Envelope) { parts = [(.png(png, extent), 1)] }
    init(raster: Raster) { parts = [(.raster(raster), 1)] }
    init(shapes: [(geometry: Geometry, symbol: Symbol?)]) { parts = [(.shapes(shapes), 1)] }
    init(parts: [LayerPicture]) { self.parts = parts.flatMap(\.parts) }

    /// The same, more transparent.
    func faded(_ opacity: Float) -> LayerPicture {
        var faded = self
        faded.parts = parts.map { ($0.content, $0.opacity * opacity) }
        return faded
    }

    /// The symbols in it.
    var symbols: [Symbol] {
        parts.flatMap { part -> [Symbol] in
            guard case .shapes(let shapes) = part.content else { return [] }
            return shapes.compactMap(\.symbol)
        }
    }
}
