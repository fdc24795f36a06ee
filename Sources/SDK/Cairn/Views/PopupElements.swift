// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// How the numbers of a popup's field are written.
public struct PopupFieldFormat: Sendable, Hashable {
    /// Digits behind the point, 0 to 15; nil for as many as there are.
    public var decimalPlaces: Int?
    /// Whether thousands are parted by commas.
    public var usesThousandsSeparator: Bool

    /// Makes a format.
    public init(decimalPlaces: Int? = nil, usesThousandsSeparator: Bool = false) {
        self.decimalPlaces = decimalPlaces
        self.usesThousandsSeparator = usesThousandsSeparator
    }

    init(_ json: JSON) {
        decimalPlaces = json["places"]?.int
        usesThousandsSeparator = json["digitSeparator"]?.flag ?? false
    }

    var json: JSON {
        .object(of: [
            "places": decimalPlaces.map { .integer(Int64($0)) },
            "digitSeparator": .bool(usesThousandsSeparator),
        ])
    }

    func text(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return number.plainText }
        var text = number.plainText
        if let decimalPlaces {
            text = String(format: "%.\(min(max(decimalPlaces, 0), 15))f", number)
        }
        guard usesThousandsSeparator else { return text }
        let sign = text.hasPrefix("-") ? "-" : ""
        let parts = text.dropFirst(sign.count).split(separator: ".", maxSplits: 1)
        var grouped = ""
        for (place, digit) in (parts.first ?? "").reversed().enumerated() {
            if place > 0, place.isMultiple(of: 3) { grouped.insert(",", at: grouped.startIndex) }
            grouped.insert(digit, at: grouped.startIndex)
        }
        return sign + grouped + (parts.count > 1 ? "." + parts[1] : "")
    }
}

/// A part of a popup, as a view lays it out.
public class PopupElement: @unchecked Sendable {
    /// Its title; empty for none.
    public let title: String
    /// What it is about; empty for nothing.
    public let description: String

    init(_ json: JSON?) {
        title = json?.text("title") ?? ""
        description = json?.text("description") ?? ""
    }
}

/// A table of fields with their values.
public final class FieldsPopupElement: PopupElement, @unchecked Sendable {
    /// The fields that are shown.
    public let fields: [PopupDefinition.PopupField]
    /// The names that people read, one for each of ``fields``.
    public let labels: [String]
    /// The values, one for each of ``fields``; empty for null.
    public let formattedValues: [String]

    init(_ json: JSON?, _ fields: [PopupDefinition.PopupField], _ popup: Popup) {
        let formatted = popup.formatted(fields)
        self.fields = fields
        labels = formatted.map(\.label)
        formattedValues = formatted.map(\.value)
        super.init(json)
    }
}

/// A text, which may be HTML.
public final class TextPopupElement: PopupElement, @unchecked Sendable {
    /// The text, with the feature's values in it.
    public let text: String

    init(_ json: JSON?, _ text: String) {
        self.text = text
        super.init(json)
    }
}

/// The attachments of the popup's feature.
public final class AttachmentsPopupElement: PopupElement, @unchecked Sendable {
    /// How a view shows them.
    public enum DisplayType: String, Sendable, Hashable {
        /// By their names.
        case list
        /// By small pictures.
        case preview
        /// As the view likes.
        case auto
    }

    /// How a view shows them; `auto` where the popup does not say.
    public let displayType: DisplayType
    private let feature: ArcGISFeature?

    init(_ json: JSON, _ popup: Popup) {
        displayType = json.text("displayType").flatMap { DisplayType(rawValue: $0) } ?? .auto
        feature = popup.geoElement as? ArcGISFeature
        super.init(json)
    }

    /// The attachments, asked for each time; throws as ``ArcGISFeature/attachments``, and
    /// ``CairnError`` (`unsupported`) for what is no feature of a table.
    public var attachments: [Attachment] {
        get async throws {
            guard let feature else {
                throw CairnError.unsupported("attachments", by: nil)
            }
            return try await feature.attachments
        }
    }
}

/// What became of an expression of a popup.
public struct PopupExpressionEvaluation: Sendable {
    /// The expression's name.
    public let name: String
    /// Why it has no value.
    public let error: (any Error)?
}

extension Popup {
    /// The parts of the popup, in order: fields, texts and attachments; pictures and charts are
    /// left out.
    public var evaluatedElements: [PopupElement] {
        let shown = definition.fields.filter(\.isVisible)
        let stated = definition.source?["popupElements"]?.elements ?? []
        guard !stated.isEmpty else {
            return content.map { [TextPopupElement(nil, $0)] }
                ?? [FieldsPopupElement(nil, shown, self)]
        }
        return stated.compactMap { element in
            switch element.text("type") {
            case "fields":
                let own = PopupDefinition(element)?.fields ?? []
                return FieldsPopupElement(
                    element, own.isEmpty ? shown : own.filter(\.isVisible), self)
            case "text": return TextPopupElement(element, filled(element.text("text") ?? ""))
            case "attachments": return AttachmentsPopupElement(element, self)
            default: return nil
            }
        }
    }

    /// Evaluates the expressions of the popup, which ``evaluatedElements`` does not need.
    ///
    /// Expressions are Arcade, which is not evaluated: each has a ``CairnError`` of the kind
    /// `unsupported`, and its place in a text stays as it is written.
    @discardableResult
    public func evaluateExpressions() async throws -> [PopupExpressionEvaluation] {
        try Task.checkCancellation()
        return (definition.source?["expressionInfos"]?.elements ?? []).map { expression in
            let name = expression.text("name") ?? ""
            return PopupExpressionEvaluation(
                name: name,
                error: CairnError(
                    .unsupported, "the popup's expression '\(name)' is Arcade, not evaluated here")
            )
        }
    }

    func formatted(
        _ fields: [PopupDefinition.PopupField]
    ) -> [(label: String, value: String)] {
        let attributes = geoElement.attributes
        return fields.map { field in
            (field.label, attributes[field.fieldName].map { text($0, of: field.fieldName) } ?? "")
        }
    }

    func filled(_ template: String) -> String {
        var text = template
        for (name, value) in geoElement.attributes where text.contains("{\(name)}") {
            text = text.replacingOccurrences(of: "{\(name)}", with: self.text(value, of: name))
        }
        return text
    }

    /// A value as people read it: of a field with a list of values the name, a date in ISO 8601.
    private func text(_ value: any Sendable, of name: String) -> String {
        let field = (geoElement as? Feature)?.featureTable?.field(named: name)
        let json = JSON(attribute: value)
        if let values = (field?.domain as? CodedValueDomain)?.codedValues,
            let known = values.first(where: { JSON(attribute: $0.code).jsonText == json.jsonText })
        {
            return known.name
        }
        let format = definition.fields.first { $0.fieldName == name }?.format
        switch value {
        case let date as Date: return DateText.text(date)
        case let number as Double: return (format ?? PopupFieldFormat()).text(number)
        case let number as Float:
            return format.map { $0.text(Double(number)) } ?? "\(number)"
        default:
            guard let format, let number = json.whole else { return "\(value)" }
            return format.text(Double(number))
        }
    }
}
