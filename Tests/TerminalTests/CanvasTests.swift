// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import Terminal
import TestKit
import Testing

@Suite struct CanvasTests {
    private func dots(of canvas: Canvas) -> Set<[Int]> {
        var found: Set<[Int]> = []
        for y in -3..<canvas.height + 3 {
            for x in -3..<canvas.width + 3 where canvas.isSet(x: x, y: y) { found.insert([x, y]) }
        }
        return found
    }

    @Test func `eight dots make every braille character`() {
        for mask in 1...255 {
            var canvas = Canvas(columns: 1, rows: 1)
            let order = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
            for (bit, at) in order.enumerated() where mask & (1 << bit) != 0 {
                canvas.dot(x: at.0, y: at.1, colour: 7)
            }

            let cell = canvas.cell(column: 0, row: 0)
            #expect(cell?.character.unicodeScalars.first?.value == 0x2800 + UInt32(mask))
        }
        #expect(Canvas(columns: 1, rows: 1).cell(column: 0, row: 0) == nil)
    }

    @Test(.slow) func `a fill is the even-odd inside of its rings`() {
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        print("\(#function): seed \(random.seed)")
        for _ in 0..<200 {
            let rings = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                var ring = (0..<Int.random(in: 3...7, using: &random)).map { _ in
                    Coordinate(
                        x: .random(in: -30...70, using: &random),
                        y: .random(in: -30...70, using: &random))
                }
                ring.append(ring[0])
                return ring
            }
            var canvas = Canvas(columns: 20, rows: 10)
            canvas.fill(rings, colour: 1)

            var expected: Set<[Int]> = []
            for y in 0..<40 {
                for x in 0..<40 where Self.isInside(Double(x) + 0.5, Double(y) + 0.5, rings) {
                    expected.insert([x, y])
                }
            }
            #expect(dots(of: canvas) == expected, "\(rings)")
        }
    }

    private static func isInside(_ x: Double, _ y: Double, _ rings: [[Coordinate]]) -> Bool {
        var isInside = false
        for ring in rings {
            for (a, b) in zip(ring, ring.dropFirst()) where (a.y > y) != (b.y > y) {
                if x > a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x) { isInside.toggle() }
            }
        }
        return isInside
    }

    @Test func `a line touches every dot it should and none that is far from it`() {
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        print("\(#function): seed \(random.seed)")
        for _ in 0..<1_000 {
            let ends = (0..<2).map { _ in
                Coordinate(
                    x: .random(in: -100...140, using: &random),
                    y: .random(in: -100...140, using: &random))
            }
            var canvas = Canvas(columns: 20, rows: 10)
            canvas.line(from: ends[0], to: ends[1], colour: 1)
            let found = dots(of: canvas)

            for dot in found {
                let centre = Coordinate(x: Double(dot[0]) + 0.5, y: Double(dot[1]) + 0.5)
                #expect(Self.distance(centre, ends) <= 1.5, "\(ends) \(dot)")
            }
            for step in 0...2_000 {
                let t = Double(step) / 2_000
                let x = ends[0].x + t * (ends[1].x - ends[0].x)
                let y = ends[0].y + t * (ends[1].y - ends[0].y)
                guard 1..<39 ~= x, 1..<39 ~= y else { continue }
                let near = (-1...1).contains { dx in
                    (-1...1).contains { dy in found.contains([Int(x) + dx, Int(y) + dy]) }
                }
                #expect(near, "\(ends) at \(x) \(y)")
            }
        }
    }

    private static func distance(_ point: Coordinate, _ ends: [Coordinate]) -> Double {
        let (dx, dy) = (ends[1].x - ends[0].x, ends[1].y - ends[0].y)
        let along = (point.x - ends[0].x) * dx + (point.y - ends[0].y) * dy
        let t = min(max(along / (dx * dx + dy * dy), 0), 1)
        let (x, y) = (ends[0].x + t * dx - point.x, ends[0].y + t * dy - point.y)
        return (x * x + y * y).squareRoot()
    }

    @Test func `a coordinate that is not finite or far outside draws nothing and does not trap`() {
        let odd: [Double] = [.nan, .infinity, -.infinity, 1e308, -1e308, 1e18, -1e18]
        for first in odd {
            for second in odd {
                var canvas = Canvas(columns: 4, rows: 4)
                let at = Coordinate(x: first, y: second)
                canvas.point(at, colour: 1)
                canvas.line(from: at, to: Coordinate(x: second, y: first), colour: 1)
                canvas.fill([[at, at, at, at]], colour: 1)
                if !at.isFinite { #expect(dots(of: canvas).isEmpty, "\(at)") }
            }
        }
        var canvas = Canvas(columns: 4, rows: 4)
        canvas.line(
            from: Coordinate(x: -1e15, y: 7.5), to: Coordinate(x: 1e15, y: 7.5), colour: 1)
        #expect(dots(of: canvas) == Set((0..<8).map { [$0, 7] }))
    }
}
