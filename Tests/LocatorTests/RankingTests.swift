// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

@testable import Locator

@Suite struct RankingTests {
    private static let header = "id\tname\tlatitude\tlongitude\tcountry\tfeature_code\tpopulation\n"

    @Test func `one more slip never scores higher`() throws {
        var random = SeededGenerator(seed: 4)
        print("seed \(random.seed)")
        // Names of made-up words, so that no slip makes another name.
        let names = (0..<60).map { _ in
            (0..<Int.random(in: 1...3, using: &random)).map { _ in
                String(
                    (0..<Int.random(in: 4...11, using: &random)).map { _ in
                        Array("aeklmrst")[Int.random(in: 0..<8, using: &random)]
                    })
            }.joined(separator: " ")
        }
        let rows = names.enumerated().map { "\($0 + 1)\t\($1)\t\($0)\t\($0)\tFR\tPPL\t1000" }
        let locator = try Scratch.locator([Self.header + rows.joined(separator: "\n")])
        var seen: Set<Int> = []
        for (number, name) in names.enumerated() {
            var text = Array(name)
            var last = 100.0
            let places = text.indices.filter { text[$0] != " " }.shuffled(using: &random)
            for slips in 0...4 where slips <= places.count {
                // z is in no name, so every wrong letter is one slip more.
                if slips > 0 { text[places[slips - 1]] = "z" }
                let score =
                    try locator.geocode(GeocodeRequest(singleLine: String(text), maxLocations: 50))
                    .candidates.first { $0.sourceID == Int64(number + 1) }?.score ?? 0
                #expect(score <= last, "\(name) as \(String(text))")
                if score > 0 { seen.insert(slips) }
                last = score
            }
        }
        #expect(seen.isSuperset(of: [0, 1, 2]))
    }

    @Test func `an answer follows the model that its file carries`() throws {
        let shipped = String(decoding: Ranking.shippedText, as: UTF8.self)
        let strict = shipped.replacingOccurrences(of: #""least": 50"#, with: #""least": 95"#)
        #expect(strict != shipped)
        let places = try Scratch.source(Self.header + "1\tAmsterdam\t52\t4\tNL\tPPL\t700000\n")
        func found(_ ranking: String?) throws -> Int {
            let directory = Scratch.directory("ranking")
            let path = try ranking.map { try Scratch.source($0, name: "ranking.json") }
            let built = try LocatorBuilder.build(sources: [places], ranking: path, into: directory)
            let locator = try Locator(
                path: directory + "/\(built.id.rawValue)/locator.bin", id: built.id)
            return try locator.geocode(GeocodeRequest(singleLine: "Amsterdm")).candidates.count
        }
        #expect(try found(nil) == 1)
        #expect(try found(shipped) == 1)
        #expect(try found(strict) == 0)
    }

    @Test(arguments: [
        Wrong("", "JSON"), Wrong("{}", "'score' is missing"), Wrong("[]", "expected"),
        Wrong("{\"score\":1}", "'score'"),
        Wrong(#""least": 50"#, #""least": 500"#, "'score.least'"),
        Wrong(#""words": 0.2"#, #""words": -1"#, "'places.words'"),
        Wrong(#""words": 0.2"#, #""words": "x""#, "'places.words'"),
        Wrong(#""words": 0.2,"#, "", "'places.words' is missing"),
        Wrong(#""words": 0.2,"#, #""words": 0.2, "why": "x","#, "'places.why'"),
        Wrong(#""otherTown": 1,"#, #""otherTown": 3,"#, "'addresses.otherTown'"),
        Wrong(#""cognate": 0.1,"#, #""cognate": 7,"#, "'roles.cognate'"),
        Wrong(#""decades": 4"#, #""decades": 0"#, "'nearness.decades'"),
        Wrong(#""former": -0.30"#, #""former": -3"#, "'importance.former'"),
    ])
    func `a model that is none is refused by its member`(wrong: Wrong) throws {
        do throws(Failure) {
            _ = try Ranking.reading(Array(wrong.text.utf8), source: "own.json")
            Issue.record("it was read")
        } catch {
            #expect(error.message.contains("'own.json'"))
            #expect(error.message.contains(wrong.part), "\(error.message)")
        }
    }

    @Test func `a file's model may lack members that came later`() throws {
        let own = #"{"score": {"least": 70}, "places": {}, "unknown": {"a": 1}}"#
        let carried = try Ranking.carried(Array(own.utf8))
        let shipped = try Ranking.reading(Ranking.shippedText, source: "shipped")
        #expect(carried.score.least == 70)
        #expect(carried.score.gap == shipped.score.gap)
        #expect(carried.places.words == shipped.places.words)
        for wrong in ["", "[1]", #"{"score": 1}"#, #"{"score": {"least": 700}}"#] {
            #expect(throws: Failure.self) { try Ranking.carried(Array(wrong.utf8)) }
        }
    }

    struct Wrong: Sendable {
        var text: String
        var part: String

        init(_ text: String, _ part: String) { (self.text, self.part) = (text, part) }

        init(_ old: String, _ new: String, _ part: String) {
            text = String(decoding: Ranking.shippedText, as: UTF8.self)
                .replacingOccurrences(of: old, with: new)
            self.part = part
        }
    }
}
