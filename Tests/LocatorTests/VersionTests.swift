// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

/// Files of every version: places alone, with addresses, with streets as lines, with sources and
/// languages, with steps of house numbers.
@Suite struct VersionTests {
    private func locator(_ version: Int) throws -> Locator {
        let path = Sample.root + "/Tests/Golden/v1/locator/version-\(version).bin"
        let bytes = try Data(contentsOf: URL(filePath: path))
        #expect(bytes[8] == UInt8(version))
        return try Locator(
            path: path, id: try #require(ContentID(rawValue: String(repeating: "0", count: 64))))
    }

    @Test(arguments: 1...3)
    func `old files are read on`(_ version: Int) throws {
        let locator = try locator(version)
        func first(_ text: String) throws -> Candidate? {
            try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
        }
        #expect(locator.placeCount == 6)
        for text in ["Paris", "Париж", "Paris, Île-de-France", "paris france"] {
            #expect(try first(text)?.sourceID == 1, "\(text)")
        }
        #expect(try first("paris texas")?.sourceID == 2)
        #expect(try locator.suggest(SuggestRequest(text: "par")).suggestions.count == 2)
        let house = try first("12 avenue du general leclerc 75014 paris")
        #expect((house?.text("Addr_type") == "PointAddress") == (version >= 2))
        let between = try first("10 rue basse, paris")
        #expect(
            (between?.text("Addr_type") == "StreetAddress") == (version == 3),
            "\(between?.address ?? "")")
        var request = ReverseGeocodeRequest(
            location: Coordinate(x: 2.3488, y: 48.8534), maxDistanceMeters: 500)
        request.featureTypes = ["Locality"]
        #expect(try locator.reverse(request).candidate?.text("City") == "Paris")
        request.featureTypes = ["POI"]
        #expect(try locator.reverse(request).candidate == nil)
    }

    /// Of two tables of areas, one of places, alternate names, a row of BANO, and an extract with a
    /// town and a museum.
    @Test func `a file of version 5 says what it was built from, and in languages`() throws {
        let locator = try locator(5)
        #expect(
            locator.sources.map(\.name) == [
                "countries.tsv", "regions.tsv", "places.tsv", "alternateNames.txt", "bano-75.csv",
                "paris.osm",
            ])
        #expect(locator.sources.map(\.recordCount) == [2, 2, 2, 2, 2, 3])
        #expect(locator.sources[5].attribution == "© OpenStreetMap contributors, ODbL")
        func first(_ text: String, _ language: String? = nil) throws -> Candidate {
            var request = GeocodeRequest(singleLine: text)
            request.language = language
            return try #require(try locator.geocode(request).candidates.first)
        }
        let paris = try first("paris", "it")
        #expect(paris.address == "Parigi, Isola di Francia, Francia")
        #expect(paris.text("LangCode") == "ITA")
        #expect(
            try first("paris").text("Origins")
                == "places.tsv#1; alternateNames.txt#1; paris.osm#node/1")
        #expect(try first("Parizo").address == "Paris, Île-de-France, France")
        #expect(try first("12 bis avenue du general leclerc").text("Origins") == "bano-75.csv")
        let louvre = try first("louvre", "it")
        #expect(louvre.text("PlaceName") == "Museo del Louvre")
        #expect(louvre.text("Origins") == "paris.osm#node/2")
        #expect(
            louvre.text("Place_addr") == "99 Rue de Rivoli, Parigi, Isola di Francia, Francia")
    }

    /// Of an extract with a town and a way from house 10 to house 50 by tens.
    @Test func `a file of version 6 has houses at steps`() throws {
        let locator = try locator(6)
        func first(_ text: String) throws -> Candidate {
            try #require(
                try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first, "\(text)")
        }
        let house = try first("20 rue longue, paris")
        #expect(house.text("Addr_type") == "StreetAddress")
        #expect((house.text("AddNumFrom"), house.text("AddNumTo")) == ("10", "50"))
        // The second of five stretches of the line.
        #expect(abs(house.location.x - 2.3415) < 1e-6)
        #expect(try first("22 rue longue, paris").text("Addr_type") == "StreetName")
        #expect(try first("50 rue longue, paris").text("Addr_type") == "PointAddress")
    }
}
