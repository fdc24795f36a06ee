// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Three-valued evaluation: nil is SQL's UNKNOWN.
struct Evaluation {
    /// The value of the clause's field of that place.
    let field: (Int) -> AttributeValue

    func truth(_ condition: Condition) -> Bool? {
        switch condition {
        case .comparison(let comparison, let left, let right):
            return Self.order(value(left), value(right)).map(comparison.holds)
        case .isNull(let operand, let negated):
            return (value(operand) == .null) != negated
        case .isOneOf(let operand, let items, let negated):
            return negate(isOneOf(value(operand), items), negated)
        case .isBetween(let operand, let low, let high, let negated):
            let middle = value(operand)
            let above = Self.order(middle, value(low)).map { $0 != .ascending }
            let below = Self.order(middle, value(high)).map { $0 != .descending }
            return negate(both(above, below), negated)
        case .isLike(let operand, let pattern, let negated):
            return negate(isLike(value(operand), pattern), negated)
        case .not(let inner): return truth(inner).map { !$0 }
        case .all(let parts): return fold(parts, decisive: false)
        case .any(let parts): return fold(parts, decisive: true)
        }
    }

    private func negate(_ truth: Bool?, _ negated: Bool) -> Bool? {
        truth.map { $0 != negated }
    }

    private func both(_ first: Bool?, _ second: Bool?) -> Bool? {
        if first == false || second == false { return false }
        return first == nil || second == nil ? nil : true
    }

    /// AND (`decisive` false) and OR (`decisive` true): one decisive part decides, else one
    /// unknown.
    private func fold(_ parts: [Condition], decisive: Bool) -> Bool? {
        var result: Bool? = !decisive
        for part in parts {
            let truth = truth(part)
            if truth == decisive { return decisive }
            if truth == nil { result = nil }
        }
        return result
    }

    private func isOneOf(_ wanted: AttributeValue, _ items: [Operand]) -> Bool? {
        var result: Bool? = false
        for item in items {
            guard let order = Self.order(wanted, value(item)) else {
                result = nil
                continue
            }
            if order == .same { return true }
        }
        return result
    }

    private func isLike(_ subject: AttributeValue, _ pattern: LikeOperand) -> Bool? {
        guard let text = Self.text(subject) else { return nil }
        switch pattern {
        case .fixed(let fixed): return fixed.matches(text)
        case .computed(let operand, let escape):
            guard let computed = Self.text(value(operand)) else { return nil }
            return LikePattern(computed, escape: escape)?.matches(text)
        }
    }

    func value(_ operand: Operand) -> AttributeValue {
        switch operand {
        case .field(let reference): return field(reference.index)
        case .literal(let value): return value
        case .call(let function, let arguments): return value(of: function, arguments)
        case .negated(let inner): return Self.apply(.subtract, .integer(0), value(inner))
        case .arithmetic(let operation, let left, let right):
            return Self.apply(operation, value(left), value(right))
        case .later(let inner, let milliseconds):
            return Self.later(value(inner), by: milliseconds)
        case .part(let part, let inner): return Self.part(part, of: value(inner))
        case .cast(let inner, let type): return Self.cast(value(inner), to: type)
        }
    }

    static func text(_ value: AttributeValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let integer): String(integer)
        case .real(let real): "\(real)"
        case .date, .null: nil
        }
    }

    // MARK: order

    /// Nil when a value is null, or when text is compared with a number or moment it cannot be read
    /// as.
    static func order(_ left: AttributeValue, _ right: AttributeValue) -> Order? {
        switch (left, right) {
        case (.null, _), (_, .null): return nil
        case (.string(let first), .string(let second)): return order(first, second)
        case (.string(let text), _):
            return parse(text, like: right).flatMap { order($0, right) }
        case (_, .string(let text)):
            return parse(text, like: left).flatMap { order(left, $0) }
        case (.real(let first), .real(let second)): return order(first, second)
        case (.real(let real), .integer(let integer)), (.real(let real), .date(let integer)):
            return order(integer, real).map(reverse)
        case (.integer(let integer), .real(let real)), (.date(let integer), .real(let real)):
            return order(integer, real)
        case (.integer(let first), .integer(let second)), (.integer(let first), .date(let second)),
            (.date(let first), .integer(let second)), (.date(let first), .date(let second)):
            return first < second ? .ascending : first == second ? .same : .descending
        }
    }

    private static func reverse(_ order: Order) -> Order {
        switch order {
        case .ascending: .descending
        case .same: .same
        case .descending: .ascending
        }
    }

    /// By code points, which is the order of UTF-8 bytes.
    private static func order(_ left: String, _ right: String) -> Order {
        if left.utf8.elementsEqual(right.utf8) { return .same }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .ascending : .descending
    }

    private static func order(_ left: Double, _ right: Double) -> Order? {
        if left.isNaN || right.isNaN { return nil }
        return left < right ? .ascending : left == right ? .same : .descending
    }

    /// Exact, also where the integer has no equal among the doubles.
    private static func order(_ integer: Int64, _ real: Double) -> Order? {
        if real.isNaN { return nil }
        if real >= 0x1p63 { return .ascending }
        if real < -0x1p63 { return .descending }
        let whole = Int64(real.rounded(.down))
        if integer != whole { return integer < whole ? .ascending : .descending }
        return Double(whole) == real ? .same : .ascending
    }

    /// Reads text as a value of the other's kind.
    static func parse(_ text: String, like other: AttributeValue) -> AttributeValue? {
        switch other {
        case .date: Moment.milliseconds(text).map { .date($0) }
        case .integer, .real:
            if let integer = Int64(text) {
                .integer(integer)
            } else if let real = Double(text), real.isFinite {
                .real(real)
            } else {
                nil
            }
        case .null, .string: nil
        }
    }

    // MARK: arithmetic

    /// Whole numbers stay whole while they fit; a division by zero, a result that is not a number
    /// and a value that is no number give null, moments apart, to which days are added.
    static func apply(
        _ operation: Arithmetic, _ left: AttributeValue, _ right: AttributeValue
    ) -> AttributeValue {
        if case .integer(let first) = left, case .integer(let second) = right {
            if second == 0, operation == .divide || operation == .remainder { return .null }
            // The one remainder reported as an overflow is 0.
            if second == -1, operation == .remainder { return .integer(0) }
            let (value, overflow) =
                switch operation {
                case .add: first.addingReportingOverflow(second)
                case .subtract: first.subtractingReportingOverflow(second)
                case .multiply: first.multipliedReportingOverflow(by: second)
                case .divide: first.dividedReportingOverflow(by: second)
                case .remainder: first.remainderReportingOverflow(dividingBy: second)
                }
            if !overflow { return .integer(value) }
        }
        if let value = momentArithmetic(operation, left, right) { return value }
        guard let first = real(left), let second = real(right) else { return .null }
        let value =
            switch operation {
            case .add: first + second
            case .subtract: first - second
            case .multiply: first * second
            case .divide: second == 0 ? Double.nan : first / second
            case .remainder: first.truncatingRemainder(dividingBy: second)
            }
        return value.isNaN ? .null : .real(value)
    }

    static func real(_ value: AttributeValue) -> Double? {
        switch value {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        case .null, .string, .date: nil
        }
    }
}
