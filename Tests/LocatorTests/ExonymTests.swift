// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Locator
import TestKit
import Testing

/// Names of large places in other languages, that small places bear as their usual ones.
@Suite struct ExonymTests {
    private static let places = """
        id\tname\tlatitude\tlongitude\tcountry\tfeature_code\tpopulation\talternate_names
        1\tPoznań\t52.4\t16.9\tPL\tPPLA\t536151\tPosen|Possen|Poßen|Pozen|Posnania
        2\tPosen\t41.6\t-87.7\tUS\tPPL\t5987\t
        3\tMadinah\t24.5\t39.6\tSA\tPPLA\t1300000\tMedina|Médine|Medyna|Mediina|Yathrib
        4\tMedina\t41.1\t-81.9\tUS\tPPLA2\t26339\t
        5\tFlorence\t43.8\t11.2\tIT\tPPLA\t367150\tFirenze|Florencia|Florència
        6\tFlorencia\t1.6\t-75.6\tCO\tPPLA\t168346\t
        7\tWrocław\t51.1\t17.0\tPL\tPPLA\t672545\tBreslau|Vratislavia
        8\tBreslau\t43.5\t-80.4\tCA\tPPL\t60000\t
        9\tRome\t41.9\t12.5\tIT\tPPLC\t2318895\tRoma|Róma|Rom
        10\tRoma\t-26.6\t148.8\tAU\tPPL\t6900\t
        """
    private static let names = """
        1\t1\tde\tPosen\t\t\t\t\t\t
        2\t3\tde\tMedina\t\t\t\t\t\t
        3\t3\ten\tMedina\t\t\t\t\t\t
        4\t5\tes\tFlorencia\t\t\t\t\t\t
        5\t7\tde\tBreslau\t\t\t\t\t\t
        6\t9\tit\tRoma\t\t\t\t\t\t
        """

    private static let opened = Result { try Scratch.locator([places, names]) }

    private func suggested(_ text: String, _ language: String?) throws -> [String] {
        var request = SuggestRequest(text: text)
        request.language = language
        return try Self.opened.get().suggest(request).suggestions.map(\.text)
    }

    /// The first place by its id, geocoded, and by the key of the first suggestion.
    private func first(_ text: String, _ language: String?) throws -> [Int64?] {
        let locator = try Self.opened.get()
        var request = GeocodeRequest(singleLine: text)
        request.language = language
        var suggest = SuggestRequest(text: text)
        suggest.language = language
        let suggestion = try #require(try locator.suggest(suggest).suggestions.first)
        var keyed = GeocodeRequest(singleLine: "", magicKey: suggestion.magicKey)
        keyed.language = language
        return [
            try locator.geocode(request).candidates.first?.sourceID,
            try locator.geocode(keyed).candidates.first?.sourceID,
        ]
    }

    @Test(arguments: [
        ("Posen", "de", 1), ("Medina", "de", 3), ("Medina", "en", 3), ("Florencia", "es", 5),
        ("Breslau", "de", 7), ("Roma", "it", 9),
    ])
    func `the place that bears the name in the language that is asked for comes first`(
        _ text: String, _ language: String, _ place: Int64
    ) throws {
        #expect(try first(text, language) == [place, place])
    }

    @Test(arguments: [
        // Common names of much larger places, and names that other places of some size bear.
        ("Posen", nil, 1), ("Medina", nil, 3), ("Roma", nil, 9), ("Florencia", nil, 6),
        ("Breslau", nil, 8), ("Posen", "fr", 1), ("Florencia", "de", 6), ("Breslau", "es", 8),
    ])
    func `without the language names weigh by how common they are`(
        _ text: String, _ language: String?, _ place: Int64
    ) throws {
        #expect(try first(text, language) == [place, place])
    }

    @Test func `a suggestion is written as the language writes it`() throws {
        #expect(try suggested("Roma", "it").first == "Roma, Italia")
        #expect(try suggested("roma", "it").first == "Roma, Italia")
        #expect(try suggested("Posen", "de").first == "Posen, Polen")
        #expect(try suggested("Florencia", "es").first == "Florencia, Italia")
    }
}
