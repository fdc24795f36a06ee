// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Platform

extension BoundClause {
    /// The clause as a filter of a MapLibre style on the features of vector tiles; nil for a clause
    /// that has none that holds for the same features.
    ///
    /// Translated are comparisons of a field with constants of its kind, the order of texts
    /// excepted, IN, BETWEEN, IS NULL, LIKE with `%` at either end alone, and AND, OR and NOT of
    /// these. The first field is the feature's id; nulls are attributes that are not there.
    ///
    /// - Parameter fields: Those that the clause is bound to.
    public func mapLibreFilter(_ fields: [FieldDescription]) -> JSONTree? {
        MapLibreFilter(fields: fields, columns: columns).filter(condition, true, depth: 0)
    }
}

/// Translates conditions into expressions of MapLibre.
private struct MapLibreFilter {
    /// Deepest nesting of conditions that is translated.
    private static let depthLimit = 30
    /// Whole numbers that MapLibre has exactly.
    private static let exactLimit: Int64 = 1 << 53

    let fields: [FieldDescription]
    let columns: [Int]

    private static let always = JSONTree.array([.string("all")])
    private static let never = JSONTree.array([.string("any")])

    private static func call(_ name: String, _ arguments: JSONTree...) -> JSONTree {
        .array([.string(name)] + arguments)
    }

    /// An expression that holds where the condition is known to be `truth`.
    func filter(_ condition: Condition, _ truth: Bool, depth: Int) -> JSONTree? {
        guard depth < Self.depthLimit else { return nil }
        switch condition {
        case .not(let inner): return filter(inner, !truth, depth: depth + 1)
        case .all(let parts): return joined(parts, truth, truth ? "all" : "any", depth)
        case .any(let parts): return joined(parts, truth, truth ? "any" : "all", depth)
        case .comparison(let comparison, let left, let right):
            let comparison = truth ? comparison : comparison.negated
            if case .literal(let first) = left, case .literal(let second) = right {
                return Evaluation.order(first, second).map(comparison.holds) == true
                    ? Self.always : Self.never
            }
            if let subject = Subject(left, self), case .literal(let value) = right {
                return compared(subject, comparison, value)
            }
            if let subject = Subject(right, self), case .literal(let value) = left {
                return compared(subject, comparison.mirrored, value)
            }
            return nil
        case .isNull(let operand, let negated):
            guard let subject = Subject(operand, self) else { return nil }
            return negated == truth ? subject.isThere : Self.call("!", subject.isThere)
        case .isOneOf(let operand, let items, let negated):
            guard let subject = Subject(operand, self) else { return nil }
            let isWanted = negated != truth
            var parts: [JSONTree] = [.string(isWanted ? "any" : "all")]
            for item in items {
                guard case .literal(let value) = item,
                    let part = compared(subject, isWanted ? .equal : .notEqual, value)
                else { return nil }
                parts.append(part)
            }
            return .array(parts)
        case .isBetween(let operand, let low, let high, let negated):
            guard let subject = Subject(operand, self), case .literal(let low) = low,
                case .literal(let high) = high
            else { return nil }
            let isWanted = negated != truth
            guard let above = compared(subject, isWanted ? .greaterOrEqual : .less, low),
                let below = compared(subject, isWanted ? .lessOrEqual : .greater, high)
            else { return nil }
            return Self.call(isWanted ? "all" : "any", above, below)
        case .isLike(let operand, let pattern, let negated):
            guard let subject = Subject(operand, self), subject.kind == .text,
                case .fixed(let pattern) = pattern, let matches = like(subject, pattern)
            else { return nil }
            let holds = negated != truth ? matches : Self.call("!", matches)
            return Self.call("all", subject.isThere, holds)
        }
    }

    private func joined(
        _ parts: [Condition], _ truth: Bool, _ name: String, _ depth: Int
    ) -> JSONTree? {
        var result: [JSONTree] = [.string(name)]
        for part in parts {
            guard let filter = filter(part, truth, depth: depth + 1) else { return nil }
            result.append(filter)
        }
        return .array(result)
    }

    // MARK: Fields

    /// A field.
    private struct Subject {
        enum Kind { case number, text }

        let kind: Kind
        let value: JSONTree
        let isThere: JSONTree

        /// Nil for anything but a field of numbers or texts.
        init?(_ operand: Operand, _ filter: MapLibreFilter) {
            guard case .field(let reference) = operand,
                filter.columns.indices ~= reference.index
            else { return nil }
            let place = filter.columns[reference.index]
            let field = filter.fields[place]
            switch field.type {
            case .objectID, .smallInteger, .integer, .bigInteger, .single, .double: kind = .number
            case .string: kind = .text
            case .date: return nil
            }
            if place == 0 {
                value = call("id")
                isThere = always
            } else {
                value = call("get", .string(field.name))
                isThere = call("has", .string(field.name))
            }
        }
    }

    private func compared(
        _ subject: Subject, _ comparison: Comparison, _ value: AttributeValue
    ) -> JSONTree? {
        let constant: JSONTree
        switch (subject.kind, value) {
        case (_, .null): return Self.never
        case (.number, .integer(let number)) where number.magnitude < Self.exactLimit:
            constant = .integer(number)
        case (.number, .real(let number)) where number.isFinite: constant = .real(number)
        case (.text, .string(let text)):
            guard comparison == .equal || comparison == .notEqual else { return nil }
            constant = .string(text)
        case (.number, _), (.text, _): return nil
        }
        let name =
            switch comparison {
            case .equal: "=="
            case .notEqual: "!="
            case .less, .lessOrEqual, .greater, .greaterOrEqual: comparison.rawValue
            }
        return Self.call("all", subject.isThere, Self.call(name, subject.value, constant))
    }

    /// A text that begins, ends, or both, with a constant, or has it inside; nil for any other
    /// pattern.
    private func like(_ subject: Subject, _ pattern: LikePattern) -> JSONTree? {
        var elements = pattern.elements[...]
        let isOpenAtStart = elements.first == .run
        if isOpenAtStart { elements = elements.dropFirst() }
        let isOpenAtEnd = elements.last == .run
        if isOpenAtEnd { elements = elements.dropLast() }
        var text = ""
        for element in elements {
            // Counted alike in bytes of UTF-16 and in code points.
            guard case .exactly(let scalar) = element, scalar.value <= 0xFFFF else { return nil }
            text.unicodeScalars.append(scalar)
        }
        let count = Int64(text.unicodeScalars.count)
        switch (isOpenAtStart, isOpenAtEnd) {
        case (false, false): return Self.call("==", subject.value, .string(text))
        case _ where count == 0: return Self.always
        case (true, true): return Self.call("in", .string(text), subject.value)
        case (false, true):
            return Self.call(
                "==", Self.call("slice", subject.value, .integer(0), .integer(count)),
                .string(text))
        case (true, false):
            return Self.call(
                "==", Self.call("slice", subject.value, .integer(-count)), .string(text))
        }
    }
}
