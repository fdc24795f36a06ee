// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

/// How often the place that was meant is found; the floors are what was measured, less a little.
@Suite struct EvaluationTests {
    @Test func `the sample's place names are found`() throws {
        let text = try String(
            contentsOfFile: Sample.root + "/deploy/sample/place_names.csv", encoding: .utf8)
        let rows = text.split(separator: "\n").dropFirst().map(fields)
        var (first, five, count) = (0, 0, 0)
        for row in rows.enumerated().filter({ $0.offset.isMultiple(of: 5) }).map(\.element) {
            let answer = try Sample.locator().geocode(
                GeocodeRequest(singleLine: row[1], countryCodes: [row[2]], maxLocations: 5))
            let ids = answer.candidates.map(\.sourceID)
            count += 1
            if ids.first == Int64(row[0]) { first += 1 }
            if ids.contains(Int64(row[0])) { five += 1 }
        }

        print("place_names.csv: \(count) queries, first \(first), among five \(five)")
        #expect(Double(first) / Double(count) >= 0.96)
        #expect(Double(five) / Double(count) >= 0.995)
    }

    /// Splits a line of CSV with quotes around fields that hold commas.
    private func fields(_ line: Substring) -> [String] {
        var result = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted: result.append("")
            default: result[result.count - 1].append(character)
            }
        }
        return result
    }

    private struct Example: Decodable {
        var id: Int
        var query: String
        var limit: Int
        var focus: [Double]?
        var expected: Expected

        struct Expected: Decodable {
            var type: String
            var lat: Double
            var lon: Double
            var max_distance_m: Double
            var housenumber: String?
        }
    }

    @Test func `well known examples of city names pass`() throws {
        guard let path = SharedData.path("geocode_examples.jsonl") else { return }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let examples = try lines.map {
            try JSONDecoder().decode(Example.self, from: Data($0.utf8))
        }.filter { $0.expected.type == "place" }
        var failed: [String] = []
        for example in examples {
            let focus = example.focus.map { Coordinate(x: $0[0], y: $0[1]) }
            let answer = try Sample.locator().geocode(
                GeocodeRequest(
                    singleLine: example.query, maxLocations: example.limit, location: focus))
            let isFound = answer.candidates.contains { candidate in
                let dy = (candidate.location.y - example.expected.lat) * 111_195
                let dx =
                    (candidate.location.x - example.expected.lon) * 111_195
                    * cos(example.expected.lat * .pi / 180)
                return (dx * dx + dy * dy).squareRoot() <= example.expected.max_distance_m
            }
            if !isFound { failed.append("\(example.id) '\(example.query)'") }
        }
        let passed = examples.count - failed.count

        print("city examples: \(passed) of \(examples.count) pass; failed: \(failed)")
        #expect(Double(passed) / Double(examples.count) >= 0.93)
    }

    @Test(.slow) func `all examples pass, and French addresses in every writing`() throws {
        let tables = ["08", "12", "23", "90"].compactMap {
            SharedData.path("addresses_fr/bano-\($0).csv.gz")
        }
        guard tables.count == 4, let path = SharedData.path("geocode_examples.jsonl"),
            let gazetteer = SharedData.path("gazetteer")
        else { return }
        let places = ["cities15000_2026", "admin1_2026", "countries"].map {
            gazetteer + "/geonames_\($0).tsv.gz"
        }
        let directory = Scratch.directory("shared")
        let built = try LocatorBuilder.build(sources: places + tables, into: directory)
        let locator = try Locator(
            path: directory + "/\(built.id.rawValue)/locator.bin", id: built.id)
        print("shared: \(built.streetCount) streets, \(built.houseCount) house numbers")

        let examples = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map
        {
            try JSONDecoder().decode(Example.self, from: Data($0.utf8))
        }
        var failed: [String] = []
        for example in examples {
            let focus = example.focus.map { Coordinate(x: $0[0], y: $0[1]) }
            let answer = try locator.geocode(
                GeocodeRequest(
                    singleLine: example.query, maxLocations: example.limit, location: focus))
            let isFound = answer.candidates.contains {
                isNear(
                    $0, example.expected.lat, example.expected.lon, example.expected.max_distance_m)
                    && isNumber(example.expected.housenumber, of: $0)
            }
            if !isFound { failed.append("\(example.id) '\(example.query)'") }
        }
        print("all examples: \(failed.count) of \(examples.count) fail: \(failed)")
        #expect(examples.count > 300)
        #expect(Double(failed.count) <= 0.03 * Double(examples.count))

        var random = SeededGenerator(seed: 12)
        print("seed \(random.seed)")
        let addresses = try tables.flatMap(AddressQuery.read(bano:))
        for kind in AddressQuery.Kind.allCases {
            var right = 0
            for _ in 0..<200 {
                let address = try #require(addresses.randomElement(using: &random))
                let text = address.written(kind, using: &random)
                let found = try locator.geocode(GeocodeRequest(singleLine: text, maxLocations: 1))
                    .candidates.first
                if let found, isNear(found, address.latitude, address.longitude, 75),
                    found.text("AddNum").filter({ $0 != " " }).lowercased()
                        == address.number.lowercased(),
                    AddressQuery.plain(found.text("StName")) == AddressQuery.plain(address.street),
                    AddressQuery.plain(found.text("City")) == AddressQuery.plain(address.city)
                {
                    right += 1
                }
            }
            print("\(kind.rawValue): \(right) of 200")
            #expect(right >= 196, "\(kind.rawValue)")
        }
    }

    private func isNumber(_ number: String?, of candidate: Candidate) -> Bool {
        func bare(_ text: String) -> String { text.lowercased().filter { $0 != " " } }
        return number.map { bare($0) == bare(candidate.text("AddNum")) } ?? true
    }

    private func isNear(
        _ candidate: Candidate, _ latitude: Double, _ longitude: Double, _ meters: Double
    ) -> Bool {
        let dy = (candidate.location.y - latitude) * 111_195
        let dx = (candidate.location.x - longitude) * 111_195 * cos(latitude * .pi / 180)
        return (dx * dx + dy * dy).squareRoot() <= meters
    }
}
