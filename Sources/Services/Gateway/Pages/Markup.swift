// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Writes HTML that is also well-formed XML.
///
/// Names of elements and attributes are constants of the source; all other text is escaped, so that
/// shown data cannot inject markup.
struct Markup {
    /// Names and values of attributes; those with nil are omitted.
    typealias Attributes = KeyValuePairs<StaticString, String?>

    /// The text written so far.
    private(set) var html = ""

    /// Writes escaped text.
    mutating func text(_ text: String) { Self.escape(text, into: &html) }

    /// Writes an element with the content that `content` writes.
    mutating func element(
        _ name: StaticString, _ attributes: Attributes = [:], _ content: (inout Markup) -> Void
    ) {
        open(name, attributes)
        html += ">"
        content(&self)
        html += "</\(name)>"
    }

    /// Writes an element that contains text.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], text: String) {
        element(name, attributes) { $0.text(text) }
    }

    /// Writes a void element.
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
            // Allowed in neither HTML nor XML.
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
