// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Which symbol something without one of its own is drawn with.
///
/// A change is seen in the next picture.
public class Renderer: @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; its subclasses keep their state behind
    // locks.
    init() {}

    /// The symbol for something with these attributes; nil for one that is not drawn.
    public func symbol(for element: any GeoElement) -> Symbol? { nil }

    /// The symbols and their names, in order.
    var legend: [LegendInfo] { [] }

    var json: JSON { .object([]) }

    /// The JSON text of the REST (`drawingInfo.renderer`).
    public func toJSON() -> String { json.jsonText }

    /// A renderer from the JSON text of the REST: `simple`, `uniqueValue`, `classBreaks`.
    ///
    /// Throws ``CairnError`` (`invalidDocument`) for text of none, and of a renderer of another
    /// class than the one that is asked.
    public static func fromJSON(_ json: String) throws -> Self {
        guard let renderer = make(JSON(Array(json.utf8))) else {
            throw CairnError(
                .invalidDocument,
                "the text is no renderer: expected JSON of the type simple, uniqueValue or "
                    + "classBreaks")
        }
        guard let own = renderer as? Self else {
            throw CairnError(
                .invalidDocument,
                "the JSON is of a \(type(of: renderer)), expected a \(Self.self)")
        }
        return own
    }

    /// Reads a renderer of the REST; nil for none, and for kinds that are not known here.
    static func make(_ json: JSON?) -> Renderer? {
        guard let json else { return nil }
        let other = Symbol.make(json.member("defaultSymbol"))
        let otherLabel = json.text("defaultLabel") ?? ""
        switch json.text("type") {
        case "simple":
            return SimpleRenderer(
                symbol: Symbol.make(json.member("symbol")), label: json.text("label") ?? "",
                description: json.text("description") ?? "")
        case "uniqueValue":
            let fields = ["field1", "field2", "field3"].compactMap { json.text($0) }
                .filter { !$0.isEmpty }
            let delimiter = json.text("fieldDelimiter") ?? ","
            return UniqueValueRenderer(
                fieldNames: fields,
                uniqueValues: (json["uniqueValueInfos"]?.elements ?? []).compactMap {
                    UniqueValue($0, fields.count, delimiter)
                }, defaultLabel: otherLabel, defaultSymbol: other)
        case "classBreaks":
            var least = json["minValue"]?.number ?? -.infinity
            return ClassBreaksRenderer(
                fieldName: json.text("field") ?? "",
                classBreaks: (json["classBreakInfos"]?.elements ?? []).compactMap { info in
                    guard let most = info["classMaxValue"]?.number,
                        let symbol = Symbol.make(info.member("symbol"))
                    else { return nil }
                    let own = info["classMinValue"]?.number ?? least
                    least = most
                    return ClassBreak(
                        description: info.text("description") ?? "",
                        label: info.text("label") ?? "", minValue: own, maxValue: most,
                        symbol: symbol)
                }, defaultLabel: otherLabel, defaultSymbol: other)
        default: return nil
        }
    }
}
