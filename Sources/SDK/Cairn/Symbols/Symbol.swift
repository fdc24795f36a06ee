// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// How a graphic or a feature is drawn.
///
/// Sizes, widths and offsets are points. A change is seen in the next picture.
public class Symbol: @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; its subclasses keep their state behind
    // locks.
    init() {}

    var json: JSON { .object([]) }

    /// The JSON text of the REST.
    public func toJSON() -> String { json.jsonText }

    /// A symbol from the JSON text of the REST: `esriSMS`, `esriSLS`, `esriSFS`, `esriPMS`,
    /// `esriTS`.
    ///
    /// Throws ``CairnError`` (`invalidDocument`) for text of none, and of a symbol of another class
    /// than the one that is asked.
    public static func fromJSON(_ json: String) throws -> Self {
        guard let symbol = make(JSON(Array(json.utf8))) else {
            throw CairnError(
                .invalidDocument,
                "the text is no symbol: expected JSON of the type esriSMS, esriSLS, esriSFS, "
                    + "esriPMS or esriTS")
        }
        guard let own = symbol as? Self else {
            throw CairnError(
                .invalidDocument, "the JSON is of a \(type(of: symbol)), expected a \(Self.self)")
        }
        return own
    }

    /// Reads a symbol of the REST; nil for none, and for kinds that are not known here.
    static func make(_ json: JSON?) -> Symbol? {
        guard let json else { return nil }
        let color = SymbolColor(json.member("color"))
        let symbol: Symbol
        switch json.text("type") {
        case "esriSMS":
            let mark = SimpleMarkerSymbol(
                style: json.text("style").flatMap { .init(rawValue: $0) } ?? .circle,
                color: color ?? .clear, size: json["size"]?.number ?? 8)
            mark.outline = outline(json)
            symbol = mark
        case "esriSLS":
            symbol = SimpleLineSymbol(
                style: json.text("style").flatMap { .init(rawValue: $0) } ?? .solid,
                color: color ?? .clear, width: json["width"]?.number ?? 1)
        case "esriSFS":
            symbol = SimpleFillSymbol(
                style: json.text("style").flatMap { .init(rawValue: $0) } ?? .solid,
                color: color ?? .clear, outline: outline(json))
        case "esriPMS": symbol = PictureMarkerSymbol(json)
        case "esriTS": symbol = TextSymbol(json)
        case "CompositeSymbol":
            symbol = CompositeSymbol(symbols: (json["symbols"]?.elements ?? []).compactMap(make))
        default: return nil
        }
        (symbol as? MarkerSymbol)?.read(json)
        return symbol
    }

    private static func outline(_ json: JSON) -> SimpleLineSymbol? {
        guard let outline = json.member("outline") else { return nil }
        return SimpleLineSymbol(
            style: outline.text("style").flatMap { .init(rawValue: $0) } ?? .solid,
            color: SymbolColor(outline.member("color")) ?? .clear,
            width: outline["width"]?.number ?? 1)
    }
}
