// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import PROJ
import TestKit
import Testing

/// Answers from the index file against answers from decoded geometries.
@Suite struct IndexedAnswerTests {
    private static let seed: UInt64 = 20_261_121

    /// Features of all sizes, some with so many corners that they get stripes, some beyond the edge
    /// of the Web Mercator square, in degrees.
    private static func features(
        _ random: inout SeededGenerator, _ transform: CoordinateTransform
    ) throws -> [[Coordinate]] {
        try (0..<60).map { number in
            let middle = Coordinate(
                x: .random(in: -170...170, using: &random),
                y: .random(in: -88...88, using: &random))
            let reach = Double.random(in: 0.5...(number % 3 == 0 ? 20 : 4), using: &random)
            let count = [4, 7, 30, 200, 900][number % 5]
            let path = (0..<count).map { index in
                let angle = 2 * Double.pi * Double(index) / Double(count)
                let own = reach * .random(in: 0.6...1, using: &random)
                return Coordinate(
                    x: middle.x + own * cos(angle),
                    y: max(-89.9, min(89.9, middle.y + own * sin(angle))))
            }
            return try path.map { try transform.forward($0) }
        }
    }

    private static func geometry(_ kind: String, _ path: [Coordinate]) -> String {
        let all = path + [path[0]]
        let list = all.map { "[\($0.x),\($0.y)]" }.joined(separator: ",")
        switch kind {
        case "MultiPoint", "LineString":
            return #"{"type":"\#(kind)","coordinates":[\#(list)]}"#
        default: return #"{"type":"\#(kind)","coordinates":[[\#(list)]]}"#
        }
    }

    @Test(
        .slow,
        arguments: ["MultiPoint", "LineString", "Polygon"],
        [(4326, 4326), (4326, 3857), (3857, 4326), (3857, 3857)])
    func `an answer from the index is that from geometries, byte for byte`(
        kind: String, pair: (dataset: Int, map: Int)
    ) throws {
        var random = SeededGenerator(seed: Self.seed &+ UInt64(pair.dataset * 3 + pair.map))
        let toDataset = try CoordinateTransform(
            from: .wgs84, to: SpatialReference(wkid: pair.dataset))
        let toMap = try CoordinateTransform(
            from: SpatialReference(wkid: pair.dataset), to: SpatialReference(wkid: pair.map))
        let paths = try Self.features(&random, toDataset)
        let site = try Site()
        let layer = try site.importFeatures(
            paths.enumerated().map { number, path in
                #"{"type":"Feature","id":\#(number + 1),"properties":{},"geometry":"#
                    + Self.geometry(kind, path) + "}"
            }, wkid: pair.dataset)
        let map = makeMap([.feature(0, layer)], wkid: pair.map)
        let indexed = site.engine()
        let file = site.directory + "/datasets/\(layer.dataset)/layer.index"
        let plain = IdentifyEngine { _ throws(Failure) in
            // A copy without an index beside it.
            try Dataset(path: site.directory + "/plain.fgb")
        }
        try FileManager.default.copyItem(
            atPath: site.directory + "/datasets/\(layer.dataset)/layer.fgb",
            toPath: site.directory + "/plain.fgb")
        #expect(FileManager.default.fileExists(atPath: file))

        let pixel = pair.map == 3857 ? 1e4 : 0.1
        var hits = 0
        var wrong: [String] = []
        for round in 0..<600 {
            let path = paths[round % paths.count]
            let index = Int.random(in: 0..<path.count - 1, using: &random)
            let (a, b) = try (toMap.forward(path[index]), toMap.forward(path[index + 1]))
            let along = Double.random(in: 0...1, using: &random)
            var position =
                round % 3 == 0
                ? a : Coordinate(x: a.x + (b.x - a.x) * along, y: a.y + (b.y - a.y) * along)
            switch round % 4 {
            case 1: position.x = position.x.nextUp
            case 2: position.y = position.y.nextDown
            case 3:
                position.x += pixel * .random(in: -30...30, using: &random)
                position.y += pixel * .random(in: -30...30, using: &random)
            default: break
            }
            let request = makeRequest(.point(position), tolerance: [0, 3, 40][round % 3]) {
                $0.mapExtent = Envelope(minX: 0, minY: 0, maxX: pixel * 100, maxY: pixel * 100)
                $0.returnGeometry = round % 10 == 0
                $0.explain = round % 5 == 0
            }
            let (one, other) = try (
                indexed.identify(request, in: map), plain.identify(request, in: map)
            )
            hits += one.results.count
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            if try encoder.encode(one) != encoder.encode(other) {
                wrong.append(
                    "\(position): \(one.results.map { ($0.objectID, $0.distance) }), not "
                        + "\(other.results.map { ($0.objectID, $0.distance) })")
            }
        }
        print(
            "\(kind), \(pair.dataset) in \(pair.map): 600 questions, \(hits) hits,",
            "\(wrong.count) mismatches")
        #expect(wrong.isEmpty, "\(wrong.count) wrong, seed \(random.seed): \(wrong.prefix(3))")
        #expect(hits > 300)
    }

    @Test func `any number of threads get the same answers`() async throws {
        var random = SeededGenerator(seed: Self.seed)
        let toDataset = try CoordinateTransform(from: .wgs84, to: .wgs84)
        let paths = try Self.features(&random, toDataset)
        let site = try Site()
        let layer = try site.importFeatures(
            paths.enumerated().map { number, path in
                #"{"type":"Feature","id":\#(number + 1),"properties":{},"geometry":"#
                    + Self.geometry("Polygon", path) + "}"
            })
        // Own and foreign references, positions and areas: index, cache and projected index.
        let maps = [4326, 3857, 3395].map { makeMap([.feature(0, layer)], wkid: $0) }
        let requests = (0..<60).map { number in
            let at = paths[number % paths.count][0]
            let box = Envelope(minX: at.x, minY: at.y, maxX: at.x + 9, maxY: at.y + 5)
            return makeRequest(number % 2 == 0 ? .point(at) : .envelope(box), tolerance: 2) {
                $0.geometrySpatialReference = .wgs84
                $0.spatialReference = .wgs84
            }
        }
        let engine = site.engine()
        func ask() throws -> [IdentifyAnswer] {
            try requests.enumerated().map { try engine.identify($1, in: maps[$0 % 3]) }
        }

        let expected = try ask()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { (try? ask()) == expected } }
            for await same in group { #expect(same) }
        }
        #expect(expected.contains { !$0.results.isEmpty })
    }
}
