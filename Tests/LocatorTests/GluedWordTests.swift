// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Locator
import TestKit
import Testing

/// Texts whose words were written together.
@Suite struct GluedWordTests {
    private func joined(_ text: String) -> String {
        text.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    @Test func `streets without their spaces are found as with them, at a lower score`() throws {
        let locator = try AddressSample.locator()
        func first(_ text: String) throws -> Candidate? {
            try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
        }
        let houses = AddressSample.shared.houses.filter {
            $0.street.split { $0 == " " || $0 == "'" || $0 == "-" }.count >= 3
        }
        var random = SeededGenerator(seed: 5)
        print("seed \(random.seed)")
        for house in houses.shuffled(using: &random).prefix(300) {
            let number = "\(house.number)\(house.suffix)"
            let apart = try #require(try first("\(number) \(house.street) \(house.city)"))
            let together = try first("\(number) \(joined(house.street)) \(house.city)")
            #expect(together?.address == apart.address, "\(house.written)")
            let score = try #require(together?.score)
            #expect(score < 100 && score >= 95, "\(house.written): \(score)")
        }
    }

    @Test func `a suggestion reads words written together before the one being typed`() throws {
        let locator = try Scratch.locator(
            ["1,3,Rue du Général de Gaulle,10000,Bourg,C+O,45.0,5.0\n"], suffix: "csv")
        let found = try locator.suggest(SuggestRequest(text: "3 rue dugeneraldegaulle bou"))
        #expect(
            found.suggestions.map(\.text) == [
                "3 Rue du Général de Gaulle, 10000 Bourg, FR"
            ])
    }

    @Test func `names of towns without their spaces are found as with them`() throws {
        let locator = try Sample.locator()
        let cities = Sample.cities.filter {
            $0.name.split { $0 == " " || $0 == "-" }.count >= 4 && $0.population > 20_000
        }
        var random = SeededGenerator(seed: 7)
        print("seed \(random.seed)")
        for city in cities.shuffled(using: &random).prefix(200) {
            let apart = try locator.geocode(
                GeocodeRequest(singleLine: city.name, maxLocations: 1)
            ).candidates.first
            let together = try locator.geocode(
                GeocodeRequest(singleLine: joined(city.name), maxLocations: 1)
            ).candidates.first
            #expect(together?.address == apart?.address, "\(city.name)")
        }
        #expect(cities.count > 50)
    }

    @Test(arguments: [
        ("lisbonportugal", "Lisbon, Lisbon, Portugal"),
        ("sanfranciscocalifornia", "San Francisco, California, United States"),
        ("capetownsouthafrica", "Cape Town, Western Cape, South Africa"),
        ("santacruzdetenerife", "Santa Cruz de Tenerife, Canary Islands, Spain"),
    ])
    func `a name and what it lies in may be one word`(text: String, label: String) throws {
        var request = GeocodeRequest(singleLine: text, maxLocations: 1)
        request.explain = true
        let first = try #require(try Sample.locator().geocode(request).candidates.first)
        #expect(first.address == label)
        #expect(first.score == 97)
        let explanation = try #require(first.explanation)
        let score = 100 * (1 - explanation.lost / explanation.weight)
        #expect(abs(score - first.score) < 0.01)
    }

    @Test func `no word without spaces takes long to refuse`() throws {
        let locator = try Sample.locator()
        // Nothing is called so, however it is parted; the search is bounded by steps, not by time.
        for text in [
            String(repeating: "san", count: 26), String(repeating: "a", count: 80),
            String(repeating: "ñ", count: 400),
        ] {
            let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates
            #expect(found.allSatisfy { $0.score < 100 })
        }
    }
}
