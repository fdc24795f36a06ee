// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import SpatialIndex
import TestKit
import Testing

@Suite struct LayerIndexTests {
    private let scratch = Scratch()

    private func layer(_ count: Int, seed: UInt64 = 7) throws -> ImportedLayer {
        var random = SeededGenerator(seed: seed)
        let features = (0..<count).map { number in
            let (x, y) = (
                Double.random(in: -10...10, using: &random),
                Double.random(in: -10...10, using: &random)
            )
            let ring = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1), (x, y)]
                .map { "[\($0.0),\($0.1)]" }.joined(separator: ",")
            return #"{"type":"Feature","id":\#(number + 1),"properties":{},"#
                + #""geometry":{"type":"Polygon","coordinates":[[\#(ring)]]}}"#
        }
        let source = try scratch.features("\(count)-\(seed).geojson", features)
        return try #require(
            DatasetBuilder.importFile(path: source, into: scratch.datasets).first)
    }

    private func index(_ layer: ImportedLayer) -> String {
        scratch.datasets + "/" + layer.dataset.rawValue + "/layer.index"
    }

    @Test func `an index finds the same features for one position and for many`() throws {
        let dataset = try scratch.dataset(layer(300))
        let search = try #require(PointSearch(dataset, in: .wgs84))
        var random = SeededGenerator(seed: 1)
        let positions = (0..<500).map { _ in
            Coordinate(
                x: .random(in: -11...12, using: &random), y: .random(in: -11...12, using: &random))
        }

        for distance in [0, 0.25] {
            let many = try search.features(near: positions, within: distance)
            var count = 0
            for (number, position) in positions.enumerated() {
                let one = try search.features(near: position, within: distance)
                #expect(Array(many[number]) == one)
                count += one.count
            }
            #expect(count == many.features.count && count > 200)
        }
        #expect(PointSearch(dataset, in: SpatialReference(wkid: 2154)) == nil)
        let hostile = [Double.nan, .infinity, 1e300].map { Coordinate(x: $0, y: 0) }
        #expect(try search.features(near: hostile, within: 1).features.isEmpty)
    }

    @Test func `importing again gives an older dataset its index`() throws {
        let layer = try layer(20)
        let bytes = try Data(contentsOf: URL(filePath: index(layer)))
        try FileManager.default.removeItem(atPath: index(layer))
        #expect(PointSearch(try scratch.dataset(layer), in: .wgs84) == nil)

        let again = try self.layer(20)

        #expect(again.dataset == layer.dataset)
        #expect(try Data(contentsOf: URL(filePath: index(layer))) == bytes)
    }

    @Test func `a damaged or foreign index is refused by name`() throws {
        let layer = try layer(50)
        let bytes = try Data(contentsOf: URL(filePath: index(layer)))
        let other = try Data(contentsOf: URL(filePath: index(try self.layer(50, seed: 8))))
        var flipped = bytes
        flipped[33] ^= 1
        var versioned = bytes
        versioned[8] = 9
        for damaged in [
            Data(), bytes.prefix(100), bytes.prefix(bytes.count - 1), bytes + [0], flipped,
            versioned, other,
        ] {
            try damaged.write(to: URL(filePath: index(layer)))
            let failure = #expect(throws: Failure.self) { try scratch.dataset(layer) }
            #expect(failure?.code == .corrupt)
            #expect(failure?.message.contains("layer.index") == true)
        }
    }

    @Test(.slow) func `numbers of an index that lead outside are refused when they are met`() throws
    {
        let layer = try layer(50)
        let bytes = try Data(contentsOf: URL(filePath: index(layer)))
        var random = SeededGenerator(seed: 3)
        var refused = 0
        for _ in 0..<200 {
            var damaged = bytes
            for _ in 0..<4 {
                damaged[Int.random(in: 128..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            try damaged.write(to: URL(filePath: index(layer)))
            let search = try #require(PointSearch(try scratch.dataset(layer), in: .wgs84))
            for _ in 0..<20 {
                let position = Coordinate(
                    x: .random(in: -11...12, using: &random),
                    y: .random(in: -11...12, using: &random))
                do {
                    _ = try search.features(near: position, within: 2)
                } catch {
                    refused += 1
                    #expect(error.message.contains("layer.index"))
                }
            }
        }
        #expect(refused > 0)
    }
}
