// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Recursive descent over the grammar in `Docs/identify.md`, lowest precedence first.
struct Parser {
    /// The kind of a parsed term.
    private enum Term {
        case condition(Condition)
        case operand(Operand)
        /// Milliseconds to be added to a moment.
        case interval(Int64)
    }

    private var tokenizer: Tokenizer
    private var token: Token
    private var depth = 0
    /// The fields met so far, as written; equal names (case apart) share a place.
    private(set) var fieldNames: [String] = []
    private var fieldPlaces: [String: Int] = [:]
    /// The aggregates over groups of features, each once; always empty where they are not allowed.
    private(set) var aggregates: [WhereClause.Aggregate] = []
    private let allowsAggregates: Bool

    init(_ text: String, allowsAggregates: Bool = false) throws(Failure) {
        self.allowsAggregates = allowsAggregates
        tokenizer = Tokenizer(text)
        token = try tokenizer.next()
    }

    mutating func parse() throws(Failure) -> Condition {
        let start = token
        let result = try condition(try disjunction(), from: start)
        guard token.kind == .end else { throw expected("AND, OR or the end of the clause") }
        return result
    }

    mutating func parseValue() throws(Failure) -> Operand {
        let result = try nextOperand()
        guard token.kind == .end else { throw expected("an operator or the end of the expression") }
        return result
    }

    // MARK: conditions

    private mutating func disjunction() throws(Failure) -> Term {
        try chain("OR", { parser throws(Failure) in try parser.conjunction() }, Condition.any)
    }

    private mutating func conjunction() throws(Failure) -> Term {
        try chain("AND", { parser throws(Failure) in try parser.negation() }, Condition.all)
    }

    private mutating func chain(
        _ keyword: String, _ part: (inout Parser) throws(Failure) -> Term,
        _ join: ([Condition]) -> Condition
    ) throws(Failure) -> Term {
        var start = token
        let first = try part(&self)
        guard token.keyword == keyword else { return first }
        var parts = [try condition(first, from: start)]
        while try skip(keyword) {
            start = token
            parts.append(try condition(try part(&self), from: start))
        }
        return .condition(join(parts))
    }

    private mutating func negation() throws(Failure) -> Term {
        guard token.keyword == "NOT" else { return try predicate() }
        try descend()
        defer { depth -= 1 }
        try advance()
        let start = token
        return .condition(.not(try condition(try negation(), from: start)))
    }

    private mutating func predicate() throws(Failure) -> Term {
        let start = token
        let left = try sum()
        if case .symbol(let symbol) = token.kind, let comparison = Comparison(rawValue: symbol) {
            let operand = try operand(left, from: start)
            try advance()
            return .condition(.comparison(comparison, operand, try nextOperand()))
        }
        switch token.keyword {
        case "IS":
            let operand = try operand(left, from: start)
            try advance()
            let negated = try skip("NOT")
            try require("NULL")
            return .condition(.isNull(operand, negated: negated))
        case "NOT", "IN", "BETWEEN", "LIKE":
            let operand = try operand(left, from: start)
            return .condition(try test(of: operand, negated: try skip("NOT")))
        default: return left
        }
    }

    private mutating func test(
        of operand: Operand, negated: Bool
    ) throws(Failure) -> Condition {
        if try skip("IN") {
            return .isOneOf(operand, try list(), negated: negated)
        } else if try skip("BETWEEN") {
            let low = try nextOperand()
            try require("AND")
            return .isBetween(operand, low, try nextOperand(), negated: negated)
        } else if try skip("LIKE") {
            return .isLike(operand, try pattern(), negated: negated)
        }
        throw expected("IN, BETWEEN or LIKE after NOT")
    }

    private mutating func list() throws(Failure) -> [Operand] {
        try require(symbol: "(")
        var items = [try nextOperand()]
        while token.kind == .symbol(",") {
            try advance()
            items.append(try nextOperand())
        }
        try require(symbol: ")")
        return items
    }

    private mutating func pattern() throws(Failure) -> LikeOperand {
        let start = token
        let operand = try nextOperand()
        var escape: Unicode.Scalar?
        if try skip("ESCAPE") {
            guard case .string(let text) = token.kind, text.unicodeScalars.count == 1 else {
                throw expected("one character in quotes after ESCAPE")
            }
            escape = text.unicodeScalars.first
            try advance()
        }
        guard case .literal(.string(let text)) = operand else {
            return .computed(operand, escape: escape)
        }
        guard let pattern = LikePattern(text, escape: escape) else {
            throw Tokenizer.failure(
                start.position, "the escape character must stand before '%', '_' or itself")
        }
        return .fixed(pattern)
    }

    // MARK: values

    private mutating func nextOperand() throws(Failure) -> Operand {
        let start = token
        return try operand(try sum(), from: start)
    }

    private mutating func sum() throws(Failure) -> Term {
        try series(["+", "-", "||"]) { parser throws(Failure) in
            try parser.series(["*", "/", "%"]) { parser throws(Failure) in try parser.unary() }
        }
    }

    /// Left-associative; every operator counts as one level of depth, because the tree grows by
    /// one.
    private mutating func series(
        _ symbols: [String], _ part: (inout Parser) throws(Failure) -> Term
    ) throws(Failure) -> Term {
        let start = token
        var left = try part(&self)
        var levels = 0
        defer { depth -= levels }
        while case .symbol(let symbol) = token.kind, symbols.contains(symbol) {
            try descend()
            levels += 1
            let operand = try operand(left, from: start)
            try advance()
            let next = token
            left = .operand(try joined(operand, symbol, try part(&self), from: next))
        }
        return left
    }

    /// Constant folding: days added to a constant moment.
    private func joined(
        _ left: Operand, _ symbol: String, _ right: Term, from start: Token
    ) throws(Failure) -> Operand {
        switch (symbol, right) {
        case ("+", .interval(let milliseconds)): return later(left, by: milliseconds)
        case ("-", .interval(let milliseconds)): return later(left, by: -milliseconds)
        case ("||", _):
            return .call(.concatenation, [left, try operand(right, from: start)])
        default:
            let right = try operand(right, from: start)
            guard let operation = Arithmetic(rawValue: symbol) else {
                throw expected("an operator")
            }
            if case .literal(let moment) = left, case .date = moment,
                case .literal(let days) = right, days != .null
            {
                return .literal(Evaluation.apply(operation, moment, days))
            }
            return .arithmetic(operation, left, right)
        }
    }

    private func later(_ operand: Operand, by milliseconds: Int64) -> Operand {
        guard case .literal(let moment) = operand, case .date = moment else {
            return .later(operand, milliseconds: milliseconds)
        }
        return .literal(Evaluation.later(moment, by: milliseconds))
    }

    private mutating func unary() throws(Failure) -> Term {
        guard token.kind == .symbol("-") || token.kind == .symbol("+") else {
            return try primary()
        }
        let isMinus = token.kind == .symbol("-")
        try descend()
        defer { depth -= 1 }
        try advance()
        let start = token
        switch try operand(try unary(), from: start) {
        case .literal(.integer(let value)) where isMinus && value != .min:
            return .operand(.literal(.integer(-value)))
        case .literal(.real(let value)) where isMinus:
            return .operand(.literal(value == 0x1p63 ? .integer(.min) : .real(-value)))
        case let operand: return .operand(isMinus ? .negated(operand) : operand)
        }
    }

    private mutating func primary() throws(Failure) -> Term {
        let current = token
        switch current.kind {
        case .string(let text):
            try advance()
            return .operand(.literal(.string(text)))
        case .integer(let value):
            try advance()
            return .operand(.literal(.integer(value)))
        case .real(let value):
            try advance()
            return .operand(.literal(.real(value)))
        case .quotedName(let name):
            try advance()
            return .operand(field(name, current.position))
        case .symbol("("):
            try descend()
            defer { depth -= 1 }
            try advance()
            let inner = try disjunction()
            try require(symbol: ")")
            return inner
        case .word(let word): return try named(word, current)
        case .symbol, .end: throw expected("a field or a value")
        }
    }

    private mutating func named(_ word: String, _ start: Token) throws(Failure) -> Term {
        let keyword = word.uppercased()
        guard !Self.reserved.contains(keyword) else { throw expected("a field or a value") }
        try advance()
        switch (keyword, token.kind) {
        case ("NULL", _): return .operand(.literal(.null))
        case ("CURRENT_DATE", _), ("CURRENT_TIMESTAMP", _):
            throw Tokenizer.failure(
                start.position,
                "\(keyword) is the moment of a request, and a clause that is kept has none: "
                    + "expected a date such as DATE '2024-02-29'")
        case ("DATE", .string(let text)), ("TIMESTAMP", .string(let text)):
            guard let moment = Moment.milliseconds(text) else {
                throw expected(
                    keyword == "DATE"
                        ? "a date such as '2024-02-29' (or with a time, UTC) after DATE"
                        : "a time such as '2024-02-29 13:00:00' (UTC) after TIMESTAMP")
            }
            try advance()
            return .operand(.literal(.date(moment)))
        case ("INTERVAL", .string(let text)):
            let position = token.position
            try advance()
            return .interval(try interval(text, position))
        case (_, .symbol("(")) where allowsAggregates && Self.aggregates.contains(keyword):
            return .operand(try aggregate(keyword, start.position))
        case (_, .symbol("(")): return .operand(try function(keyword, start))
        default: return .operand(field(word, start.position))
        }
    }

    /// Registers an aggregate, which then counts as a field of the group.
    private mutating func aggregate(
        _ function: String, _ position: Int
    ) throws(Failure) -> Operand {
        try require(symbol: "(")
        let name: String
        switch token.kind {
        case .quotedName(let text): name = text
        case .word(let text) where !Self.reserved.contains(text.uppercased()): name = text
        case .symbol("*") where function == "COUNT": name = "*"
        default: throw expected("a field")
        }
        try advance()
        try require(symbol: ")")
        let aggregate = WhereClause.Aggregate(function: function, field: name)
        let key = WhereClause.key(aggregate.name)
        if !aggregates.contains(where: { WhereClause.key($0.name) == key }) {
            aggregates.append(aggregate)
        }
        return field(aggregate.name, position)
    }

    private mutating func field(_ name: String, _ position: Int) -> Operand {
        let key = WhereClause.key(name)
        let place = fieldPlaces[key] ?? fieldNames.count
        if place == fieldNames.count {
            fieldNames.append(name)
            fieldPlaces[key] = place
        }
        return .field(FieldReference(index: place, position: position))
    }

    // MARK: functions

    private mutating func function(_ name: String, _ start: Token) throws(Failure) -> Operand {
        try descend()
        defer { depth -= 1 }
        try require(symbol: "(")
        let operand: Operand
        switch name {
        case "CAST": operand = try cast()
        case "EXTRACT": operand = try extract()
        case "MOD":
            let arguments = try arguments(of: name, counts: 2...2, start)
            operand = .arithmetic(.remainder, arguments[0], arguments[1])
        case "POSITION": operand = try position(start)
        case "SUBSTRING": operand = try substring(start)
        case "TRIM": operand = try trim()
        default:
            guard let function = ScalarFunction(rawValue: name) else {
                let known = ScalarFunction.names + (allowsAggregates ? Self.aggregates : [])
                throw Tokenizer.failure(
                    start.position,
                    "unknown function \(start.text): expected " + known.joined(separator: ", "))
            }
            operand = .call(
                function, try arguments(of: name, counts: function.counts, start))
        }
        try require(symbol: ")")
        return operand
    }

    /// Values with commas between them, as many as the function takes.
    private mutating func arguments(
        of name: String, counts: ClosedRange<Int>, _ start: Token, after first: Operand? = nil
    ) throws(Failure) -> [Operand] {
        var arguments: [Operand] = []
        if let first { arguments.append(first) } else { arguments.append(try nextOperand()) }
        while isSymbol(",") {
            try advance()
            arguments.append(try nextOperand())
        }
        guard counts.contains(arguments.count) else {
            let expected =
                counts.count == 1
                ? "\(counts.lowerBound)"
                : counts.upperBound == .max
                    ? "\(counts.lowerBound) or more"
                    : "\(counts.lowerBound) or \(counts.upperBound)"
            throw Tokenizer.failure(
                start.position,
                "\(name) has \(arguments.count) values in parentheses: expected \(expected)")
        }
        return arguments
    }

    /// `value AS type` and, of text, how long it may be.
    private mutating func cast() throws(Failure) -> Operand {
        let operand = try nextOperand()
        try require("AS")
        guard let type = token.keyword.flatMap(CastType.init(keyword:)) else {
            throw expected("INTEGER, FLOAT, VARCHAR, DATE or TIMESTAMP")
        }
        try advance()
        guard case .text = type, isSymbol("(") else { return .cast(operand, to: type) }
        try advance()
        guard case .integer(let limit) = token.kind, limit > 0 else {
            throw expected("how many characters the text has at most")
        }
        try advance()
        try require(symbol: ")")
        return .cast(operand, to: .text(limit: Int(limit)))
    }

    /// `YEAR FROM value`.
    private mutating func extract() throws(Failure) -> Operand {
        guard let part = token.keyword.flatMap(MomentPart.init) else {
            throw expected(MomentPart.allCases.map(\.rawValue).joined(separator: ", "))
        }
        try advance()
        try require("FROM")
        return .part(part, of: try nextOperand())
    }

    /// `text, text` or `text IN text`.
    private mutating func position(_ start: Token) throws(Failure) -> Operand {
        let needle = try nextOperand()
        guard isSymbol(",") || token.keyword == "IN" else {
            throw expected("',' or IN and the text to look in")
        }
        try advance()
        return .call(.position, [needle, try nextOperand()])
    }

    /// `text, start[, length]`, or `text FROM start [FOR length]`.
    private mutating func substring(_ start: Token) throws(Failure) -> Operand {
        let function = ScalarFunction.substring
        let text = try nextOperand()
        guard try skip("FROM") else {
            return .call(
                function,
                try arguments(
                    of: function.rawValue, counts: function.counts, start, after: text))
        }
        var arguments = [text, try nextOperand()]
        if try skip("FOR") { arguments.append(try nextOperand()) }
        return .call(function, arguments)
    }

    /// `text`, or `[BOTH | LEADING | TRAILING] ['characters'] FROM text`.
    private mutating func trim() throws(Failure) -> Operand {
        let sides: [String: ScalarFunction] = [
            "BOTH": .trimmed, "LEADING": .trimmedAtStart, "TRAILING": .trimmedAtEnd,
        ]
        let space = Operand.literal(.string(" "))
        let side = token.keyword.flatMap { sides[$0] }
        if side != nil { try advance() }
        if side != nil, try skip("FROM") {
            return .call(side ?? .trimmed, [try nextOperand(), space])
        }
        let first = try nextOperand()
        guard try skip("FROM") else {
            guard side == nil else { throw expected("FROM") }
            return .call(.trimmed, [first, space])
        }
        return .call(side ?? .trimmed, [try nextOperand(), first])
    }

    /// `DAY`, or `DAY TO SECOND`, after the text of an INTERVAL.
    private mutating func interval(
        _ text: String, _ position: Int
    ) throws(Failure) -> Int64 {
        let first = try unit(from: .day)
        let last = try skip("TO") ? try unit(from: first) : first
        guard let milliseconds = Interval.milliseconds(text, from: first, to: last) else {
            throw Tokenizer.failure(
                position,
                "the INTERVAL '\(text.prefix(40))' has another form: expected such as '3' DAY, "
                    + "'12:30' HOUR TO MINUTE or '3 05:32:28.5' DAY TO SECOND")
        }
        return milliseconds
    }

    private mutating func unit(from longest: Interval.Unit) throws(Failure) -> Interval.Unit {
        let units = longest.andShorter
        guard let unit = token.keyword.flatMap(Interval.Unit.init), units.contains(unit) else {
            throw expected(units.map(\.rawValue).joined(separator: ", "))
        }
        try advance()
        return unit
    }

    // MARK: tokens

    private static let aggregates = ["COUNT", "SUM", "MIN", "MAX", "AVG", "STDDEV", "VAR"]

    private static let reserved: Set<String> = [
        "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ESCAPE", "IS",
    ]

    private mutating func advance() throws(Failure) { token = try tokenizer.next() }

    private mutating func skip(_ keyword: String) throws(Failure) -> Bool {
        guard token.keyword == keyword else { return false }
        try advance()
        return true
    }

    private mutating func require(_ keyword: String) throws(Failure) {
        guard try skip(keyword) else { throw expected(keyword) }
    }

    private mutating func require(symbol: String) throws(Failure) {
        guard token.kind == .symbol(symbol) else { throw expected("'\(symbol)'") }
        try advance()
    }

    private mutating func descend() throws(Failure) {
        depth += 1
        guard depth <= WhereClause.depthLimit else {
            throw Tokenizer.failure(
                token.position, "nested deeper than \(WhereClause.depthLimit) levels")
        }
    }

    private func expected(_ what: String) -> Failure {
        Tokenizer.failure(token.position, "expected \(what), found \(token.text)")
    }

    private func isSymbol(_ symbol: String) -> Bool { token.kind == .symbol(symbol) }

    private func condition(_ term: Term, from start: Token) throws(Failure) -> Condition {
        guard case .condition(let condition) = term else {
            throw Tokenizer.failure(
                start.position,
                "\(start.text) begins a value where a condition such as NAME = 'x' was expected")
        }
        return condition
    }

    private func operand(_ term: Term, from start: Token) throws(Failure) -> Operand {
        switch term {
        case .operand(let operand): return operand
        case .condition:
            throw Tokenizer.failure(
                start.position,
                "\(start.text) begins a condition where a field or a value was expected")
        case .interval:
            throw Tokenizer.failure(
                start.position,
                "an INTERVAL stands after a date and + or -, as in "
                    + "CURRENT_TIMESTAMP - INTERVAL '3' DAY")
        }
    }
}
