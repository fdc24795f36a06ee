// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The value of a tag of OpenStreetMap that holds at times only:
/// `no_left_turn @ (Mo-Fr 07:00-09:00); no_u_turn @ (…)`.
public enum TimedClauses {
    /// The values with their conditions, both without blanks around them; what has no condition is
    /// left out.
    public static func list(_ text: String) -> [(value: String, condition: String)] {
        var (parts, depth): ([String], Int) = ([""], 0)
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth = max(0, depth - 1) }
            if character == ";", depth == 0 {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts.compactMap { part in
            guard let at = part.firstIndex(of: "@") else { return nil }
            let condition = trimmed(part[part.index(after: at)...])
            return (trimmed(part[..<at]), condition.isEmpty ? "unknown" : condition)
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}
