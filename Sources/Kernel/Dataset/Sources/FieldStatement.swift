// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import GDAL

/// The type of a column as the command line states it: `NAME:TYPE`.
public struct FieldStatement: Hashable, Sendable {
    /// The column's name in the source, in any letter case.
    public var name: String
    /// Kind of its values.
    let kind: SourceField.Kind

    /// The words for types, in the order of messages.
    static let types: [(word: String, kind: SourceField.Kind)] = [
        ("text", .text), ("smallinteger", .integer16), ("integer", .integer32),
        ("biginteger", .integer64), ("single", .real32), ("double", .real64), ("date", .date),
    ]

    /// Reads `NAME:TYPE`, the type in any letter case; throws `invalidParameter` with the types
    /// that there are.
    public init(_ text: String) throws(Failure) {
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
            let type = Self.types.first(where: {
                $0.word == text[text.index(after: colon)...].lowercased()
            })
        else {
            throw Failure(
                .invalidParameter,
                "field '\(text.prefix(80))': expected NAME:TYPE, the type one of "
                    + Self.types.map(\.word).joined(separator: ", "))
        }
        name = String(text[..<colon])
        kind = type.kind
    }

    init(name: String, kind: SourceField.Kind) {
        (self.name, self.kind) = (name, kind)
    }

    /// The statement on a column; nil without one.
    static func kind(of name: String, in statements: [FieldStatement]) -> SourceField.Kind? {
        statements.last { $0.name == name }?.kind
            ?? statements.last { $0.name.lowercased() == name.lowercased() }?.kind
    }
}

/// Knowledge about a source's columns beyond GDAL's.
struct ColumnTypes {
    /// The types that keep the texts of columns as they are, by the column's name.
    var kinds: [String: SourceField.Kind] = [:]
    /// Columns in which a comma is the decimal point.
    var decimalCommas: Set<String> = []
    /// Sentences on columns, by name.
    var notes: [(column: String, text: String)] = []
    /// Sentences on the file.
    var fileNotes: [String] = []
    /// The encoding of the file's texts.
    var encoding = SourceEncoding("UTF-8", .format)
    /// Types stated on the command line and by files beside the source.
    var statements: [FieldStatement] = []

    /// The type of a column in the dataset.
    func kind(of field: SourceField) -> SourceField.Kind {
        guard field.kind != .binary else { return .binary }
        if let stated = FieldStatement.kind(of: field.name, in: statements) { return stated }
        return field.kind == .text ? kinds[field.name] ?? .text : field.kind
    }

    /// Whether a type is stated.
    func isStated(_ name: String) -> Bool {
        FieldStatement.kind(of: name, in: statements) != nil
    }
}

extension ColumnTypes {
    /// Adds the types of texts without a type in the source, for which the layer is read: those of
    /// GML without a schema.
    func surveying(_ source: VectorSource, layer index: Int) throws -> ColumnTypes {
        let fields = source.layers[index].fields
        guard source.driver == "GML", fields.allSatisfy({ $0.kind == .text }) else { return self }
        var facts = [TextFacts](repeating: TextFacts(), count: fields.count)
        try source.forEachFeature(inLayer: index) { feature in
            for column in fields.indices {
                if case .text(let text) = feature.value(at: column) {
                    facts[column].take(text)
                } else {
                    facts[column].take(nil)
                }
            }
        }
        var result = self
        for (field, facts) in zip(fields, facts) where !["fid", "gml_id"].contains(field.name) {
            result.kinds[field.name] = facts.kind
            if let note = facts.note { result.notes.append((field.name, note)) }
        }
        return result
    }
}
