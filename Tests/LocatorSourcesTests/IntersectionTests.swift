// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources
import TestKit
import Testing

@Suite struct IntersectionTests {
    private static let shared = Result {
        try Scratch.build([try Scratch.file(GridCity().geoJSON, "streets.geojson")]).locator
    }

    private static let corners = GridCity.eastward.enumerated().flatMap { row, east in
        GridCity.northward.enumerated().map { column, north in
            (east, north, GridCity.location(100 * Double(column), 100 * Double(row)))
        }
    }

    @Test func `every corner is found in every writing`() throws {
        let locator = try Self.shared.get()
        for (east, north, place) in Self.corners {
            for text in [
                "\(east) & \(north)", "\(north) and \(east), Gridham",
                "corner of \(east) and \(north), Gridham", "\(east)/\(north)",
                "\(north) at \(east)", "angle \(east) et \(north)", "Gridham, \(east) @ \(north)",
            ] {
                let found = try #require(try locator.first(text), "\(text)")
                #expect(found.text("Addr_type") == "StreetInt", "\(text): \(found.address)")
                #expect(found.meters(to: place) < 1, "\(text)")
                #expect(found.address.contains(east) && found.address.contains(north))
            }
        }
    }

    @Test func `streets that do not meet are no corner, nor is a street with itself`() throws {
        let locator = try Self.shared.get()
        for text in [
            "Alder Street & Birch Street", "First Avenue and Third Avenue",
            "Alder Street & Alder Street", "Alder Street & Nowhere Street", "Alder Street & & ",
        ] {
            let types = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.map {
                $0.text("Addr_type")
            }
            #expect(!types.contains("StreetInt"), "\(text)")
        }
    }

    @Test func `the nearest corner is found when it is asked for, and only then`() throws {
        let locator = try Self.shared.get()
        var random = SeededGenerator(seed: 3)
        print("seed \(random.seed)")
        for _ in 0..<200 {
            let position = GridCity.location(
                Double.random(in: -50...350, using: &random),
                Double.random(in: -50...450, using: &random))
            var request = ReverseGeocodeRequest(location: position, maxDistanceMeters: 300)
            let plain = try #require(try locator.reverse(request).candidate)
            #expect(plain.text("Addr_type") != "StreetInt")
            request.featureTypes = ["StreetInt"]
            let found = try #require(try locator.reverse(request).candidate)
            #expect(found.text("Addr_type") == "StreetInt")
            let nearest = Self.corners.map { found.meters(to: $0.2) }.min() ?? .infinity
            #expect(nearest < 1)
            let truth = Self.corners.map { Self.meters($0.2, position) }.min() ?? .infinity
            #expect(abs(Self.meters(found.location, position) - truth) < 1)
        }
    }

    private static func meters(_ left: Coordinate, _ right: Coordinate) -> Double {
        CambridgeAddresses.meters(left, right)
    }

    @Test func `corners of Cambridge are found where the city has them`() throws {
        guard let streets = SharedData.path("cambridge_ma/TRANS_Centerlines.geojson.gz"),
            let data = try SharedData.bytes("cambridge_ma/TRANS_Intersections.geojson.gz")
        else { return }
        let (_, locator) = try Scratch.build(
            [streets], constants: ["city=Cambridge", "country=US"])
        let corners = try CambridgeCorners(data)
        var (found, asked) = (0, 0)
        for corner in corners.corners where corner.number.isMultiple(of: 5) {
            asked += 1
            let answer = try locator.geocode(
                GeocodeRequest(singleLine: "\(corner.first) & \(corner.second), Cambridge"))
            let isNear = answer.candidates.contains { candidate in
                candidate.text("Addr_type") == "StreetInt"
                    && corner.places.contains { candidate.meters(to: $0) <= 20 }
            }
            if isNear { found += 1 }
        }
        print("{\"case\":\"intersections\",\"asked\":\(asked),\"found\":\(found)}")
        #expect(asked > 200)
        #expect(Double(found) >= 0.9 * Double(asked))
    }
}
