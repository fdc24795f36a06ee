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
import Synchronization
import TestKit
import Testing
import TilePackages
import VectorTiles

@testable import Worker
@testable import WorkerPools

/// Runs exports of tiles of a map whose log is in memory: their chunks one after the other, by the
/// real engines.
final class TileExporter {
    let history: FedSite
    let maps: IdentifyOperations
    private let counting: CountingMaps

    /// What the exports made so far, each tile or block once for each state of the map.
    var counts: (pictures: Int, contents: Int) {
        (
            counting.pictures.load(ordering: .relaxed), counting.contents.load(ordering: .relaxed)
        )
    }

    init() throws {
        history = try FedSite()
        maps = try IdentifyOperations(
            follower: history.follower, isStale: { false },
            shelf: DatasetCache(directory: history.site.datasetsDirectory),
            rasters: history.site.rastersDirectory,
            remotes: RemoteServices(credentials: history.site.credentials)
        ) { [history] request throws(Failure) in history.read(request) }
        counting = CountingMaps(maps: maps)
    }

    func add(_ features: [String], _ name: String, as id: LayerID) throws {
        let path = history.site.path + "/\(name).geojson"
        try #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
            .write(toFile: path, atomically: true, encoding: .utf8)
        let layer = try #require(
            try DatasetBuilder.importFile(path: path, into: history.site.datasetsDirectory).first)
        try history.map.add(LayerSource(dataset: layer.dataset), layer.properties, as: id)
    }

    /// The sequence number of the last event.
    func last() throws -> Int64 {
        try #require(history.read(ReadRequest(after: 0, limit: 9_999)).last?.globalPosition)
    }

    /// The end of a job.
    struct Product {
        var blob: BlobReference
        /// A file with its bytes.
        var path: String
        /// Chunks between the outline and the package.
        var chunks: Int
        /// Texts of the warnings of all chunks.
        var warnings: [String]
    }

    /// Runs a job, each chunk `times` times; `meanwhile` is called before each chunk that draws,
    /// with its number.
    func run(
        _ kind: JobKind, _ parameters: [String: String], times: Int = 1,
        meanwhile: (Int) throws -> Void = { _ in }
    ) throws -> Product {
        let operations = JobKinds.operations(with: JobCapabilities(maps: counting))
        let blobs = history.site.blobs
        let given = ["map": history.map.name.rawValue].merging(parameters) { $1 }
        let submitted = try last()
        var warnings: [String] = []
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
            let outcome = try #require(outcomes.last)
            warnings += outcome.messages.filter { $0.severity == .warning }.map(\.text)
            return outcome
        }
        let plan = ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0)
        let outline = try run(try #require(try run(plan, []).nextStage.first), [])
        let parts = try outline.nextStage.enumerated().map { number, chunk in
            try meanwhile(number)
            return try run(chunk, []).blob
        }
        let package = try #require(outline.laterStages.first?.first)
        // As the ledger assigns: stages without chunks are passed over.
        let previous = parts.isEmpty ? [outline.blob] : parts
        let outcome = try run(package, package.gathers ? previous : [])
        let blob = try #require(outcome.blob)
        let path = history.site.path + "/\(blob.id)" + blob.type.endings[0]
        try history.site.blobs.read(blob).write(to: URL(filePath: path))
        return Product(blob: blob, path: path, chunks: outline.nextStage.count, warnings: warnings)
    }
}

/// Counts what is drawn.
private final class CountingMaps: JobMaps {
    private let maps: IdentifyOperations
    let pictures = Atomic<Int>(0)
    let contents = Atomic<Int>(0)

    init(maps: IdentifyOperations) { self.maps = maps }

    func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription {
        try maps.map(named: name, at: position)
    }

    func answer(
        _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer { try maps.answer(request, isCancelled: isCancelled) }

    func forEachFeature(
        _ request: QueryRequest, in map: MapDescription, ids: ClosedRange<Int64>,
        isCancelled: @escaping @Sendable () -> Bool,
        _ body: (FeatureRow) throws(Failure) -> Void
    ) throws(Failure) -> FeatureTable {
        try maps.forEachFeature(request, in: map, ids: ids, isCancelled: isCancelled, body)
    }

    func picture(
        _ request: ExportRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> ExportedPicture {
        // A blank tile is drawn without layers.
        if request.layers != DrawnLayers(.show, ids: []) {
            pictures.add(1, ordering: .relaxed)
        }
        return try maps.picture(request, isCancelled: isCancelled)
    }

    func changes(
        of map: MapName, from first: Int64, to last: Int64,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> MapChanges {
        try maps.changes(of: map, from: first, to: last, isCancelled: isCancelled)
    }

    func tileContent(
        of layers: [TileLayer], in map: MapDescription, meeting area: Envelope,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> [VectorTiles.VectorTileLayer] {
        contents.add(1, ordering: .relaxed)
        return try maps.tileContent(
            of: layers, in: map, meeting: area, isCancelled: isCancelled)
    }
}
