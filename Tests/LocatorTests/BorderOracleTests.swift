// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import GEOS
import Geometry
import Locator
import TestKit
import Testing

/// Reverse geocoding against a scan of all records, where GEOS assigns records to areas.
@Suite struct BorderOracleTests {
    private struct Record {
        var id: Int
        var location: Coordinate
        var code: String
        /// By GEOS; empty outside all areas.
        var area: String
    }

    private struct World {
        var areas: [SampleArea]
        var relations: [(code: String, relation: GEOSRelation)]
        var border: [Coordinate]

        /// The code of the smallest area that contains a location.
        func code(at location: Coordinate) throws -> String {
            let point = WKB.point(location)
            for area in relations where try area.relation.holds(.intersects, wkb: point) {
                return area.code
            }
            return ""
        }
    }

    /// Two countries with a ragged border in common, and enclaves of each in the other.
    private static func world(_ random: inout SeededGenerator) throws -> World {
        func fine(_ value: Double) -> Double { (value * 1e7).rounded() / 1e7 }
        var border: [Coordinate] = []
        for step in 0...200 {
            border.append(
                Coordinate(
                    x: fine(10 + Double.random(in: -0.01...0.01, using: &random)),
                    y: fine(45 + 0.0015 * Double(step))))
        }
        func island(_ x: Double, _ y: Double) -> [Coordinate] {
            let ring = (0..<12).map { corner in
                let radius = Double.random(in: 0.004...0.02, using: &random)
                let angle = Double(corner) / 12 * 2 * .pi
                return Coordinate(
                    x: fine(x + radius * cos(angle)), y: fine(y + radius * sin(angle)))
            }
            return ring + [ring[0]]
        }
        let inWest = island(9.93, 45.1)
        let inEast = island(10.08, 45.2)
        let (south, north) = (border[0].y, border[200].y)
        func corner(_ x: Double, _ y: Double) -> Coordinate { Coordinate(x: x, y: y) }
        let west =
            [corner(9.8, south)] + border + [corner(9.8, north), corner(9.8, south)]
        let east =
            [corner(10.2, south)] + border + [corner(10.2, north), corner(10.2, south)]
        let areas = [
            SampleArea(name: "Land QA", code: "QA", rings: [west, inWest, inEast]),
            SampleArea(name: "Land QB", code: "QB", rings: [east, inEast, inWest]),
        ]
        return World(
            areas: areas, relations: try areas.map { ($0.code, try $0.relation()) },
            border: border)
    }

    private static func records(
        _ count: Int, in world: World, _ random: inout SeededGenerator
    ) throws -> [Record] {
        try (0..<count).map { number in
            let location = Coordinate(
                x: (Double.random(in: 9.78...10.22, using: &random) * 1e6).rounded() / 1e6,
                y: (Double.random(in: 44.98...45.32, using: &random) * 1e6).rounded() / 1e6)
            let area = try world.code(at: location)
            // Some sources contradict the borders; at sea every record has a code.
            var code = area.isEmpty ? "QA" : area
            if Int.random(in: 0..<20, using: &random) == 0 { code = code == "QA" ? "QB" : "QA" }
            return Record(id: number + 1, location: location, code: code, area: area)
        }
    }

    private static func points(
        _ count: Int, in world: World, _ random: inout SeededGenerator
    ) -> [Coordinate] {
        (0..<count).map { number in
            var center = world.border.randomElement(using: &random) ?? Coordinate(x: 0, y: 0)
            if number.isMultiple(of: 5) {
                center =
                    world.areas[0].rings[1 + number % 2].randomElement(using: &random) ?? center
            }
            return Coordinate(
                x: center.x + Double.random(in: -0.02...0.02, using: &random),
                y: center.y + Double.random(in: -0.02...0.02, using: &random))
        }
    }

    /// The expected result by the rules: the nearest of all, or of those with the country's code or
    /// in its area.
    private static func expected(
        _ records: [Record], at location: Coordinate, within limit: Double, code: String
    ) -> (own: (id: Int, meters: Double)?, across: Double?) {
        var (own, all) = ((id: 0, meters: Double.infinity), (id: 0, meters: Double.infinity))
        for record in records {
            let meters = Haversine.meters(location, record.location)
            guard meters <= limit else { continue }
            if meters < all.meters { all = (record.id, meters) }
            let isOwn = code.isEmpty || record.code == code || record.area == code
            if isOwn, meters < own.meters { own = (record.id, meters) }
        }
        return (
            own.id == 0 ? nil : own,
            all.meters < own.meters && all.meters.isFinite ? all.meters : nil
        )
    }

    @Test(arguments: [1, 2, 3])
    func `the nearest place is the one of the country that a scan finds`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let world = try Self.world(&random)
        let records = try Self.records(400, in: world, &random)
        let text = BorderSample.gazetteer(
            records.map { ($0.id, "Town \($0.id)", $0.location.x, $0.location.y, $0.code, "") })
        let locator = try BorderSample.build([text], world.areas).locator
        var (flagged, areas) = (0, 0)
        for (number, point) in Self.points(1_500, in: world, &random).enumerated() {
            let code = try world.code(at: point)
            let limit = number.isMultiple(of: 3) ? 600.0 : 50_000
            let (own, across) = Self.expected(records, at: point, within: limit, code: code)
            let found = try locator.near(point.x, point.y, within: limit)

            if let own {
                #expect(found?.sourceID == Int64(own.id), "seed \(seed), \(point)")
            } else {
                #expect(found?.text("CountryCode") ?? "" == code, "seed \(seed), \(point)")
                areas += 1
            }
            #expect((found?.metersAcross == nil) == (across == nil), "seed \(seed), \(point)")
            if let across, let said = found?.metersAcross {
                #expect(abs(said - across) < 0.01)
                flagged += 1
            }
        }
        #expect(flagged > 100)
        #expect(areas > 20)
    }

    @Test(arguments: [4, 5]) func `the nearest house is the one of the country that a scan finds`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let world = try Self.world(&random)
        let records = try Self.records(600, in: world, &random)
        let columns = """
            {"name": "own", "separator": ";", "columns": {"number": "n", "street": "s", \
            "city": "c", "country": "k", "longitude": "x", "latitude": "y"}}
            """
        let table =
            "n;s;c;k;x;y\n"
            + records.map {
                "\($0.id);Street \($0.id);Town \($0.code);\($0.code);\($0.location.x);\($0.location.y)"
            }.joined(separator: "\n")
        let locator = try BorderSample.build([table], world.areas, columns: [columns]).locator
        var flagged = 0
        for (number, point) in Self.points(1_500, in: world, &random).enumerated() {
            let code = try world.code(at: point)
            let limit = number.isMultiple(of: 3) ? 500.0 : 10_000
            let (own, across) = Self.expected(records, at: point, within: limit, code: code)
            let found = try locator.near(
                point.x, point.y, within: limit, types: ["PointAddress"])

            #expect(found?.text("AddNum") == own.map { "\($0.id)" }, "seed \(seed), \(point)")
            if own != nil {
                #expect((found?.metersAcross == nil) == (across == nil), "seed \(seed), \(point)")
                flagged += across == nil ? 0 : 1
            }
        }
        #expect(flagged > 100)
    }

    @Test func `a file without areas answers as before there were borders`() throws {
        var random = SeededGenerator(seed: 9)
        let world = try Self.world(&random)
        let records = try Self.records(200, in: world, &random)
        let text = BorderSample.gazetteer(
            records.map { ($0.id, "Town \($0.id)", $0.location.x, $0.location.y, $0.code, "") })
        let (built, _, locator) = try BorderSample.build([text], [])
        #expect(built.areaCount == 0)
        for point in Self.points(300, in: world, &random) {
            let (own, _) = Self.expected(records, at: point, within: 50_000, code: "")
            let found = try locator.near(point.x, point.y)
            #expect(found?.sourceID == own.map { Int64($0.id) })
            #expect(found?.metersAcross == nil)
        }
    }
}
