// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CICU

/// A language as BCP 47 writes it: `de`, `zh-Hant`, `pt-BR`.
public struct LanguageTag: Hashable, Sendable, CustomStringConvertible {
    /// The tag, in its usual letter case, with the shortest code of the language.
    public let text: String

    /// `zh-Hant`.
    public var description: String { text }

    /// The longest text that is read, in bytes.
    public static let longestText = 35

    /// Parses ISO 639 codes of two or three letters, terminological or bibliographic (`deu`,
    /// `ger`), in any letter case, perhaps followed by script and region after `-` or `_`.
    ///
    /// Nil for anything else. Whether the language exists is not checked.
    public init?(_ text: String) {
        let parts = text.utf8.split(omittingEmptySubsequences: false) { $0 == 0x2D || $0 == 0x5F }
        guard text.utf8.count <= Self.longestText, let first = parts.first,
            2...3 ~= first.count, first.allSatisfy({ 0x61...0x7A ~= $0 | 0x20 }),
            parts.allSatisfy({ 1...8 ~= $0.count && $0.allSatisfy(\.isLetterOrDigit) })
        else { return nil }
        let language = String(decoding: first.map { $0 | 0x20 }, as: UTF8.self)
        let rest = parts.dropFirst().map { String(Substring($0)) }
        let name = ([Self.terminological[language] ?? language] + rest).joined(separator: "_")
        guard let tag = unsafe Self.ascii({ unsafe cairn_icu_language_tag(name, $0, $1) }),
            !tag.hasPrefix("und")
        else { return nil }
        self.text = tag
    }

    private init(known text: String) { self.text = text }

    /// The tags under which a name in this language may be stored, the closest first: itself, its
    /// language and script (`zh-TW` is `zh-Hant`), its language, and closely related ones (`no` and
    /// `nb`).
    public var closest: [LanguageTag] {
        let language = String(text.prefix { $0 != "-" })
        var tags = [text]
        if let scripted { tags.append(scripted.text) }
        tags.append(language)
        tags += Self.alike[language].map { [$0] } ?? []
        var result: [LanguageTag] = []
        for tag in tags where !result.contains(where: { $0.text == tag }) {
            result.append(LanguageTag(known: tag))
        }
        return result
    }

    /// Its language and most likely script: `zh-Hant` for `zh-TW`; nil when ICU knows none.
    public var scripted: LanguageTag? {
        unsafe Self.ascii({ unsafe cairn_icu_language_and_script(text, $0, $1) })
            .map(LanguageTag.init(known:))
    }

    /// The language by ISO 639-2/B in capitals, `GER`, as in Esri's API; the language's own code in
    /// capitals without one of three letters.
    public var bibliographic: String {
        let language = String(text.prefix { $0 != "-" })
        let known = unsafe String(cString: cairn_icu_language3(language))
        let code = known.isEmpty ? language : known
        return (Self.bibliographic[code] ?? code).uppercased()
    }

    /// The languages with two codes in ISO 639-2.
    private static let bibliographic = [
        "sqi": "alb", "hye": "arm", "eus": "baq", "mya": "bur", "zho": "chi", "ces": "cze",
        "nld": "dut", "fra": "fre", "kat": "geo", "deu": "ger", "ell": "gre", "isl": "ice",
        "mkd": "mac", "mri": "mao", "msa": "may", "fas": "per", "ron": "rum", "slk": "slo",
        "bod": "tib", "cym": "wel",
    ]
    private static let terminological = Dictionary(
        uniqueKeysWithValues: bibliographic.map { ($1, $0) })
    private static let alike = ["no": "nb", "nb": "no"]

    /// The output of a function of ICU; nil for empty output.
    private static func ascii(
        _ write: (UnsafeMutablePointer<CChar>?, Int32) -> Int32
    ) -> String? {
        var length: Int32 = 0
        let bytes = unsafe [CChar](unsafeUninitializedCapacity: 160) { buffer, count in
            length = unsafe write(buffer.baseAddress, 160)
            count = min(max(0, Int(length)), 160)
        }
        return length > 0
            ? String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        0x30...0x39 ~= self || 0x61...0x7A ~= self | 0x20
    }
}
