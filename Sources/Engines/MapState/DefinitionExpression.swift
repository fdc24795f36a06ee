// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Expression

/// The WHERE clause that limits a layer, checked before it becomes part of a map.
public enum DefinitionExpression {
    /// Throws `Failure` (`invalidParameter`, `tooLarge`) unless the text is a WHERE clause, on
    /// existing fields where `fields` are known.
    public static func check(
        _ expression: String, fields: [FieldDescription]?
    ) throws(Failure) {
        guard expression.utf8.count <= MapLimits.expressionBytes else {
            throw Failure(
                .tooLarge,
                "definition expression: \(expression.utf8.count) bytes, expected at most "
                    + "\(MapLimits.expressionBytes)")
        }
        let clause = try WhereClause(parsing: expression)
        if let fields { try clause.validate(against: fields) }
    }

    /// The first twenty names of the fields, for an error message.
    static func list(_ fields: [FieldDescription]) -> String {
        let names = fields.prefix(20).map { "'\($0.name)'" }.joined(separator: ", ")
        return fields.count > 20 ? names + " and \(fields.count - 20) more" : names
    }
}
