// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

@Suite struct LanguageTests {
    /// `alternateNamesV2.txt`: names of Paris, Île-de-France and München, and what is no name of
    /// them.
    private static let names = """
        1\t1\tde\tParis\t\t\t\t\t\t
        2\t1\tit\tParigi\t\t\t\t\t\t
        3\t1\tfi\tPariisi\t1\t\t\t\t\t
        4\t1\tfi\tLutetia\t\t\t\t1\t\t
        5\t1\tlink\thttps://en.wikipedia.org/wiki/Paris\t\t\t\t\t\t
        6\t1\tpost\t75001\t\t\t\t\t\t
        7\t1\twkdt\tQ90\t\t\t\t\t\t
        8\t1\t\tPanam\t\t\t1\t\t\t
        9\t11\tde\tInselfrankreich\t\t\t\t\t\t
        10\t11\tit\tIsola di Francia\t\t\t\t\t\t
        11\t6\tit\tMonaco di Baviera\t1\t\t\t\t\t
        12\t6\tzh-TW\t慕尼黑\t\t\t\t\t\t
        13\t6\ten\tMunich\t\t\t\t\t\t
        14\t999\tde\tAnderswo\t\t\t\t\t\t
        15\tx\tde\tNirgends\t\t\t\t\t\t
        16\t1\tde\t\t\t\t\t\t\t
        """

    private func candidate(
        _ text: String, _ language: String?, in locator: Locator
    ) throws -> Candidate? {
        var request = GeocodeRequest(singleLine: text)
        request.language = language
        return try locator.geocode(request).candidates.first
    }

    @Test(arguments: [0, 3]) func `answers are in the language that is asked for`(
        _ place: Int
    ) throws {
        var texts = Tiny.all
        texts.insert(Self.names, at: place)
        let (built, path) = try Scratch.build(texts)
        let locator = try Locator(path: path, id: built.id)
        let cases: [(text: String, language: String?, address: String, code: String)] = [
            ("paris", "it", "Parigi, Isola di Francia, Francia", "ITA"),
            ("paris", "IT-CH", "Parigi, Isola di Francia, Francia", "ITA"),
            ("Parigi", "ita", "Parigi, Isola di Francia, Francia", "ITA"),
            ("paris", "ger", "Paris, Inselfrankreich, Frankreich", "GER"),
            ("paris", "fi", "Pariisi, Île-de-France, Ranska", "FIN"),
            ("Lutetia", "fi", "Pariisi, Île-de-France, Ranska", "FIN"),
            ("München", "it", "Monaco di Baviera, Germania", "ITA"),
            ("munich", "zh-Hant", "慕尼黑, 德國", "CHI"),
            ("munich", "zh", "München, 德国", ""),
            ("France", "sv", "Frankrike", "SWE"),
            ("paris", "xx", "Paris, Île-de-France, France", ""),
            ("paris", nil, "Paris, Île-de-France, France", ""),
            ("Panam", nil, "Paris, Île-de-France, France", ""),
            ("慕尼黑", nil, "München, DE", ""),
        ]
        for one in cases {
            let found = try #require(
                try candidate(one.text, one.language, in: locator), "\(one)")
            #expect(found.address == one.address, "\(one)")
            #expect(found.text("Match_addr") == one.address)
            #expect(found.text("LangCode") == one.code, "\(one)")
        }
        let paris = try #require(try candidate("paris", "it", in: locator))
        #expect(paris.text("PlaceName") == "Parigi" && paris.text("City") == "Parigi")
        #expect(paris.text("Region") == "Isola di Francia")
        #expect(paris.text("CntryName") == "Francia" && paris.text("Country") == "FRA")
        #expect(try candidate("Anderswo", nil, in: locator) == nil)
        #expect(built.rejectedCount == 2)
        #expect(built.rejected.map(\.reason).contains { $0.contains("id 'x'") })
        // Names, not links, postcodes or other codes; and none of what the build has not.
        let source = try #require(locator.sources.first { $0.form == "GeoNames alternate names" })
        #expect(source.recordCount == 10)
        #expect(source.attribution == "GeoNames, CC BY 4.0")
    }

    @Test func `text that is no code of a language is refused in a sentence`() throws {
        let locator = try Scratch.locator(Tiny.all)
        for text in ["german", "d", "de;drop", "12"] {
            #expect {
                try candidate("paris", text, in: locator)
            } throws: { error in
                guard let failure = error as? Failure else { return false }
                return failure.code == .invalidParameter && failure.message.contains(text)
            }
        }
        #expect(try candidate("paris", "", in: locator)?.text("LangCode") == "")
    }

    @Test func `suggestions, addresses and reverse answers are in the language as well`() throws {
        let table = "1,12,Avenue du Général Leclerc,75014,Paris,C+O,48.85,2.34\n"
        let locator = try Scratch.locator(Tiny.all + [Self.names, table])
        var suggest = SuggestRequest(text: "par")
        suggest.language = "it"
        let texts = try locator.suggest(suggest).suggestions.map(\.text)
        #expect(texts.first == "Parigi, Isola di Francia, Francia")
        // A text that matches another name is displayed as found.
        suggest.text = "muni"
        #expect(try locator.suggest(suggest).suggestions.first?.text == "Munich, Germania")

        let house = try #require(
            try candidate("12 avenue du general leclerc paris", "it", in: locator))
        #expect(
            house.address
                == "12 Avenue du Général Leclerc, 75014 Parigi, Isola di Francia, Francia")
        #expect(house.text("City") == "Parigi" && house.text("LangCode") == "ITA")
        #expect(house.text("StAddr") == "12 Avenue du Général Leclerc")

        var request = ReverseGeocodeRequest(
            location: Coordinate(x: 2.3488, y: 48.8534), maxDistanceMeters: 500)
        request.featureTypes = ["Locality"]
        request.language = "it"
        #expect(try locator.reverse(request).candidate?.text("PlaceName") == "Parigi")
        request.language = "german"
        #expect(throws: Failure.self) { try locator.reverse(request) }
        // A key identifies the place in any language.
        let key = try #require(try locator.suggest(suggest).suggestions.first?.magicKey)
        var keyed = GeocodeRequest(singleLine: "", magicKey: key)
        keyed.language = "it"
        #expect(try locator.geocode(keyed).candidates.first?.text("City") == "Monaco di Baviera")
    }

    @Test func `without a language answers are those of a locator without languages`() throws {
        let plain = try Scratch.locator(Tiny.all)
        let named = try Scratch.locator(Tiny.all + [Self.names])
        for text in ["paris", "Paris, texas", "suva", "saint louis", "munchen", "ile de france"] {
            let (left, right) = (
                try candidate(text, nil, in: plain), try candidate(text, nil, in: named)
            )
            let (first, second) = (try #require(left), try #require(right))
            #expect(first.score == second.score && first.address == second.address)
            for entry in first.attributes.entries where entry.name != "Origins" {
                #expect(second.attributes[entry.name] == entry.value, "\(text) \(entry.name)")
            }
        }
    }

    /// Every name of a drawn table, in every language, by a rule of its own: the first preferred
    /// one that is not short, else the first that is neither, then short ones; colloquial and
    /// historic ones never.
    @Test func `of several names in a language the best is shown`() throws {
        var random = SeededGenerator(seed: 7)
        let languages = ["de", "fr", "ja"]
        var places = "id\tname\tlatitude\tlongitude\tpopulation\n"
        var rows: [(id: Int, language: String, name: String, flags: [Bool])] = []
        for id in 1...40 {
            places += "\(id)\tOrt\(id)x\t\(id)\t\(id)\t5\n"
            for number in 0..<12 {
                rows.append(
                    (
                        id, languages.randomElement(using: &random) ?? "de", "N\(id)y\(number)",
                        (0..<4).map { _ in Int.random(in: 0..<3, using: &random) == 0 }
                    ))
            }
        }
        let table = rows.enumerated().map { number, row in
            "\(number + 1)\t\(row.id)\t\(row.language)\t\(row.name)\t"
                + row.flags.map { $0 ? "1" : "" }.joined(separator: "\t")
        }.joined(separator: "\n")
        let locator = try Scratch.locator([places, table])
        for id in 1...40 {
            for language in languages {
                let own = rows.filter {
                    $0.id == id && $0.language == language && !$0.flags[2] && !$0.flags[3]
                }
                let wanted =
                    own.first { $0.flags[0] && !$0.flags[1] } ?? own.first { !$0.flags[1] }
                    ?? own.first { $0.flags[0] } ?? own.first
                let found = try #require(try candidate("Ort\(id)x", language, in: locator))
                #expect(found.text("PlaceName") == wanted?.name ?? "Ort\(id)x")
                #expect((found.text("LangCode") == "") == (wanted == nil))
            }
        }
        for row in rows {
            #expect(try candidate(row.name, nil, in: locator)?.sourceID == Int64(row.id))
        }
    }

    @Test func `equal places stand by the collation of their names`() throws {
        // By bytes the letters with marks would come last, and capitals first.
        let names = ["Maa", "Mäb", "mac", "Mád", "Mae", "mâf", "Mag"]
        let rows = names.reversed().enumerated().map { "\($0 + 1)\t\($1)\t\($0)\t20\t0" }
        let locator = try Scratch.locator([
            "id\tname\tlatitude\tlongitude\tpopulation\n" + rows.joined(separator: "\n")
        ])
        let found = try locator.suggest(SuggestRequest(text: "ma", maxSuggestions: 15))
        #expect(found.suggestions.map(\.text) == names)
    }
}
