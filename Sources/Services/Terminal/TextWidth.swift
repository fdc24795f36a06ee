// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Width of text in terminal columns, and text made safe for display.
///
/// Terminals add up the columns of code points (`wcwidth` of the C library), or count what they
/// draw as one character; for some emoji the sums differ. Such a character is shown in a form that
/// all count alike (``agreed(_:)``).
package enum TextWidth {
    /// Columns of a character as it is shown, at least 1: the sum over its code points.
    ///
    /// Marks that take a column of their own count, as in the conjuncts of Indic scripts.
    package static func columns(of character: Character) -> Int {
        if character.isASCII { return 1 }
        return max(1, agreed(character).unicodeScalars.reduce(0) { $0 + columns(of: $1) })
    }

    /// 0, 1 or 2, equal to the C library's `wcwidth`.
    static func columns(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        // Hangul vowels and finals share the cell of the syllable's first letter.
        if 0x1160...0x11FF ~= value || 0xD7B0...0xD7FF ~= value { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        var (low, high) = (0, wide.count)
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].1 < value { low = middle + 1 } else { high = middle }
        }
        return low < wide.count && wide[low].0 <= value ? 2 : 1
    }

    /// The character without parts that only some terminals count: variation selectors of emoji,
    /// skin tones, and the further characters of a joiner sequence.
    static func agreed(_ character: Character) -> Character {
        let scalars = character.unicodeScalars
        guard scalars.count > 1, scalars.contains(where: { isEmojiSign($0) }) else {
            return character
        }
        var kept = ""
        for (index, scalar) in zip(scalars.indices, scalars) {
            if isEmojiSign(scalar), index != scalars.startIndex {
                guard scalar == "\u{200D}" else { continue }
                let next = scalars.index(after: index)
                if next < scalars.endIndex, scalars[next].properties.isEmoji { break }
            }
            kept.unicodeScalars.append(scalar)
        }
        return kept.count == 1 ? Character(kept) : character
    }

    /// A joiner, a variation selector for emoji or text, or a skin tone.
    private static func isEmojiSign(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200D, 0xFE0E, 0xFE0F, 0x1F3FB...0x1F3FF: true
        default: false
        }
    }

    package static func columns(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The text with everything that could control a terminal replaced by `·`: control characters,
    /// bare combining marks, zero-width characters, unpaired regional indicators, and characters
    /// that change the direction of writing.
    ///
    /// Line breaks become spaces.
    package static func displayable(_ text: some StringProtocol) -> String {
        if text.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F }) { return String(text) }
        return String(text.map { displayable($0) })
    }

    /// The character itself, or `·` or a space as for ``displayable(_:)-(StringProtocol)``.
    package static func displayable(_ character: Character) -> Character {
        if character.isNewline || character == "\t" { return " " }
        guard let first = character.unicodeScalars.first else { return "·" }
        if character.unicodeScalars.count > 16 { return "·" }
        switch first.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .nonspacingMark, .enclosingMark,
            .lineSeparator, .paragraphSeparator:
            return "·"
        default: break
        }
        if character.unicodeScalars.count == 1, 0x1F1E6...0x1F1FF ~= first.value { return "·" }
        if character.unicodeScalars.allSatisfy({ columns(of: $0) == 0 }) { return "·" }
        let isSteering = character.unicodeScalars.contains {
            $0.value < 0x20 || 0x7F...0x9F ~= $0.value || 0x202A...0x202E ~= $0.value
                || 0x2066...0x2069 ~= $0.value
        }
        return isSteering ? "·" : character
    }

    /// The text cut to at most that many columns, with `…` at a cut, in characters that all
    /// terminals count alike.
    package static func truncated(_ text: String, to limit: Int) -> String {
        let text = text.utf8.allSatisfy { $0 < 0x80 } ? text : String(text.map { agreed($0) })
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

    /// The text cut or padded with spaces to exactly that many columns.
    package static func padded(_ text: String, to width: Int, isNumber: Bool = false) -> String {
        let cut = truncated(text, to: width)
        let fill = String(repeating: " ", count: max(0, width - columns(of: cut)))
        return isNumber ? fill + cut : cut + fill
    }

    /// First and last code points of the ranges that take two columns; ascending.
    ///
    /// East Asian Width W and F of Unicode 17, and U+3248…324F, equal to `wcwidth` of glibc 2.36;
    /// generated from it for each code point, and from the Python package wcwidth 0.7 for those
    /// that it does not know.
    private static let wide: [(UInt32, UInt32)] = [
        (0x1100, 0x115F), (0x231A, 0x231B), (0x2329, 0x232A), (0x23E9, 0x23EC), (0x23F0, 0x23F0),
        (0x23F3, 0x23F3), (0x25FD, 0x25FE), (0x2614, 0x2615), (0x2648, 0x2653), (0x267F, 0x267F),
        (0x2693, 0x2693), (0x26A1, 0x26A1), (0x26AA, 0x26AB), (0x26BD, 0x26BE), (0x26C4, 0x26C5),
        (0x26CE, 0x26CE), (0x26D4, 0x26D4), (0x26EA, 0x26EA), (0x26F2, 0x26F3), (0x26F5, 0x26F5),
        (0x26FA, 0x26FA), (0x26FD, 0x26FD), (0x2705, 0x2705), (0x270A, 0x270B), (0x2728, 0x2728),
        (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755), (0x2757, 0x2757), (0x2795, 0x2797),
        (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55),
        (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x2FF0, 0x3029), (0x302E, 0x303E),
        (0x3041, 0x3096), (0x309B, 0x30FF), (0x3105, 0x312F), (0x3131, 0x318E), (0x3190, 0x31E5),
        (0x31EF, 0x321E), (0x3220, 0xA48C), (0xA490, 0xA4C6), (0xA960, 0xA97C), (0xAC00, 0xD7A3),
        (0xF900, 0xFAFF), (0xFE10, 0xFE19), (0xFE30, 0xFE52), (0xFE54, 0xFE66), (0xFE68, 0xFE6B),
        (0xFF01, 0xFF60), (0xFFE0, 0xFFE6), (0x16FE0, 0x16FE3), (0x16FF0, 0x16FF6),
        (0x17000, 0x18CD5), (0x18CFF, 0x18D1E), (0x18D80, 0x18DF2), (0x1AFF0, 0x1AFF3),
        (0x1AFF5, 0x1AFFB), (0x1AFFD, 0x1AFFE), (0x1B000, 0x1B122), (0x1B132, 0x1B132),
        (0x1B150, 0x1B152), (0x1B155, 0x1B155), (0x1B164, 0x1B167), (0x1B170, 0x1B2FB),
        (0x1F004, 0x1F004), (0x1F0CF, 0x1F0CF), (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A),
        (0x1F200, 0x1F202), (0x1F210, 0x1F23B), (0x1F240, 0x1F248), (0x1F250, 0x1F251),
        (0x1F260, 0x1F265), (0x1F300, 0x1F320), (0x1F32D, 0x1F335), (0x1F337, 0x1F37C),
        (0x1F37E, 0x1F393), (0x1F3A0, 0x1F3CA), (0x1F3CF, 0x1F3D3), (0x1F3E0, 0x1F3F0),
        (0x1F3F4, 0x1F3F4), (0x1F3F8, 0x1F43E), (0x1F440, 0x1F440), (0x1F442, 0x1F4FC),
        (0x1F4FF, 0x1F53D), (0x1F54B, 0x1F54E), (0x1F550, 0x1F567), (0x1F57A, 0x1F57A),
        (0x1F595, 0x1F596), (0x1F5A4, 0x1F5A4), (0x1F5FB, 0x1F64F), (0x1F680, 0x1F6C5),
        (0x1F6CC, 0x1F6CC), (0x1F6D0, 0x1F6D2), (0x1F6D5, 0x1F6D8), (0x1F6DC, 0x1F6DF),
        (0x1F6EB, 0x1F6EC), (0x1F6F4, 0x1F6FC), (0x1F7E0, 0x1F7EB), (0x1F7F0, 0x1F7F0),
        (0x1F90C, 0x1F93A), (0x1F93C, 0x1F945), (0x1F947, 0x1F9FF), (0x1FA70, 0x1FA7C),
        (0x1FA80, 0x1FA8A), (0x1FA8E, 0x1FAC6), (0x1FAC8, 0x1FAC8), (0x1FACD, 0x1FADC),
        (0x1FADF, 0x1FAEA), (0x1FAEF, 0x1FAF8), (0x20000, 0x2FFFD), (0x30000, 0x3FFFD),
    ]
}
