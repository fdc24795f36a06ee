// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import TestKit
import Testing

@Suite struct ClippingTests {
    private static let box = Envelope(minX: 20, minY: 30, maxX: 70, maxY: 60)

    private static func chain(
        _ random: inout SeededGenerator, _ count: Int
    ) -> [Coordinate] {
        (0..<count).map { _ in
            Coordinate(
                x: Double.random(in: 0...100, using: &random),
                y: Double.random(in: 0...100, using: &random))
        }
    }

    /// Even-odd, by a ray to the right.
    private static func encloses(_ ring: [Coordinate], _ place: Coordinate) -> Bool {
        zip(ring, ring.dropFirst()).reduce(false) { inside, edge in
            let (a, b) = edge
            guard (a.y > place.y) != (b.y > place.y) else { return inside }
            let x = a.x + (place.y - a.y) / (b.y - a.y) * (b.x - a.x)
            return (x > place.x) != inside
        }
    }

    /// Distance of a place from a chain's nearest segment.
    private static func distance(_ chain: [Coordinate], _ place: Coordinate) -> Double {
        zip(chain, chain.dropFirst()).map {
            Segment(a: $0.0, b: $0.1).squaredDistance(to: place).squareRoot()
        }.min() ?? .infinity
    }

    @Test(arguments: Seeds.chosen(30))
    func `a ring encloses the same inside the rectangle as before`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let open = Self.chain(&random, Int.random(in: 3...12, using: &random))
        let ring = open + [open[0]]
        let clipped = Self.box.clip(ring: ring)

        #expect(clipped.first == clipped.last)
        #expect(clipped.allSatisfy(Self.box.contains))
        for _ in 0..<200 {
            let place = Coordinate(
                x: Double.random(in: 20...70, using: &random),
                y: Double.random(in: 30...60, using: &random))
            guard Self.distance(ring, place) > 1e-6 else { continue }
            #expect(
                Self.encloses(clipped, place) == Self.encloses(ring, place),
                "seed \(seed): \(place)")
        }
        let divided = Self.box.dividing(ring: clipped, by: 8)
        #expect(divided.count >= clipped.count)
        #expect(divided.allSatisfy { Self.distance(clipped, $0) < 1e-9 })
    }

    @Test(arguments: Seeds.chosen(30))
    func `the pieces of a path are what of it lies inside`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let path = Self.chain(&random, 10)
        let pieces = Self.box.clip(path: path)

        for (a, b) in zip(path, path.dropFirst()) {
            for step in 0...50 {
                let part = Double(step) / 50
                let place = Coordinate(x: a.x + part * (b.x - a.x), y: a.y + part * (b.y - a.y))
                let nearest = pieces.map { Self.distance($0, place) }.min() ?? .infinity
                if Self.box.expanded(by: -1e-9).contains(place) { #expect(nearest < 1e-9) }
                if !Self.box.expanded(by: 1e-9).contains(place) { #expect(nearest > 0) }
            }
        }
        for place in pieces.joined() {
            #expect(Self.box.expanded(by: 1e-9).contains(place))
            #expect(Self.distance(path, place) < 1e-9)
        }
    }
}
