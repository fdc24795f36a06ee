// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import TestKit
import Testing

@testable import Locator

@Suite struct SuggestTests {
    private func suggest(
        _ text: String, countries: [String] = [], location: Coordinate? = nil, most: Int = 5
    ) throws -> [String] {
        try Sample.locator().suggest(
            SuggestRequest(
                text: text, countryCodes: countries, maxSuggestions: most, location: location)
        ).suggestions.map(\.text)
    }

    @Test func `typing on leads to the place`() throws {
        #expect(try suggest("p").count == 5)
        #expect(try suggest("lond").first == "London, England, United Kingdom")
        #expect(try suggest("paris, te") == ["Paris, Texas, United States"])
        #expect(try suggest("paris te") == ["Paris, Texas, United States"])
        #expect(try suggest("münch").first == "München, Bavaria, Germany")
        #expect(try suggest("munch").first == "München, Bavaria, Germany")
        #expect(try suggest("Моск").first == "Москва, Moscow, Russia")
        #expect(try suggest("東").first == "東京, Tōkyō, Japan")
        #expect(try suggest("new york c").first == "New York City, New York, United States")
        #expect(try suggest("spain").first == "Spain")
    }

    @Test func `no suggestion for a text that is no beginning, and none for no text`() throws {
        #expect(try suggest("londxx") == [])
        #expect(try suggest("") == [])
        #expect(try suggest(" ,. ") == [])
    }

    @Test func `a finished word is not continued`() throws {
        #expect(try suggest("san ", most: 15).allSatisfy { Folder.fold($0).words.count > 1 })
        #expect(try suggest("lond ") == [])
    }

    @Test func `countries filter and a location prefers`() throws {
        #expect(try suggest("paris", countries: ["US"]).first == "Paris, Texas, United States")
        #expect(
            try suggest("paris", location: Coordinate(x: -95.6, y: 33.5)).first
                == "Paris, Texas, United States")
        #expect(try suggest("zzyzx", countries: ["FR"]) == [])
    }

    @Test func `every suggestion begins with what was typed`() throws {
        var random = SeededGenerator(seed: 77)
        print("seed \(random.seed)")
        for city in Sample.cities.shuffled(using: &random).prefix(400) {
            let typed = String(city.name.prefix(Int.random(in: 1...8, using: &random)))
            let folded = Folder.fold(typed)
            guard folded.endsInsideWord else { continue }
            let suggestions = try suggest(typed, most: 15)

            #expect(!suggestions.isEmpty, "\(typed)")
            for text in suggestions {
                let begins = [
                    Folder.fold(text).bytes, Folder.fold(text, expandingUmlauts: true).bytes,
                ].contains { $0.starts(with: folded.bytes) }
                // Codes, and saint for St., are beginnings of names that are not shown.
                let isHidden =
                    typed.count <= 3 || ["s", "f", "m"].contains(typed.lowercased().prefix(1))

                #expect(begins || isHidden, "'\(typed)' gave '\(text)'")
            }
        }
    }

    @Test func `the best suggestion is the most important place with that beginning`() throws {
        for typed in ["b", "san", "ko", "new"] {
            let best = try #require(try suggest(typed, most: 1).first)
            let all = try suggest(typed, most: 15)

            #expect(all.first == best)
            #expect(Set(all).count == all.count)
        }
    }

    @Test func `a magic key names its place and nothing else`() throws {
        let locator = try Sample.locator()
        let suggestion = try #require(
            try locator.suggest(SuggestRequest(text: "paris, te")).suggestions.first)
        let key = suggestion.magicKey

        #expect(key.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "z") ~= $0 })
        let byKey = try locator.geocode(
            GeocodeRequest(singleLine: "anything at all", magicKey: key))
        #expect(byKey.candidates.map(\.address) == ["Paris, Texas, United States"])
        #expect(byKey.candidates.first?.score == 100)
    }

    @Test func `a magic key of another file or of nothing falls back to the text`() throws {
        let locator = try Sample.locator()
        let foreign = try #require(
            try Scratch.locator(Tiny.all).suggest(SuggestRequest(text: "paris")).suggestions.first)
        let own = try #require(
            try locator.suggest(SuggestRequest(text: "oslo")).suggestions.first?.magicKey)

        for key in [
            foreign.magicKey, "", "x", "💥", own + "ffffffff", own.prefix(17) + "-1",
            own.prefix(17) + "+1", String(repeating: "a", count: 5_000),
        ] {
            let answer = try locator.geocode(
                GeocodeRequest(singleLine: "Paris", magicKey: String(key)))
            #expect(answer.candidates.first?.address == "Paris, Île-de-France, France", "\(key)")
        }
    }
}
