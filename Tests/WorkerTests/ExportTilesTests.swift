// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FedSite
import Foundation
import Geometry
import JobKinds
import Remote
import Site
import TestKit
import Testing
import TilePackages
import VectorTiles

@testable import Worker
@testable import WorkerPools

/// Exports of tiles, their chunks run by the real engines.
@Suite(.timeLimit(.minutes(5))) struct ExportTilesTests {
    private let history: FedSite
    private let maps: IdentifyOperations

    init() throws {
        history = try FedSite()
        maps = try IdentifyOperations(
            follower: history.follower, isStale: { false },
            shelf: DatasetCache(directory: history.site.datasetsDirectory),
            rasters: history.site.rastersDirectory,
            remotes: RemoteServices(credentials: history.site.credentials)
        ) { [history] request throws(Failure) in history.read(request) }
        // Areas that share borders, and points with a value of each kind.
        var areas: [String] = []
        for row in 0..<6 {
            for column in 0..<8 {
                let corners = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)].map { x, y in
                    let (x, y) = (column + x, row + y)
                    return "[\(Double(x) * 9.7 - 40 + Double(y % 3)),\(Double(y) * 8.3 - 20)]"
                }
                areas.append(
                    #"{"type":"Feature","properties":{"name":"area \#(row)-\#(column)"},"#
                        + #""geometry":{"type":"Polygon","coordinates":[["#
                        + corners.joined(separator: ",") + "]]}}")
            }
        }
        let points = (0..<40).map { number in
            #"{"type":"Feature","properties":{"n":\#(number),"half":\#(Double(number) / 2),"#
                + #""text":\#(number % 5 == 0 ? "null" : "\"p\(number)\"")},"geometry":"#
                + #"{"type":"Point","coordinates":[\#(number * 2 - 40),\#(number - 20)]}}"#
        }
        try add(areas, "areas", as: 0)
        try add(points, "points", as: 1)
    }

    private func add(_ features: [String], _ name: String, as id: LayerID) throws {
        let path = history.site.path + "/\(name).geojson"
        try #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
            .write(toFile: path, atomically: true, encoding: .utf8)
        let layer = try #require(
            try DatasetBuilder.importFile(path: path, into: history.site.datasetsDirectory).first)
        try history.map.add(LayerSource(dataset: layer.dataset), layer.properties, as: id)
    }

    private func last() throws -> Int64 {
        try #require(history.read(ReadRequest(after: 0, limit: 99)).last?.globalPosition)
    }

    /// The end of a job, its chunks run one after the other, each `times` times.
    private func export(
        _ kind: JobKind, _ parameters: [String: String], times: Int = 1
    ) throws -> (package: TilePackageReader, blob: BlobReference, chunks: Int) {
        let operations = JobKinds.operations(with: JobCapabilities(maps: maps))
        let blobs = history.site.blobs
        let given = ["map": history.map.name.rawValue].merging(parameters) { $1 }
        let submitted = try last()
        func run(_ chunk: ChunkDescription, _ gathered: [BlobReference?]) throws -> ChunkOutcome {
            var outcomes: [ChunkOutcome] = []
            for number in 1...times {
                let attempt = ChunkAttempt(chunk: 0, number: number, lease: UUID())
                let assignment = ChunkAssignment(
                    held: HeldAttempt(job: JobID(rawValue: UUID()), attempt: attempt),
                    kind: kind, parameters: given, jobInput: nil, chunk: chunk,
                    gathered: gathered, submittedSequence: submitted)
                let operation = try #require(operations[assignment.operation])
                outcomes.append(
                    try operation(ChunkContext(assignment: assignment, blobs: blobs)))
            }
            #expect(Set(outcomes.map(\.blob)).count == 1)
            return try #require(outcomes.last)
        }
        let plan = ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0)
        let outline = try run(try #require(try run(plan, []).nextStage.first), [])
        let parts = try outline.nextStage.map { try run($0, []).blob }
        let outcome = try run(try #require(outline.laterStages.first?.first), parts)
        let blob = try #require(outcome.blob)
        let path = history.site.path + "/\(blob.id)" + blob.type.endings[0]
        try history.site.blobs.read(blob).write(to: URL(filePath: path))
        return (try TilePackage.open(path), blob, outline.nextStage.count)
    }

    private func tiles(
        _ package: TilePackageReader
    ) throws(Failure) -> [TileAddress: [UInt8]] {
        var tiles: [TileAddress: [UInt8]] = [:]
        try package.forEach { tile, bytes in tiles[tile] = bytes }
        return tiles
    }

    @Test(arguments: ["mbtiles", "gpkg", "pmtiles", "tpkx"])
    func `a package of pictures has the tiles that the map service draws`(
        _ format: String
    ) throws {
        let (package, _, _) = try export(
            .exportTiles, ["levels": "0-3", "format": format])
        let found = try tiles(package)
        let blank = try #require(
            TileAddress(level: 3, row: 0, column: 0).map { try drawn($0, DrawnLayers(.show)) })
        var count = 0
        for level in 0...3 {
            for row in 0..<1 << level {
                for column in 0..<1 << level {
                    let tile = try #require(
                        TileAddress(level: level, row: row, column: column))
                    let picture = try drawn(tile, DrawnLayers())
                    #expect(found[tile] == (picture == blank ? nil : picture), "\(tile)")
                    if picture != blank { count += 1 }
                }
            }
        }
        #expect(count > 8 && found.count == count)
        #expect(package.metadata.levels == 0...3 && package.metadata.encoding == .png)
        let provenance = Dictionary(
            package.metadata.provenance.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        #expect(provenance["map"] == history.map.name.rawValue)
        #expect(provenance["sequence"] == String(try last()))
    }

    /// A tile as the map service has it.
    private func drawn(_ tile: TileAddress, _ layers: DrawnLayers) throws -> [UInt8] {
        let block = PictureBlock(containing: tile)
        var request = block.request(map: history.map.name, minSequence: try last())
        request.layers = layers
        return try maps.export(request).pieces()[block.index(of: tile)]
    }

    @Test func `an area limits the tiles to those that it touches`() throws {
        let triangle = #"{"type":"Polygon","coordinates":[[[0,0],[20,0],[0,20],[0,0]]]}"#
        let (package, _, _) = try export(.exportTiles, ["levels": "5", "area": triangle])
        let found = try tiles(package)
        let outside = try #require(TileAddress(level: 5, row: 14, column: 17))
        let inside = try #require(TileAddress(level: 5, row: 15, column: 16))
        #expect(found[inside] != nil && found[outside] == nil)
        let box = try tiles(
            try export(.exportTiles, ["levels": "5", "area": "0,0,20,20"]).package)
        #expect(box[outside] != nil)
        #expect(found.allSatisfy { box[$0.key] == $0.value })
        #expect(
            Set(box.keys)
                == Set(
                    (14...15).flatMap { row in
                        (16...17).compactMap { TileAddress(level: 5, row: row, column: $0) }
                    }))
    }

    @Test(arguments: ["mbtiles", "pmtiles", "vtpk"])
    func `a package of vector tiles has the tiles that the service makes, with their features`(
        _ format: String
    ) throws {
        let (package, _, chunks) = try export(
            .exportVectorTiles, ["levels": "0-6", "format": format], times: 2)
        #expect(chunks == 1 + 16)
        let found = try tiles(package)
        var names: Set<String> = []
        var points: Set<UInt64> = []
        for (tile, bytes) in found {
            #expect(try vectorTile(tile) == bytes, "\(tile)")
            for layer in try VectorTileReader().read(bytes).layers where tile.level == 6 {
                for feature in layer.features {
                    let values = Dictionary(
                        feature.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
                    if case .string(let name)? = values["name"] {
                        names.insert(name)
                    } else if let id = feature.id {
                        points.insert(id)
                        guard case .uint64(let number)? = values["n"] else {
                            Issue.record("\(values)")
                            continue
                        }
                        #expect((values["text"] == nil) == (number % 5 == 0))
                    }
                }
            }
        }
        #expect(names.count == 48 && points.count == 40)
        // What is not in the package is empty in the service too.
        for level in 0...2 {
            for row in 0..<1 << level {
                for column in 0..<1 << level {
                    let tile = try #require(
                        TileAddress(level: level, row: row, column: column))
                    #expect(try vectorTile(tile) == found[tile] ?? [], "\(tile)")
                }
            }
        }
        #expect(package.metadata.vectorLayers.count == 2)
    }

    private func vectorTile(_ tile: TileAddress) throws -> [UInt8] {
        let map = try maps.map(named: history.map.name, at: try last())
        let layers = map.tileLayers().filter { $0.levels ~= tile.level }
        let contents = try maps.tileContent(
            of: layers, in: map, meeting: VectorTileOptions.standard.reach(of: tile),
            isCancelled: { false })
        var builder = try VectorTileBuilder(contents)
        return builder.tile(tile).bytes ?? []
    }

    @Test func `equal exports are equal files, and a layer that is hidden is in none`() throws {
        let first = try export(.exportVectorTiles, ["levels": "0-3"])
        let again = try export(.exportVectorTiles, ["levels": "0-3"])
        #expect(first.blob == again.blob)
        let alone = try export(.exportVectorTiles, ["levels": "0-3", "layers": "1"])
        #expect(alone.package.metadata.vectorLayers.map(\.id).count == 1)
        #expect(throws: Failure.self) {
            try export(.exportVectorTiles, ["levels": "0", "layers": "9"])
        }
    }
}
