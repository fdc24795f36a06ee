// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Platform
internal import Rendering

// Symbology of a layer in Esri's bodies: `drawingInfo` and the legend.
extension LayerDescription {
    /// The renderer used for pictures of the map; nil for a layer without one whose features are
    /// not of a single kind.
    private var shownRenderer: FeatureRenderer? {
        if let renderer = shownDrawing?.renderer { return renderer }
        return properties?.geometryType.map {
            .simple(FeatureRenderer.Entry(LayerSymbol(standard: id, $0)))
        }
    }

    /// Writes `drawingInfo`, unless it is empty.
    func writeDrawing(to json: inout JSONWriter) {
        guard let renderer = shownRenderer else { return }
        json.member("drawingInfo") { json in
            json.member("renderer", encoded: renderer)
            json.member("transparency", shownDrawing?.transparency ?? 0)
            if let labels = shownDrawing?.labels, !labels.isEmpty {
                json.member("labelingInfo", encoded: labels)
            } else {
                json.nullMember("labelingInfo")
            }
        }
    }

    /// Writes a legend's entries with their images: the given ones, else those of the layer's
    /// symbols.
    func writeLegend(_ asked: [LegendEntry]?, to json: inout JSONWriter) {
        json.member("legend", array: (asked ?? ownLegend).enumerated()) { json, entry in
            json.object { json in
                json.member("label", entry.element.label)
                json.member("url", "\(id)-\(entry.offset)")
                json.member("imageData", entry.element.picture.base64EncodedString())
                json.member("contentType", "image/png")
                json.member("height", entry.element.height)
                json.member("width", entry.element.width)
            }
        }
    }

    private var ownLegend: [LegendEntry] {
        let side = LegendEntry.symbolSide
        if case .tiles(let source) = kind.source, source.isTemplate, loadStatus == .loaded {
            // The content of tiles is unknown: a square in neutral grey.
            let picture = SymbolPicture.png([LayerSymbol.Color(225, 225, 225)], side: side)
            return [LegendEntry(label: "", png: picture ?? [])].compactMap { $0 }
        }
        return (shownRenderer?.entries ?? []).compactMap { entry in
            LegendEntry(
                label: entry.label, png: SymbolPicture.png(entry.symbol, side: side) ?? [])
        }
    }
}

extension JSONWriter {
    /// Writes a member encoded as JSON, which must not contain NaN or infinity.
    fileprivate mutating func member(_ name: String, encoded value: some Encodable) {
        key(name)
        if let text = try? CairnJSON.encode(value) { json(text) } else { null() }
    }
}
