// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import GDAL
import Geometry
import TestKit
import Testing

@Suite struct DatasetTests {
    private static let seed: UInt64 = 20_261_121
    private let scratch = Scratch()

    /// Random features of one kind, as GeoJSON.
    private func source(
        _ kind: String, _ count: Int, _ generator: inout SeededGenerator
    ) throws -> String {
        var features: [String] = []
        for index in 0..<count {
            let x = Double.random(in: -170...160, using: &generator)
            let y = Double.random(in: -80...70, using: &generator)
            let size = Double.random(in: 0.01...10, using: &generator)
            let coordinates: String =
                switch kind {
                case "Point": "[\(x),\(y)]"
                case "MultiPoint": "[[\(x),\(y)],[\(x + size),\(y)]]"
                case "MultiLineString":
                    "[[[\(x),\(y)],[\(x + size),\(y)]],[[\(x),\(y + size)],[\(x),\(y)]]]"
                case "Polygon":
                    "[\(ring(x, y, size)),\(ring(x + size / 4, y + size / 4, size / 4))]"
                default: "[[\(ring(x, y, size / 3))],[\(ring(x + size / 2, y, size / 3))]]"
                }
            features.append(
                "{\"type\":\"Feature\",\"id\":\(count + index * 3),\"properties\":{\"n\":\(index),"
                    + "\"name\":\"f\(index % 10)\"},\"geometry\":{\"type\":\"\(kind)\","
                    + "\"coordinates\":\(coordinates)}}")
        }
        return try scratch.features("\(kind).geojson", features)
    }

    private func ring(_ x: Double, _ y: Double, _ size: Double) -> String {
        "[[\(x),\(y)],[\(x + size),\(y)],[\(x + size),\(y + size)],[\(x),\(y + size)],[\(x),\(y)]]"
    }

    private func dataset(
        _ kind: String, _ count: Int, _ generator: inout SeededGenerator
    ) throws -> (Dataset, ImportedLayer) {
        let layers = try DatasetBuilder.importFile(
            path: try source(kind, count, &generator), into: scratch.datasets)
        let layer = try #require(layers.first)
        return (try scratch.dataset(layer), layer)
    }

    static let kinds = ["Point", "MultiPoint", "MultiLineString", "Polygon", "MultiPolygon"]

    @Test(.slow, arguments: kinds, [1, 2, 16, 17, 300])
    func `a search finds exactly what a scan finds`(kind: String, count: Int) throws {
        var generator = SeededGenerator(seed: Self.seed &+ UInt64(count))
        let (dataset, _) = try dataset(kind, count, &generator)

        var all: [Dataset.FeatureReference] = []
        try dataset.forEach { feature in
            let shape = try dataset.shape(of: feature)
            #expect(shape?.envelope == feature.envelope)
            all.append(feature)
        }
        #expect(Set(all.map(\.objectID)) == Set((0..<count).map { Int64(count + $0 * 3) }))
        #expect(
            dataset.properties.extent == all.reduce(Envelope.empty) { $0.union($1.envelope) })
        for _ in 0..<50 {
            let x = Double.random(in: -180...180, using: &generator)
            let y = Double.random(in: -90...90, using: &generator)
            let wanted = Envelope(
                minX: x, minY: y, maxX: x + Double.random(in: 0...60, using: &generator),
                maxY: y + Double.random(in: 0...60, using: &generator))
            var found: [Dataset.FeatureReference] = []
            dataset.search(wanted) { found.append($0) }
            #expect(
                found == all.filter { $0.envelope.intersects(wanted) }, "seed \(generator.seed)")
        }
    }

    @Test(arguments: kinds)
    func `GDAL reads the same features from the same bytes`(kind: String) throws {
        var generator = SeededGenerator(seed: Self.seed)
        let (dataset, layer) = try dataset(kind, 100, &generator)
        let ours = try dataset.contents()

        let source = try VectorSource(path: scratch.file(layer))
        #expect(source.driver == "FlatGeobuf" && source.layers.first?.name == kind)
        #expect(source.layers.first?.spatialReference?.wkid == 4326)
        #expect(source.layers.first?.announcedCount == 100)
        #expect(source.layers.first?.fields.map(\.name) == ["OBJECTID", "n", "name"])
        var count = 0
        try source.forEachFeature(inLayer: 0) { feature in
            guard case .integer(let id) = feature.value(at: 0),
                case .integer(let number) = feature.value(at: 1),
                case .text(let name) = feature.value(at: 2)
            else {
                Issue.record("values of another type")
                return
            }
            let own = try #require(ours[id])
            #expect(
                own.values == [
                    .integer(id), .integer(number), .string(String(decoding: name, as: UTF8.self)),
                ])
            var wkb: [UInt8] = []
            let byteCount = feature.wkb(into: &wkb) ?? 0
            var reader = PlainWKB(bytes: Array(wkb.prefix(byteCount)))
            let chains = reader.chains()
            #expect(chains == own.parts)
            count += 1
        }
        #expect(count == 100)
    }

    @Test func `a file cut anywhere is an error or lacks nothing it shows`() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let (_, layer) = try dataset("MultiPolygon", 40, &generator)
        let bytes = try Data(contentsOf: URL(filePath: scratch.file(layer)))
        for count in stride(from: 0, to: bytes.count, by: 37) {
            let failure = Self.exercise(try scratch.write("cut.fgb", bytes.prefix(count)))
            #expect(failure?.code == .corrupt, "\(count) of \(bytes.count) bytes")
            #expect(failure?.message.contains("cut.fgb") == true)
        }
    }

    @Test(.slow, arguments: kinds)
    func `flipped bits never crash a reader`(kind: String) throws {
        var generator = SeededGenerator(seed: Self.seed)
        let (_, layer) = try dataset(kind, 25, &generator)
        let bytes = try Data(contentsOf: URL(filePath: scratch.file(layer)))
        var refused = 0
        for round in 0..<400 {
            var damaged = bytes
            // The header is small; half of the rounds aim at it.
            let end = round.isMultiple(of: 2) ? min(800, bytes.count) : bytes.count
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<end, using: &generator)
                damaged[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
            if Self.exercise(try scratch.write("flip.fgb", damaged)) != nil { refused += 1 }
        }
        #expect(refused > 50)
    }

    /// Reads all that can be read; the first failure, or nil.
    private static func exercise(_ path: String) -> Failure? {
        do {
            let dataset = try Dataset(path: path)
            var first: Failure?
            dataset.search(Envelope(minX: -50, minY: -50, maxX: 50, maxY: 50)) { _ in }
            dataset.forEach { feature in
                do throws(Failure) {
                    _ = try dataset.shape(of: feature)
                    _ = try dataset.polygonParts(of: feature)
                    _ = try dataset.attributes(of: feature)
                } catch { first = first ?? error }
            }
            return first
        } catch { return error }
    }

    @Test func `a file that is no dataset is refused with its name`() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let text = try source("Point", 1, &generator)
        for path in [text, scratch.path, "/dev/null"] {
            let failure = #expect(throws: Failure.self) { try Dataset(path: path) }
            #expect(failure?.message.contains(path) == true)
        }
        let missing = #expect(throws: Failure.self) { try Dataset(path: scratch.path + "/none") }
        #expect(missing?.code == .notFound)
        // FlatGeobuf, but without our object id, and without an index.
        for options in [["-lco", "SPATIAL_INDEX=NO"], []] {
            #expect(try scratch.run("/usr/bin/ogr2ogr", options + ["other.fgb", text]))
            let failure = #expect(throws: Failure.self) {
                try Dataset(path: scratch.path + "/other.fgb")
            }
            #expect(failure?.code == .corrupt)
            try FileManager.default.removeItem(atPath: scratch.path + "/other.fgb")
        }
    }

    @Test func `a reference to no feature is an error`() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let (dataset, _) = try dataset("Point", 3, &generator)
        #expect(dataset.feature(at: -1) == nil && dataset.feature(at: 3) == nil)
        var foreign = try #require(dataset.feature(at: 0))
        foreign.ordinal = 3
        #expect(throws: Failure.self) { try dataset.shape(of: foreign) }
    }

    @Test func `many threads may read one dataset`() async throws {
        var generator = SeededGenerator(seed: Self.seed)
        let (dataset, _) = try dataset("Polygon", 200, &generator)
        let expected = try dataset.contents()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { (try? dataset.contents()) == expected } }
            for await same in group { #expect(same) }
        }
    }
}

/// WKB read a second way, for comparison: chains of coordinates, multi geometries flattened; the
/// coordinates of points form one chain.
private struct PlainWKB {
    let bytes: [UInt8]
    var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func integer(_ count: Int) -> UInt64 {
        defer { place += count }
        return bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func chain(_ count: Int) -> [[Double]] {
        (0..<count).map { _ in
            [Double(bitPattern: integer(8)), Double(bitPattern: integer(8))]
        }
    }

    mutating func chains() -> [[[Double]]] {
        guard !bytes.isEmpty else { return [] }
        place += 1
        let type = integer(4)
        switch type {
        case 1: return [chain(1)]
        case 2: return [chain(Int(integer(4)))]
        case 3: return (0..<Int(integer(4))).map { _ in chain(Int(integer(4))) }
        case 4: return [(0..<Int(integer(4))).flatMap { _ in chains()[0] }]
        default: return (0..<Int(integer(4))).flatMap { _ in chains() }
        }
    }
}
