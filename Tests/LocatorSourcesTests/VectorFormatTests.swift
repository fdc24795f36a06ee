// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources
import TestKit
import Testing

/// Streets and addresses in common vector formats, and their unusable features.
@Suite struct VectorFormatTests {
    private static let city = GridCity()

    /// The file in another format; nil where the tool is missing.
    private func converted(
        _ json: String, _ format: String, _ name: String, _ more: [String] = []
    ) throws -> String? {
        let tool = "/usr/bin/ogr2ogr"
        guard FileManager.default.isExecutableFile(atPath: tool) else {
            print("skipped: no \(tool)")
            return nil
        }
        let path = Scratch.directory() + "/" + name
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = ["-f", format] + more + [path, json]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return path
    }

    /// Houses along the streets, with fields of the names that come with the program.
    private static let houses = GeoJSON.collection(
        city.segments.enumerated().flatMap { number, segment in
            [12, 40].map { meters in
                GeoJSON.point(
                    GridCity.location(
                        segment.line[0].x + meters, segment.line[0].y + Double(number)),
                    [
                        "street": segment.street, "number": "\(number)", "suffix": "B",
                        "postal": segment.rightPostal, "city": "Gridham \(Int(meters))",
                    ])
            }
        })

    @Test func `a locator is made of no file but the one that was named`() throws {
        let outside = try Outside()
        let virtual = try Scratch.file(
            "<OGRVRTDataSource><OGRVRTLayer name=\"canary\"><SrcDataSource>\(outside.path)/canary.csv"
                + "</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>", "data.geojson")
        let entity = try Scratch.file(
            "<!DOCTYPE osm [<!ENTITY led SYSTEM \"\(outside.path)/canary.txt\">]>"
                + "<osm version=\"0.6\"><node id=\"1\" lat=\"1\" lon=\"2\"/></osm>", "data.osm")
        _ = outside.wasTouched()

        for path in [virtual, entity, "/vsicurl/http://127.0.0.1:\(outside.port)/data.geojson"] {
            let failure = #expect(throws: Failure.self) { try Scratch.build([path]) }
            let text = failure?.description ?? ""
            #expect(text.contains(path) && !text.contains(outside.text), "\(text)")
        }
        #expect(!outside.wasTouched())
    }

    // An index would put features into another order.
    @Test(arguments: [
        ("GPKG", "data.gpkg", []), ("ESRI Shapefile", "data.shp", []),
        ("FlatGeobuf", "data.fgb", ["-lco", "SPATIAL_INDEX=NO"]),
    ])
    func `streets and houses of a format make the same locator as GeoJSON`(
        _ format: String, _ name: String, _ options: [String]
    ) throws {
        for (text, constants) in [(Self.city.geoJSON, ["city=Gridham"]), (Self.houses, [])] {
            let json = try Scratch.file(text, "data.geojson")
            guard let path = try converted(json, format, name, options) else { return }
            let (expected, locator) = try Scratch.build([json], constants: constants)
            let (built, other) = try Scratch.build([path], constants: constants)
            #expect(built.rejectedCount == 0)
            #expect(built.streetCount == expected.streetCount)
            #expect(built.houseCount == expected.houseCount)
            #expect(built.segmentCount == expected.segmentCount)
            #expect(built.streetCount > 0)
            for segment in Self.city.segments {
                for number in [1, 5, 117, 150, 234] {
                    let texts = [
                        "\(number) \(segment.street), Gridham",
                        "\(number)B \(segment.street), Gridham 40",
                    ]
                    for text in texts {
                        let (one, two) = (try locator.first(text), try other.first(text))
                        #expect(one?.address == two?.address, "\(text)")
                        #expect(one?.location == two?.location, "\(text)")
                        #expect(one?.score == two?.score, "\(text)")
                    }
                }
            }
        }
    }

    @Test func `ranges are known by their own names`() throws {
        var text = Self.city.geoJSON
        for (theirs, own) in [
            ("FULLNAME", "street"), ("LFROMADD", "leftFrom"), ("LTOADD", "leftTo"),
            ("RFROMADD", "rightFrom"), ("RTOADD", "rightTo"), ("ZIPL", "leftPostal"),
            ("ZIPR", "rightPostal"),
        ] {
            text = text.replacingOccurrences(of: "\"\(theirs)\"", with: "\"\(own)\"")
        }
        let constants = ["city=Gridham", "country=US"]
        let (_, expected) = try Scratch.build(
            [try Scratch.file(Self.city.geoJSON, "tiger.geojson")], constants: constants)
        let (built, locator) = try Scratch.build(
            [try Scratch.file(text, "own.geojson")], constants: constants)
        #expect(built.rejectedCount == 0)
        for segment in Self.city.segments {
            for number in [segment.left?.from ?? 0, segment.right?.to ?? 0] {
                let asked = "\(number) \(segment.street), Gridham"
                let found = try #require(try locator.first(asked))
                #expect(found.text("Addr_type") == "StreetAddress", "\(asked)")
                #expect(found.address == (try expected.first(asked))?.address)
                #expect(found.location == (try expected.first(asked))?.location)
            }
        }
    }

    /// One street for all of them; of the files of columns the one with the most known fields wins.
    @Test(arguments: ["postal", "postcode"])
    func `postcodes are known by both their names`(_ field: String) throws {
        let text = GeoJSON.collection([
            GeoJSON.point(
                Coordinate(x: 10, y: 50),
                ["number": "5", "street": "Oak Street", "city": "Gridham", field: "98765"])
        ])
        let (_, locator) = try Scratch.build(
            [try Scratch.file(text, "houses.geojson")], constants: [])
        let found = try #require(try locator.first("5 Oak Street, Gridham"))
        #expect(found.text("Postal") == "98765")
    }

    private static let lineFields: [String: String?] = [
        "FULLNAME": "Oak Street", "LFROMADD": "1", "LTOADD": "9", "RFROMADD": "2", "RTOADD": "10",
        "ZIPL": "10001", "ZIPR": "10001",
    ]

    @Test func `heights and measures of a vector file do not change its locator`() throws {
        let line = [GridCity.location(0, 0), GridCity.location(50, 0), GridCity.location(100, 0)]
        let plain = try Scratch.file(
            GeoJSON.collection([GeoJSON.line(line, Self.lineFields)]), "plain.geojson")
        let high = line.map { "[\($0.x),\($0.y),1234.5]" }.joined(separator: ",")
        let heights = try Scratch.file(
            GeoJSON.collection([
                GeoJSON.feature(
                    #"{"type":"LineString","coordinates":[\#(high)]}"#, Self.lineFields)
            ]), "highs.geojson")
        let (expected, _) = try Scratch.build([plain])
        #expect(try Scratch.build([heights]).built.byteCount == expected.byteCount)
        for dimension in ["XYM", "XYZM"] {
            guard
                let measured = try converted(
                    heights, "GPKG", "measured.gpkg", ["-dim", dimension])
            else { return }
            let (built, locator) = try Scratch.build([measured])
            #expect(built.rejectedCount == 0)
            #expect(try locator.first("5 Oak Street Gridham")?.text("Addr_type") == "StreetAddress")
        }
    }

    /// Replaces both numbers of the first coordinate of the first record of a shapefile.
    private func spoil(_ path: String, at offset: Int, _ value: Double) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        for byte in 0..<8 {
            bytes[offset + byte] = UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(8 * byte))
        }
        try bytes.write(to: URL(filePath: path))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func `coordinates that are no numbers on the Earth are rejected, with the reason`(
        _ value: Double
    ) throws {
        let points = GeoJSON.collection(
            ["Ash", "Oak"].map {
                GeoJSON.point(
                    Coordinate(x: 10, y: 50), ["street": $0 + " Street", "number": "1"])
            })
        let lines = GeoJSON.collection(
            ["Ash", "Oak"].map {
                GeoJSON.line(
                    [GridCity.location(0, 0), GridCity.location(100, 0)],
                    Self.lineFields.merging(["FULLNAME": $0 + " Street"]) { $1 })
            })
        // After the header of 100 bytes and that of the record of 8: a point has its kind and x; a
        // line its kind, box, two counts, the beginning of its part, and x.
        for (text, offset) in [(points, 112), (lines, 156)] {
            let json = try Scratch.file(text, "data.geojson")
            guard let path = try converted(json, "ESRI Shapefile", "data.shp") else { return }
            #expect(try Scratch.build([path]).built.rejectedCount == 0)
            try spoil(path, at: offset, value)
            let (built, locator) = try Scratch.build([path])
            #expect(built.rejectedCount == 1)
            let reason = built.rejected.first?.reason ?? ""
            #expect(
                ["finite", "beyond", "longitude and latitude", "geometry", "empty"]
                    .contains { reason.contains($0) }, "\(reason)")
            #expect(try locator.first("1 Oak Street Gridham")?.text("StName") == "Oak Street")
            #expect(try locator.first("1 Ash Street Gridham")?.text("StName") != "Ash Street")
        }
    }

    @Test func `empty geometries and huge attributes are rejected, with the reason`() throws {
        let place = Coordinate(x: 10, y: 50)
        let huge = String(repeating: "x", count: 5_000_000)
        let wrong: [(String, String)] = [
            (
                GeoJSON.feature(#"{"type":"Point","coordinates":[]}"#, ["street": "Empty"]),
                "geometry"
            ),
            (
                GeoJSON.feature(#"{"type":"LineString","coordinates":[]}"#, ["street": "Empty"]),
                "geometry"
            ),
            (
                GeoJSON.feature(
                    #"{"type":"GeometryCollection","geometries":[]}"#, ["street": "Empty"]),
                "geometry"
            ),
            (GeoJSON.point(place, ["street": huge]), "street is longer than 200 bytes"),
            (
                GeoJSON.point(place, ["street": "Oak Street", "city": huge]),
                "city is longer than 200 bytes"
            ),
            (
                GeoJSON.point(place, ["street": "Oak Street", "number": huge]),
                "number is longer than 40 bytes"
            ),
            (
                GeoJSON.point(place, ["street": "Oak Street", "number": "nan"]),
                "house number 'nan'"
            ),
        ]
        let good = GeoJSON.point(place, ["street": "Ash Street", "number": "1", "city": nil])
        let text = GeoJSON.collection([good] + wrong.map(\.0))
        let (built, locator) = try Scratch.build([try Scratch.file(text, "odd.geojson")])
        #expect(built.rejectedCount == wrong.count)
        for ((_, reason), rejected) in zip(wrong, built.rejected) {
            #expect(rejected.reason.contains(reason), "\(rejected.reason.prefix(200))")
            #expect(rejected.reason.utf8.count < 300)
        }
        #expect(try locator.first("1 Ash Street Gridham")?.text("Addr_type") == "PointAddress")
    }

    @Test(arguments: ["nan", "NaN", "inf", "-inf", "infinity", "1e400", "0x10p9999"])
    func `a position that is no number is rejected in text as well`(_ word: String) throws {
        let rows =
            "LON,LAT,NUMBER,STREET,CITY\n10,50,1,Ash Street,Gridham\n"
            + "\(word),50,2,Oak Street,Gridham\n10,\(word),3,Oak Street,Gridham\n"
        let (built, _) = try Scratch.build([try Scratch.file(rows, "rows.csv")], constants: [])
        #expect(built.houseCount == 1)
        #expect(built.rejectedCount == 2)
        #expect(built.rejected.map(\.line) == [3, 4])
        #expect(built.rejected.allSatisfy { $0.reason.contains("'\(word)'") })
        let places =
            "id\tname\tlatitude\tlongitude\n1\tHere\t50\t10\n"
            + "2\tNowhere\t\(word)\t10\n3\tNowhere\t50\t\(word)\n"
        let (other, locator) = try Scratch.build(
            [try Scratch.file(places, "places.tsv")], constants: [])
        #expect(other.rejectedCount == 2)
        #expect(try locator.first("Nowhere") == nil)
    }
}
