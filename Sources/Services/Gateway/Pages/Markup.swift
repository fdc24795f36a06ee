// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Writes HTML that is well-formed XML too.
///
/// Names of elements and attributes come from the source; all other text is escaped, so nothing
/// that is shown can act.
struct Markup {
    /// The names and values of attributes; those with nil are left out.
    typealias Attributes = KeyValuePairs<StaticString, String?>

    /// The text so far.
    private(set) var html = ""

    /// Writes text.
    mutating func text(_ text: String) { Self.escape(text, into: &html) }

    /// Writes an element with what `content` writes in it.
    mutating func element(
        _ name: StaticString, _ attributes: Attributes = [:], _ content: (inout Markup) -> Void
    ) {
        open(name, attributes)
        html += ">"
        content(&self)
        html += "</\(name)>"
    }

    /// Writes an element with text in it.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], text: String) {
        element(name, attributes) { $0.text(text) }
    }

    /// Writes an element that holds nothing.
    mutating func void(_ name: StaticString, _ attributes: Attributes = [:]) {
        open(name, attributes)
        html += "/>"
    }

    /// Writes a link.
    mutating func link(_ url: String, _ text: String) { element("a", ["href": url], text: text) }

    private mutating func open(_ name: StaticString, _ attributes: Attributes) {
        html += "<\(name)"
        for (name, value) in attributes {
            guard let value else { continue }
            html += " \(name)=\""
            Self.escape(value, into: &html)
            html += "\""
        }
    }

    private static func escape(_ text: String, into result: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n", "\r": result.unicodeScalars.append(scalar)
            // What neither HTML nor XML may hold.
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
