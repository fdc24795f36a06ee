// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import GEOS
import Geometry
import TestKit
import Testing

/// Random areas for overlays: on a coarse grid where everything touches, in general position, in
/// thin slivers, and with huge coordinates.
struct AreaGenerator {
    enum Kind: CaseIterable, Sendable { case grid, tenths, smooth, sliver, far, huge }

    var random: SeededGenerator
    let kind: Kind

    mutating func coordinate() -> Coordinate {
        let a = Double.random(in: 0...1, using: &random)
        let b = Double.random(in: 0...1, using: &random)
        let column = Int.random(in: 0...8, using: &random)
        let row = Int.random(in: 0...8, using: &random)
        return switch kind {
        case .grid: Coordinate(x: Double(column), y: Double(row))
        case .tenths: Coordinate(x: Double(column) / 10, y: Double(row) / 10)
        case .smooth: Coordinate(x: a, y: b)
        case .sliver: Coordinate(x: a, y: b * 1e-8)
        case .far: Coordinate(x: 200_000 + a * 10, y: 6_000_000 + b * 10)
        case .huge: Coordinate(x: (a - 0.5) * 1e14, y: (b - 0.5) * 1e14)
        }
    }

    /// Rings that may cross, cover and touch each other and themselves, or have no area.
    mutating func rings() -> [[Coordinate]] {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
            if Int.random(in: 0..<3, using: &random) == 0 {
                let (a, b) = (coordinate(), coordinate())
                return [
                    a, Coordinate(x: a.x, y: b.y), b, Coordinate(x: b.x, y: a.y), a,
                ]
            }
            let open = (0..<Int.random(in: 3...12, using: &random)).map { _ in coordinate() }
            return open + [open[0]]
        }
    }

    /// A ring that does not cross itself: around the middle of some places, by angle.
    mutating func star() -> [Coordinate] {
        let places = (0..<Int.random(in: 3...20, using: &random)).map { _ in coordinate() }
        let count = Double(places.count)
        let middle = Coordinate(
            x: places.reduce(0) { $0 + $1.x } / count, y: places.reduce(0) { $0 + $1.y } / count)
        let sorted = places.sorted {
            atan2($0.y - middle.y, $0.x - middle.x) < atan2($1.y - middle.y, $1.x - middle.x)
        }
        return sorted + [sorted[0]]
    }
}

/// The even-odd rule, in the plainest way.
func isInside(_ rings: [[Coordinate]], _ place: Coordinate) -> Bool {
    var isInside = false
    for ring in rings {
        for (a, b) in zip(ring, ring.dropFirst()) where (a.y > place.y) != (b.y > place.y) {
            if place.x < a.x + (place.y - a.y) / (b.y - a.y) * (b.x - a.x) { isInside.toggle() }
        }
    }
    return isInside
}

/// Above 0 for outer rings that run clockwise.
func area(_ parts: [[[Coordinate]]]) -> Double {
    parts.joined().reduce(0) { $0 - Ring.signedArea($1) }
}

private func length(_ rings: some Sequence<[Coordinate]>) -> Double {
    rings.reduce(0) { sum, ring in
        zip(ring, ring.dropFirst()).reduce(sum) { $0 + hypot($1.1.x - $1.0.x, $1.1.y - $1.0.y) }
    }
}

private func wkt(_ parts: [[[Coordinate]]]) -> String {
    parts.isEmpty
        ? "MULTIPOLYGON EMPTY"
        : "MULTIPOLYGON("
            + parts.map { part in
                "("
                    + part.map { ring in
                        "(" + ring.map { "\($0.x) \($0.y)" }.joined(separator: ",") + ")"
                    }.joined(separator: ",") + ")"
            }.joined(separator: ",") + ")"
}

/// The area of what GEOS answers, whose shells and holes run in opposite directions.
private func area(_ geometry: borrowing GEOSGeometry) throws -> Double {
    let rings = try geometry.chains().map { numbers in
        stride(from: 0, to: numbers.count, by: 2).map {
            Coordinate(x: numbers[$0], y: numbers[$0 + 1])
        }
    }
    return abs(rings.filter { $0.count > 3 }.reduce(0) { $0 + Ring.signedArea($1) })
}

@Suite struct OverlayTests {
    typealias Operation = (name: String, isWanted: @Sendable (Bool, Bool) -> Bool)

    static let operations: [Operation] = [
        ("union", { $0 || $1 }), ("intersection", { $0 && $1 }), ("difference", { $0 && !$1 }),
        ("symmetric difference", { $0 != $1 }),
    ]

    /// That rings are those of an area without crossings, by our own arrangement and by GEOS.
    private func expectSimple(
        _ parts: [[[Coordinate]]], _ note: String, location: SourceLocation = #_sourceLocation
    ) throws {
        let rings = parts.joined().map { Array($0.reversed()) }
        #expect(
            try Overlay(OverlayInput(rings: rings, rule: .positive)).isSimpleArea,
            "\(note)", sourceLocation: location)
        let geometry = try GEOSGeometry(wkt: wkt(parts))
        #expect(try geometry.isValid(), "\(note)", sourceLocation: location)
        for part in parts {
            for (number, ring) in part.enumerated() {
                #expect(ring.first == ring.last && ring.count > 3)
                #expect(
                    (Ring.signedArea(ring) < 0) == (number == 0), "\(note)",
                    sourceLocation: location)
            }
        }
    }

    @Test(arguments: AreaGenerator.Kind.allCases, 1...4)
    func `random rings are overlaid as the even-odd rule says, without a crossing left`(
        kind: AreaGenerator.Kind, seed: Int
    ) throws {
        var source = AreaGenerator(random: SeededGenerator(seed: UInt64(seed)), kind: kind)
        var counts = [0, 0]
        for number in 0..<40 {
            let one = source.rings()
            let two = number % 10 == 0 ? one : source.rings()
            let overlay = try Overlay(OverlayInput(rings: one), OverlayInput(rings: two))
            let extent = Shape.polygon(rings: one + two).envelope
            var areas: [Double] = []
            for (name, isWanted) in Self.operations {
                let note = "\(kind) \(seed).\(number) \(name)"
                let parts = overlay.area(where: isWanted)
                try expectSimple(parts, note)
                areas.append(area(parts))
                let rings = parts.flatMap { $0 }
                for _ in 0..<15 {
                    let place = Coordinate(
                        x: .random(in: extent.minX...extent.maxX, using: &source.random),
                        y: .random(in: extent.minY...extent.maxY, using: &source.random))
                    let wanted = isWanted(isInside(one, place), isInside(two, place))
                    let isIn = isInside(rings, place)
                    counts[isIn ? 1 : 0] += 1
                    guard isIn != wanted else { continue }
                    // Beside a border both are right.
                    let chains = (one + two).flatMap { zip($0, $0.dropFirst()) }
                    let square =
                        chains.map {
                            Segment(a: $0.0, b: $0.1).squaredDistance(to: place)
                        }.min() ?? 0
                    #expect(
                        square.squareRoot() <= 3 * overlay.tolerance,
                        "\(note) at \(place.x) \(place.y)")
                }
                // What is simple stays as it is.
                let again = try Overlay(OverlayInput(rings: rings)).area { first, _ in first }
                #expect(abs(area(again) - area(parts)) <= overlay.tolerance * length(rings))
            }
            let bound =
                4 * overlay.tolerance * length(one + two)
                + 1e-12 * extent.width * extent.height
            let first = area(overlay.area { first, _ in first })
            let second = area(overlay.area { _, second in second })
            #expect(abs(first + second - areas[0] - areas[1]) <= bound, "\(kind) \(seed).\(number)")
            #expect(abs(areas[0] - areas[1] - areas[3]) <= bound, "\(kind) \(seed).\(number)")
            #expect(abs(first - areas[1] - areas[2]) <= bound, "\(kind) \(seed).\(number)")
        }
        #expect(counts[0] > 200 && counts[1] > 200)
    }

    @Test(arguments: AreaGenerator.Kind.allCases, 1...3)
    func `areas agree with GEOS`(kind: AreaGenerator.Kind, seed: Int) throws {
        var source = AreaGenerator(random: SeededGenerator(seed: UInt64(100 + seed)), kind: kind)
        var compared = 0
        for number in 0..<40 {
            let (one, two) = (source.star(), source.star())
            let first = try GEOSGeometry(wkt: wkt([[one]]))
            let second = try GEOSGeometry(wkt: wkt([[two]]))
            guard try first.isValid(), try second.isValid() else { continue }
            compared += 1
            let overlay = try Overlay(OverlayInput(rings: [one]), OverlayInput(rings: [two]))
            let bound = 4 * overlay.tolerance * length([one, two])
            for (name, isWanted) in Self.operations {
                let parts = overlay.area(where: isWanted)
                let note = "\(kind) \(seed).\(number) \(name)"
                if name == "intersection" {
                    let union = try area(first.joined(with: second))
                    let expected = try area(first) + area(second) - union
                    #expect(abs(area(parts) - expected) <= bound + 1e-15 * union, "\(note)")
                    continue
                }
                let expected =
                    switch name {
                    case "union": try first.joined(with: second)
                    case "difference": try first.minus(second)
                    default: try first.minus(second).joined(with: second.minus(first))
                    }
                let found = try GEOSGeometry(wkt: wkt(parts))
                let apart = try area(found.minus(expected)) + area(expected.minus(found))
                #expect(apart <= bound, "\(note)")
            }
        }
        #expect(compared > 20)
    }

    @Test func `vertices that are far from other things stay as they are`() throws {
        let one = [
            Coordinate(x: 0.1, y: 0.1), Coordinate(x: 0.7, y: 0.1), Coordinate(x: 0.7, y: 0.7),
            Coordinate(x: 0.1, y: 0.7),
        ]
        let two = one.map { Coordinate(x: $0.x + 0.3, y: $0.y + 0.3) }
        let union = try Overlay(OverlayInput(rings: [one]), OverlayInput(rings: [two]))
            .area { $0 || $1 }
        let ring = try #require(union.first?.first)
        #expect(union.count == 1 && union[0].count == 1)
        #expect(Set(one + two).subtracting([one[2], two[0]]).isSubset(of: ring))
        #expect(ring.count == 9)
    }

    @Test func `holes, islands in holes and touching corners have their rings`() throws {
        func square(_ x: Double, _ y: Double, _ size: Double) -> [Coordinate] {
            [
                Coordinate(x: x, y: y), Coordinate(x: x + size, y: y),
                Coordinate(x: x + size, y: y + size), Coordinate(x: x, y: y + size),
            ]
        }
        func rings(_ given: [[Coordinate]]) throws -> [[Int]] {
            let parts = try Overlay(OverlayInput(rings: given)).area { first, _ in first }
            try expectSimple(parts, "\(given)")
            return parts.map { $0.map(\.count) }.sorted { $0.count < $1.count }
        }
        // Nested four deep: two areas with a hole each.
        let nested = try rings((0..<4).map { square(Double($0), Double($0), 20 - 2 * Double($0)) })
        #expect(nested == [[5, 5], [5, 5]])
        // In one corner two areas, a hole in the corner of its area, two holes in one corner.
        #expect(try rings([square(0, 0, 2), square(2, 2, 2)]) == [[5], [5]])
        #expect(try rings([square(0, 0, 4), square(0, 0, 2)]) == [[7]])
        let diamond = [
            Coordinate(x: 0, y: 4), Coordinate(x: 2, y: 2), Coordinate(x: 4, y: 4),
            Coordinate(x: 2, y: 6),
        ]
        #expect(try rings([square(0, 0, 8), diamond]) == [[6, 5]])
        #expect(
            try rings([square(0, 0, 9), square(1, 1, 2), square(3, 3, 2)]) == [[5, 5, 5]])
        // Side by side is one area, on each other none; a bow tie is two.
        #expect(try rings([square(0, 0, 2), square(0, 0, 2)]) == [])
        #expect(try rings([square(0, 0, 2), square(2, 0, 2)]) == [[7]])
        let bow = [
            Coordinate(x: 0, y: 0), Coordinate(x: 2, y: 2), Coordinate(x: 2, y: 0),
            Coordinate(x: 0, y: 2),
        ]
        #expect(try rings([bow]) == [[4], [4]])
    }

    @Test func `what is wrong has an error that says so, what is empty is empty`() throws {
        for bad in [Double.nan, .infinity, -.infinity] {
            let ring = [
                Coordinate(x: 0, y: 0), Coordinate(x: bad, y: 1), Coordinate(x: 1, y: 1),
            ]
            let failure = #expect(throws: OverlayFailure.self) {
                try Overlay(OverlayInput(rings: [ring]))
            }
            #expect(failure?.message.contains("not finite") == true)
            #expect(throws: OverlayFailure.self) {
                try Buffering.area(around: OverlayInput(points: ring), distance: 1)
            }
            #expect(throws: OverlayFailure.self) {
                try Buffering.area(around: OverlayInput(), distance: bad)
            }
        }
        let many = Array(
            repeating: Coordinate(x: 1, y: 1), count: Overlay.vertexLimit + 1)
        #expect(throws: OverlayFailure.tooManyVertices(Overlay.vertexLimit + 1)) {
            try Overlay(OverlayInput(points: many))
        }
        // Two combs across each other, and long lines side by side.
        let comb = (0..<3_000).map { index in
            Coordinate(x: Double(index), y: (index / 2) % 2 == 0 ? -1 : 4_000)
        }
        let across = comb.map { Coordinate(x: $0.y, y: $0.x) }
        #expect(throws: OverlayFailure.tooManyCrossings) {
            try Overlay(OverlayInput(paths: [comb, across]))
        }
        let hatch = (0..<22_000).map { index in
            let shift = Double(index)
            return [Coordinate(x: shift, y: 0), Coordinate(x: shift + 1e6, y: 1e6)]
        }
        #expect(throws: OverlayFailure.tooManyCrossings) {
            try Overlay(OverlayInput(paths: hatch))
        }
        let place = Coordinate(x: 3, y: 3)
        for rings in [[], [[]], [[place]], [[place, place]], [[place, place, place, place]]] {
            let overlay = try Overlay(OverlayInput(rings: rings, paths: rings))
            #expect(overlay.area { first, _ in first }.isEmpty)
            #expect(overlay.lines { _ in true }.isEmpty)
        }
        // At the ends of a double's range.
        let sizes = [(1e300, 1), (Double.greatestFiniteMagnitude, 1), (1e-270, 1), (1e-300, 0)]
        for (size, count) in sizes {
            let ring = [
                Coordinate(x: 0, y: 0), Coordinate(x: size, y: 0), Coordinate(x: size, y: size),
                Coordinate(x: 0, y: size),
            ]
            let overlay = try Overlay(OverlayInput(rings: [ring]), OverlayInput(rings: [ring]))
            #expect(overlay.area { $0 && $1 }.count == count, "\(size)")
        }
    }

    @Test func `an area is cut along lines that divide it, and along no other`() throws {
        let square = [
            Coordinate(x: 0, y: 0), Coordinate(x: 10, y: 0), Coordinate(x: 10, y: 10),
            Coordinate(x: 0, y: 10),
        ]
        func sides(_ paths: [[(Double, Double)]]) throws -> [String] {
            let paths = paths.map { $0.map { Coordinate(x: $0.0, y: $0.1) } }
            return try Overlay(OverlayInput(rings: [square]), OverlayInput(paths: paths))
                .cutArea().map {
                    "\($0.isLeft ? "left" : "")\($0.isRight ? "right" : "") \(area([$0.rings]))"
                }.sorted()
        }
        #expect(try sides([[(4, -1), (4, 11)]]) == ["left 40.0", "right 60.0"])
        // Ends within, beside, around a part in the middle.
        #expect(try sides([[(4, -1), (4, 8)]]) == [" 100.0"])
        #expect(try sides([[(14, -1), (14, 8)]]) == [" 100.0"])
        #expect(
            try sides([[(2, 2), (4, 2), (4, 4), (2, 4), (2, 2)]]) == ["left 4.0", "right 96.0"])
        #expect(
            try sides([[(4, -1), (4, 11)], [(6, -1), (6, 11)]])
                == ["left 40.0", "leftright 20.0", "right 40.0"])
    }

    @Test func `lines and positions are divided by areas, each piece once`() throws {
        let square = [
            Coordinate(x: 0, y: 0), Coordinate(x: 10, y: 0), Coordinate(x: 10, y: 10),
            Coordinate(x: 0, y: 10),
        ]
        func place(_ x: Double, _ y: Double) -> Coordinate { Coordinate(x: x, y: y) }
        let line = [place(-5, 5), place(5, 5), place(15, 5), place(15, 0), place(5, 0)]
        let overlay = try Overlay(
            OverlayInput(paths: [line, line.reversed()]), OverlayInput(rings: [square]))
        let inside = overlay.lines { $0.isOnFirst && $0.isInSecond }
        #expect(
            inside == [[place(0, 5), place(5, 5), place(10, 5)], [place(10, 0), place(5, 0)]])
        let outside = overlay.lines { $0.isOnFirst && !$0.isInSecond }
        #expect(
            outside == [
                [place(-5, 5), place(0, 5)],
                [place(10, 5), place(15, 5), place(15, 0), place(10, 0)],
            ])
        let places = [place(5, 5), place(10, 5), place(11, 5), place(5, 5), place(0, 0)]
        let positions = try Overlay(
            OverlayInput(points: places),
            OverlayInput(rings: [square], paths: [[place(11, 0), place(11, 9)]]))
        #expect(positions.points { $0.isInSecond } == [place(5, 5), place(10, 5), place(0, 0)])
        #expect(positions.points { $0.isOnSecond } == [place(11, 5)])
    }
}
