// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

/// Polygons of vector files as borders.
@Suite struct AreaFileTests {
    private static func box(
        _ west: Double, _ east: Double, _ properties: [String: String?]
    ) -> String {
        let ring = "[[\(west),40],[\(east),40],[\(east),41],[\(west),41],[\(west),40]]"
        return GeoJSON.feature(#"{"type":"Polygon","coordinates":[\#(ring)]}"#, properties)
    }

    private static func file(_ features: [String], _ name: String) throws -> String {
        try Scratch.file(
            #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}",
            name)
    }

    private static func country(_ locator: Locator, _ x: Double) throws -> Candidate? {
        try locator.reverse(
            ReverseGeocodeRequest(location: Coordinate(x: x, y: 40.5), maxDistanceMeters: 1)
        ).candidate
    }

    private static let places = """
        id\tname\tlatitude\tlongitude\tcountry\tadmin1\tpopulation
        1\tFar\t10.0\t10.0\tFR\t11\t1000
        """
    private static let regions = "code\tname\nNO.42\tNordland\n"

    @Test func `Natural Earth's countries have the first code that says something`() throws {
        func row(_ name: String, _ a2: String, _ a3: String, _ adm0: String) -> [String: String?] {
            [
                "NAME": name, "SOVEREIGNT": name, "ISO_A2": a2, "ISO_A3": a3, "ADM0_A3": adm0,
                "WB_A2": "-99",
            ]
        }
        let borders = try Self.file(
            [
                Self.box(1, 2, row("France", "-99", "-99", "FRA")),
                Self.box(2, 3, row("Norway", "-99", "NOR", "NOR")),
                Self.box(3, 4, row("Kosovo", "XK", "-99", "KOS")),
                Self.box(4, 5, row("Somaliland", "-99", "-99", "SOL")),
            ], "countries.geojson")
        let (built, locator) = try Scratch.build(
            [try Scratch.file(Self.places, "places.tsv"), borders], constants: [])
        #expect(built.areaCount == 3)
        #expect(built.rejected.map(\.line) == [4])
        #expect(built.rejected.first?.reason.contains("'Somaliland'") ?? false)
        for (x, code) in [(1.5, "FR"), (2.5, "NO"), (3.5, "XK")] {
            #expect(try Self.country(locator, x)?.text("CountryCode") == code)
        }
        #expect(try Self.country(locator, 4.5) == nil)
    }

    @Test func `divisions are the gazetteer's by code or name, municipalities tell towns`() throws {
        let columns = try Scratch.file(
            """
            {"name": "own", "areas": "region", "columns": {"name": "n", "country": "c", "region": "r"}}
            """, "regions.json")
        let towns = try Scratch.file(
            #"{"name": "own", "areas": "municipality", "columns": {"name": "town"}}"#, "towns.json")
        let borders = try Self.file(
            [
                Self.box(1, 2, ["n": "Nordland", "c": "NOR", "r": "NO-18"]),
                Self.box(2, 3, ["n": "Sørland", "c": "NO", "r": "99"]),
                Self.box(3, 4, ["n": "Nowhere", "c": "NO", "r": nil]),
            ], "regions.geojson")
        let municipality = try Self.file([Self.box(1, 2, ["town": "Vik"])], "towns.geojson")
        let street = try Self.file(
            [GeoJSON.point(Coordinate(x: 1.5, y: 40.5), ["street": "Gate", "number": "7"])],
            "streets.geojson")
        let (built, locator) = try Scratch.build(
            [
                try Scratch.file(Self.places, "places.tsv"),
                try Scratch.file(Self.regions, "admin1.tsv"), borders, municipality, street,
            ], columns: [columns, towns], constants: [])
        #expect(built.areaCount == 2)
        #expect(built.rejected.map(\.line) == [3])
        let house = try #require(try Self.country(locator, 1.5))
        #expect(house.text("Address") == "7 Gate")
        #expect(house.text("City") == "Vik")
        #expect(house.text("Region") == "Nordland")
        #expect(house.text("CountryCode") == "NO")
        #expect(try Self.country(locator, 2.5)?.text("Region") == "Sørland")
        #expect(try Self.country(locator, 3.5) == nil)
    }

    @Test func `borders in another spatial reference are turned into degrees`() throws {
        let meters = [(1.0, 40.0), (2, 40), (2, 41), (1, 41), (1, 40)].map { x, y in
            let point = WebMercator.project(Coordinate(x: x, y: y))
            return "[\(point.x),\(point.y)]"
        }.joined(separator: ",")
        let feature = GeoJSON.feature(
            #"{"type":"Polygon","coordinates":[[\#(meters)]]}"#, ["n": "Land", "c": "QA"])
        let borders = try Scratch.file(
            """
            {"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:3857"}},
             "features":[\(feature)]}
            """, "mercator.geojson")
        let columns = try Scratch.file(
            #"{"name": "own", "areas": "country", "columns": {"name": "n", "country": "c"}}"#,
            "columns.json")
        let locator = try Scratch.build(
            [try Scratch.file(Self.places, "places.tsv"), borders], columns: [columns],
            constants: []
        ).locator
        #expect(try Self.country(locator, 1.0001)?.text("CountryCode") == "QA")
        #expect(try Self.country(locator, 0.9999) == nil)
    }
}
