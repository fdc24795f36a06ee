// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How many columns text takes on a terminal, and text made safe to show on one.
public enum TextWidth {
    /// First and last scalar of what East Asian Width calls wide or fullwidth, and emoji; ascending.
    private static let wide: [(UInt32, UInt32)] = [
        (0x1100, 0x115F), (0x231A, 0x231B), (0x2329, 0x232A), (0x23E9, 0x23EC), (0x25FD, 0x25FE),
        (0x2614, 0x2615), (0x2648, 0x2653), (0x26AA, 0x26AB), (0x26BD, 0x26BE), (0x2705, 0x2705),
        (0x270A, 0x270B), (0x2753, 0x2755), (0x2795, 0x2797), (0x2B1B, 0x2B1C), (0x2E80, 0x303E),
        (0x3041, 0x33FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA000, 0xA4CF), (0xA960, 0xA97F),
        (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE30, 0xFE6F), (0xFF00, 0xFF60), (0xFFE0, 0xFFE6),
        (0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1F9FF), (0x20000, 0x3FFFD),
    ]

    /// 1 or 2: the columns of one character, whatever marks are combined with it.
    public static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first, first.value >= 0x1100 else { return 1 }
        return wide.contains { $0.0 <= first.value && first.value <= $0.1 } ? 2 : 1
    }

    /// The columns of a line.
    public static func columns(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The text with everything that could steer a terminal replaced by `·`: control characters,
    /// bare combining marks and characters that reverse the direction of writing.
    ///
    /// Line breaks become spaces.
    public static func displayable(_ text: some StringProtocol) -> String {
        if text.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F }) { return String(text) }
        return String(text.map { displayable($0) })
    }

    /// The character itself, or `·` or a space as ``displayable(_:)-(StringProtocol)`` says.
    public static func displayable(_ character: Character) -> Character {
        if character.isNewline || character == "\t" { return " " }
        guard let first = character.unicodeScalars.first else { return "·" }
        if character.unicodeScalars.count > 16 { return "·" }
        switch first.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .nonspacingMark, .enclosingMark,
            .lineSeparator, .paragraphSeparator:
            return "·"
        default: break
        }
        let isSteering = character.unicodeScalars.contains {
            $0.value < 0x20 || 0x7F...0x9F ~= $0.value || 0x202A...0x202E ~= $0.value
                || 0x2066...0x2069 ~= $0.value
        }
        return isSteering ? "·" : character
    }

    /// The text cut to at most that many columns, with `…` at the end when something was cut.
    public static func truncated(_ text: String, to limit: Int) -> String {
        guard columns(of: text) > limit else { return text }
        guard limit > 0 else { return "" }
        var kept = ""
        var used = 0
        for character in text {
            let width = columns(of: character)
            if used + width > limit - 1 { break }
            kept.append(character)
            used += width
        }
        return kept + "…"
    }

    /// The text cut or filled with spaces to exactly that many columns.
    public static func padded(_ text: String, to width: Int, isNumber: Bool = false) -> String {
        let cut = truncated(text, to: width)
        let fill = String(repeating: " ", count: max(0, width - columns(of: cut)))
        return isNumber ? fill + cut : cut + fill
    }
}
