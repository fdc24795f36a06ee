// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import GDAL
import Geometry
import Locator
import LocatorSources
import Platform
import TestKit
import Testing

/// Named nodes of real extracts that are shops, restaurants, hotels, museums, peaks: each geocoded
/// by its name in usual spellings.
///
/// The right answers come from GDAL's own configuration of the extract, read apart from the build.
@Suite struct PointOfInterestRates {
    private struct Point {
        var name: String
        var location: Coordinate
    }

    private static let wanted = [
        #""amenity"=>"restaurant""#, #""amenity"=>"cafe""#, #""amenity"=>"pharmacy""#,
        #""tourism"=>"hotel""#, #""tourism"=>"museum""#, #""natural"=>"peak""#,
        #""shop"=>"supermarket""#, #""shop"=>"clothes""#, #""amenity"=>"bank""#,
    ]

    private func points(_ path: String) throws -> [Point] {
        let source = try VectorSource(path: path)
        let layer = try #require(source.layers.firstIndex { $0.name == "points" })
        let fields = source.layers[layer].fields.map(\.name)
        let name = try #require(fields.firstIndex(of: "name"))
        let tags = try #require(fields.firstIndex(of: "other_tags"))
        var result: [Point] = []
        try source.forEachFeature { index, feature in
            guard index == layer, case .text(let bytes) = feature.value(at: name),
                case .text(let other) = feature.value(at: tags)
            else { return }
            let text = String(decoding: other, as: UTF8.self)
            guard Self.wanted.contains(where: text.contains) else { return }
            var wkb: [UInt8] = []
            guard let count = feature.wkb(into: &wkb), count == 21 else { return }
            func ordinate(_ at: Int) -> Double {
                var bits: UInt64 = 0
                for byte in 0..<8 { bits |= UInt64(wkb[at + byte]) << UInt64(8 * byte) }
                return Double(bitPattern: bits)
            }
            result.append(
                Point(
                    name: String(decoding: bytes, as: UTF8.self),
                    location: Coordinate(x: ordinate(5), y: ordinate(13))))
        }
        return result
    }

    /// Two letters exchanged in the longest word of five letters or more; nil without one.
    private static func slip(_ text: String, _ random: inout SeededGenerator) -> String? {
        var words = text.split(separator: " ").map(Array.init)
        guard let longest = words.indices.max(by: { words[$0].count < words[$1].count }),
            words[longest].count >= 5, words[longest].allSatisfy(\.isLetter)
        else { return nil }
        let at = Int.random(in: 1..<words[longest].count - 2, using: &random)
        guard words[longest][at] != words[longest][at + 1] else { return nil }
        words[longest].swapAt(at, at + 1)
        return words.map { String($0) }.joined(separator: " ")
    }

    @Test(
        .slow,
        arguments: [
            ("baltimore", "US", "Baltimore"), ("andorra-2025", "AD", ""),
            ("monaco-2021", "MC", "Monaco"),
        ])
    func `points of interest are found as people write them`(
        _ name: String, _ country: String, _ town: String
    ) throws {
        guard let extract = SharedData.path("osm/\(name).osm.pbf") else { return }
        let constants = ["country=\(country)"] + (town.isEmpty ? [] : ["city=\(town)"])
        let (built, locator) = try Scratch.build([extract], constants: constants)
        let points = try points(extract)
        print("\(name): \(built.pointCount) points of interest, \(points.count) asked for")
        var random = SeededGenerator(seed: 2_026)
        print("seed \(random.seed)")
        var misses: [String] = []
        /// Whether one of the first candidates is the point: several bear one name.
        func isFound(_ text: String, _ point: Point, most: Int, near: Bool) throws -> Bool {
            var request = GeocodeRequest(singleLine: text, maxLocations: most)
            if near { request.location = point.location }
            let found = try locator.geocode(request).candidates
            let isRight = found.contains {
                $0.text("Addr_type") == "POI"
                    && abs($0.location.x - point.location.x) < 0.005
                    && abs($0.location.y - point.location.y) < 0.003
            }
            if !isRight, misses.count < 12 {
                misses.append("\(text) -> \(found.first?.address ?? "nothing")")
            }
            return isRight
        }
        var counts: [String: (right: Int, of: Int)] = [:]
        func count(_ kind: String, _ isRight: Bool) {
            let known = counts[kind] ?? (0, 0)
            counts[kind] = (known.right + (isRight ? 1 : 0), known.of + 1)
        }
        for point in points {
            count("name, first five", try isFound(point.name, point, most: 5, near: false))
            count("name, from there", try isFound(point.name, point, most: 1, near: true))
            var request = ReverseGeocodeRequest(location: point.location, maxDistanceMeters: 500)
            request.featureTypes = ["POI"]
            let around = try locator.reverse(request).candidate
            let city = town.isEmpty ? around?.text("City") ?? "" : town
            count(
                "name and town, first five",
                try isFound("\(point.name), \(city)", point, most: 5, near: false))
            if let text = Self.slip(point.name, &random) {
                count("one slip, from there", try isFound(text, point, most: 5, near: true))
            }
        }
        for (kind, number) in counts.sorted(by: { $0.key < $1.key }) {
            print("\(name) \(kind): \(number.right) of \(number.of)")
            #expect(Double(number.right) >= 0.8 * Double(number.of), "\(kind)")
        }
        print("  \(misses)")
        #expect(points.count > 30)
    }
}
