// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

@testable import Locator

@Suite struct ExplainTests {
    private func explained(_ text: String, near: Coordinate? = nil) throws -> [Candidate] {
        var request = GeocodeRequest(singleLine: text, maxLocations: 50, location: near)
        request.explain = true
        return try Sample.locator().geocode(request).candidates
    }

    @Test func `an explanation adds up to the score`() throws {
        var random = SeededGenerator(seed: 21)
        print("seed \(random.seed)")
        var seen: Set<Explanation.Meaning> = []
        for city in Sample.cities.shuffled(using: &random).prefix(150) {
            var name = Array(city.name)
            if Bool.random(using: &random), name.count > 5 { name.remove(at: 3) }
            let end =
                [", France", " Texas", " xyzzyx", "", ", " + city.country]
                .randomElement(using: &random) ?? ""
            for candidate in try explained(String(name) + end) {
                let explanation = try #require(candidate.explanation)
                let score = 100 * max(0, 1 - explanation.lost / explanation.weight)
                // Uncertain readings are lowered to 99, never raised.
                #expect(candidate.score <= score + 0.006)
                #expect(candidate.score == 99 || abs(candidate.score - score) <= 0.006)
                let sum = explanation.words.reduce(0) { $0 + $1.lost }
                #expect(abs(sum - explanation.lost) < 1e-9)
                seen.formUnion(explanation.words.map(\.meaning))
            }
        }
        #expect(seen.isSuperset(of: [.name, .country, .unexplained]))
    }

    @Test func `of equal scores the greater weight stands first`() throws {
        let found = try explained("Springfield", near: Coordinate(x: -89.6, y: 39.8))
            .filter { $0.score == 100 }
        let weights = try found.map { try #require($0.explanation).order.weight }
        #expect(weights.count > 2)
        #expect(weights == weights.sorted(by: >))
    }

    @Test func `words between those of a name are told`() throws {
        let found = try explained("San Texas Antonio")
        let first = try #require(found.first)
        #expect(first.text("PlaceName") == "San Antonio")
        #expect(first.score < 100)
        let explanation = try #require(first.explanation)
        #expect(explanation.words.contains { $0.match == .rearranged })
        #expect(explanation.words.contains { $0.meaning == .region && $0.name == "Texas" })
    }

    @Test func `an answer is explained only when that is asked for`() throws {
        let found = try Sample.locator().geocode(GeocodeRequest(singleLine: "Paris")).candidates
        #expect(found.allSatisfy { $0.explanation == nil })
    }

    @Test func `an address says which word is what`() throws {
        let locator = try AddressSample.locator()
        var request = GeocodeRequest(singleLine: "", maxLocations: 3)
        request.explain = true
        request.singleLine = AddressSample.shared.houses[0].written
        let candidate = try #require(try locator.geocode(request).candidates.first)
        let explanation = try #require(candidate.explanation)
        let meanings = Set(explanation.words.map(\.meaning))
        #expect(meanings.isSuperset(of: [.street, .town, .house]))
        #expect(explanation.lost == 0 && candidate.score == 100)
    }
}
