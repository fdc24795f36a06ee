// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import ICU
import TestKit
import Testing

@testable import Locator

/// Places are found in the script of their language, and in others.
@Suite struct ScriptTests {
    private static let header =
        "id\tname\tlatitude\tlongitude\tcountry\tfeature_code\tpopulation\talternate_names\n"

    @Test(arguments: [
        ("Москва", 524_901), ("Moskva", 524_901), ("北京", 1_816_670), ("Beijing", 1_816_670),
        ("القاهرة", 360_630), ("Αθήνα", 264_371), ("서울", 1_835_848), ("東京", 1_850_147),
        ("Tōkyō", 1_850_147), ("ירושלים", 281_184), ("मुंबई", 1_275_339), ("МОСКВА", 524_901),
        ("ＴＯＫＹＯ", 1_850_147),
    ])
    func `native and Latin names lead to one place`(text: String, id: Int64) throws {
        let answer = try Sample.locator().geocode(GeocodeRequest(singleLine: text, maxLocations: 1))
        #expect(answer.candidates.first?.sourceID == id)
        #expect(answer.candidates.first?.score == 100)
    }

    @Test func `a name without a Latin one is found by its transliteration, below true names`()
        throws
    {
        let locator = try Scratch.locator([
            Self.header + """
                1\tЖирновка\t50\t40\tRU\tPPL\t900000\t
                2\tZhirnovka\t10\t20\tFR\tPPL\t100\t
                3\t麗水\t28\t119\tCN\tPPL\t5000\t
                """
        ])
        let both = try locator.geocode(GeocodeRequest(singleLine: "Zhirnovka")).candidates
        #expect(both.map(\.sourceID) == [2])
        let own = try locator.geocode(
            GeocodeRequest(singleLine: "Zhirnovka", countryCodes: [])
        ).candidates.first
        #expect(own?.score == 100)
        let russian = try locator.geocode(
            GeocodeRequest(
                singleLine: "Zhirnovka",
                searchExtent: Envelope(minX: 39, minY: 49, maxX: 41, maxY: 51))
        ).candidates
        #expect(russian.map(\.sourceID) == [1])
        #expect(try #require(russian.first).score < 99)
        for text in ["lishui", "li shui"] {
            let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates
            #expect(found.map(\.sourceID) == [3])
        }
    }

    @Test func `a text in another script that finds nothing is tried in Latin letters`() throws {
        let locator = try Scratch.locator([
            Self.header + "1\tSpringfild\t50\t40\tUS\tPPL\t9000\t\n"
        ])
        let found = try locator.geocode(GeocodeRequest(singleLine: "Спрингфилд")).candidates
        #expect(found.map(\.sourceID) == [1])
        #expect(try #require(found.first).score <= 90)
        #expect(found.first?.matchType == .fuzzy)
    }

    @Test func `Latin letters fold as ICU writes them in ASCII`() throws {
        let oracle = try #require(Transliterator("Latin-ASCII; Lower"))
        // Intended differences of the locator: ə and ɛ as e, ŋ as ng, apostrophes dropped.
        let own: Set<Unicode.Scalar> = [
            "Ə", "ə", "Ɛ", "ɛ", "ŉ", "ĸ", "Ɔ", "ɔ", "Ɣ", "ɣ", "Ʋ", "ʋ", "Ŋ", "ŋ",
        ]
        var differing: [String] = []
        for value in [0xC0...0x17F, 0x1CD...0x233, 0x1E00...0x1EFF].joined() {
            guard let scalar = Unicode.Scalar(UInt32(value)), scalar.properties.isAlphabetic,
                !own.contains(scalar)
            else { continue }
            let text = String(scalar)
            let folded = String(decoding: Folder.fold(text).bytes, as: UTF8.self)
            let expected = oracle.transliterated(text)
            if folded != expected, expected?.utf8.allSatisfy({ $0 < 0x80 }) == true {
                differing.append("\(text): \(folded), not \(expected ?? "")")
            }
        }
        #expect(differing.isEmpty)
    }

    @Test(arguments: [
        "", " ", ",", "a", "é", "京", "\u{0}\u{1}\u{7F}", "\u{200F}\u{202E}القاهرة\u{202C}",
        "Москвa", "\u{FFFD}\u{FFFD}", "\u{D7FF}\u{E000}", "\u{10FFFF}", "🗺️ Paris", "ﷺ",
        String(repeating: "ﷺ", count: 333), String(repeating: "e\u{301}", count: 333),
        String(repeating: "京 ", count: 250), String(repeating: "x", count: 10_000),
    ])
    func `odd texts are answered or refused in a sentence`(text: String) throws {
        for form in [text, text + ", France", "Paris " + text] {
            do throws(Failure) {
                let answer = try Sample.locator(failing: ()).geocode(
                    GeocodeRequest(singleLine: form))
                #expect(answer.candidates.allSatisfy { 50...100 ~= $0.score })
                _ = try Sample.locator(failing: ()).suggest(SuggestRequest(text: form))
            } catch {
                #expect(error.code == .invalidParameter || error.code == .tooLarge)
                #expect(error.message.contains("text"))
            }
        }
    }
}

extension Sample {
    /// The locator, for code that throws nothing but `Failure`.
    fileprivate static func locator(failing: Void) throws(Failure) -> Locator {
        do { return try locator() } catch {
            throw Failure(.internal, "the sample does not open: \(error)")
        }
    }
}
