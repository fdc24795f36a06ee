// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A condition in the form that styles had before expressions: `["==", "class", "river"]`.
indirect enum LegacyFilter: Sendable {
    case all([LegacyFilter])
    case any([LegacyFilter])
    case none([LegacyFilter])
    case compare(StyleOperator, key: String, StyleValue)
    case isIn(key: String, Set<StyleValue>, negated: Bool)
    case has(key: String, negated: Bool)
    case expression(StyleExpression)

    /// Reads a condition about one key; nil for anything else.
    init?(_ name: String, _ parts: [JSON]) {
        guard let key = parts.first?.text else { return nil }
        switch name {
        case "==", "!=", "<", "<=", ">", ">=":
            guard parts.count == 2, let call = StyleOperator(rawValue: name) else { return nil }
            self = .compare(call, key: key, StyleValue(parts[1]))
        case "in", "!in":
            self = .isIn(
                key: key, Set(parts.dropFirst().map { StyleValue($0) }), negated: name == "!in")
        case "has", "!has":
            guard parts.count == 1 else { return nil }
            self = .has(key: key, negated: name == "!has")
        default: return nil
        }
    }

    /// Whether a filter is an expression, as the reference reader decides it.
    static func isExpression(_ json: JSON) -> Bool {
        if case .bool = json { return true }
        let parts = json.elements
        guard let name = parts.first?.text else { return false }
        func isText(_ index: Int) -> Bool { parts[index].text != nil }
        func isList(_ index: Int) -> Bool { if case .array = parts[index] { true } else { false } }
        switch name {
        case "has":
            return parts.count >= 2 && parts[1].text != "$id" && parts[1].text != "$type"
        case "in": return parts.count >= 3 && (!isText(1) || isList(2))
        case "!in", "!has", "none": return false
        case "==", "!=", ">", ">=", "<", "<=":
            return parts.count != 3 || isList(1) || isList(2)
        case "any", "all": return parts.dropFirst().allSatisfy { isExpression($0) }
        default: return true
        }
    }

    func holds(_ scope: inout StyleScope) -> Bool {
        scope.budget.spend(1)
        switch self {
        case .all(let filters): return filters.allSatisfy { $0.holds(&scope) }
        case .any(let filters): return filters.contains { $0.holds(&scope) }
        case .none(let filters): return !filters.contains { $0.holds(&scope) }
        case .compare(let call, let key, let wanted):
            let found = Self.value(key, scope)
            switch call {
            case .equal: return found == wanted
            case .unequal: return found != wanted
            default: return found.flatMap { $0.ordered(call, wanted) } ?? false
            }
        case .isIn(let key, let values, let isNegated):
            return (Self.value(key, scope).map { values.contains($0) } ?? false) != isNegated
        case .has(let key, let isNegated):
            return (Self.value(key, scope) != nil) != isNegated
        case .expression(let expression):
            return (try? expression.evaluate(&scope)) == .flag(true)
        }
    }

    private static func value(_ key: String, _ scope: StyleScope) -> StyleValue? {
        guard let feature = scope.feature else { return nil }
        switch key {
        case "$type": return .text(feature.kind.rawValue)
        case "$id": return feature.id.map { .number(Double($0)) }
        default: return scope.layer?.attribute(key, of: feature)
        }
    }
}

extension StyleValue {
    /// Whether an order holds between two numbers or two texts; nil for other values.
    func ordered(_ call: StyleOperator, _ other: StyleValue) -> Bool? {
        func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
            switch call {
            case .less: left < right
            case .lessOrEqual: left <= right
            case .greater: left > right
            default: left >= right
            }
        }
        switch (self, other) {
        case (.number(let left), .number(let right)): return holds(left, right)
        case (.text(let left), .text(let right)):
            // By UTF-16, as ECMAScript orders texts.
            if left.utf16.elementsEqual(right.utf16) { return holds(0, 0) }
            return holds(left.utf16.lexicographicallyPrecedes(right.utf16) ? 0 : 1, 0.5)
        default: return nil
        }
    }
}
