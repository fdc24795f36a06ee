// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Locator
import TestKit
import Testing

@Suite struct BadInputTests {
    @Test(.slow, arguments: ["", " ", "\n\t", "!!!", "\u{0}", "‏", "💥", ",,,"])
    func `a text without letters is refused in a sentence`(text: String) throws {
        #expect {
            try Sample.locator().geocode(GeocodeRequest(singleLine: text))
        } throws: { error in
            (error as? Failure)?.code == .invalidParameter
        }
    }

    @Test func `a text that is too long is refused in a sentence`() throws {
        for text in [String(repeating: "x", count: 10_000), String(repeating: "東", count: 400)] {
            #expect {
                try Sample.locator().geocode(GeocodeRequest(singleLine: text))
            } throws: { error in
                (error as? Failure)?.code == .tooLarge
            }
            #expect(throws: Failure.self) {
                try Sample.locator().suggest(SuggestRequest(text: text))
            }
        }
    }

    @Test func `texts of any kind within the bound are answered`() throws {
        let texts = [
            "x", "東", "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k",
            String(repeating: "a ", count: 500), String(repeating: "x", count: 1_000),
            String(repeating: "new york ", count: 100), String(repeating: ",", count: 999) + "a",
            "Парis", "مدينة Paris 東京", "\u{1F1EB}\u{1F1F7} Paris", "Par\u{0}is", "a\u{FFFD}b",
            "'; DROP TABLE places; --", "../../etc/passwd", "%00", "-1e999",
            String(repeating: "e\u{301}", count: 330),
        ]
        for text in texts {
            let answer = try Sample.locator().geocode(
                GeocodeRequest(singleLine: text, maxLocations: 50))
            _ = try Sample.locator().suggest(SuggestRequest(text: text, maxSuggestions: 15))

            #expect(answer.candidates.allSatisfy { 0...100 ~= $0.score })
            #expect(answer.candidates.allSatisfy { $0.location.isFinite })
        }
    }

    @Test func `random texts are answered`() throws {
        var random = SeededGenerator(seed: 99)
        print("seed \(random.seed)")
        let pieces = [
            "paris", "new", "york", "san", ",", " ", ".", "-", "é", "東", "ш", "\u{301}", "1", "st",
            "us", "tx", "a", "zz", "\u{200B}", "ß", "&", "of", "texas", "saint",
        ]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 1...14, using: &random)).map { _ in
                (pieces.randomElement(using: &random) ?? "")
                    + (Bool.random(using: &random) ? " " : "")
            }.joined()
            _ = try? Sample.locator().geocode(GeocodeRequest(singleLine: text))
            let suggestions = try Sample.locator().suggest(SuggestRequest(text: text)).suggestions

            #expect(suggestions.count <= 5)
        }
    }

    @Test func `a request's numbers out of range are refused in a sentence`() throws {
        let locator = try Sample.locator()
        for request in [
            GeocodeRequest(singleLine: "Paris", maxLocations: 0),
            GeocodeRequest(
                singleLine: "Paris",
                searchExtent: Envelope(minX: .nan, minY: 0, maxX: 1, maxY: 1)),
            GeocodeRequest(singleLine: "Paris", location: Coordinate(x: .infinity, y: 0)),
            GeocodeRequest(singleLine: "Paris", countryCodes: [""]),
            GeocodeRequest(singleLine: "Paris", countryCodes: ["Paris"]),
        ] {
            #expect {
                try locator.geocode(request)
            } throws: { error in
                (error as? Failure)?.code == .invalidParameter
            }
        }
        #expect(throws: Failure.self) {
            try locator.suggest(SuggestRequest(text: "p", maxSuggestions: 0))
        }
    }
}
