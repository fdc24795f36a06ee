// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A WHERE clause over the attributes of one feature.
///
/// What is unknown, because of null, does not hold, and its opposite neither.
indirect enum LocalCondition {
    indirect enum Operand {
        case field(String)
        case value(LocalValue)
        case upper(Operand)
        case lower(Operand)
    }

    case compare(Operand, String, Operand)
    case among(Operand, [Operand])
    case like(Operand, String)
    case isNull(Operand)
    case not(LocalCondition)
    case both(LocalCondition, LocalCondition)
    case either(LocalCondition, LocalCondition)

    /// Nil for an empty clause; throws ``CairnError`` (`unsupported`) for one that is not
    /// understood.
    init?(_ clause: String) throws {
        var reader = try Reader(clause)
        guard !reader.isAtEnd else { return nil }
        self = try reader.disjunction(0)
        guard reader.isAtEnd else { throw reader.failure }
    }

    func holds(_ attributes: [String: any Sendable]) -> Bool { truth(attributes) == true }

    private func truth(_ attributes: [String: any Sendable]) -> Bool? {
        switch self {
        case .compare(let left, let sign, let right):
            let (left, right) = (Self.value(left, attributes), Self.value(right, attributes))
            if left == .null || right == .null { return nil }
            return switch sign {
            case "=": left == right
            case "<>": left != right
            case "<": LocalValue.isLess(left, right)
            case ">": LocalValue.isLess(right, left)
            case "<=": !LocalValue.isLess(right, left)
            default: !LocalValue.isLess(left, right)
            }
        case .among(let operand, let list):
            let value = Self.value(operand, attributes)
            if value == .null { return nil }
            return list.contains { Self.value($0, attributes) == value }
        case .like(let operand, let pattern):
            guard case .text(let text) = Self.value(operand, attributes) else { return nil }
            return Self.matches(Array(text), Array(pattern))
        case .isNull(let operand): return Self.value(operand, attributes) == .null
        case .not(let condition): return condition.truth(attributes).map { !$0 }
        case .both(let left, let right):
            let (left, right) = (left.truth(attributes), right.truth(attributes))
            if left == false || right == false { return false }
            return left == nil || right == nil ? nil : true
        case .either(let left, let right):
            let (left, right) = (left.truth(attributes), right.truth(attributes))
            if left == true || right == true { return true }
            return left == nil || right == nil ? nil : false
        }
    }

    private static func value(
        _ operand: Operand, _ attributes: [String: any Sendable]
    ) -> LocalValue {
        switch operand {
        case .value(let value): return value
        case .field(let name):
            if let value = attributes[name] { return LocalValue(value) }
            let lowered = name.lowercased()
            return LocalValue(attributes.first { $0.key.lowercased() == lowered }?.value)
        case .upper(let operand):
            guard case .text(let text) = value(operand, attributes) else { return .null }
            return .text(text.uppercased())
        case .lower(let operand):
            guard case .text(let text) = value(operand, attributes) else { return .null }
            return .text(text.lowercased())
        }
    }

    /// `%` stands for any characters, `_` for one; goes back to the latest `%` alone.
    static func matches(_ text: [Character], _ pattern: [Character]) -> Bool {
        var (place, sign) = (0, 0)
        var again: (place: Int, sign: Int)?
        while place < text.count {
            if sign < pattern.count, pattern[sign] == "%" {
                again = (place, sign)
                sign += 1
            } else if sign < pattern.count, pattern[sign] == "_" || pattern[sign] == text[place] {
                place += 1
                sign += 1
            } else if let last = again {
                again = (last.place + 1, last.sign)
                (place, sign) = (last.place + 1, last.sign + 1)
            } else {
                return false
            }
        }
        return pattern[sign...].allSatisfy { $0 == "%" }
    }
}

extension LocalCondition {
    private enum Token: Equatable {
        case word(String)
        case text(String)
        case number(Double)
        case sign(String)
    }

    private struct Reader {
        private let clause: String
        private var tokens: [Token] = []
        private var place = 0
        private var terms = 0
        /// Deepest nesting of parentheses and NOTs.
        private static let limit = 100
        /// Most conditions.
        private static let termLimit = 1_000

        var isAtEnd: Bool { place >= tokens.count }

        var failure: CairnError {
            CairnError(
                .unsupported,
                "the WHERE clause '\(clause.prefix(200))' is not understood for features that are "
                    + "kept")
        }

        init(_ clause: String) throws {
            self.clause = clause
            let characters = Array(clause)
            var index = 0
            while index < characters.count {
                let character = characters[index]
                if character.isWhitespace {
                    index += 1
                } else if character == "'" || character == "\"" {
                    var text = ""
                    index += 1
                    while true {
                        guard index < characters.count else { throw failure }
                        if characters[index] == character {
                            index += 1
                            guard index < characters.count, characters[index] == character else {
                                break
                            }
                        }
                        text.append(characters[index])
                        index += 1
                    }
                    tokens.append(character == "'" ? .text(text) : .word(text))
                } else if character.isNumber || character == "." || character == "-" {
                    let start = index
                    index += 1
                    while index < characters.count,
                        characters[index].isNumber || ".eE".contains(characters[index])
                            || "+-".contains(characters[index])
                                && "eE".contains(characters[index - 1])
                    {
                        index += 1
                    }
                    guard let number = Double(String(characters[start..<index])) else {
                        throw failure
                    }
                    tokens.append(.number(number))
                } else if character.isLetter || character == "_" {
                    let start = index
                    while index < characters.count,
                        characters[index].isLetter || characters[index].isNumber
                            || "_.".contains(characters[index])
                    {
                        index += 1
                    }
                    tokens.append(.word(String(characters[start..<index])))
                } else {
                    let two = String(characters[index..<min(index + 2, characters.count)])
                    let sign = ["<>", "<=", ">=", "!="].contains(two) ? two : String(character)
                    guard "<>=(),!".contains(character), sign != "!" else { throw failure }
                    tokens.append(.sign(sign == "!=" ? "<>" : sign))
                    index += sign.count
                }
            }
        }

        private mutating func takes(_ token: Token) -> Bool {
            guard place < tokens.count, tokens[place] == token else { return false }
            place += 1
            return true
        }

        private mutating func takes(word: String) -> Bool {
            guard place < tokens.count, case .word(let found) = tokens[place],
                found.uppercased() == word
            else { return false }
            place += 1
            return true
        }

        mutating func disjunction(_ depth: Int) throws -> LocalCondition {
            var condition = try conjunction(depth)
            while takes(word: "OR") { condition = .either(condition, try conjunction(depth)) }
            return condition
        }

        private mutating func conjunction(_ depth: Int) throws -> LocalCondition {
            var condition = try negation(depth)
            while takes(word: "AND") { condition = .both(condition, try negation(depth)) }
            return condition
        }

        private mutating func negation(_ depth: Int) throws -> LocalCondition {
            terms += 1
            guard depth < Self.limit, terms <= Self.termLimit else { throw failure }
            if takes(word: "NOT") { return .not(try negation(depth + 1)) }
            if takes(.sign("(")) {
                let condition = try disjunction(depth + 1)
                guard takes(.sign(")")) else { throw failure }
                return condition
            }
            return try comparison()
        }

        private mutating func comparison() throws -> LocalCondition {
            let left = try operand(0)
            if takes(word: "IS") {
                let isNot = takes(word: "NOT")
                guard takes(word: "NULL") else { throw failure }
                return isNot ? .not(.isNull(left)) : .isNull(left)
            }
            let isNot = takes(word: "NOT")
            func answer(_ condition: LocalCondition) -> LocalCondition {
                isNot ? .not(condition) : condition
            }
            if takes(word: "LIKE") {
                guard place < tokens.count, case .text(let pattern) = tokens[place] else {
                    throw failure
                }
                place += 1
                return answer(.like(left, pattern))
            }
            if takes(word: "IN") {
                guard takes(.sign("(")) else { throw failure }
                var list = [try operand(0)]
                while takes(.sign(",")) { list.append(try operand(0)) }
                guard takes(.sign(")")) else { throw failure }
                return answer(.among(left, list))
            }
            if takes(word: "BETWEEN") {
                let least = try operand(0)
                guard takes(word: "AND") else { throw failure }
                let most = try operand(0)
                return answer(.both(.compare(left, ">=", least), .compare(left, "<=", most)))
            }
            guard !isNot, place < tokens.count, case .sign(let sign) = tokens[place],
                ["=", "<>", "<", "<=", ">", ">="].contains(sign)
            else { throw failure }
            place += 1
            return .compare(left, sign, try operand(0))
        }

        private mutating func operand(_ depth: Int) throws -> Operand {
            guard place < tokens.count, depth < Self.limit else { throw failure }
            defer { place += 1 }
            switch tokens[place] {
            case .number(let number): return .value(.number(number))
            case .text(let text): return .value(.text(text))
            case .sign: throw failure
            case .word(let word):
                let name = word.uppercased()
                guard place + 1 < tokens.count, tokens[place + 1] == .sign("(") else {
                    guard !["NULL", "DATE", "TIMESTAMP", "AND", "OR", "NOT"].contains(name) else {
                        throw failure
                    }
                    return .field(word)
                }
                guard name == "UPPER" || name == "LOWER" else { throw failure }
                place += 2
                let inner = try operand(depth + 1)
                guard place < tokens.count, tokens[place] == .sign(")") else { throw failure }
                return name == "UPPER" ? .upper(inner) : .lower(inner)
            }
        }
    }
}

/// A value as conditions compare it.
enum LocalValue: Equatable {
    case null
    case number(Double)
    case text(String)

    init(_ value: (any Sendable)?) {
        switch value {
        case nil: self = .null
        case let value as Date: self = .number(value.timeIntervalSince1970 * 1_000)
        case let value as UUID: self = .text(value.globalIDText)
        case let value?:
            self = ClassBreaksRenderer.number(value).map { .number($0) } ?? .text("\(value)")
        }
    }

    static func isLess(_ left: LocalValue, _ right: LocalValue) -> Bool {
        switch (left, right) {
        case (.null, .null): false
        case (.null, _): true
        case (_, .null): false
        case (.number(let left), .number(let right)): left < right
        case (.text(let left), .text(let right)): left < right
        case (.number, .text): true
        case (.text, .number): false
        }
    }
}
