// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import GEOS
import Geometry
import Locator
import Platform
import TestKit
import Testing

/// Countries of Natural Earth with the places of GeoNames; GEOS assigns the places to countries.
@Suite struct NaturalEarthTests {
    /// The countries of a file, read without the product.
    private struct Countries {
        var areas: [(code: String, relation: GEOSRelation, rings: [[Coordinate]])] = []

        private static let alpha2 = ["FRA": "FR", "NOR": "NO"]

        init?(_ path: String) throws {
            guard let json = try SharedData.bytes(path),
                let root = try JSONSerialization.jsonObject(with: json) as? [String: Any],
                let features = root["features"] as? [[String: Any]]
            else { return nil }
            for feature in features {
                guard let fields = feature["properties"] as? [String: Any],
                    let geometry = feature["geometry"] as? [String: Any],
                    let type = geometry["type"] as? String
                else { continue }
                let iso = fields["ISO_A2"] as? String ?? "-99"
                let code = iso == "-99" ? Self.alpha2[fields["ADM0_A3"] as? String ?? ""] : iso
                let polygons =
                    type == "Polygon"
                    ? [geometry["coordinates"] as? [[[Double]]] ?? []]
                    : geometry["coordinates"] as? [[[[Double]]]] ?? []
                let rings = polygons.joined().map { $0.map { Coordinate(x: $0[0], y: $0[1]) } }
                areas.append((code ?? "", try GEOSRelation(wkb: WKB.polygon(rings)), rings))
            }
        }

        /// The countries that share a position with a geometry, by their codes.
        func codes(_ wkb: [UInt8]) throws -> Set<String> {
            var result: Set<String> = []
            for area in areas where try area.relation.holds(.intersects, wkb: wkb) {
                result.insert(area.code)
            }
            return result
        }
    }

    private struct Town {
        var location: Coordinate
        var code: String
        var row: String
    }

    /// The places of GeoNames with a population of 15,000 or more; nil for a missing file.
    private static func towns() throws -> [Town]? {
        guard let data = try SharedData.bytes("gazetteer/geonames_cities15000_2026.tsv.gz") else {
            return nil
        }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count > 6, let y = Double(fields[2]), let x = Double(fields[3]) else {
                return nil
            }
            return Town(
                location: Coordinate(x: x, y: y), code: String(fields[4]),
                row: fields[0..<7].joined(separator: "\t"))
        }
    }

    private static func gazetteer(_ towns: [Town]) throws -> String {
        let heading = "id\tname\tlatitude\tlongitude\tcountry\tadmin1\tpopulation\n"
        return try Scratch.file(heading + towns.map(\.row).joined(separator: "\n"), "places.tsv")
    }

    private static func near(
        _ locator: Locator, _ location: Coordinate, within meters: Double = 100_000
    ) throws -> Candidate? {
        try locator.reverse(
            ReverseGeocodeRequest(location: location, maxDistanceMeters: meters)
        ).candidate
    }

    /// A position up to some metres off.
    private static func moved(
        _ location: Coordinate, within meters: Double, _ random: inout SeededGenerator
    ) -> Coordinate {
        let radius = meters * Double.random(in: 0...1, using: &random).squareRoot() / 111_195
        let angle = Double.random(in: 0..<2 * .pi, using: &random)
        let shrink = max(0.05, cos(location.y * .pi / 180))
        return Coordinate(
            x: max(-180, min(180, location.x + radius * cos(angle) / shrink)),
            y: max(-90, min(90, location.y + radius * sin(angle))))
    }

    /// A polygon of sixteen corners around a position.
    private static func circle(_ location: Coordinate, meters: Double) -> [UInt8] {
        let (radius, shrink) = (meters / 111_195, max(0.05, cos(location.y * .pi / 180)))
        let ring = (0...16).map { corner in
            let angle = Double(corner % 16) / 16 * 2 * .pi
            return Coordinate(
                x: location.x + radius * cos(angle) / shrink,
                y: location.y + radius * sin(angle))
        }
        return WKB.polygon([ring])
    }

    @Test(.slow, arguments: ["50m", "110m"]) func `near borders reverse stays in its country`(
        _ scale: String
    ) throws {
        let file = "ne/\(scale)/ne_\(scale)_admin_0_countries.geojson.gz"
        guard let towns = try Self.towns(), let borders = SharedData.path(file),
            let countries = try Countries(file)
        else { return }
        let sources = [try Self.gazetteer(towns)]
        let (plain, without) = try Scratch.build(sources, constants: [])
        let (built, with) = try Scratch.build(sources + [borders], constants: [])
        print(
            "\(scale): \(built.areaCount) areas, \(plain.byteCount) and \(built.byteCount) bytes; "
                + "\(built.rejected.map(\.reason))")

        var random = SeededGenerator(seed: 50)
        var points: [(at: Coordinate, code: String)] = []
        while points.count < 1_000 {
            let area = countries.areas[Int.random(in: 0..<countries.areas.count, using: &random)]
            guard let ring = area.rings.randomElement(using: &random),
                let vertex = ring.randomElement(using: &random)
            else { continue }
            let at = Self.moved(vertex, within: 5_000, &random)
            let here = try countries.codes(WKB.point(at))
            guard here.count == 1, let code = here.first, !code.isEmpty,
                try countries.codes(Self.circle(at, meters: 5_000)).count > 1
            else { continue }
            points.append((at, code))
        }
        var wrong = (without: 0, with: 0, misdrawn: 0, areas: 0, flagged: 0)
        for (at, code) in points {
            if let found = try Self.near(without, at), found.text("CountryCode") != code {
                wrong.without += 1
            }
            let found = try #require(try Self.near(with, at))
            if found.attributes["NearerAcrossBorder"] != nil { wrong.flagged += 1 }
            if found.distanceMeters == 0 { wrong.areas += 1 }
            guard found.text("CountryCode") != code else { continue }
            wrong.misdrawn += 1
            // Another country's town, but on this side of the border as it is drawn.
            let there = try countries.codes(WKB.point(found.location))
            if !there.contains(code) { wrong.with += 1 }
        }
        print("\(scale): \(wrong)")
        #expect(wrong.with == 0)
        #expect(wrong.without > 100)
        #expect(wrong.misdrawn < wrong.without / 4)

        try expectTowns(towns, without, with, scale)
    }

    /// Every settlement, there and up to 2 km off: its own country.
    private func expectTowns(
        _ towns: [Town], _ without: Locator, _ with: Locator, _ scale: String
    ) throws {
        var random = SeededGenerator(seed: 2)
        var (before, after, exact) = (0, 0, 0)
        for town in towns {
            let at = Self.moved(town.location, within: 2_000, &random)
            if try Self.near(without, at)?.text("CountryCode") == town.code { before += 1 }
            if try Self.near(with, at)?.text("CountryCode") == town.code { after += 1 }
            if try Self.near(with, town.location)?.text("CountryCode") == town.code { exact += 1 }
        }
        let count = towns.count
        print(
            "\(scale): of \(count) towns 2 km off \(before), \(after) with borders; there \(exact)")
        #expect(exact == count)
        #expect(Double(before - after) < 0.005 * Double(count))
    }
}
