// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

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
