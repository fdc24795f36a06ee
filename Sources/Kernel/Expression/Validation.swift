// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Checks names and kinds before a clause meets features.
struct Validation {
    /// The kind of values for comparison.
    private enum Kind: String {
        case number = "a number"
        case text = "text"
        case moment = "a date"
    }

    let fields: [FieldDescription]
    /// Column by the clause's field number: the index in `fields`, nil for an unknown field.
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

    /// The type of an operand's values.
    func type(of operand: Operand) throws(Failure) -> FieldType {
        switch (try kind(operand), operand) {
        case (.text, _), (nil, _): .string
        case (.moment, _): .date
        case (.number, .field(let reference)):
            columns[reference.index].map { fields[$0].type } ?? .double
        case (.number, .part(let part, _)): part == .second ? .double : .integer
        case (.number, .cast(_, to: .whole)),
            (.number, .call(.characterLength, _)), (.number, .call(.position, _)):
            .integer
        case (.number, _): .double
        }
    }

    /// The kind of an operand; nil for NULL.
    private func kind(_ operand: Operand) throws(Failure) -> Kind? {
        switch operand {
        case .field(let reference): return try kind(reference)
        case .literal(.null): return nil
        case .literal(.integer), .literal(.real): return .number
        case .literal(.string): return .text
        case .literal(.date): return .moment
        case .call(let function, let arguments): return try kind(function, arguments)
        case .negated(let inner):
            try require(.number, inner, Self.arithmeticSentence)
            return .number
        case .arithmetic(let operation, let left, let right):
            return try kind(operation, left, right)
        case .later(let inner, _):
            try require(.moment, inner, "an INTERVAL is added to a date")
            return .moment
        case .part(_, let inner):
            try require(.moment, inner, "EXTRACT needs a date")
            return .number
        case .cast(let inner, let type): return try kind(castOf: inner, to: type)
        }
    }

    private func kind(
        _ operation: Arithmetic, _ left: Operand, _ right: Operand
    ) throws(Failure) -> Kind? {
        let (first, second) = (try kind(left), try kind(right))
        switch (operation, first, second) {
        case (.subtract, .moment, .moment): return .number
        case (.subtract, .moment, nil): return nil
        case (.add, .moment, .number), (.add, .moment, nil), (.subtract, .moment, .number),
            (.add, .number, .moment), (.add, nil, .moment):
            return .moment
        default:
            for (operand, kind) in [(left, first), (right, second)] where kind ?? .number != .number
            {
                throw mismatch(operand, Self.arithmeticSentence)
            }
            return .number
        }
    }

    private func kind(
        _ function: ScalarFunction, _ arguments: [Operand]
    ) throws(Failure) -> Kind? {
        switch function {
        case .upper, .lower, .concatenation, .trimmed, .trimmedAtStart, .trimmedAtEnd:
            for argument in arguments { try requireText(argument, function) }
            return .text
        case .characterLength, .position:
            for argument in arguments { try requireText(argument, function) }
            return .number
        case .substring:
            try requireText(arguments[0], function)
            for argument in arguments.dropFirst() {
                try require(.number, argument, "SUBSTRING needs numbers after the text")
            }
            return .text
        case .absolute, .ceiling, .cosine, .floor, .logarithm, .logarithm10, .power, .rounded,
            .sign,
            .sine, .tangent, .truncated:
            for argument in arguments {
                try require(.number, argument, "\(function.rawValue) needs numbers")
            }
            return .number
        case .coalesce:
            var common: Kind?
            for argument in arguments {
                guard let kind = try kind(argument) else { continue }
                if let common, common != kind {
                    throw mismatch(
                        argument, "COALESCE has \(common.rawValue) and \(kind.rawValue) in it")
                }
                common = kind
            }
            return common
        case .nullIf:
            let first = try kind(arguments[0])
            try match(arguments[0], first, arguments[1])
            return first
        }
    }

    private func kind(castOf operand: Operand, to type: CastType) throws(Failure) -> Kind {
        switch type {
        case .text:
            _ = try kind(operand)
            return .text
        case .day, .moment:
            _ = try kind(operand)
            return .moment
        case .whole, .real:
            if try kind(operand) == .moment {
                throw mismatch(operand, "CAST of a date needs VARCHAR, DATE or TIMESTAMP")
            }
            return .number
        }
    }

    private static let arithmeticSentence =
        "arithmetic needs numbers, or a date and days that are added to it"

    private func require(
        _ wanted: Kind, _ operand: Operand, _ sentence: String
    ) throws(Failure) {
        if let kind = try kind(operand), kind != wanted { throw mismatch(operand, sentence) }
    }

    /// Numbers are read as they are written.
    private func requireText(
        _ operand: Operand, _ function: ScalarFunction
    ) throws(Failure) {
        if try kind(operand) == .moment {
            let name = function.rawValue.prefix { $0 != " " }
            throw mismatch(operand, "\(name) needs text; CAST(… AS VARCHAR) writes a date")
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

    /// Checks that two operands are comparable.
    ///
    /// Text literals may stand for the number or moment they spell; a moment may be compared with
    /// epoch milliseconds.
    private func match(_ left: Operand, _ right: Operand) throws(Failure) {
        try match(left, try kind(left), right)
    }

    private func match(_ left: Operand, _ first: Kind?, _ right: Operand) throws(Failure) {
        guard let second = try kind(right), let first, first != second else { return }
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
