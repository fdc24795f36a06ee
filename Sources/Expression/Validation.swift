// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Checks names and kinds before a clause meets features.
struct Validation {
    /// What values have in common.
    private enum Kind: String {
        case number = "a number"
        case text = "text"
        case moment = "a date"
    }

    let fields: [FieldDescription]
    /// By the clause's field number: the place among `fields`, nil where there is none.
    let columns: [Int?]
    let names: [String]

    func check(_ condition: Condition) throws(Failure) {
        switch condition {
        case .comparison(_, let left, let right): try match(left, right)
        case .isNull(let operand, _): _ = try kind(operand)
        case .isOneOf(let operand, let items, _):
            for item in items { try match(operand, item) }
        case .isBetween(let operand, let low, let high, _):
            try match(operand, low)
            try match(operand, high)
        case .isLike(let operand, let pattern, _):
            if try kind(operand) == .moment { throw mismatch(operand, "LIKE needs text") }
            if case .computed(let computed, _) = pattern { _ = try kind(computed) }
        case .not(let inner): try check(inner)
        case .all(let parts), .any(let parts): for part in parts { try check(part) }
        }
    }

    /// Nil for a value without a kind of its own: NULL.
    private func kind(_ operand: Operand) throws(Failure) -> Kind? {
        switch operand {
        case .field(let reference): return try kind(reference)
        case .literal(.null): return nil
        case .literal(.integer), .literal(.real): return .number
        case .literal(.string): return .text
        case .literal(.date): return .moment
        case .upper(let inner), .lower(let inner):
            _ = try kind(inner)
            return .text
        case .negated(let inner):
            try requireNumber(inner)
            return .number
        case .arithmetic(_, let left, let right):
            try requireNumber(left)
            try requireNumber(right)
            return .number
        }
    }

    private func requireNumber(_ operand: Operand) throws(Failure) {
        if let kind = try kind(operand), kind != .number {
            throw mismatch(operand, "arithmetic needs numbers")
        }
    }

    private func kind(_ reference: FieldReference) throws(Failure) -> Kind {
        guard let column = columns[reference.index] else {
            let known = fields.prefix(12).map(\.name).joined(separator: ", ")
            throw Tokenizer.failure(
                reference.position,
                "the layer has no field '\(names[reference.index].prefix(80))'; it has \(known)"
                    + (fields.count > 12 ? ", …" : ""))
        }
        switch fields[column].type {
        case .objectID, .smallInteger, .integer, .bigInteger, .single, .double: return .number
        case .string: return .text
        case .date: return .moment
        }
    }

    /// Text literals may stand for the number or moment they spell; a moment may be compared with
    /// epoch milliseconds.
    private func match(_ left: Operand, _ right: Operand) throws(Failure) {
        guard let first = try kind(left), let second = try kind(right), first != second else {
            return
        }
        switch (first, second) {
        case (.text, _): try accept(left, as: second, beside: right)
        case (_, .text): try accept(right, as: first, beside: left)
        default: break
        }
    }

    private func accept(
        _ operand: Operand, as kind: Kind, beside other: Operand
    ) throws(Failure) {
        let sample: AttributeValue = kind == .moment ? .date(0) : .integer(0)
        if case .literal(.string(let text)) = operand,
            Evaluation.parse(text, like: sample) != nil
        {
            return
        }
        throw mismatch(
            isField(operand) ? operand : other, "text is compared with \(kind.rawValue)")
    }

    private func isField(_ operand: Operand) -> Bool {
        if case .field = operand { true } else { false }
    }

    private func mismatch(_ operand: Operand, _ message: String) -> Failure {
        guard case .field(let reference) = operand, let column = columns[reference.index] else {
            return Failure(.invalidParameter, "clause: \(message)")
        }
        let field = fields[column]
        return Tokenizer.failure(
            reference.position,
            "\(message): the field '\(field.name)' has the type \(field.type.rawValue)")
    }
}
