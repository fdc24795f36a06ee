// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A part of a clause that is true, false or unknown.
indirect enum Condition: Sendable, Hashable {
    case comparison(Comparison, Operand, Operand)
    case isNull(Operand, negated: Bool)
    case isOneOf(Operand, [Operand], negated: Bool)
    case isBetween(Operand, Operand, Operand, negated: Bool)
    case isLike(Operand, LikeOperand, negated: Bool)
    case not(Condition)
    /// True when every one is; two or more. A list, so that a long chain is not deep.
    case all([Condition])
    /// True when one is; two or more.
    case any([Condition])
}

/// The pattern of a LIKE: constant, or computed per feature.
enum LikeOperand: Sendable, Hashable {
    case fixed(LikePattern)
    case computed(Operand, escape: Unicode.Scalar?)
}

/// A part of a clause that has a value.
indirect enum Operand: Sendable, Hashable {
    case field(FieldReference)
    case literal(AttributeValue)
    /// A call with the function's number of arguments.
    case call(ScalarFunction, [Operand])
    case negated(Operand)
    case arithmetic(Arithmetic, Operand, Operand)
    /// A moment that much after another.
    case later(Operand, milliseconds: Int64)
    case part(MomentPart, of: Operand)
    case cast(Operand, to: CastType)
}

/// A field a clause names: its place among the clause's own fields.
struct FieldReference: Sendable, Hashable {
    var index: Int
    /// Position in characters, from 1.
    var position: Int
}

/// The six comparisons.
enum Comparison: String, Sendable, Hashable {
    case equal = "="
    case notEqual = "<>"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    func holds(_ order: Order) -> Bool {
        switch self {
        case .equal: order == .same
        case .notEqual: order != .same
        case .less: order == .ascending
        case .lessOrEqual: order != .descending
        case .greater: order == .descending
        case .greaterOrEqual: order != .ascending
        }
    }
}

/// The order of two values.
enum Order {
    case ascending
    case same
    case descending
}

/// The operations on numbers.
enum Arithmetic: String, Sendable, Hashable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"
}
