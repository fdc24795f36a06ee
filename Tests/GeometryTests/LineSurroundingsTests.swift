// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GEOS
import Geometry
import TestKit
import Testing

/// The area around many lines, as service areas have it.
@Suite struct LineSurroundingsTests {
    private static let distance = 100.0

    /// Short lines in a square of that side, many of them crossing others.
    private static func lines(_ count: Int, side: Double, seed: UInt64) -> [[Double]] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            var (x, y) = (
                Double.random(in: 0...side, using: &random),
                Double.random(in: 0...side, using: &random)
            )
            var line = [x, y]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                x += Double.random(in: -80...80, using: &random)
                y += Double.random(in: -80...80, using: &random)
                line += [x, y]
            }
            return line
        }
    }

    @Test func `a position is in the area where a line is near`() throws {
        let lines = Self.lines(600, side: 8_000, seed: 4)
        let area = try GEOSGeometry(within: Self.distance, of: lines, quarterSides: 4)
        let rings = try area.chains().map { chain in
            stride(from: 0, to: chain.count, by: 2).map {
                Coordinate(x: chain[$0], y: chain[$0 + 1])
            }
        }
        let prepared = PreparedShape(.polygon(rings: rings))
        var random = SeededGenerator(seed: 5)
        var (inside, outside) = (0, 0)
        for _ in 0..<4_000 {
            let place = Coordinate(
                x: Double.random(in: -300...8_300, using: &random),
                y: Double.random(in: -300...8_300, using: &random))
            let nearest = lines.map { Self.distance(from: place, to: $0) }.min() ?? .infinity
            // Round corners are polygons whose sides are nearer by 2 %.
            if nearest < Self.distance * 0.98 {
                inside += 1
                #expect(prepared.contains(place), "\(place), \(nearest) m from a line")
            } else if nearest > Self.distance * 1.000_001 {
                outside += 1
                #expect(!prepared.contains(place), "\(place), \(nearest) m from a line")
            }
        }
        #expect(inside > 500 && outside > 500)
    }

    private static func distance(from place: Coordinate, to line: [Double]) -> Double {
        stride(from: 0, to: line.count - 2, by: 2).map { start in
            let (x, y) = (line[start], line[start + 1])
            let (dx, dy) = (line[start + 2] - x, line[start + 3] - y)
            let along = ((place.x - x) * dx + (place.y - y) * dy) / (dx * dx + dy * dy)
            let share = min(max(along, 0), 1)
            let (ex, ey) = (place.x - x - share * dx, place.y - y - share * dy)
            return (ex * ex + ey * ey).squareRoot()
        }.min() ?? .infinity
    }

    @Test func `a join that is cancelled ends with that`() throws {
        let lines = Self.lines(20_000, side: 10_000, seed: 6)
        let error = #expect(throws: GEOSError.self) {
            _ = try GEOSGeometry(within: Self.distance, of: lines, isCancelled: { true })
        }
        #expect(error?.cause == .cancelled)
    }

    @Test func `no lines have no area`() throws {
        #expect(try GEOSGeometry(within: 1, of: []).chains().isEmpty)
    }
}
