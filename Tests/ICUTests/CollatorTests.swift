// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ICU
import Testing

@Suite struct CollatorTests {
    @Test func `names stand as a reader of an atlas expects them`() throws {
        let collator = try #require(Collator())
        // The examples of Unicode's technical standard 10, and letters of several scripts.
        let expected = [
            "cote", "Cote", "coté", "Coté", "côte", "Côte", "côté", "demi", "Zürich", "Ζάκυνθος",
            "Астана", "東京",
        ]

        #expect(expected.shuffled().sorted { key($0, collator, precedes: $1) } == expected)
        #expect(collator.key("").lexicographicallyPrecedes(collator.key("a")))
    }

    private func key(_ left: String, _ collator: Collator, precedes right: String) -> Bool {
        collator.key(left).lexicographicallyPrecedes(collator.key(right))
    }

    @Test func `writings of one text have one key, and long texts have a whole one`() throws {
        let collator = try #require(Collator())
        #expect(collator.key("e\u{301}\u{323}") == collator.key("\u{1EB9}\u{301}"))
        let long = String(repeating: "ﷺ東京é", count: 2_000)
        #expect(collator.key(long).lexicographicallyPrecedes(collator.key(long + "a")))
        #expect(collator.key(long).count > 10_000)
    }
}

@Suite struct LanguageTagTests {
    @Test(arguments: [
        ("de", "de", "GER"), ("DE", "de", "GER"), ("deu", "de", "GER"), ("GER", "de", "GER"),
        ("fre", "fr", "FRE"), ("ENG", "en", "ENG"), ("de-DE", "de-DE", "GER"),
        ("zh_hant", "zh-Hant", "CHI"), ("pt-br", "pt-BR", "POR"), ("iw", "he", "HEB"),
        ("bar", "bar", "BAR"), ("sr-latn-rs", "sr-Latn-RS", "SRP"),
    ])
    func `codes of two and three letters are one language`(
        text: String, tag: String, code: String
    ) throws {
        let read = try #require(LanguageTag(text))
        #expect(read.text == tag)
        #expect(read.bibliographic == code)
        // A tag that was written is read as itself.
        #expect(LanguageTag(read.text) == read)
    }

    @Test(arguments: [
        "", "d", "link", "fr_1793x!", "12", "de-", "-de", "d e", "german", "und", "*", "de\u{0}",
        "de-aaaaaaaaa", String(repeating: "de-", count: 20) + "de",
    ])
    func `text that is no code of a language is none`(text: String) {
        #expect(LanguageTag(text) == nil)
    }

    @Test func `the closest tag comes first`() throws {
        func closest(_ text: String) throws -> [String] {
            try #require(LanguageTag(text)).closest.map(\.text)
        }
        #expect(try closest("de-AT") == ["de-AT", "de-Latn", "de"])
        #expect(try closest("zh-TW") == ["zh-TW", "zh-Hant", "zh"])
        #expect(try closest("no") == ["no", "no-Latn", "nb"])
    }
}
