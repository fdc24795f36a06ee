// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

/// Features of any vector file that have a name, by a file of columns.
@Suite struct NamedFeatureTests {
    private static let columns = """
        {"name": "own", "features": "pointOfInterest",
         "columns": {"name": "Label", "category": "Sort", "alternates": "Also", "population": "People"},
         "constants": {"country": "QL", "city": "Mittelstadt"}}
        """
    private static let square =
        #"{"type":"Polygon","coordinates":[[[10.1,50.1],[10.2,50.1],[10.2,50.2],[10.1,50.2],[10.1,50.1]]]}"#
    private static let features = [
        GeoJSON.point(
            Coordinate(x: 10.0, y: 50.0),
            [
                "Label": "Alte Mühle", "Sort": "Mill", "Also": "Old Mill|Vieux Moulin",
                "People": "12",
            ]),
        GeoJSON.line(
            [
                Coordinate(x: 10, y: 50), Coordinate(x: 10.01, y: 50.02),
                Coordinate(x: 10.05, y: 50.02),
            ],
            ["Label": "Lange Mauer", "Sort": nil, "Also": nil, "People": nil]),
        GeoJSON.feature(
            square, ["Label": "Großer Wald", "Sort": "Forest", "Also": "", "People": nil]),
        GeoJSON.feature(
            "null", ["Label": "Nirgendwo", "Sort": "Mill", "Also": nil, "People": nil]),
        GeoJSON.point(
            Coordinate(x: 10.3, y: 50.3),
            ["Label": nil, "Sort": "Mill", "Also": nil, "People": nil]),
        GeoJSON.point(
            Coordinate(x: 10.3, y: 50.3),
            ["Label": "  ", "Sort": "Mill", "Also": nil, "People": nil]),
        GeoJSON.point(
            Coordinate(x: 10.4, y: 50.4),
            ["Label": "Falsch", "Sort": "Mill", "Also": nil, "People": "viele"]),
        GeoJSON.feature(
            #"{"type":"Polygon","coordinates":[]}"#,
            ["Label": "Leer", "Sort": "Mill", "Also": nil, "People": nil]),
    ]

    private func converted(_ json: String, _ format: String, _ name: String) throws -> String? {
        let tool = "/usr/bin/ogr2ogr"
        guard FileManager.default.isExecutableFile(atPath: tool) else {
            print("skipped: no \(tool)")
            return nil
        }
        let path = Scratch.directory() + "/" + name
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = ["-f", format, "-t_srs", "EPSG:3857", path, json]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return path
    }

    @Test(arguments: [
        ("GeoJSON", "named.geojson"), ("GPKG", "named.gpkg"), ("ESRI Shapefile", "named.shp"),
        ("FlatGeobuf", "named.fgb"),
    ])
    func `named features of a format are points of interest`(
        _ format: String, _ name: String
    ) throws {
        // A shapefile holds one kind of geometry.
        let chosen = format == "ESRI Shapefile" ? [0, 3, 4, 5, 6] : Array(Self.features.indices)
        let text = GeoJSON.collection(chosen.map { Self.features[$0] })
        let json = try Scratch.file(text, "named.geojson")
        guard let path = format == "GeoJSON" ? json : try converted(json, format, name) else {
            return
        }
        let columns = try Scratch.file(Self.columns, "columns.json")
        let (built, locator) = try Scratch.build([path], columns: [columns], constants: [])
        let (again, _) = try Scratch.build([path], columns: [columns], constants: [])
        #expect(built.id == again.id)
        // FlatGeobuf leaves those without a geometry out.
        let rejected = ["ESRI Shapefile": 4, "FlatGeobuf": 3]
        #expect(built.rejectedCount == rejected[format] ?? 5)
        #expect(built.pointCount == (chosen.count == 5 ? 1 : 3))
        let reasons = built.rejected.map(\.reason).joined(separator: "; ")
        #expect(reasons.contains("the name is empty"))
        #expect(reasons.contains("'viele'"))
        for text in ["Alte Mühle", "old mill", "vieux moulin, mittelstadt", "alte muhle"] {
            let found = try #require(try locator.first(text), "\(text)")
            #expect(found.meters(to: Coordinate(x: 10, y: 50)) < 0.1)
            #expect(found.text("Type") == "Mill")
            #expect(found.text("City") == "Mittelstadt")
            #expect(found.text("CountryCode") == "QL")
            #expect(found.attributes["Population"] == .integer(12))
        }
        guard chosen.count > 5 else { return }
        let wall = try #require(try locator.first("Lange Mauer"))
        #expect(wall.meters(to: Coordinate(x: 10.01, y: 50.02)) < 0.1)
        #expect(wall.text("Type") == "Other")
        let wood = try #require(try locator.first("Großer Wald"))
        #expect(10.1...10.2 ~= wood.location.x && 50.1...50.2 ~= wood.location.y)
        #expect(abs(wood.extent.minX - 10.1) < 1e-5 && abs(wood.extent.maxY - 50.2) < 1e-5)
    }

    @Test func `a layer with names needs no columns, unless another layer is known by some`() throws
    {
        let json = try Scratch.file(
            GeoJSON.collection([
                GeoJSON.point(Coordinate(x: 10, y: 50), ["Name": "Blaue Grotte"]),
                GeoJSON.point(Coordinate(x: 10.1, y: 50), ["Name": nil]),
            ]), "named.geojson")
        let (built, locator) = try Scratch.build([json], constants: [])
        #expect(built.pointCount == 1)
        #expect(built.rejectedCount == 1)
        let found = try #require(try locator.first("blaue grotte"))
        #expect(found.text("Addr_type") == "POI")
        #expect(found.meters(to: Coordinate(x: 10, y: 50)) < 0.1)
        let other = try Scratch.file(
            GeoJSON.collection([GeoJSON.point(Coordinate(x: 10, y: 50), ["label": "x"])]),
            "other.geojson")
        #expect {
            try Scratch.build([other], constants: [])
        } throws: { error in
            (error as? Failure)?.message.contains("its fields are: label") == true
        }
    }

    @Test func `a hamlet is found by its other names`() throws {
        let gazetteer = try Scratch.file(
            """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation\talternate_names
            7\tKleindorf\t50.0\t10.0\tQL\t12\tPetit Village
            """, "places.tsv")
        let (_, locator) = try Scratch.build([gazetteer], constants: [])
        let found = try #require(try locator.first("Petit Village"))
        #expect(found.score == 100)
        #expect(found.text("City") == "Kleindorf")
    }

    @Test func `settlements join those of a gazetteer`() throws {
        let gazetteer = try Scratch.file(
            """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation
            7\tMittelstadt\t50.0\t10.0\tQL\t1000
            """, "places.tsv")
        let json = try Scratch.file(
            GeoJSON.collection([
                GeoJSON.point(
                    Coordinate(x: 10.001, y: 50.001), ["name": "Mittelstadt", "alt": "Midtown"]),
                GeoJSON.point(Coordinate(x: 11, y: 51), ["name": "Neudorf", "alt": nil]),
            ]), "towns.geojson")
        let columns = try Scratch.file(
            """
            {"name": "towns", "features": "settlement", "columns": {"name": "name", "alternates": "alt"},
             "constants": {"country": "QL", "population": "5000"}}
            """, "columns.json")
        let (built, locator) = try Scratch.build(
            [gazetteer, json], columns: [columns], constants: [])
        #expect(built.pointCount == 0)
        for text in ["Mittelstadt", "Midtown"] {
            let found = try #require(try locator.first(text))
            #expect(found.attributes["GeoNamesID"] == .integer(7))
            #expect(found.attributes["Population"] == .integer(5_000))
        }
        #expect(try locator.first("Neudorf")?.text("CountryCode") == "QL")
    }

    @Test(arguments: [
        (#"{"name": "x", "features": "town", "columns": {"name": "a"}}"#, "expected settlement or"),
        (#"{"name": "x", "features": "settlement", "columns": {"street": "a"}}"#, "'street' is no"),
        (#"{"name": "x", "features": "settlement", "columns": {}}"#, "no column for 'name'"),
    ])
    func `a wrong file of columns is refused by what is wrong`(
        _ json: String, _ reason: String
    ) throws {
        let columns = try Scratch.file(json, "columns.json")
        let source = try Scratch.file(GeoJSON.collection([Self.features[0]]), "named.geojson")
        #expect {
            try Scratch.build([source], columns: [columns], constants: [])
        } throws: { error in
            let failure = error as? Failure
            return failure?.code == .invalidParameter
                && failure?.message.contains(reason) == true
                && failure?.message.contains("columns.json") == true
        }
    }
}
