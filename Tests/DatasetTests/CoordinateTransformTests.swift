// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Geometry
import PROJ
import Testing

@Suite struct CoordinateTransformTests {
    private func transform(_ from: Int, _ to: Int) throws -> CoordinateTransform {
        try CoordinateTransform(from: SpatialReference(wkid: from), to: SpatialReference(wkid: to))
    }

    private func isNear(_ left: Coordinate, _ x: Double, _ y: Double, _ tolerance: Double) -> Bool {
        abs(left.x - x) <= tolerance && abs(left.y - y) <= tolerance
    }

    // Expected values: cs2cs 9.1.1, input and output with longitude or easting first.
    @Test func `longitude comes before latitude whatever EPSG says`() throws {
        let utm = try transform(4326, 32631)
        #expect(isNear(try utm.forward(Coordinate(x: 3, y: 45)), 500_000, 4_982_950.400, 0.01))
        let lambert = try transform(4326, 2154)
        let paris = Coordinate(x: 2.35, y: 48.85)
        let there = try lambert.forward(paris)
        #expect(
            there.x > 600_000 && there.x < 700_000 && there.y > 6_800_000 && there.y < 6_900_000)
        #expect(isNear(try lambert.inverse(there), paris.x, paris.y, 1e-9))
    }

    @Test(arguments: [3857, 102_100, 102_113, 900_913])
    func `every name of Web Mercator is the spherical formula`(wkid: Int) throws {
        let mercator = try transform(4326, wkid)
        #expect(
            isNear(
                try mercator.forward(Coordinate(x: 180, y: 90)), 20_037_508.342_789_244,
                20_037_508.342_789_244, 1e-6))
        #expect(try mercator.forward(Coordinate(x: 181, y: 0)).x > 20_037_508.35)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let place = Coordinate(
                x: Double.random(in: -200...200, using: &generator),
                y: Double.random(in: -85...85, using: &generator))
            let back = try mercator.inverse(try mercator.forward(place))
            #expect(isNear(back, place.x, place.y, 1e-11), "\(place)")
        }
    }

    @Test func `the spherical formula agrees with PROJ`() throws {
        // From WKT, without a known number, PROJ does the work itself.
        let wkt = """
            PROJCRS["m",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",\
            ELLIPSOID["WGS 84",6378137,298.257223563]]],CONVERSION["p",METHOD[\
            "Popular Visualisation Pseudo Mercator",ID["EPSG",1024]],\
            PARAMETER["Latitude of natural origin",0],PARAMETER["Longitude of natural origin",0],\
            PARAMETER["False easting",0],PARAMETER["False northing",0]],CS[Cartesian,2],\
            AXIS["x",east],AXIS["y",north],LENGTHUNIT["metre",1]]
            """
        let proj = try CoordinateTransform(from: .wgs84, to: SpatialReference(wkt: wkt))
        let ours = try transform(4326, 3857)
        for longitude in stride(from: -180.0, through: 180, by: 7.5) {
            for latitude in stride(from: -85.0, through: 85, by: 2.5) {
                let place = Coordinate(x: longitude, y: latitude)
                let expected = try proj.forward(place)
                #expect(isNear(try ours.forward(place), expected.x, expected.y, 1e-6), "\(place)")
            }
        }
    }

    @Test(arguments: [0, -1, 999_999, 5773])
    func `an unknown or vertical system is refused by name`(wkid: Int) throws {
        let failure = #expect(throws: Failure.self) { try transform(wkid, 4326) }
        #expect(failure?.code == .invalidParameter)
        #expect(failure?.message.contains("\(wkid)") == true)
        #expect(throws: Failure.self) { try transform(wkid, wkid) }
    }

    @Test(arguments: ["", "x", "+init=/etc/hostname:1", "GEOGCS[", "\u{0}", "EPSG:4326"])
    func `text that is no WKT is refused`(text: String) {
        #expect(throws: Failure.self) {
            try CoordinateTransform(from: SpatialReference(wkt: text), to: .wgs84)
        }
    }

    @Test func `coordinates without a place are errors`() throws {
        let lambert = try transform(4326, 2154)
        for place in [
            Coordinate(x: .nan, y: 0), Coordinate(x: 0, y: .infinity), Coordinate(x: 0, y: 1e300),
        ] {
            let failure = #expect(throws: Failure.self) { try lambert.forward(place) }
            #expect(failure?.message.contains("no place in spatial reference 2154") == true)
        }
        let mercator = try transform(4326, 3857)
        #expect(throws: Failure.self) { try mercator.forward(Coordinate(x: .nan, y: 0)) }
        #expect(throws: Failure.self) { try mercator.inverse(Coordinate(x: 0, y: .nan)) }
    }

    @Test func `a system tells its unit`() throws {
        for known in [4326, 3857, 102_100, 102_113, 900_913].map(CoordinateSystem.wkid) {
            #expect(try known.unit() == known.unitInDatabase())
        }
        let metres = try CoordinateSystem.wkid(3857).unit()
        #expect(!metres.isAngular && metres.factor == 1)
        let degrees = try CoordinateSystem.wkid(4326).unit()
        #expect(degrees.isAngular && abs(degrees.factor - .pi / 180) < 1e-15)
        let feet = try CoordinateSystem.wkid(2249).unit()
        #expect(!feet.isAngular && abs(feet.factor - 0.304_800_6) < 1e-7)
    }
}
