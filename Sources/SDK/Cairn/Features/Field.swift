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

    /// Whether it is meant by a name, in any letter case.
    func isNamed(_ name: String) -> Bool {
        self.name == name || self.name.lowercased() == name.lowercased()
    }

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
