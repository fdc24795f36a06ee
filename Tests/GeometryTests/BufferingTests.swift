// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import GEOS
import Geometry
import TestKit
import Testing

@Suite struct BufferingTests {
    /// What a chord is nearer than the arc, as a share of the distance.
    private static let chord = 1 - cos(.pi / Double(OffsetRings.circleVertices))

    private func least(_ place: Coordinate, _ lines: [[Coordinate]]) -> Double {
        lines.flatMap { line in
            line.count == 1
                ? [Segment(a: line[0], b: line[0]).squaredDistance(to: place)]
                : zip(line, line.dropFirst()).map {
                    Segment(a: $0.0, b: $0.1).squaredDistance(to: place)
                }
        }.min()?.squareRoot() ?? .infinity
    }

    @Test(arguments: AreaGenerator.Kind.allCases, 1...3)
    func `around anything is what is within the distance, and no more`(
        kind: AreaGenerator.Kind, seed: Int
    ) throws {
        var source = AreaGenerator(random: SeededGenerator(seed: UInt64(200 + seed)), kind: kind)
        for number in 0..<25 {
            let rings = source.rings()
            let extent = Shape.polygon(rings: rings).envelope
            let size = max(extent.width, extent.height)
            guard size > 0 else { continue }
            let distance = size * [0.02, 0.1, 0.4][number % 3]
            let form = number % 5
            let input =
                switch form {
                case 0, 1, 2: OverlayInput(rings: rings)
                case 3: OverlayInput(paths: rings)
                default: OverlayInput(points: rings.flatMap { $0 })
                }
            let isInner = form == 2
            let sources = form == 4 ? rings.flatMap { $0.map { [$0] } } : rings
            let parts = try Buffering.area(around: input, distance: isInner ? -distance : distance)
            let found = parts.flatMap { $0 }
            let overlay = try Overlay(
                OverlayInput(rings: found.map { $0.reversed() }, rule: .positive))
            #expect(overlay.isSimpleArea, "\(kind) \(seed).\(number)")
            let slack = distance * Self.chord + 8 * overlay.tolerance + distance * 1e-9
            // Of an area's border those parts count that the even-odd rule leaves.
            let borders =
                form < 3
                ? try Overlay(OverlayInput(rings: rings)).area { first, _ in first }.flatMap { $0 }
                : sources
            for place in found.joined() {
                #expect(
                    abs(least(place, borders) - distance) <= slack,
                    "\(kind) \(seed).\(number) at \(place.x) \(place.y)")
            }
            for _ in 0..<25 {
                let place = Coordinate(
                    x: .random(
                        in: extent.minX - distance...extent.maxX + distance, using: &source.random),
                    y: .random(
                        in: extent.minY - distance...extent.maxY + distance, using: &source.random))
                let far = least(place, borders)
                guard abs(far - distance) > slack else { continue }
                let isOver = form < 3 && isInside(rings, place)
                let wanted = isInner ? isOver && far > distance : isOver || far < distance
                #expect(
                    isInside(found, place) == wanted,
                    "\(kind) \(seed).\(number) at \(place.x) \(place.y)")
            }
        }
    }

    @Test func `the area around lines is that of GEOS`() throws {
        var source = AreaGenerator(random: SeededGenerator(seed: 7), kind: .smooth)
        for number in 0..<60 {
            let path = (0..<Int.random(in: 2...30, using: &source.random)).map { _ in
                source.coordinate()
            }
            let distance = [0.01, 0.1, 0.5][number % 3]
            let parts = try Buffering.area(around: OverlayInput(paths: [path]), distance: distance)
            let oracle = try GEOSGeometry(
                within: distance, of: [path.flatMap { [$0.x, $0.y] }], quarterSides: 24)
            let expected = abs(
                try oracle.chains().reduce(0) { sum, numbers in
                    sum
                        + Ring.signedArea(
                            stride(from: 0, to: numbers.count, by: 2).map {
                                Coordinate(x: numbers[$0], y: numbers[$0 + 1])
                            })
                })
            let length = parts.joined().reduce(0.0) { sum, ring in
                zip(ring, ring.dropFirst()).reduce(sum) {
                    $0 + hypot($1.1.x - $1.0.x, $1.1.y - $1.0.y)
                }
            }
            #expect(
                abs(area(parts) - expected) <= length * distance * 2 * Self.chord, "\(number)")
        }
    }

    @Test func `a line of many short segments is surrounded as its runs are`() throws {
        // A coast of 2,000 segments, much shorter than the distance.
        var random = SeededGenerator(seed: 3)
        var coast: [Coordinate] = []
        for index in 0..<2_000 {
            let angle = Double(index) / 2_000 * 2 * .pi
            let radius = 100 + Double.random(in: -1...1, using: &random)
            coast.append(Coordinate(x: radius * cos(angle), y: radius * sin(angle)))
        }
        coast.append(coast[0])
        for distance in [20.0, -20] {
            let parts = try Buffering.area(
                around: OverlayInput(rings: [coast]), distance: distance)
            #expect(parts.count == 1 && parts[0].count == 1)
            let radius = 100 + distance
            #expect(abs(area(parts) - .pi * radius * radius) < 2 * .pi * radius)
            for place in parts.joined().joined() {
                #expect(abs(least(place, [coast]) - 20) < 20 * Self.chord * 2)
            }
        }
        let far = try Buffering.area(around: OverlayInput(paths: [coast]), distance: 1_000)
        #expect(far.count == 1 && far[0].count == 1)
    }

    @Test func `no distance is the area, too much inwards is nothing`() throws {
        let square = [
            Coordinate(x: 0, y: 0), Coordinate(x: 10, y: 0), Coordinate(x: 10, y: 10),
            Coordinate(x: 0, y: 10),
        ]
        func around(_ input: OverlayInput, _ distance: Double) throws -> Double {
            area(try Buffering.area(around: input, distance: distance))
        }
        let input = OverlayInput(rings: [square])
        #expect(try around(input, 0) == 100)
        #expect(try around(input, -2) == 36)
        #expect(try around(input, -5) == 0)
        #expect(try around(input, -500) == 0)
        #expect(try around(OverlayInput(paths: [square]), -1) == 0)
        #expect(try around(OverlayInput(points: square), 0) == 0)
        #expect(try around(OverlayInput(), 5) == 0)
        let circle = Double(OffsetRings.circleVertices)
        let disc = circle / 2 * sin(2 * .pi / circle)
        #expect(abs(try around(input, 1) - (100 + 40 + disc)) < 1e-9)
        #expect(abs(try around(OverlayInput(points: [square[0]]), 1) - disc) < 1e-9)
    }

    @Test func `a hull is convex, holds every place and has corners of them alone`() {
        var source = AreaGenerator(random: SeededGenerator(seed: 9), kind: .grid)
        for _ in 0..<300 {
            let places = source.rings().flatMap { $0 }
            let hull = ConvexHull.corners(of: places)
            #expect(Set(hull).isSubset(of: places) && Set(hull).count == hull.count)
            guard hull.count > 2 else { continue }
            for (index, corner) in hull.enumerated() {
                let next = hull[(index + 1) % hull.count]
                #expect(orientation(corner, next, hull[(index + 2) % hull.count]) > 0)
                #expect(places.allSatisfy { orientation(corner, next, $0) >= 0 })
            }
        }
        let row = (0..<5).map { Coordinate(x: Double($0), y: Double($0)) }
        #expect(ConvexHull.corners(of: row.shuffled()) == [row[0], row[4]])
        #expect(ConvexHull.corners(of: [row[1], row[1]]) == [row[1]])
        #expect(ConvexHull.corners(of: []).isEmpty)
    }
}
