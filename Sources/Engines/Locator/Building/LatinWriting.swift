// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ICU

/// Romanisation of names in other scripts, for input without them.
enum LatinWriting {
    /// The text in Latin letters, syllables of Chinese characters separate; nil where it has no
    /// letter of another script, or ICU has no transliteration.
    ///
    /// - Parameter country: ISO 3166-1 alpha-2 of the named place, empty for none: it selects the
    ///   language of Cyrillic, and suppresses Chinese readings of Japanese places.
    static func latin(_ text: String, country: String = "") -> String? {
        guard let script = script(of: text) else { return nil }
        if script == .han, country == "JP" { return nil }
        return transliterator(script, country)?.transliterated(text)
    }

    /// Romanised names, folded: the words, for Chinese characters also as one word, for Cyrillic
    /// also letter by letter (ISO 9).
    static func keys(_ text: String, country: String) -> [[UInt8]] {
        guard let script = script(of: text), let latin = latin(text, country: country) else {
            return []
        }
        let folded = Folder.fold(latin)
        var keys = [folded.bytes]
        switch script {
        case .han: keys.append(folded.bytes.filter { $0 != UInt8(ascii: " ") })
        case .cyrillic:
            if let other = any?.transliterated(text) { keys.append(Folder.fold(other).bytes) }
        case .greek, .hebrew, .other: break
        }
        return keys
    }

    private enum Script { case cyrillic, greek, hebrew, han, other }

    /// The script of the first letter that is not Latin.
    private static func script(of text: String) -> Script? {
        guard text.utf8.contains(where: { $0 >= 0xCD }) else { return nil }
        for scalar in text.unicodeScalars where scalar.value >= 0x370 {
            switch scalar.value {
            case 0x370..<0x400, 0x1F00..<0x2000: return .greek
            case 0x400..<0x530: return .cyrillic
            case 0x590..<0x600: return .hebrew
            case 0x3400..<0xA000, 0xF900..<0xFB00, 0x20000..<0x32000: return .han
            case 0x1E00..<0x1F00, 0x2000..<0x2C00: continue
            default: if scalar.properties.isAlphabetic { return .other }
            }
        }
        return nil
    }

    private static func transliterator(_ script: Script, _ country: String) -> Transliterator? {
        switch script {
        case .cyrillic: country == "UA" ? ukrainian : country == "BG" ? bulgarian : russian
        case .greek: greek
        case .hebrew: hebrew
        case .han, .other: any
        }
    }

    private static let any = Transliterator("Any-Latin; Latin-ASCII")
    private static let russian = Transliterator("Russian-Latin/BGN; Any-Latin; Latin-ASCII")
    private static let ukrainian = Transliterator("Ukrainian-Latin/BGN; Any-Latin; Latin-ASCII")
    private static let bulgarian = Transliterator("Bulgarian-Latin/BGN; Any-Latin; Latin-ASCII")
    private static let greek = Transliterator("Greek-Latin/UNGEGN; Any-Latin; Latin-ASCII")
    private static let hebrew = Transliterator("Hebrew-Latin/BGN; Any-Latin; Latin-ASCII")
}
