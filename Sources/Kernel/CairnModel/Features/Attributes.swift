// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore

/// One attribute of one feature.
public enum AttributeValue: Hashable, Sendable {
    /// Null.
    case null
    /// Any integer field.
    case integer(Int64)
    /// Any floating-point field; never NaN or infinite (those are imported as null).
    case real(Double)
    /// Text.
    case string(String)
    /// A moment in milliseconds since the epoch, UTC.
    case date(Int64)
}

extension AttributeValue: Codable {
    private enum CodingKeys: String, CodingKey { case date, real }

    /// Reads JSON null, number, string, `{"date": milliseconds}` or `{"real": number}`.
    public init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: CodingKeys.self) {
            if let real = try object.decodeIfPresent(Double.self, forKey: .real) {
                self = .real(real)
            } else {
                self = .date(try object.decode(Int64.self, forKey: .date))
            }
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let real = try? container.decode(Double.self) {
            self = .real(real)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    /// Encodes JSON null, number, string, or `{"date": milliseconds}`.
    ///
    /// A real whose value is whole is `{"real": 3}`, because JSON text would otherwise make an
    /// integer of it.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .date(let milliseconds):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(milliseconds, forKey: .date)
            return
        case .real(let real) where real == real.rounded():
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(real, forKey: .real)
            return
        default: break
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .null, .date: try container.encodeNil()
        case .integer(let integer): try container.encode(integer)
        case .real(let real): try container.encode(real)
        case .string(let string): try container.encode(string)
        }
    }
}

/// A column of a layer.
public struct FieldDescription: Hashable, Sendable, Codable {
    /// The name; unique in its layer, case-insensitively.
    public var name: String
    /// The type.
    public var type: FieldType
    /// The longest text in bytes, where the source states one.
    public var length: Int?
    /// Display name, unless equal to `name`.
    public var alias: String?

    /// Describes a column.
    public init(name: String, type: FieldType, length: Int? = nil, alias: String? = nil) {
        self.name = name
        self.type = type
        self.length = length
        self.alias = alias
    }

    /// The alias, or the name where it has none.
    public var shownName: String { alias ?? name }
}

/// The types a column can have; raw values are Esri's `esriFieldType…` without the prefix.
public enum FieldType: String, Hashable, Sendable, Codable {
    /// The object id: unique in its layer, 1…2^31−1.
    case objectID = "OID"
    /// 16-bit integer.
    case smallInteger = "SmallInteger"
    /// 32-bit integer.
    case integer = "Integer"
    /// 64-bit integer.
    case bigInteger = "BigInteger"
    /// 32-bit float.
    case single = "Single"
    /// 64-bit float.
    case double = "Double"
    /// Text.
    case string = "String"
    /// A moment.
    case date = "Date"
}

/// The geometry type of a layer's features; raw values are Esri's `esriGeometry…` without the
/// prefix.
public enum GeometryType: String, Hashable, Sendable, Codable {
    /// One position each.
    case point = "Point"
    /// Several positions each.
    case multipoint = "Multipoint"
    /// Paths.
    case polyline = "Polyline"
    /// Rings.
    case polygon = "Polygon"
}

/// Attributes of one feature in the order of the layer's fields.
public struct Attributes: Hashable, Sendable, Codable {
    /// Name and value, in field order.
    public var entries: [Entry]

    /// One named value.
    public struct Entry: Hashable, Sendable, Codable {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: AttributeValue

        /// Makes an entry.
        public init(name: String, value: AttributeValue) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a list of attributes.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// The value of the field of that name, compared case-insensitively (ASCII); nil when absent.
    public subscript(name: String) -> AttributeValue? {
        if let entry = entries.first(where: { $0.name == name }) { return entry.value }
        let wanted = name.lowercased()
        return entries.first { $0.name.lowercased() == wanted }?.value
    }
}
