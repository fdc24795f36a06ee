// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Rendering

/// The symbol of a layer as Esri's bodies have it: the one that pictures of the map are drawn with.
struct MapSymbol {
    private let type: GeometryType
    private let symbol: LayerSymbol

    private static let side = 20

    /// The symbol of a layer.
    init(_ layer: LayerID, _ type: GeometryType) {
        self.type = type
        symbol = LayerSymbol(standard: layer, type)
    }

    /// Writes the members of Esri's symbol object.
    func write(to json: inout JSONWriter) {
        switch symbol.form {
        case .disc(let color, let size, let outline):
            json.member("type", "esriSMS")
            json.member("style", "esriSMSCircle")
            write(color, to: &json)
            json.member("size", size)
            json.member("outline") { json in
                write(outline.color, to: &json)
                json.member("width", outline.widthPoints)
            }
        case .line(let stroke): write(stroke, to: &json)
        case .area(let color, let outline):
            json.member("type", "esriSFS")
            json.member("style", "esriSFSSolid")
            write(color, to: &json)
            json.member("outline") { write(outline, to: &$0) }
        }
    }

    private func write(_ stroke: LayerSymbol.Stroke, to json: inout JSONWriter) {
        json.member("type", "esriSLS")
        json.member("style", "esriSLSSolid")
        write(stroke.color, to: &json)
        json.member("width", stroke.widthPoints)
    }

    private func write(_ color: LayerSymbol.Color, to json: inout JSONWriter) {
        json.member("color", array: [color.red, color.green, color.blue, color.alpha]) {
            $0.integer(Int64($1))
        }
    }

    /// Writes one entry of a legend, picture included.
    func writeLegend(to json: inout JSONWriter) {
        let picture = SymbolPicture.png(symbol, side: Self.side) ?? []
        json.object { json in
            json.member("label", "")
            json.member("url", type.rawValue.lowercased())
            json.member("imageData", Data(picture).base64EncodedString())
            json.member("contentType", "image/png")
            json.member("height", Self.side)
            json.member("width", Self.side)
        }
    }
}
