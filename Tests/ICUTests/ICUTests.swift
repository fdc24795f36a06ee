// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ICU
import Testing

@Suite struct ICUTests {
    @Test func `casefold agrees with Swift's own lower case on plain letters`() {
        // A second implementation: letters whose lower case is one scalar and decomposes no
        // further.
        var count = 0
        for value in [0x41...0x5A, 0x391...0x3A9, 0x410...0x42F].joined() {
            guard let scalar = Unicode.Scalar(UInt32(value)), scalar.properties.isUppercase else {
                continue
            }
            #expect(
                Characters.casefold(String(scalar)) == scalar.properties.lowercaseMapping)
            count += 1
        }
        #expect(count == 26 + 24 + 32)
    }

    @Test(arguments: ["", "x", "ﬁ", "Straße", "\u{1D400}", "a\u{0301}", "か\u{3099}"])
    func `casefold of a casefolded text changes nothing`(text: String) {
        let once = Characters.casefold(text)
        #expect(Characters.casefold(once).unicodeScalars.elementsEqual(once.unicodeScalars))
    }

    @Test func `texts that grow when they are folded are whole`() {
        // U+FDFA becomes eighteen characters.
        let one = Characters.casefold("\u{FDFA}")
        let many = Characters.casefold(String(repeating: "\u{FDFA}", count: 100))
        #expect(one.unicodeScalars.count == 18)
        #expect(many.unicodeScalars.count == 1_800)
    }

    @Test func `decompositions put together again are the letter`() {
        for value in 0xC0...0x1FF {
            guard let scalar = Unicode.Scalar(UInt32(value)),
                let parts = Characters.decomposition(of: scalar)
            else { continue }
            // Swift compares texts by canonical equivalence.
            #expect(parts == String(scalar))
            #expect(parts.unicodeScalars.count > 1)
        }
        #expect(Characters.decomposition(of: "ø") == nil)
        #expect(Characters.digit("७") == 7)
        #expect(Characters.digit("x") == nil)
        #expect(Characters.age(of: "\u{378}") == 0)
        #expect(Characters.age(of: "A") == 1)
    }

    @Test func `texts of other scripts are written in Latin letters`() throws {
        let any = try #require(Transliterator("Any-Latin; Latin-ASCII"))
        #expect(any.transliterated("서울") == "seoul")
        #expect(any.transliterated("Plain") == "Plain")
        #expect(any.transliterated("") == "")
        #expect(Transliterator("No-Such") == nil)
        let long = String(repeating: "京", count: 5_000)
        #expect(try #require(any.transliterated(long)).utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func `countries have names in languages`() {
        #expect(CountryNames.name(of: "DE", in: "fr") == "Allemagne")
        #expect(CountryNames.name(of: "JP", in: "ja") == "日本")
        #expect(CountryNames.name(of: "QQ", in: "fr") == nil)
        #expect(CountryNames.name(of: "not a code", in: "xx") == nil)
    }
}
