// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Rendering

// How a layer is drawn, as Esri's bodies have it: `drawingInfo` and the legend.
extension LayerDescription {
    /// The renderer that pictures of the map are drawn with; nil for a layer without features of
    /// one kind for which nobody has chosen one.
    private var shownRenderer: FeatureRenderer? {
        if let renderer = shownDrawing?.renderer { return renderer }
        return properties?.geometryType.map {
            .simple(FeatureRenderer.Entry(LayerSymbol(standard: id, $0)))
        }
    }

    /// Writes `drawingInfo`, where there is anything to say.
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

    /// Writes the array of a legend's entries, pictures included: those given, else of the symbols
    /// with which the layer is drawn.
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
            // Nobody says what is on the tiles: a square of no colour in particular.
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
    /// Writes a member that has its own JSON, which must not hold NaN or infinity.
    fileprivate mutating func member(_ name: String, encoded value: some Encodable) {
        key(name)
        if let text = try? CairnJSON.encode(value) { json(text) } else { null() }
    }
}
