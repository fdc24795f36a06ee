// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A column of a table.
public struct Field: Sendable, Hashable {
    /// The type of its values.
    public enum FieldType: String, Sendable, Hashable {
        case oid = "esriFieldTypeOID"
        case int16 = "esriFieldTypeSmallInteger"
        case int32 = "esriFieldTypeInteger"
        case int64 = "esriFieldTypeBigInteger"
        case float32 = "esriFieldTypeSingle"
        case float64 = "esriFieldTypeDouble"
        case text = "esriFieldTypeString"
        case date = "esriFieldTypeDate"
        case dateOnly = "esriFieldTypeDateOnly"
        case timeOnly = "esriFieldTypeTimeOnly"
        case timestampOffset = "esriFieldTypeTimestampOffset"
        case guid = "esriFieldTypeGUID"
        case globalID = "esriFieldTypeGlobalID"
        case geometry = "esriFieldTypeGeometry"
        case blob = "esriFieldTypeBlob"
        case raster = "esriFieldTypeRaster"
        case xml = "esriFieldTypeXML"
    }

    /// Its name in attributes and WHERE clauses.
    public let name: String
    /// The name that people read.
    public let alias: String
    /// The type of its values; nil for one that is not known here: they come as the JSON is.
    public let type: FieldType?
    /// Most characters of a text; nil for no bound.
    public let length: Int?
    /// Whether a feature may be edited in it.
    public let isEditable: Bool
    /// Whether it may be null.
    public let isNullable: Bool
    /// Which values it may have, a ``CodedValueDomain`` or a ``RangeDomain``; nil for any.
    public let domain: Domain?

    init?(_ json: JSON) {
        guard let name = json.text("name") else { return nil }
        self.name = name
        alias = json.text("alias") ?? name
        type = json.text("type").flatMap { FieldType(rawValue: $0) }
        length = json.member("length")?.int
        isEditable = json["editable"]?.flag ?? false
        isNullable = json["nullable"]?.flag ?? true
        domain = Domain.make(json.member("domain"), of: type)
    }

    /// Describes a field, as of a ``FeatureCollectionTable``.
    public init(
        type: FieldType, name: String, alias: String, length: Int? = nil, domain: Domain? = nil,
        isEditable: Bool = true, isNullable: Bool = true
    ) {
        (self.type, self.name, self.alias, self.length) = (type, name, alias, length)
        (self.domain, self.isEditable, self.isNullable) = (domain, isEditable, isNullable)
    }

    /// Fields as a service lists them.
    static func list(_ json: JSON?) -> [Field] { (json?.elements ?? []).compactMap { Field($0) } }

    /// The value of an attribute by its type; nil for null, and for one that is not of the type.
    func value(_ json: JSON) -> (any Sendable)? { Self.value(json, of: type) }

    /// A value by a type of field; nil for null, and for one that is not of the type.
    ///
    /// Older servers write numbers, dates and ids as text.
    static func value(_ json: JSON, of type: FieldType?) -> (any Sendable)? {
        switch type {
        case .int16: json.whole.flatMap { Int16(exactly: $0) } ?? json.untyped
        case .int32: json.whole.flatMap { Int32(exactly: $0) } ?? json.untyped
        case .oid, .int64: json.whole ?? json.untyped
        case .float32: json.number.map { Float($0) } ?? json.untyped
        case .float64: json.number ?? json.untyped
        case .text, .xml:
            if case .integer(let number) = json { String(number) } else { json.untyped }
        case .date:
            json.number.map { Date(millisecondsSince1970: $0) }
                ?? json.text.flatMap { DateText.date($0) } ?? json.untyped
        case .guid, .globalID:
            json.text.flatMap { UUID(globalID: $0) } ?? json.untyped
        default: json.untyped
        }
    }
}

/// Which values a field may have.
public class Domain: @unchecked Sendable, Hashable {
    // `@unchecked`: this class and its subclasses have immutable members alone.
    /// Its name.
    public let name: String

    init(name: String) { self.name = name }

    /// A domain of the REST; nil for none and for kinds that are not known here.
    static func make(_ json: JSON?, of type: Field.FieldType?) -> Domain? {
        guard let json else { return nil }
        let name = json.text("name") ?? ""
        switch json.text("type") {
        case "codedValue":
            return CodedValueDomain(
                name: name,
                codedValues: (json["codedValues"]?.elements ?? []).map { value in
                    CodedValue(
                        name: value.text("name") ?? "",
                        code: value.member("code").flatMap { Field.value($0, of: type) })
                })
        case "range":
            let range = json["range"]?.elements ?? []
            return RangeDomain(
                name: name, minValue: range.first.flatMap { Field.value($0, of: type) },
                maxValue: range.dropFirst().first.flatMap { Field.value($0, of: type) })
        default: return nil
        }
    }

    /// Two are equal that are the same object.
    public static func == (left: Domain, right: Domain) -> Bool { left === right }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A value of a field, and the name that people read.
public struct CodedValue: Sendable {
    /// The name that people read.
    public let name: String
    /// The value, typed by the field; nil for null.
    public let code: (any Sendable)?
}

/// A list of values that a field may have.
public final class CodedValueDomain: Domain, @unchecked Sendable {
    /// The values, in the order of the service.
    public let codedValues: [CodedValue]

    init(name: String, codedValues: [CodedValue]) {
        self.codedValues = codedValues
        super.init(name: name)
    }
}

/// The least and the greatest value that a field may have.
public final class RangeDomain: Domain, @unchecked Sendable {
    /// The least, typed by the field; nil for none.
    public let minValue: (any Sendable)?
    /// The greatest, typed by the field; nil for none.
    public let maxValue: (any Sendable)?

    init(name: String, minValue: (any Sendable)?, maxValue: (any Sendable)?) {
        (self.minValue, self.maxValue) = (minValue, maxValue)
        super.init(name: name)
    }
}

/// Dates as text.
enum DateText {
    /// ISO 8601 in UTC, with milliseconds.
    static func text(_ date: Date) -> String {
        // The style cuts, and a millisecond is seldom exact in a Double.
        let whole = Date(millisecondsSince1970: Double(date.millisecondsSince1970) + 0.2)
        return Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(whole)
    }

    /// Reads ISO 8601, with and without a fraction; nil for anything else.
    static func date(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle()
        return (try? style.parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}

/// Attributes typed by fields.
struct AttributeReader: Sendable {
    private var fields: [String: Field]

    init(_ fields: [Field]) {
        self.fields = Dictionary(
            fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// With further fields; those of the same names stay.
    func adding(_ more: [Field]) -> AttributeReader {
        guard more.contains(where: { fields[$0.name] == nil }) else { return self }
        var reader = self
        for field in more where reader.fields[field.name] == nil {
            reader.fields[field.name] = field
        }
        return reader
    }

    /// The attributes of a JSON object; nulls are absent.
    func attributes(_ json: JSON?) -> [String: any Sendable] {
        var attributes: [String: any Sendable] = [:]
        for (name, value) in json?.members ?? [] where !value.isNull {
            attributes[name] = fields[name].map { $0.value(value) } ?? value.untyped
        }
        return attributes
    }
}

extension Field {
    /// Whether it is meant by a name, in any letter case.
    func isNamed(_ name: String) -> Bool {
        self.name == name || self.name.lowercased() == name.lowercased()
    }
}
