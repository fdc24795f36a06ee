// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The text of a label: a sequence of literals and fields.
///
/// Both of Esri's forms are parsed: `[NAME] CONCAT " (" CONCAT [POP] CONCAT ")"`, and the same
/// subset of Arcade: `$feature.NAME + " (" + $feature["POP"] + ")"`. A new line is `NEWLINE`, or
/// `TextFormatting.NewLine`.
public struct LabelExpression: Hashable, Sendable {
    /// One piece of a label.
    public enum Part: Hashable, Sendable {
        /// A text that is always the same.
        case text(String)
        /// The value of a field.
        case field(String)
    }

    /// The pieces; at least one.
    public var parts: [Part]

    /// The longest expression in bytes, and the most parts of one.
    public static let byteBound = 2_048

    /// Joins pieces.
    public init(_ parts: [Part]) { self.parts = parts }

    /// Its fields, as it names them.
    public var fields: [String] {
        parts.compactMap { if case .field(let name) = $0 { name } else { nil } }
    }

    /// The text of a label, with trimmed lines and null as the empty text; nil for an empty label.
    public func label(_ value: (String) -> AttributeValue) -> String? {
        let whole = parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let name): value(name).text ?? ""
            }
        }.joined()
        let lines = whole.split(whereSeparator: \.isNewline).compactMap(Self.withoutBlanksAround)
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    private static func withoutBlanksAround(_ line: Substring) -> String? {
        guard let first = line.firstIndex(where: { !$0.isWhitespace }),
            let last = line.lastIndex(where: { !$0.isWhitespace })
        else { return nil }
        return String(line[first...last])
    }

    /// The expression in Esri's simple form.
    public var text: String {
        parts.map { part in
            switch part {
            case .field(let name): "[\(name)]"
            case .text("\n"): "NEWLINE"
            case .text(let text): "\"\(text)\""
            }
        }.joined(separator: " CONCAT ")
    }

    /// Parses either form; throws `invalidParameter`, with the position and the expectation.
    public init(parsing text: String) throws(Failure) {
        guard text.utf8.count <= Self.byteBound else {
            throw Failure(
                .invalidParameter, "a label expression can have \(Self.byteBound) bytes")
        }
        var reader = Reader(rest: Substring(text))
        parts = try reader.parts()
    }

    private struct Reader {
        var rest: Substring

        mutating func parts() throws(Failure) -> [Part] {
            var result = [try part()]
            while true {
                skipBlanks()
                if rest.isEmpty || rest == ";" { return result }
                guard take("CONCAT") || take("+") || take("&") else {
                    throw unexpected("CONCAT, + or &")
                }
                result.append(try part())
            }
        }

        private mutating func part() throws(Failure) -> Part {
            skipBlanks()
            if take("TextFormatting.NewLine") || take("NEWLINE") { return .text("\n") }
            if take("[") { return .field(try name(upTo: "]")) }
            if take("$feature.") {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                guard !name.isEmpty else { throw unexpected("the name of a field") }
                rest = rest.dropFirst(name.count)
                return .field(String(name))
            }
            for quote in ["\"", "'"] {
                if take("$feature[" + quote) { return .field(try name(upTo: quote + "]")) }
                if take(quote) { return .text(try text(upTo: Character(quote))) }
            }
            throw unexpected("[FIELD], $feature.FIELD, a text in quotes or NEWLINE")
        }

        private mutating func name(upTo end: String) throws(Failure) -> String {
            let name = try text(upTo: end.first ?? "]")
            guard !name.isEmpty, end.count == 1 || take(String(end.dropFirst())) else {
                throw unexpected("the name of a field and \(end)")
            }
            return name
        }

        /// A quotation mark inside cannot be written.
        private mutating func text(upTo end: Character) throws(Failure) -> String {
            let text = rest.prefix { $0 != end }
            guard text.endIndex < rest.endIndex, !text.contains("\"") else {
                throw unexpected("a text that ends with \(end), without quotation marks inside")
            }
            rest = rest[text.endIndex...].dropFirst()
            return String(text)
        }

        private mutating func take(_ word: String) -> Bool {
            guard rest.prefix(word.count).lowercased() == word.lowercased() else { return false }
            rest = rest.dropFirst(word.count)
            return true
        }

        private mutating func skipBlanks() { rest = rest.drop(while: \.isWhitespace) }

        private func unexpected(_ expected: String) -> Failure {
            let found = rest.isEmpty ? "its end" : "'\(rest.prefix(40))'"
            return Failure(
                .invalidParameter, "a label expression has \(found) where \(expected) is expected")
        }
    }
}
