// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Foundation
import Geometry
import Platform
import TestKit
import Testing
import TilePackages

/// A directory of a test, removed with it.
final class Folder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "cairn-tiles-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}

/// Tiles by address.
typealias Tiles = [TileAddress: [UInt8]]

/// A format with one encoding that it holds.
struct Kind: Sendable, CustomTestStringConvertible {
    let format: TilePackageFormat
    let encoding: TileEncoding

    static let all = TilePackageFormat.allCases.flatMap { format in
        format.encodings.map { Kind(format: format, encoding: $0) }
    }

    /// Whether each square of 128 rows and columns with a tile takes 128 KiB.
    var isCompact: Bool { format == .tpkx || format == .vtpk }

    var testDescription: String { "\(format.rawValue), \(encoding.rawValue)" }
}

extension TilePackageMetadata {
    /// With text in every member.
    static func sample(_ encoding: TileEncoding, levels: ClosedRange<Int>) -> Self {
        var metadata = TilePackageMetadata(
            name: "Wörld \"1\" <&>", encoding: encoding, levels: levels,
            extent: Envelope(minX: -1_000_000, minY: -2_000_000.5, maxX: 3_000_000, maxY: 4e6))
        metadata.description = "All\nof it"
        metadata.attribution = "© Nobody & Sons"
        metadata.created = Timestamp(microseconds: 1_769_860_800_123_456)
        metadata.provenance = [
            ProvenanceEntry("map", "World"), ProvenanceEntry("sequence", "4711"),
            ProvenanceEntry("dataset", String(repeating: "ab", count: 32)),
            ProvenanceEntry("dataset", String(repeating: "cd", count: 32)),
        ]
        if encoding == .jpg { metadata.quality = 42 }
        if encoding == .mvt {
            metadata.vectorLayers = [
                VectorTileLayer(
                    id: "countries", description: "Länder",
                    fields: [
                        .init(name: "name", type: "String"), .init(name: "p", type: "Number"),
                    ],
                    levels: levels)
            ]
            metadata.style = #"{"version":8,"sources":{},"layers":[]}"#
        }
        return metadata
    }
}

extension SeededGenerator {
    /// Tiles of several levels, sparse and dense, some with equal bytes.
    mutating func tiles(_ count: Int, levels: ClosedRange<Int>) -> Tiles {
        var tiles: Tiles = [:]
        for _ in 0..<count {
            let level = Int.random(in: levels, using: &self)
            let side = TileAddress.count(at: level)
            let isDense = Bool.random(using: &self)
            let bound = isDense ? min(side, 12) : side
            guard
                let tile = TileAddress(
                    level: level, row: Int.random(in: 0..<bound, using: &self),
                    column: Int.random(in: 0..<bound, using: &self))
            else { continue }
            tiles[tile] = content()
        }
        return tiles
    }

    /// The bytes of a tile: often of a few that come again, never those that gzip begins with.
    mutating func content() -> [UInt8] {
        if Int.random(in: 0..<3, using: &self) == 0 {
            let byte = UInt8.random(in: 1...4, using: &self)
            return [0x1a] + [UInt8](repeating: byte, count: 40)
        }
        let count = Int.random(in: 1..<400, using: &self)
        return [0x1a] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

/// Writes a package.
@discardableResult
func write(
    _ tiles: Tiles, _ format: TilePackageFormat, _ metadata: TilePackageMetadata, to path: String
) throws -> TilePackageSummary {
    let writer = try TilePackage.writer(format, at: path, metadata)
    for tile in tiles.keys.sorted() { try writer.add(tile, tiles[tile] ?? []) }
    return try writer.finish()
}

/// All tiles of a package, which come in ascending order.
func read(_ reader: TilePackageReader) throws -> Tiles {
    var tiles: Tiles = [:]
    var order: [TileAddress] = []
    try reader.forEach { tile, bytes throws(Failure) in
        order.append(tile)
        tiles[tile] = bytes
    }
    guard order == order.sorted(), order.count == tiles.count else {
        throw Failure(.corrupt, "the tiles are not in ascending order")
    }
    return tiles
}

func bytes(of path: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: URL(filePath: path)))
}

/// A package in a file, for readers that have no addresses of tiles.
struct WrittenPackage {
    let folder: Folder
    let path: String
    let tiles: [(level: Int, row: Int, column: Int, bytes: [UInt8])]

    /// Tiles of a dense and a sparse level, written by this project.
    init(_ format: TilePackageFormat, _ encoding: TileEncoding, levels: ClosedRange<Int>) throws {
        folder = try Folder()
        path = folder.file("tiles." + format.rawValue)
        var random = SeededGenerator(seed: 17)
        var tiles = random.tiles(300, levels: levels)
        for tile in tiles.keys {
            tiles[tile] = encoding == .mvt ? tile.vectorTile : tile.picture
        }
        try write(tiles, format, .sample(encoding, levels: levels), to: path)
        self.tiles = tiles.map { ($0.key.level, $0.key.row, $0.key.column, $0.value) }
    }
}
