// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// A parsed SQL WHERE clause, the form of a layer's definition expression and of a request's layer
/// definition.
///
/// The dialect and its meaning are in `Docs/identify.md`. Text is compared code point by code
/// point, whole numbers and reals exactly, and NULL makes a comparison UNKNOWN.
public struct WhereClause: Sendable, Hashable {
    /// The longest clause, in bytes of UTF-8.
    public static let lengthLimit = 65_536
    /// The deepest nesting of parentheses, functions, NOT and signs, and the longest sum or
    /// product.
    public static let depthLimit = 200

    /// The clause as it was given.
    public let text: String
    /// The fields it names, in order of first mention and as first written, each once (names that
    /// differ only in case are one field).
    public let fieldNames: [String]
    /// The aggregates of a HAVING clause, each once, with its name among ``fieldNames`` too.
    public let aggregates: [Aggregate]
    let condition: Condition
    private let isHaving: Bool

    /// A function of the values of a field in a group of features.
    public struct Aggregate: Sendable, Hashable {
        /// `COUNT`, `SUM`, `MIN`, `MAX`, `AVG`, `STDDEV` or `VAR`.
        public let function: String
        /// The field as it was written, or `*` in `COUNT(*)`.
        public let field: String
        /// `SUM(POP)`.
        public var name: String { "\(function)(\(field))" }
    }

    /// Parses a clause; throws `invalidParameter` with the position (in characters from 1) and the
    /// expectation, or `tooLarge`.
    public init(parsing text: String) throws(Failure) {
        try self.init(text, isHaving: false)
    }

    /// Parses a HAVING clause, which allows aggregates such as `COUNT(*)` and `SUM(POP)`; throws as
    /// ``init(parsing:)`` does.
    public init(parsingHaving text: String) throws(Failure) {
        try self.init(text, isHaving: true)
    }

    private init(_ text: String, isHaving: Bool) throws(Failure) {
        do throws(Failure) {
            guard text.utf8.count <= Self.lengthLimit else {
                throw Failure(
                    .tooLarge,
                    "clause of \(text.utf8.count) bytes: at most \(Self.lengthLimit) are accepted")
            }
            var parser = try Parser(text, allowsAggregates: isHaving)
            condition = try parser.parse()
            fieldNames = parser.fieldNames
            aggregates = parser.aggregates
        } catch {
            throw Self.named(error, isHaving)
        }
        self.text = text
        self.isHaving = isHaving
    }

    /// The failure with the kind of clause.
    private static func named(_ failure: Failure, _ isHaving: Bool) -> Failure {
        Failure(failure.code, (isHaving ? "HAVING " : "WHERE ") + failure.message)
    }

    /// Whether the clause holds for a feature: nil is SQL's UNKNOWN, which selects nothing.
    ///
    /// `field` is called with names from ``fieldNames``, and only for those that matter.
    public func evaluate(_ field: (String) -> AttributeValue) -> Bool? {
        withoutActuallyEscaping(field) { field in
            Evaluation { field(fieldNames[$0]) }.truth(condition)
        }
    }

    /// Whether the clause holds for these attributes; a field that is missing counts as NULL.
    public func evaluate(_ attributes: Attributes) -> Bool? {
        evaluate { attributes[$0] ?? .null }
    }

    /// Checks that every field exists and that no value is compared with one of another kind;
    /// throws `invalidParameter` with position and sentence.
    public func validate(against fields: [FieldDescription]) throws(Failure) {
        _ = try bound(to: fields)
    }

    /// Checks as ``validate(against:)`` does and replaces names by places among `fields`, for a
    /// layer of many features.
    public func bound(to fields: [FieldDescription]) throws(Failure) -> BoundClause {
        var places: [String: Int] = [:]
        for (place, field) in fields.enumerated() { places[Self.key(field.name)] = place }
        let columns = fieldNames.map { places[Self.key($0)] }
        do throws(Failure) {
            try Validation(fields: fields, columns: columns, names: fieldNames).check(condition)
        } catch {
            throw Self.named(error, isHaving)
        }
        return BoundClause(condition: condition, columns: columns.compactMap { $0 })
    }

    /// The case-insensitive key of a field name.
    static func key(_ name: String) -> String { name.lowercased() }
}

/// A clause with its fields bound to columns.
public struct BoundClause: Sendable, Hashable {
    let condition: Condition
    /// By the clause's own field number: the place among the layer's fields.
    let columns: [Int]

    /// The places of the fields that it names, each once.
    public var fieldPlaces: [Int] { columns }

    /// Whether it names no field, so that it holds for every feature or for none.
    public var isConstant: Bool { columns.isEmpty }

    /// Whether the clause holds for the feature whose columns `column` reads: nil is UNKNOWN.
    public func evaluate(_ column: (Int) -> AttributeValue) -> Bool? {
        withoutActuallyEscaping(column) { column in
            Evaluation { column(columns[$0]) }.truth(condition)
        }
    }
}
