// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A pattern of a language's table.
///
/// `{street}` is a slot, `{street|acc}` one in a grammatical form. Of `[one|another]` the first
/// text counts whose slots all have a value; none, where no text's have.
struct Phrase: Hashable, Sendable {
    /// A place for a value.
    struct Slot: Hashable, Sendable {
        var name: String
        /// The key of a form in the table; empty for the value as it is.
        var form: String
    }

    enum Part: Hashable, Sendable {
        case literal(String)
        case slot(Slot)
        case choice([Text])
    }

    /// One text of a choice.
    struct Text: Hashable, Sendable {
        let parts: [Part]
        let slots: [Slot]

        init(_ parts: [Part]) {
            self.parts = parts
            slots = Phrase.slots(parts)
        }
    }

    let parts: [Part]

    /// Reads a pattern; nil for one whose brackets do not match.
    init?(_ text: String) {
        var scanner = Scanner(rest: text[...])
        guard let parts = scanner.parts(inChoice: false), scanner.rest.isEmpty else { return nil }
        self.parts = parts
    }

    /// All slots, those of choices included.
    var slots: [Slot] { Self.slots(parts) }

    private static func slots(_ parts: [Part]) -> [Slot] {
        parts.flatMap { part -> [Slot] in
            switch part {
            case .literal: []
            case .slot(let slot): [slot]
            case .choice(let texts): texts.flatMap(\.slots)
            }
        }
    }

    /// The text with its values; `append` puts one behind the text that precedes it.
    func text(
        value: (Slot) -> String, append: (String, inout String) -> Void
    ) -> String {
        var result = ""
        func write(_ parts: [Part]) {
            for part in parts {
                switch part {
                case .literal(let text): result += text
                case .slot(let slot): append(value(slot), &result)
                case .choice(let texts):
                    let first = texts.first { $0.slots.allSatisfy { !value($0).isEmpty } }
                    if let first { write(first.parts) }
                }
            }
        }
        write(parts)
        return result
    }

    private struct Scanner {
        var rest: Substring

        mutating func parts(inChoice: Bool) -> [Part]? {
            var parts: [Part] = []
            var literal = ""
            func flush() {
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
            }
            while let character = rest.first {
                if inChoice, character == "|" || character == "]" { break }
                rest.removeFirst()
                switch character {
                case "{":
                    guard let end = rest.firstIndex(of: "}") else { return nil }
                    let names = rest[..<end].split(
                        separator: "|", omittingEmptySubsequences: false)
                    guard names.count <= 2, let name = names.first, !name.isEmpty else {
                        return nil
                    }
                    flush()
                    let form = names.count == 2 ? String(names[1]) : ""
                    parts.append(.slot(Slot(name: String(name), form: form)))
                    rest = rest[rest.index(after: end)...]
                case "[":
                    guard !inChoice, let choice = choice() else { return nil }
                    flush()
                    parts.append(choice)
                case "}", "]": return nil
                default: literal.append(character)
                }
            }
            flush()
            return parts
        }

        private mutating func choice() -> Part? {
            var texts: [Text] = []
            while let text = parts(inChoice: true), let end = rest.popFirst() {
                texts.append(Text(text))
                if end == "]" { return .choice(texts) }
            }
            return nil
        }
    }
}
