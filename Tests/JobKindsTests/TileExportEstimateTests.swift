// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Site
import TestKit
import Testing

@testable import JobKinds

@Suite struct TileExportEstimateTests {
    @Test func `tiles of any area are counted one by one`() throws {
        for seed in Seeds.chosen(100) {
            var random = SeededGenerator(seed: seed)
            func number(_ range: ClosedRange<Double>) -> Double {
                Double.random(in: range, using: &random)
            }
            let half = TileAddress.halfWorldMeters
            let middle = Coordinate(x: number(-half...half), y: number(-half...half))
            var ring = (0..<Int.random(in: 3...7, using: &random)).map { _ in
                Coordinate(x: middle.x + number(-5e6...5e6), y: middle.y + number(-5e6...5e6))
            }
            ring.append(ring[0])
            let all = Array(0...6).filter { _ in Bool.random(using: &random) }
            guard !all.isEmpty,
                let selection = try? TileSelection(levels: all, area: .polygon(rings: [ring]))
            else { continue }
            let counted = all.reduce(0) { total, level in
                total
                    + (selection.rectangle(at: level)?.tiles(at: level) ?? [])
                    .count(where: selection.contains)
            }
            #expect(try selection.touchedTileCount() == counted, "seed \(seed)")
        }
    }

    private static func job(
        _ kind: JobKind, _ parameters: [String: String], bytes: Int64, seconds: Int64,
        _ status: JobStatus = .succeeded
    ) throws -> JobDescription {
        let id = try #require(ContentID(rawValue: String(repeating: "ab", count: 32)))
        return JobDescription(
            id: JobID(rawValue: .timeOrdered()), kind: kind, parameters: parameters,
            status: status, isPaused: false, progress: 100, chunkCount: 1, completedChunkCount: 1,
            lostAttemptCount: 0, messages: [],
            result: BlobReference(id: id, byteCount: bytes, mediaType: "x"), failure: nil,
            submittedAt: Timestamp(microseconds: 5_000_000),
            endedAt: Timestamp(microseconds: 5_000_000 + seconds * 1_000_000), sequence: 1)
    }

    @Test func `bytes and seconds follow from exports of the same kind and format`() throws {
        let wanted = ["map": "World", "levels": "0-2"]
        func estimate(_ jobs: [JobDescription]) throws -> TileExportEstimate {
            try TileExportEstimate(.exportTiles, wanted, after: jobs)
        }
        let assumed = try estimate([])
        #expect(assumed.tileCount == 21 && assumed.jobCount == 0 && assumed.byteCount > 0)
        let others = [
            try Self.job(.exportVectorTiles, wanted, bytes: 1, seconds: 1),
            try Self.job(
                .exportTiles, wanted.merging(["format": "tpkx"]) { $1 }, bytes: 1, seconds: 1),
            try Self.job(
                .exportTiles, wanted.merging(["since": "4"]) { $1 }, bytes: 1, seconds: 1),
            try Self.job(.exportTiles, wanted.merging(["at": "4"]) { $1 }, bytes: 1, seconds: 1),
            try Self.job(.exportTiles, wanted, bytes: 1, seconds: 1, .failed),
        ]
        #expect(try estimate(others) == assumed)
        let same = try Self.job(
            .exportTiles, ["map": "City", "levels": "1", "format": "MBTILES"], bytes: 400,
            seconds: 8)
        #expect(assumed.basis == .assumption)
        let known = try estimate(others + [same])
        #expect(known.jobCount == 1 && known.byteCount == 2_100 && known.seconds == 42)
        #expect(known.basis == .site)
        let ofMap = try Self.job(.exportTiles, wanted, bytes: 42, seconds: 21)
        let nearer = try estimate(others + [same, ofMap, same])
        #expect(nearer.jobCount == 1 && nearer.byteCount == 42 && nearer.seconds == 21)
        #expect(nearer.basis == .map && nearer.text.contains("1 earlier export of the map"))
        #expect(throws: Failure.self) { try TileExportEstimate(.batch, [:], after: []) }
        #expect(throws: Failure.self) {
            try TileExportEstimate(.exportTiles, ["map": "World"], after: [])
        }
    }
}
