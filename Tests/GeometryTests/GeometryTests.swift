// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Geometry
import TestKit
import Testing

/// An ordinate of two units so far apart that any amount of the larger one decides.
private struct Mixed {
    var p = 0
    var q = 0

    static func - (a: Mixed, b: Mixed) -> Mixed { Mixed(p: a.p - b.p, q: a.q - b.q) }

    /// By units: both larger, one of each, both smaller.
    static func * (a: Mixed, b: Mixed) -> [Int] {
        [a.p * b.p, a.p * b.q + a.q * b.p, a.q * b.q]
    }
}

@Suite struct OrientationTests {
    @Test func `the sign agrees with every published fixture`() throws {
        guard
            let bytes = try SharedData.bytes(
                "geometry_tests/robust_predicates_fixtures.tar.gz",
                member: "robust/test/fixtures/orient2d.txt")
        else { return }
        var count = 0
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { Double($0) }
            guard numbers.count == 8 else { continue }
            let points = stride(from: 1, to: 7, by: 2).map {
                Coordinate(x: numbers[$0], y: numbers[$0 + 1])
            }

            let sign = orientation(points[0], points[1], points[2])

            #expect((sign > 0) == (numbers[7] > 0) && (sign < 0) == (numbers[7] < 0), "\(line)")
            count += 1
        }
        #expect(count == 1000)
    }

    @Test func `near the diagonal every sign is that of whole-number arithmetic`() {
        // Points a few units in the last place off the line through (12,12) and (24,24): the naive
        // determinant is wrong for hundreds of them.
        let (a, b) = (Coordinate(x: 12, y: 12), Coordinate(x: 24, y: 24))
        let unit = 0x1p-53
        for i in 0..<128 {
            for j in 0..<128 {
                let c = Coordinate(x: 0.5 + Double(i) * unit, y: 0.5 + Double(j) * unit)

                let sign = orientation(a, b, c)

                #expect((sign > 0) == (j > i) && (sign < 0) == (j < i))
            }
        }
    }

    @Test func `huge and tiny coordinates keep their sign`() {
        let scales = [1e-120, 1e-30, 1, 1e30, 1e120, 1e150, 1e300]
        for scale in scales {
            let a = Coordinate(x: 0.1 * scale, y: 0.1 * scale)
            let b = Coordinate(x: 0.3 * scale, y: 0.3 * scale)
            #expect(orientation(a, b, Coordinate(x: 0.2 * scale, y: 0.2 * scale)) == 0)
            #expect(orientation(a, b, Coordinate(x: 0.2 * scale, y: (0.2 * scale).nextUp)) > 0)
            #expect(orientation(a, b, Coordinate(x: 0.2 * scale, y: (0.2 * scale).nextDown)) < 0)
        }
    }

    private static func sign(_ number: Double) -> Int { number > 0 ? 1 : number < 0 ? -1 : 0 }

    @Test func `every scale of each axis gives the sign of the whole numbers below it`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let reach = Int.random(in: 1...1000, using: &random)
            let c = (0..<6).map { _ in Int.random(in: -reach...reach, using: &random) }
            let scales = (0..<2).map { _ in Int.random(in: -1074...1013, using: &random) }
            func at(_ index: Int) -> Coordinate {
                Coordinate(
                    x: Double(sign: .plus, exponent: scales[0], significand: 1) * Double(c[index]),
                    y: Double(sign: .plus, exponent: scales[1], significand: 1)
                        * Double(c[index + 1]))
            }

            let turn = orientation(at(0), at(2), at(4))

            let expected = (c[0] - c[4]) * (c[3] - c[5]) - (c[1] - c[5]) * (c[2] - c[4])
            #expect(Self.sign(turn) == expected.signum(), "\(c) by \(scales), seed \(seed)")
        }
    }

    @Test func `the smallest and the largest numbers beside each other lose nothing`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let exponent = Int.random(in: -900...1020, using: &random)
            let unit = Double(sign: .plus, exponent: exponent, significand: 1)
            let mixed = (0..<6).map { _ in
                let number = Int.random(in: -3...3, using: &random)
                return Bool.random(using: &random) ? Mixed(p: number) : Mixed(q: number)
            }
            func at(_ index: Int) -> Coordinate {
                let ordinates = mixed[index...index + 1].map {
                    Double($0.p) * unit + Double($0.q) * .leastNonzeroMagnitude
                }
                return Coordinate(x: ordinates[0], y: ordinates[1])
            }

            let turn = orientation(at(0), at(2), at(4))

            let left = (mixed[0] - mixed[4]) * (mixed[3] - mixed[5])
            let right = (mixed[1] - mixed[5]) * (mixed[2] - mixed[4])
            let expected = zip(left, right).lazy.map { ($0 - $1).signum() }.first { $0 != 0 } ?? 0
            #expect(Self.sign(turn) == expected, "\(mixed), unit 2^\(exponent), seed \(seed)")
        }
    }
}

@Suite struct RingTests {
    @Test(arguments: [
        ([[0, 0], [0, 2], [2, 2], [2, 0], [0, 0]], true, -4),
        ([[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]], false, 4),
        ([[0, 0], [2, 0], [4, 0], [0, 0]], false, 0),
        ([[0, 0], [-1, 0], [0, 0], [0, 2], [2, 2], [2, 0], [0, 0]], true, -4),
    ])
    func `winding and area of a ring`(pairs: [[Double]], isClockwise: Bool, area: Double) {
        let ring = pairs.map { Coordinate(x: $0[0], y: $0[1]) }

        #expect(Ring.isClockwise(ring) == isClockwise)
        #expect(Ring.signedArea(ring) == area)
    }

    @Test func `the winding of a sliver of one unit in the last place is right`() {
        let (a, b) = (Coordinate(x: 0.1, y: 0.1), Coordinate(x: 0.3, y: 0.3))
        let c = Coordinate(x: 0.2, y: 0.2.nextUp)

        #expect(!Ring.isClockwise([a, b, c, a]))
        #expect(Ring.isClockwise([c, b, a, c]))
    }

    @Test func `a ring that crosses itself is inside where the count is odd`() {
        // A pentagram: its middle is crossed twice.
        let star = (0...5).map { index in
            let angle = Double(index * 2 % 5) * 2 * .pi / 5
            return Coordinate(x: 10 * sin(angle), y: 10 * cos(angle))
        }

        #expect(Ring.locate(Coordinate(x: 0, y: 0), in: star) == .outside)
        #expect(Ring.locate(Coordinate(x: 0, y: 7), in: star) == .inside)
        #expect(Ring.locate(star[0], in: star) == .boundary)
        #expect(Ring.locate(Coordinate(x: 20, y: 0), in: star) == .outside)
    }
}

@Suite struct WebMercatorTests {
    @Test func `known positions fall where EPSG 3857 has them`() {
        let meters = WebMercator.project(Coordinate(x: 180, y: 90))
        #expect(abs(meters.x - 20_037_508.342789244) < 1e-8)
        #expect(abs(meters.y - 20_037_508.342789244) < 1e-6)
        #expect(WebMercator.project(Coordinate(x: 0, y: -90)).y < -20_037_508)
        #expect(WebMercator.project(Coordinate(x: 181, y: 0)).x > 20_037_508.4)
        #expect(abs(WebMercator.project(Coordinate(x: 0, y: 0)).y) < 1e-8)
    }

    @Test func `back and forth is the identity`() {
        var generator = SeededGenerator(seed: 3857)
        for _ in 0..<1000 {
            let degrees = Coordinate(
                x: .random(in: -400...400, using: &generator),
                y: .random(in: -85...85, using: &generator))

            let back = WebMercator.unproject(WebMercator.project(degrees))

            #expect(abs(back.x - degrees.x) < 1e-12 * 400 && abs(back.y - degrees.y) < 1e-12 * 90)
        }
    }
}

@Suite struct OutputTests {
    @Test func `generalising keeps ends, closure and the offset`() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            let count = Int.random(in: 2...100, using: &generator)
            var path = (0..<count).map { index in
                Coordinate(
                    x: Double(index) + .random(in: -2...2, using: &generator),
                    y: .random(in: -3...3, using: &generator))
            }
            let offset = Double.random(in: 0.01...4, using: &generator)
            guard
                case .polyline(let paths) = Shape.polyline(paths: [path])
                    .generalized(maxAllowableOffset: offset)
            else { return #expect(Bool(false)) }
            #expect(paths[0].first == path.first && paths[0].last == path.last)
            let line = PreparedShape(.polyline(paths: paths))
            for coordinate in path {
                #expect(line.distance(to: PreparedShape(.point(coordinate)))! <= offset * 1.000001)
            }

            path.append(path[0])
            guard
                case .polygon(let rings) = Shape.polygon(rings: [path])
                    .generalized(maxAllowableOffset: offset)
            else { return #expect(Bool(false)) }
            #expect(rings[0].first == rings[0].last)
            #expect(rings[0].count >= min(4, path.count))
        }
    }

    @Test func `a hostile path is generalised in time`() {
        // A zigzag that dies down: the farthest coordinate is always the neighbour of an end.
        let zigzag = (0..<100_000).map { index in
            let height = Double(100_000 - index)
            return Coordinate(x: Double(index), y: index.isMultiple(of: 2) ? height : -height)
        }

        let clock = ContinuousClock()
        let took = clock.measure {
            _ = Shape.polyline(paths: [zigzag]).generalized(maxAllowableOffset: 0.5)
        }

        #expect(took < .seconds(20), "\(took)")
    }

    @Test func `rounding keeps the decimals asked for`() {
        let shape = Shape.point(Coordinate(x: 1.25, y: -1.25))
        #expect(shape.rounded(decimals: 1) == .point(Coordinate(x: 1.3, y: -1.3)))
        #expect(shape.rounded(decimals: 0) == .point(Coordinate(x: 1, y: -1)))
        #expect(shape.rounded(decimals: -4) == .point(Coordinate(x: 1, y: -1)))
        #expect(shape.rounded(decimals: 400) == shape)
        let huge = Shape.point(Coordinate(x: 1e308, y: 0))
        #expect(huge.rounded(decimals: 6) == huge)
    }
}
