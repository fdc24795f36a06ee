// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension AttributeValue {
    /// The value as people read it, as ArcGIS writes it for identify: text, but for null.
    ///
    /// Whole numbers have no fraction, others the digits that read back equal; moments are ISO 8601
    /// in UTC, with milliseconds where there are any.
    public var formatted: AttributeValue { text.map { .string($0) } ?? .null }

    /// The value as text; nil for null.
    public var text: String? {
        switch self {
        case .null: nil
        case .integer(let integer): String(integer)
        case .real(let real):
            Int64(exactly: real).flatMap { $0.magnitude < 1 << 53 ? String($0) : nil }
                ?? real.description
        case .string(let text): text
        case .date(let milliseconds): CalendarClock(milliseconds: milliseconds).text
        }
    }
}

extension LayerDescription {
    /// The display names of fields, in the order of `fields`: the map's alias, else the source's,
    /// else the field's name.
    ///
    /// The object id keeps its name, and so does a field whose alias is another field's name or
    /// alias, letter case apart, so that display names are unique.
    public func shownNames(of fields: [FieldDescription]) -> [String] {
        let wanted = fields.enumerated().map { index, field in
            index == 0 ? field.name : fieldAliases[field.name] ?? field.shownName
        }
        var claims: [String: Int] = [:]
        for (field, name) in zip(fields, wanted) {
            for claim in Set([field.name.lowercased(), name.lowercased()]) {
                claims[claim, default: 0] += 1
            }
        }
        return zip(fields, wanted).map { field, name in
            claims[name.lowercased()] == 1 ? name : field.name
        }
    }
}
