// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The text of a search for items, in the language of Esri's portals: words, phrases and fields,
/// joined by AND (also without a word), OR, NOT and parentheses.
struct ItemQuery: Hashable, Sendable {
    private indirect enum Node: Hashable, Sendable {
        case everything
        case all([Node])
        case any([Node])
        case not(Node)
        case term(field: String?, words: [String], isPrefix: Bool)
    }

    private enum Token: Hashable {
        case open, close, and, or, not
        /// A word, or a phrase in quotes.
        case text(String, isQuoted: Bool)
        case field(String)

        var isField: Bool { if case .field = self { true } else { false } }
    }

    /// The most bytes of a text.
    static let byteBound = 4_096
    /// The deepest nesting.
    static let depthBound = 32

    private let root: Node

    /// Throws `Failure` (`invalidParameter`) for a malformed text; nil finds everything.
    init(_ text: String?) throws(Failure) {
        let text = text ?? ""
        guard text.utf8.count <= Self.byteBound else {
            throw Self.malformed(text, "at most \(Self.byteBound) bytes")
        }
        var tokens = try Self.tokens(text)[...]
        root = try Self.either(&tokens, nil, text, 0)
        guard tokens.isEmpty else { throw Self.malformed(text, "'(' before each ')'") }
    }

    private static func malformed(_ text: String, _ expected: String) -> Failure {
        Parameters.unexpected("q", text, expected)
    }

    private static func tokens(_ text: String) throws(Failure) -> [Token] {
        var tokens: [Token] = []
        var rest = text[...]
        while let first = rest.first {
            switch first {
            case "(", ")":
                tokens.append(first == "(" ? .open : .close)
                rest.removeFirst()
            case "\"":
                let phrase = rest.dropFirst().prefix { $0 != "\"" }
                rest = rest.dropFirst(phrase.count + 1)
                guard rest.first == "\"" else { throw malformed(text, "a quote at the end") }
                rest.removeFirst()
                tokens.append(.text(String(phrase), isQuoted: true))
            case "-", "!", "+":
                if first != "+" { tokens.append(.not) }
                rest.removeFirst()
            case "[", "{": throw malformed(text, "no ranges")
            case _ where first.isWhitespace: rest.removeFirst()
            default:
                let word = rest.prefix { !$0.isWhitespace && !"()\":".contains($0) }
                rest = rest.dropFirst(word.count)
                if rest.first == ":" {
                    rest.removeFirst()
                    tokens.append(.field(word.lowercased()))
                    // "*:*"
                    continue
                }
                switch word {
                case "AND", "&&": tokens.append(.and)
                case "OR", "||": tokens.append(.or)
                case "NOT": tokens.append(.not)
                default: tokens.append(.text(String(word), isQuoted: false))
                }
            }
        }
        return tokens
    }

    private static func either(
        _ tokens: inout ArraySlice<Token>, _ field: String?, _ text: String, _ depth: Int
    ) throws(Failure) -> Node {
        guard depth <= depthBound else {
            throw malformed(text, "at most \(depthBound) parentheses inside each other")
        }
        var nodes = [try both(&tokens, field, text, depth)]
        while tokens.first == .or {
            tokens.removeFirst()
            nodes.append(try both(&tokens, field, text, depth))
        }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private static func both(
        _ tokens: inout ArraySlice<Token>, _ field: String?, _ text: String, _ depth: Int
    ) throws(Failure) -> Node {
        var nodes: [Node] = []
        while let first = tokens.first, first != .or, first != .close {
            tokens.removeFirst()
            if first == .and { continue }
            nodes.append(try one(first, &tokens, field, text, depth))
        }
        return nodes.isEmpty ? .everything : nodes.count == 1 ? nodes[0] : .all(nodes)
    }

    private static func one(
        _ first: Token, _ tokens: inout ArraySlice<Token>, _ field: String?, _ text: String,
        _ depth: Int
    ) throws(Failure) -> Node {
        var first = first
        var (field, isNegated) = (field, false)
        while first == .not || first.isField {
            if case .field(let name) = first { field = name } else { isNegated.toggle() }
            guard let next = tokens.popFirst() else {
                throw malformed(text, "a word after a field or NOT")
            }
            first = next
        }
        let node: Node
        switch first {
        case .open:
            node = try either(&tokens, field, text, depth + 1)
            guard tokens.popFirst() == .close else { throw malformed(text, "')' for each '('") }
        case .text(let word, let isQuoted):
            if word == "*", !isQuoted {
                node = .everything
            } else {
                node = .term(field: field, words: words(word), isPrefix: word.last == "*")
            }
        case .close, .and, .or, .not, .field: throw malformed(text, "a word after a field or NOT")
        }
        return isNegated ? .not(node) : node
    }

    /// Letters and digits in lower case, cut at everything else.
    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// Whether it finds an item; `portal` is the id of the portal.
    func matches(_ entry: PortalEntry, portal: String) -> Bool {
        Self.matches(root, entry, portal)
    }

    private static func matches(_ node: Node, _ entry: PortalEntry, _ portal: String) -> Bool {
        switch node {
        case .everything: true
        case .all(let nodes): nodes.allSatisfy { matches($0, entry, portal) }
        case .any(let nodes): nodes.contains { matches($0, entry, portal) }
        case .not(let node): !matches(node, entry, portal)
        case .term(let field, let wanted, let isPrefix):
            texts(of: field, entry, portal).contains { text in
                contains(words(text), wanted, isPrefix)
            }
        }
    }

    private static func texts(
        of field: String?, _ entry: PortalEntry, _ portal: String
    ) -> [String] {
        switch field {
        case nil: [entry.title, entry.item.name, entry.text, entry.item.kind.rawValue]
        case "title"?: [entry.title]
        case "name"?: [entry.item.name]
        case "description"?, "snippet"?: [entry.text]
        case "type"?: [entry.item.kind.rawValue]
        case "typekeywords"?: entry.keywords
        case "owner"?: [Portal.owner]
        case "id"?: [entry.id]
        case "access"?: [entry.access]
        case "orgid"?, "accountid"?: [portal]
        case "accessinformation"?: [entry.map?.attribution ?? ""]
        default: []
        }
    }

    /// Whether the words follow each other in the text; the last one as a beginning.
    private static func contains(
        _ text: [String], _ wanted: [String], _ isPrefix: Bool
    ) -> Bool {
        guard let last = wanted.last else { return false }
        guard text.count >= wanted.count else { return false }
        return (0...(text.count - wanted.count)).contains { start in
            let part = text[start..<(start + wanted.count)]
            return part.dropLast().elementsEqual(wanted.dropLast())
                && (isPrefix ? part.last?.hasPrefix(last) == true : part.last == last)
        }
    }
}
