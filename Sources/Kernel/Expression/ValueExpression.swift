// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// A parsed SQL expression with a value, by which rows are ordered, grouped or measured.
///
/// The dialect is that of ``WhereClause``.
public struct ValueExpression: Sendable, Hashable {
    /// The fields it names, in order of first mention and as first written, each once.
    public let fieldNames: [String]
    let operand: Operand

    /// Parses an expression; throws `invalidParameter` with the position (in characters from 1) and
    /// the expectation, or `tooLarge`.
    public init(parsing text: String) throws(Failure) {
        guard text.utf8.count <= WhereClause.lengthLimit else {
            throw Failure(
                .tooLarge,
                "expression of \(text.utf8.count) bytes: at most \(WhereClause.lengthLimit) are "
                    + "accepted")
        }
        var parser = try Parser(text)
        operand = try parser.parseValue()
        fieldNames = parser.fieldNames
    }

    /// Whether it is a single field.
    public var isField: Bool { if case .field = operand { true } else { false } }

    /// Replaces names by places among `fields`.
    ///
    /// Throws `invalidParameter`, with position and sentence, where a field does not exist or a
    /// value is of the wrong kind.
    public func bound(to fields: [FieldDescription]) throws(Failure) -> BoundExpression {
        var places: [String: Int] = [:]
        for (place, field) in fields.enumerated() { places[WhereClause.key(field.name)] = place }
        let columns = fieldNames.map { places[WhereClause.key($0)] }
        let type = try Validation(fields: fields, columns: columns, names: fieldNames)
            .type(of: operand)
        return BoundExpression(type: type, operand: operand, columns: columns.compactMap { $0 })
    }
}

/// An expression with its fields bound to columns.
public struct BoundExpression: Sendable, Hashable {
    /// Type of its values; `double` for numbers that need not be whole.
    public let type: FieldType
    let operand: Operand
    /// By the expression's own field number: the place among the layer's fields.
    let columns: [Int]

    /// The places of the fields that it names, each once.
    public var fieldPlaces: [Int] { columns }

    /// The value for the feature whose columns `column` reads.
    public func value(_ column: (Int) -> AttributeValue) -> AttributeValue {
        withoutActuallyEscaping(column) { column in
            Evaluation { column(columns[$0]) }.value(operand)
        }
    }
}
