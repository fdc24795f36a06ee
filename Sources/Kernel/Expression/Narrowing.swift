// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// A weakened form of a clause for another server: SQL that holds wherever the clause does.
///
/// Written from the parsed clause, so none of its text is passed on. Other databases compare text
/// without regard to letter case, round numbers, read moments in a time zone of their own and have
/// their own patterns: conditions that they could evaluate more strictly than the clause are
/// weakened, or left out. The caller must evaluate the clause on the result.
public struct Narrowing: Sendable, Hashable {
    /// Largest size of the SQL in bytes; conditions beyond it are left out.
    public static let lengthLimit = 8_192

    /// SQL; nil for no restriction, so that every feature may match.
    public var sql: String?
    /// Whether the SQL holds exactly where the clause does, on any server.
    public var isExact: Bool

    /// Every feature counts.
    public static let everything = Narrowing(sql: nil, isExact: true)
    /// No restriction.
    static let unknown = Narrowing(sql: nil, isExact: false)
    /// No feature matches.
    static let nothing = Narrowing(sql: "1=0", isExact: true)

    /// The conjunction of these.
    public static func conjunction(_ parts: some Sequence<Narrowing>) -> Narrowing {
        var result = everything
        for part in parts {
            result.isExact = result.isExact && part.isExact
            guard let sql = part.sql else { continue }
            let joined = result.sql.map { $0 + " AND " + sql } ?? sql
            if joined.utf8.count <= lengthLimit {
                result.sql = joined
            } else {
                result.isExact = false
            }
        }
        return result
    }

    /// The disjunction of these.
    public static func disjunction(_ parts: some Sequence<Narrowing>) -> Narrowing {
        var texts: [String] = []
        var isExact = true
        for part in parts where part != nothing {
            guard let sql = part.sql else { return part.isExact ? everything : unknown }
            isExact = isExact && part.isExact
            texts.append(sql)
        }
        if texts.isEmpty { return nothing }
        let sql = texts.count == 1 ? texts[0] : "(" + texts.joined(separator: " OR ") + ")"
        return sql.utf8.count <= lengthLimit ? Narrowing(sql: sql, isExact: isExact) : unknown
    }
}

extension BoundClause {
    /// The narrowing of this clause, bound to `fields`.
    public func narrowing(_ fields: [FieldDescription]) -> Narrowing {
        Narrower(fields: fields, columns: columns).narrowing(condition, true, depth: 0)
    }
}

/// Weakens a condition to SQL with the same meaning on every server.
struct Narrower {
    /// Largest depth of nested conditions; deeper ones are dropped.
    private static let depthLimit = 30
    /// The most items of a list; of a longer one its bounds are left.
    private static let itemLimit = 200
    /// The most patterns in place of a list of texts.
    private static let patternLimit = 20
    /// Relative and absolute tolerance between a number that a server shows and the one it
    /// compares.
    private static let slack = 1e-6
    /// By how much two readings of a moment may differ: a day is more than any time zone.
    private static let momentSlack: Int64 = 86_400_000

    let fields: [FieldDescription]
    /// By the clause's field number: the place among `fields`.
    let columns: [Int]

    /// SQL that holds wherever the condition is known to be `truth`.
    func narrowing(_ condition: Condition, _ truth: Bool, depth: Int) -> Narrowing {
        guard depth < Self.depthLimit else { return .unknown }
        switch condition {
        case .not(let inner): return narrowing(inner, !truth, depth: depth + 1)
        case .all(let parts), .any(let parts):
            let narrowings = parts.lazy.map { narrowing($0, truth, depth: depth + 1) }
            var isAll = truth
            if case .any = condition { isAll.toggle() }
            return isAll ? .conjunction(narrowings) : .disjunction(narrowings)
        case .comparison(let comparison, let left, let right):
            let comparison = truth ? comparison : comparison.negated
            if case .literal(let first) = left, case .literal(let second) = right {
                let holds = Evaluation.order(first, second).map(comparison.holds) == true
                return holds ? .everything : .nothing
            }
            if let left = subject(left), case .literal(let value) = right {
                return compared(left, comparison, value)
            }
            if let right = subject(right), case .literal(let value) = left {
                return compared(right, comparison.mirrored, value)
            }
            return .unknown
        case .isNull(let operand, let negated):
            guard let subject = subject(operand), subject.letterCase == nil else {
                return .unknown
            }
            // NaN is null here, but not on servers.
            guard negated != truth else {
                return Narrowing(sql: subject.isThere.sql, isExact: subject.kind != .real)
            }
            return subject.kind == .real
                ? .unknown : Narrowing(sql: "\(subject.sql) IS NULL", isExact: true)
        case .isOneOf(let operand, let items, let negated):
            guard let subject = subject(operand) else { return .unknown }
            return isOneOf(subject, items, negated == truth)
        case .isBetween(let operand, let low, let high, let negated):
            guard let subject = subject(operand), case .literal(let low) = low,
                case .literal(let high) = high
            else { return .unknown }
            return negated != truth
                ? .conjunction([
                    compared(subject, .greaterOrEqual, low), compared(subject, .lessOrEqual, high),
                ])
                : .disjunction([compared(subject, .less, low), compared(subject, .greater, high)])
        case .isLike(let operand, let pattern, let negated):
            guard let subject = subject(operand) else { return .unknown }
            guard negated != truth, case .fixed(let pattern) = pattern else {
                return subject.isThere
            }
            return isLike(subject, pattern)
        }
    }

    // MARK: Fields

    /// The compared operand: a field, perhaps in one letter case.
    private struct Subject {
        enum Kind {
            case whole, real, text, moment
        }
        enum LetterCase {
            case upper, lower
        }
        var name: String
        var type: FieldType
        var letterCase: LetterCase?

        var kind: Kind {
            switch type {
            case .objectID, .smallInteger, .integer, .bigInteger: .whole
            case .single, .double: .real
            case .string: .text
            case .date: .moment
            }
        }

        var sql: String {
            switch letterCase {
            case .upper: "UPPER(\(name))"
            case .lower: "LOWER(\(name))"
            case nil: name
            }
        }

        /// Holds for every feature with a value.
        var isThere: Narrowing { Narrowing(sql: "\(name) IS NOT NULL", isExact: false) }
    }

    private func subject(_ operand: Operand) -> Subject? {
        switch operand {
        case .field(let reference):
            let field = fields[columns[reference.index]]
            guard field.name.isPlainName else { return nil }
            return Subject(name: field.name, type: field.type)
        case .call(let function, let arguments) where function == .upper || function == .lower:
            guard case .field = arguments[0], var subject = subject(arguments[0]),
                subject.kind == .text
            else { return nil }
            subject.letterCase = function == .upper ? .upper : .lower
            return subject
        case .literal, .call, .negated, .arithmetic, .later, .part, .cast: return nil
        }
    }

    // MARK: Comparisons

    private func compared(
        _ subject: Subject, _ comparison: Comparison, _ value: AttributeValue
    ) -> Narrowing {
        // A comparison with null is UNKNOWN.
        if value == .null { return .nothing }
        let there = subject.isThere
        switch subject.kind {
        case .whole:
            switch Self.number(value) {
            case .integer(let whole): return wholeCompared(subject, comparison, whole)
            case .real(let real): return wholeCompared(subject, comparison, real)
            default: return there
            }
        case .real:
            guard let number = Self.number(value)?.double, abs(number) < 1e30,
                comparison != .notEqual
            else { return there }
            let slack = max(abs(number), 1) * Self.slack
            var bounds: [String] = []
            if comparison.allowsMore || comparison == .equal {
                bounds.append("\(subject.sql) >= \(number - slack)")
            }
            if comparison.allowsLess || comparison == .equal {
                bounds.append("\(subject.sql) <= \(number + slack)")
            }
            return Narrowing(sql: bounds.joined(separator: " AND "), isExact: false)
        case .moment:
            guard let moment = Self.moment(value), comparison != .notEqual else { return there }
            var bounds: [String] = []
            if comparison.allowsMore || comparison == .equal {
                guard let text = Self.timestamp(moment, plus: -Self.momentSlack) else {
                    return there
                }
                bounds.append("\(subject.sql) >= \(text)")
            }
            if comparison.allowsLess || comparison == .equal {
                guard let text = Self.timestamp(moment, plus: Self.momentSlack) else {
                    return there
                }
                bounds.append("\(subject.sql) <= \(text)")
            }
            return Narrowing(sql: bounds.joined(separator: " AND "), isExact: false)
        case .text:
            guard comparison == .equal, case .string(let text) = value else { return there }
            return equals(subject, text)
        }
    }

    private func wholeCompared(
        _ subject: Subject, _ comparison: Comparison, _ number: Int64
    ) -> Narrowing {
        // A comparison with null is UNKNOWN.
        let isHeld = subject.type == .bigInteger ? number != .min : Int32(exactly: number) != nil
        guard isHeld else { return .unknown }
        return Narrowing(sql: "\(subject.sql) \(comparison.rawValue) \(number)", isExact: true)
    }

    private func wholeCompared(
        _ subject: Subject, _ comparison: Comparison, _ number: Double
    ) -> Narrowing {
        if let whole = Int64(exactly: number) { return wholeCompared(subject, comparison, whole) }
        guard let below = Int64(exactly: number.rounded(.down)) else { return .unknown }
        return switch comparison {
        case .equal: .nothing
        case .notEqual: Narrowing(sql: subject.isThere.sql, isExact: true)
        case .less, .lessOrEqual: wholeCompared(subject, .lessOrEqual, below)
        case .greater, .greaterOrEqual: wholeCompared(subject, .greater, below)
        }
    }

    private static func number(_ value: AttributeValue) -> AttributeValue? {
        if case .string(let text) = value { return Evaluation.parse(text, like: .integer(0)) }
        return value
    }

    private static func moment(_ value: AttributeValue) -> Int64? {
        switch value {
        case .date(let moment), .integer(let moment): moment
        case .string(let text): Moment.milliseconds(text)
        case .real, .null: nil
        }
    }

    /// `TIMESTAMP '…'` to the second; nil for a year without four digits.
    private static func timestamp(_ moment: Int64, plus slack: Int64) -> String? {
        // From the year 1000 to the end of 9998.
        guard -30_610_000_000_000...253_370_000_000_000 ~= moment else { return nil }
        let text = CalendarClock(milliseconds: moment + slack).text
        return "TIMESTAMP '\(text.prefix(10)) \(text.dropFirst(11).prefix(8))'"
    }

    private func isOneOf(_ subject: Subject, _ items: [Operand], _ negated: Bool) -> Narrowing {
        var values: [AttributeValue] = []
        for item in items {
            guard case .literal(let value) = item else { return .unknown }
            values.append(value)
        }
        if negated {
            // With a null in the list, NOT IN is never true.
            if values.contains(.null) { return .nothing }
            guard subject.kind == .whole, values.count <= Self.itemLimit else {
                return subject.isThere
            }
            return .conjunction(values.map { compared(subject, .notEqual, $0) })
        }
        values.removeAll { $0 == .null }
        if subject.kind == .text {
            guard values.count <= Self.patternLimit else {
                return subject.isThere
            }
            return .disjunction(values.map { compared(subject, .equal, $0) })
        }
        guard values.count > Self.itemLimit || subject.kind != .whole else {
            let parts = values.map { compared(subject, .equal, $0) }
            let numbers = values.compactMap { Self.number($0)?.whole }
            guard numbers.count == values.count, parts.allSatisfy({ $0.sql != nil }) else {
                return .disjunction(parts)
            }
            let list = numbers.map { "\($0)" }.joined(separator: ",")
            return numbers.isEmpty
                ? .nothing : Narrowing(sql: "\(subject.sql) IN (\(list))", isExact: true)
        }
        return between(subject, values)
    }

    /// The range of the values, where they have an order.
    private func between(_ subject: Subject, _ values: [AttributeValue]) -> Narrowing {
        let known = values.compactMap { value -> AttributeValue? in
            subject.kind == .moment
                ? Self.moment(value).map { .integer($0) } : Self.number(value)
        }
        guard known.count == values.count, var least = known.first else { return .unknown }
        var most = least
        for value in known {
            if Evaluation.order(value, least) == .ascending { least = value }
            if Evaluation.order(value, most) == .descending { most = value }
        }
        var range = Narrowing.conjunction([
            compared(subject, .greaterOrEqual, least), compared(subject, .lessOrEqual, most),
        ])
        range.isExact = false
        return range
    }

    // MARK: Patterns

    private func equals(_ subject: Subject, _ text: String) -> Narrowing {
        let scalars = Array(text.unicodeScalars)
        if !scalars.isEmpty, scalars.allSatisfy({ Self.isPlain($0, subject.letterCase) }) {
            return Narrowing(sql: "\(subject.sql) = \(Self.quoted(text))", isExact: false)
        }
        return matches(subject, scalars.map { Self.isPlain($0, subject.letterCase) ? $0 : nil })
    }

    private func isLike(_ subject: Subject, _ pattern: LikePattern) -> Narrowing {
        let fixed = pattern.fixedScalars
        guard subject.kind == .text else {
            // All characters in which a number is written: digits, signs and the letters of an
            // exponent.
            let written = "+-.0123456789einfa".unicodeScalars
            let isNever = fixed.contains { $0.map { !written.contains($0) } ?? false }
            return isNever ? .nothing : .unknown
        }
        return matches(
            subject,
            fixed.map { scalar in
                scalar.flatMap { Self.isPlain($0, subject.letterCase) ? $0 : nil }
            })
    }

    /// A LIKE pattern of these characters, with a wildcard for each nil.
    private func matches(_ subject: Subject, _ scalars: [Unicode.Scalar?]) -> Narrowing {
        var text = String.UnicodeScalarView()
        var isFixed = false
        for scalar in scalars {
            // The only pattern syntax common to all servers.
            if let scalar, !"%_[]^!\\".unicodeScalars.contains(scalar) {
                text.append(scalar)
                isFixed = true
            } else if text.last != "%" {
                text.append("%")
            }
        }
        guard isFixed else { return subject.isThere }
        return Narrowing(
            sql: "\(subject.sql) LIKE \(Self.quoted(String(text)))", isExact: false)
    }

    /// Letters into which some letter beyond ASCII turns: another server may leave that one as it
    /// is.
    private static let fromAfarUpper = Set("AFHIJLNSTWY".unicodeScalars)
    private static let fromAfarLower = Set("ik".unicodeScalars)

    /// Whether every server takes the character literally, in a text converted to that letter case.
    private static func isPlain(
        _ scalar: Unicode.Scalar, _ letterCase: Subject.LetterCase?
    ) -> Bool {
        guard " "..."~" ~= scalar, scalar != "\\" else { return false }
        return switch letterCase {
        case nil: true
        case .upper: !fromAfarUpper.contains(scalar) && !("a"..."z" ~= scalar)
        case .lower: !fromAfarLower.contains(scalar) && !("A"..."Z" ~= scalar)
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}

extension Comparison {
    /// The comparison that holds when this does not.
    var negated: Comparison {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }

    /// The comparison with its operands swapped.
    var mirrored: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    fileprivate var allowsMore: Bool { self == .greater || self == .greaterOrEqual }
    fileprivate var allowsLess: Bool { self == .less || self == .lessOrEqual }
}

extension AttributeValue {
    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .string, .date: nil
        }
    }

    fileprivate var whole: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        case .null, .string, .date: nil
        }
    }
}

extension String {
    /// Words that mean something else in some SQL.
    private static let reserved: Set<String> = [
        "ALL", "AND", "ANY", "AS", "BETWEEN", "BY", "CASE", "CAST", "CHECK", "COLUMN",
        "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "DATE", "DAY", "DEFAULT", "DESC",
        "DISTINCT", "ELSE", "END", "ESCAPE", "EXISTS", "FALSE", "FROM", "GROUP", "HAVING", "IN",
        "INTERVAL", "IS", "LEVEL", "LIKE", "LIMIT", "LOWER", "NOT", "NULL", "NUMBER", "OFFSET",
        "ON", "OR", "ORDER", "ROW", "ROWNUM", "SELECT", "SIZE", "SOME", "TABLE", "THEN", "TIME",
        "TIMESTAMP", "TO", "TRUE", "UNION", "UPPER", "USER", "USING", "VALUES", "WHEN", "WHERE",
        "WITH",
    ]

    /// Whether every server takes it for a field's name as it is.
    public var isPlainName: Bool {
        guard let first = utf8.first, Self.isLetter(first), utf8.count <= 128 else { return false }
        return utf8.allSatisfy { Self.isLetter($0) || 48...57 ~= $0 || $0 == 46 }
            && !Self.reserved.contains(uppercased())
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        65...90 ~= byte || 97...122 ~= byte || byte == 95
    }
}
