// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GEOS
import Geometry
import Synchronization
import TestKit
import Testing

@testable import FeatureQuery

private final class Flag: Sendable {
    let isSet = Mutex(false)
}

@Suite struct HostileShapeTests {
    /// A ring from one random position to the next: about a quarter of its pairs of sides cross.
    private static func scribble(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var ring = (0..<count).map { _ in
            Coordinate(x: .random(in: 0...1, using: &random), y: .random(in: 0...1, using: &random))
        }
        ring.append(ring[0])
        return WellKnownBytes(.polygon(rings: [ring])).bytes
    }

    /// A line from one random position to the next.
    private static func scrawl(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        let path = (0..<count).map { _ in
            Coordinate(x: .random(in: 0...1, using: &random), y: .random(in: 0...1, using: &random))
        }
        return WellKnownBytes(.polyline(paths: [path])).bytes
    }

    private static let square = WellKnownBytes(
        .envelope(Envelope(minX: -1, minY: -1, maxX: 2, maxY: 2))
    ).bytes

    @Test func `an area whose sides cross everywhere is given up when it takes too much memory`() {
        let error = #expect(throws: GEOSError.self) {
            _ = try GEOSRelation(wkb: Self.scribble(6_000, seed: 1), mostMiB: 64)
        }
        #expect(error?.cause == .memory)
    }

    @Test
    func
        `a relation to an area whose sides cross everywhere is given up when it takes too much memory`()
        throws
    {
        let relation = try GEOSRelation(wkb: Self.square, mostMiB: 64)
        let error = #expect(throws: GEOSError.self) {
            _ = try relation.holds(.contains, wkb: Self.scribble(6_000, seed: 2))
        }
        #expect(error?.cause == .memory)
        #expect(try relation.holds(.contains, wkb: Self.scribble(20, seed: 3)))
    }

    @Test(.slow) func `a buffer of a line that crosses itself everywhere is given up`() {
        let line = Self.scrawl(6_000, seed: 6)
        let memory = #expect(throws: GEOSError.self) {
            _ = try GEOSRelation(wkb: line, buffer: 1e-6, mostMiB: 64)
        }
        #expect(memory?.cause == .memory)
        var asked = 0
        let cancelled = #expect(throws: GEOSError.self) {
            _ = try GEOSRelation(wkb: line, buffer: 1e-6) {
                asked += 1
                return asked > 1
            }
        }
        #expect(cancelled?.cause == .cancelled)
    }

    @Test func `GEOS stops when nobody waits, and no other thread stops instead`() async throws {
        let hostile = Self.scribble(3_000, seed: 4)
        let over = Flag()
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { over.isSet.withLock { $0 = true } }
                for _ in 0..<10 {
                    var asked = 0
                    do throws(GEOSError) {
                        _ = try GEOSRelation(wkb: hostile) {
                            asked += 1
                            return asked > 1
                        }
                        Issue.record("it was not stopped")
                    } catch {
                        #expect(error.cause == .cancelled)
                    }
                }
            }
            group.addTask {
                let relation = try GEOSRelation(wkb: Self.square)
                var answers = 0
                while !over.isSet.withLock({ $0 }) || answers == 0 {
                    let shape = Self.scribble(40, seed: UInt64(5 + answers))
                    #expect(try relation.holds(.contains, wkb: shape))
                    answers += 1
                }
            }
            try await group.waitForAll()
        }
    }
}
