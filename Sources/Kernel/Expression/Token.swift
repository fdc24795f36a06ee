// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A piece of a WHERE clause and where it begins.
struct Token {
    enum Kind: Equatable {
        /// A word without quotes: a keyword, a function or a field.
        case word(String)
        /// A field name in double quotes.
        case quotedName(String)
        case string(String)
        case integer(Int64)
        case real(Double)
        /// An operator or a punctuation mark, `!=` already written `<>`.
        case symbol(String)
        case end
    }

    var kind: Kind
    /// Counted in characters from 1.
    var position: Int

    /// The token's name in errors.
    var text: String {
        switch kind {
        case .word(let word): "'\(word.prefix(40))'"
        case .quotedName(let name): "\"\(name.prefix(40))\""
        case .string(let text): "the text '\(text.prefix(40))'"
        case .integer(let value): "the number \(value)"
        case .real(let value): "the number \(value)"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end of the clause"
        }
    }

    /// The word in capitals, for comparison with keywords; nil for anything else.
    var keyword: String? {
        if case .word(let word) = kind { word.uppercased() } else { nil }
    }
}

/// Cuts a clause into tokens, left to right, one look at a time.
struct Tokenizer {
    private let scalars: [Unicode.Scalar]
    private var offset = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
        offset + ahead < scalars.count ? scalars[offset + ahead] : nil
    }

    /// A failure with its position; ``WhereClause`` puts the kind of clause in front.
    static func failure(_ position: Int, _ message: String) -> Failure {
        Failure(.invalidParameter, "clause, character \(position): \(message)")
    }

    mutating func next() throws(Failure) -> Token {
        while let scalar = peek(), scalar.properties.isWhitespace { offset += 1 }
        let position = offset + 1
        guard let scalar = peek() else { return Token(kind: .end, position: position) }
        if (scalar == "N" || scalar == "n") && peek(1) == "'" { offset += 1 }
        let kind: Token.Kind
        switch scalar {
        case "\"": kind = .quotedName(try quoted("\"", "field name"))
        case _ where peek() == "'": kind = .string(try quoted("'", "text"))
        case "0"..."9": kind = try number()
        case "." where peek(1).map(Self.isDigit) == true: kind = try number()
        case _ where Self.startsWord(scalar): kind = .word(word())
        default: kind = .symbol(try symbol(scalar))
        }
        return Token(kind: kind, position: position)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func startsWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic
    }

    private mutating func word() -> String {
        var result = String.UnicodeScalarView()
        while let scalar = peek(),
            Self.startsWord(scalar) || Self.isDigit(scalar)
                || "$#@.".unicodeScalars.contains(scalar)
                || scalar.properties.generalCategory == .nonspacingMark
        {
            result.append(scalar)
            offset += 1
        }
        return String(result)
    }

    /// Reads up to the closing mark; a doubled mark is an escaped one.
    private mutating func quoted(
        _ mark: Unicode.Scalar, _ what: String
    ) throws(Failure) -> String {
        let start = offset + 1
        offset += 1
        var result = String.UnicodeScalarView()
        while let scalar = peek() {
            offset += 1
            if scalar != mark {
                result.append(scalar)
            } else if peek() == mark {
                result.append(mark)
                offset += 1
            } else {
                return String(result)
            }
        }
        throw Self.failure(start, "the \(what) is not closed: expected \(mark)")
    }

    private mutating func number() throws(Failure) -> Token.Kind {
        let start = offset
        var isReal = false
        func digits() -> Int {
            var count = 0
            while let scalar = peek(count), Self.isDigit(scalar) { count += 1 }
            return count
        }
        offset += digits()
        if peek() == "." {
            isReal = true
            offset += 1
            offset += digits()
        }
        if peek() == "e" || peek() == "E" {
            let signed = peek(1) == "+" || peek(1) == "-" ? 2 : 1
            if peek(signed).map(Self.isDigit) == true {
                isReal = true
                offset += signed
                offset += digits()
            }
        }
        if let scalar = peek(), Self.startsWord(scalar) {
            throw Self.failure(offset + 1, "expected an operator after a number, found '\(scalar)'")
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[start..<offset])
        if !isReal, let integer = Int64(String(text)) { return .integer(integer) }
        guard let real = Double("0" + String(text)), real.isFinite else {
            throw Self.failure(start + 1, "the number is too large")
        }
        return .real(real)
    }

    private mutating func symbol(_ first: Unicode.Scalar) throws(Failure) -> String {
        let pair = String(first) + (peek(1).map { String($0) } ?? "")
        if ["<>", "!=", "<=", ">=", "||"].contains(pair) {
            offset += 2
            return pair == "!=" ? "<>" : pair
        }
        guard "=<>(),+-*/%".unicodeScalars.contains(first) else {
            throw Self.failure(
                offset + 1, "unexpected '\(first)': expected a field, a value or an operator")
        }
        offset += 1
        return String(first)
    }
}
