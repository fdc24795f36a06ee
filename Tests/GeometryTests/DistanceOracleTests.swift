// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import GEOS
import Geometry
import TestKit
import Testing

/// A shape in both worlds: ours, and the text GEOS reads.
struct Sample {
    var prepared: PreparedShape
    var wkt: String
    /// Input of the whole-number oracle: lines with their part, or -1.
    var chains: [(coordinates: [Coordinate], part: Int)]

    init(_ shape: Shape) {
        prepared = PreparedShape(shape)
        wkt = Self.wkt(shape)
        chains =
            switch shape {
            case .point(let coordinate): [([coordinate], -1)]
            case .multipoint(let coordinates): coordinates.map { ([$0], -1) }
            case .polyline(let paths): paths.map { ($0, -1) }
            case .polygon(let rings): rings.map { ($0, 0) }
            case .envelope(let box): [(Self.corners(box), 0)]
            }
    }

    init(parts: [[[Coordinate]]]) {
        chains = parts.enumerated().flatMap { part in part.element.map { ($0, part.offset) } }
        prepared = PreparedShape(polygonParts: parts)
        wkt = "MULTIPOLYGON(" + parts.map(Self.rings).joined(separator: ",") + ")"
    }

    static func wkt(_ shape: Shape) -> String {
        switch shape {
        case .point(let coordinate): "POINT" + list([coordinate])
        case .multipoint(let coordinates): "MULTIPOINT" + list(coordinates)
        case .polyline(let paths):
            "MULTILINESTRING(" + paths.map(list).joined(separator: ",") + ")"
        case .polygon(let rings): "POLYGON" + Self.rings(rings)
        case .envelope(let box): "POLYGON" + Self.rings([corners(box)])
        }
    }

    private static func corners(_ box: Envelope) -> [Coordinate] {
        [
            Coordinate(x: box.minX, y: box.minY), Coordinate(x: box.maxX, y: box.minY),
            Coordinate(x: box.maxX, y: box.maxY), Coordinate(x: box.minX, y: box.maxY),
            Coordinate(x: box.minX, y: box.minY),
        ]
    }

    private static func list(_ coordinates: [Coordinate]) -> String {
        "(" + coordinates.map { "\($0.x) \($0.y)" }.joined(separator: ",") + ")"
    }

    private static func rings(_ rings: [[Coordinate]]) -> String {
        "(" + rings.map(list).joined(separator: ",") + ")"
    }
}

/// Random shapes, smooth or on a coarse grid where everything touches and nothing is in general
/// position.
struct ShapeGenerator {
    var random: SeededGenerator
    var isOnGrid: Bool

    mutating func coordinate() -> Coordinate {
        if isOnGrid {
            return Coordinate(
                x: Double(Int.random(in: 0...8, using: &random)),
                y: Double(Int.random(in: 0...8, using: &random)))
        }
        return Coordinate(
            x: .random(in: 0...1, using: &random), y: .random(in: 0...1, using: &random))
    }

    mutating func coordinates(_ range: ClosedRange<Int>) -> [Coordinate] {
        (0..<Int.random(in: range, using: &random)).map { _ in coordinate() }
    }

    /// Closed, and as wild as it comes: it may cross itself, run back on itself or have no area.
    mutating func ring(_ range: ClosedRange<Int>) -> [Coordinate] {
        let open = coordinates(range)
        return open + [open[0]]
    }

    mutating func sample() -> Sample {
        let large = Int.random(in: 0..<10, using: &random) == 0
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return Sample(.point(coordinate()))
        case 1: return Sample(.multipoint(coordinates(1...(large ? 90 : 4))))
        case 2:
            return Sample(
                .polyline(
                    paths: (0..<Int.random(in: 1...3, using: &random)).map { _ in
                        coordinates(2...(large ? 120 : 6))
                    }))
        case 3:
            let (a, b) = (coordinate(), coordinate())
            var box = Envelope.empty
            box.extend(to: a)
            box.extend(to: b)
            return Sample(.envelope(box))
        case 4:
            return Sample(
                parts: (0..<Int.random(in: 1...(large ? 12 : 3), using: &random)).map { _ in
                    (0..<Int.random(in: 1...(large ? 6 : 2), using: &random)).map { _ in
                        ring(3...(large ? 20 : 5))
                    }
                })
        default: return Sample(.polygon(rings: [ring(3...(large ? 80 : 6))]))
        }
    }
}

@Suite struct DistanceOracleTests {
    /// GEOS requires valid input; making it valid keeps lines and even-odd areas, part by part.
    private func oracle(_ wkt: String) throws -> GEOSGeometry {
        let geometry = try GEOSGeometry(wkt: wkt)
        return try geometry.isValid() ? geometry : geometry.madeValid()
    }

    private func isValid(_ wkt: String) throws -> Bool { try GEOSGeometry(wkt: wkt).isValid() }

    @Test(.slow, arguments: [false, true], 1...4)
    func `distance and touching agree with GEOS on random shapes`(
        isOnGrid: Bool, seed: Int
    ) throws {
        var generator = ShapeGenerator(
            random: SeededGenerator(seed: UInt64(seed)), isOnGrid: isOnGrid)
        for round in 0..<200 {
            let (first, second) = (generator.sample(), generator.sample())
            // A multipolygon whose parts overlap has no single GEOS meaning: see the test below.
            guard !first.wkt.hasPrefix("MULTIPOLYGON"), !second.wkt.hasPrefix("MULTIPOLYGON") else {
                continue
            }
            let a = try oracle(first.wkt)
            let b = try oracle(second.wkt)
            let label: Comment =
                "seed \(seed) grid \(isOnGrid) round \(round): \(first.wkt) / \(second.wkt)"

            let distance = try #require(first.prepared.distance(to: second.prepared), label)

            let expected = try a.distance(to: b)
            #expect(abs(distance - expected) <= 1e-14 + 1e-9 * expected, label)
            if try !isOnGrid || (isValid(first.wkt) && isValid(second.wkt)) {
                // Making a grid shape valid rounds its crossings, and touches get lost.
                #expect((distance == 0) == (try a.intersects(b)), label)
            }
            let back = try #require(second.prepared.distance(to: first.prepared), label)
            #expect(abs(distance - back) <= 1e-15 && (distance == 0) == (back == 0), label)
            #expect(first.prepared.intersects(second.prepared) == (distance == 0), label)
        }
    }

    @Test func `a question nobody wants answered any more is given up`() throws {
        // Two combs whose teeth interlock without touching: every tooth has an equally near one.
        func comb(_ shift: Double) -> PreparedShape {
            PreparedShape(
                .polyline(
                    paths: (0..<20_000).map { index in
                        let x = Double(index) + shift
                        return [Coordinate(x: x, y: 0), Coordinate(x: x, y: 100)]
                    }))
        }
        let points = PreparedShape(
            .multipoint((0..<3000).map { Coordinate(x: Double($0), y: -1) }))
        let area = PreparedShape(
            .polygon(rings: [(0..<3000).map { Coordinate(x: Double($0), y: Double($0 % 2)) }]))

        #expect(comb(0).distance(to: comb(0.5), isAbandoned: { true }) == nil)
        #expect(area.distance(to: points, isAbandoned: { true }) == nil)
        let distance = try #require(area.distance(to: points))
        #expect(distance == 1)
    }

    @Test(arguments: 1...8)
    func `touching agrees with whole-number arithmetic on a coarse grid`(seed: Int) {
        var generator = ShapeGenerator(
            random: SeededGenerator(seed: UInt64(seed)), isOnGrid: true)
        var touching = 0
        for round in 0..<500 {
            let (first, second) = (generator.sample(), generator.sample())

            let answer = first.prepared.intersects(second.prepared)

            let expected = WholeNumbers.touch(first, second)
            #expect(answer == expected, "seed \(seed) round \(round): \(first.wkt) / \(second.wkt)")
            touching += expected ? 1 : 0
        }
        #expect((50..<450).contains(touching))
    }
}

/// The definition, word for word, in integers: quadratic, no shortcuts, nothing shared with the
/// code under test.
enum WholeNumbers {
    typealias Position = (x: Int, y: Int)

    static func touch(_ first: Sample, _ second: Sample) -> Bool {
        let (a, b) = (lines(first), lines(second))
        for line in a where b.contains(where: { meet(line, $0) }) { return true }
        return holds(first, second) || holds(second, first)
    }

    private static func lines(_ sample: Sample) -> [(Position, Position)] {
        sample.chains.flatMap { chain -> [(Position, Position)] in
            let positions = chain.coordinates.map { (x: Int($0.x), y: Int($0.y)) }
            if positions.count == 1 { return [(positions[0], positions[0])] }
            return zip(positions, positions.dropFirst()).map { ($0, $1) }
        }
    }

    private static func turn(_ a: Position, _ b: Position, _ c: Position) -> Int {
        ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)).signum()
    }

    private static func isOn(_ p: Position, _ line: (Position, Position)) -> Bool {
        turn(line.0, line.1, p) == 0
            && (min(line.0.x, line.1.x)...max(line.0.x, line.1.x)).contains(p.x)
            && (min(line.0.y, line.1.y)...max(line.0.y, line.1.y)).contains(p.y)
    }

    private static func meet(_ a: (Position, Position), _ b: (Position, Position)) -> Bool {
        if isOn(a.0, b) || isOn(a.1, b) || isOn(b.0, a) || isOn(b.1, a) { return true }
        return turn(a.0, a.1, b.0) * turn(a.0, a.1, b.1) < 0
            && turn(b.0, b.1, a.0) * turn(b.0, b.1, a.1) < 0
    }

    /// Whether any vertex of the second is in the first's interior.
    private static func holds(_ area: Sample, _ other: Sample) -> Bool {
        let parts = Set(area.chains.map(\.part)).subtracting([-1])
        let positions = other.chains.flatMap(\.coordinates).map { (x: Int($0.x), y: Int($0.y)) }
        return positions.contains { position in
            parts.contains { part in
                var crossings = 0
                for chain in area.chains where chain.part == part {
                    for (a, b) in zip(chain.coordinates, chain.coordinates.dropFirst()) {
                        let (ay, by) = (Int(a.y), Int(b.y))
                        guard (ay > position.y) != (by > position.y) else { continue }
                        // x of the crossing > position.x, multiplied out.
                        let left = (position.x - Int(a.x)) * (by - ay)
                        let right = (Int(b.x) - Int(a.x)) * (position.y - ay)
                        if by > ay ? left < right : left > right { crossings += 1 }
                    }
                }
                return !crossings.isMultiple(of: 2)
            }
        }
    }
}
