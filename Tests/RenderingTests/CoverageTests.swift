// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairo
import Geometry
import TestKit
import Testing

@testable import Rendering

/// Coverage painted through the grid, against many small samples of the exact one.
@Suite struct CoverageTests {
    private static let side = 16
    /// Samples of a pixel in each direction.
    private static let samples = 16

    /// Places in and around the picture, some on whole pixels.
    private static func places(_ count: Int, _ random: inout SeededGenerator) -> [Coordinate] {
        (0..<count).map { _ in
            func ordinate() -> Double {
                let value = Double.random(in: -8...24, using: &random)
                return Bool.random(using: &random) ? value.rounded() : value
            }
            return Coordinate(x: ordinate(), y: ordinate())
        }
    }

    /// The alpha of each pixel after painting black.
    private static func painted(
        _ rule: Canvas.FillRule, _ add: (inout CoverageGrid) -> Void
    ) throws -> [Int] {
        let canvas = try Canvas(width: side, height: side, hasAlpha: true)
        var grid = CoverageGrid(width: side, height: side)
        add(&grid)
        grid.paint(PaintColor(red: 0, green: 0, blue: 0), rule, on: canvas)
        let bytes = try canvas.rgba()
        return stride(from: 3, to: bytes.count, by: 4).map { Int(bytes[$0]) }
    }

    /// Share of covered samples in each pixel, as 0…255.
    private static func sampled(_ isCovered: (Coordinate) -> Bool) -> [Int] {
        (0..<side * side).map { pixel in
            var count = 0
            for sample in 0..<samples * samples {
                let x = Double(pixel % side) + (Double(sample % samples) + 0.5) / Double(samples)
                let y = Double(pixel / side) + (Double(sample / samples) + 0.5) / Double(samples)
                if isCovered(Coordinate(x: x, y: y)) { count += 1 }
            }
            return count * 255 / (samples * samples)
        }
    }

    /// How often the ring goes around the place.
    private static func winding(_ place: Coordinate, _ ring: [Coordinate]) -> Int {
        var count = 0
        for index in ring.indices {
            let (start, end) = (ring[index], ring[(index + 1) % ring.count])
            guard (start.y <= place.y) != (end.y <= place.y) else { continue }
            let x = start.x + (place.y - start.y) / (end.y - start.y) * (end.x - start.x)
            if x < place.x { count += start.y < end.y ? 1 : -1 }
        }
        return count
    }

    private static func distance(_ place: Coordinate, _ start: Coordinate, _ end: Coordinate)
        -> Double
    {
        let (x, y) = (end.x - start.x, end.y - start.y)
        let square = x * x + y * y
        let along = ((place.x - start.x) * x + (place.y - start.y) * y) / max(square, 1e-30)
        let share = max(0, min(1, along))
        let (dx, dy) = (place.x - start.x - share * x, place.y - start.y - share * y)
        return (dx * dx + dy * dy).squareRoot()
    }

    @Test(arguments: 0..<16)
    func `a triangle covers each pixel as far as it lies inside`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let ring = Self.places(3, &random)

        let drawn = try Self.painted(.winding) { $0.add(ring: ring) }

        let truth = Self.sampled { Self.winding($0, ring) != 0 }
        let worst = zip(drawn, truth).map { abs($0 - $1) }.max() ?? 0
        // Error bound of 16 by 16 samples along an edge.
        #expect(worst <= 16)
    }

    @Test(.slow, arguments: 0..<16, [Canvas.FillRule.winding, .evenOdd])
    func `rings that cross themselves are filled by the rule`(
        seed: UInt64, rule: Canvas.FillRule
    ) throws {
        var random = SeededGenerator(seed: seed)
        let rings = [Self.places(6, &random), Self.places(4, &random)]

        let drawn = try Self.painted(rule) { grid in rings.forEach { grid.add(ring: $0) } }

        let truth = Self.sampled { place in
            let count = rings.reduce(0) { $0 + Self.winding(place, $1) }
            return rule == .winding ? count != 0 : count % 2 != 0
        }
        // A pixel in which edges cross has the sum of its parts; all others are exact.
        let wrong = zip(drawn, truth).enumerated().filter { pixel, pair in
            guard pair.0 != pair.1, pair.1 == 0 || pair.1 == 255 else { return false }
            return !rings.contains { ring in
                zip(ring, ring.dropFirst() + ring.prefix(1)).contains { start, end in
                    let middle = Coordinate(
                        x: Double(pixel % Self.side) + 0.5, y: Double(pixel / Self.side) + 0.5)
                    return Self.distance(middle, start, end) < 0.75
                }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test(arguments: 0..<8)
    func `areas that share a border cover its pixels once`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let center = Coordinate(
            x: .random(in: 1...15, using: &random), y: .random(in: 1...15, using: &random))
        let side = Double(Self.side)
        let corners = rectangle(0, 0, side, side)

        var sums = [Int](repeating: 0, count: Self.side * Self.side)
        for index in 0..<4 {
            let ring = [corners[index], corners[(index + 1) % 4], center]
            for (pixel, alpha) in try Self.painted(.winding, { $0.add(ring: ring) }).enumerated() {
                sums[pixel] += alpha
            }
        }

        // Each of at most four shares is rounded once.
        #expect(sums.allSatisfy { abs($0 - 255) <= 2 })
    }

    @Test(.slow, arguments: 0..<24, [0.5, 0.93, 2.5, 7])
    func `a line covers what lies within half its width`(seed: UInt64, width: Double) throws {
        var random = SeededGenerator(seed: seed)
        var line = Self.places(Int.random(in: 1...5, using: &random), &random)
        if seed.isMultiple(of: 3) { line.append(line[0]) }

        let drawn = try Self.painted(.winding) { $0.add(line: line[...], width: width) }

        let parts = line.count == 1 ? [(line[0], line[0])] : Array(zip(line, line.dropFirst()))
        func distance(_ place: Coordinate) -> Double {
            parts.reduce(.infinity) { min($0, Self.distance(place, $1.0, $1.1)) }
        }
        let truth = Self.sampled { distance($0) <= width / 2 }
        let wrong = drawn.enumerated().filter { pixel, alpha in
            let middle = Coordinate(
                x: Double(pixel % Self.side) + 0.5, y: Double(pixel / Self.side) + 0.5)
            let gap = distance(middle) - width / 2
            // A pixel's corner is 0.71 from its middle; an arc may be an eighth off.
            return gap > 0.85 && alpha > 0 || gap < -0.85 && alpha < 253
        }
        #expect(wrong.isEmpty)
        // Where strands meet inside one pixel their shares are added: between the union and the
        // sum.
        let strands = parts.map { part in
            Self.sampled { Self.distance($0, part.0, part.1) <= width / 2 }
        }
        let sums = truth.indices.map { pixel in
            min(255, strands.reduce(0) { $0 + $1[pixel] })
        }
        let (total, low, high) = (
            drawn.reduce(0, +), truth.reduce(0, +), sums.reduce(0, +)
        )
        #expect(Double(total) >= 0.96 * Double(low) - 128)
        #expect(Double(total) <= 1.04 * Double(high) + 128)
    }

    @Test func `a large shape is painted a few rows at a time without a seam`() throws {
        let (width, height) = (4_096, 700)
        let canvas = try Canvas(width: width, height: height, hasAlpha: true)
        var grid = CoverageGrid(width: width, height: height)
        grid.add(ring: rectangle(-50, -20, 5_000, 800))
        grid.paint(PaintColor(red: 1, green: 0.5, blue: 0, alpha: 0.5), .evenOdd, on: canvas)

        let pixels = try canvas.rgba()

        let first = Array(pixels[..<4])
        #expect(first == [255, 128, 0, 128])
        #expect(
            stride(from: 0, to: pixels.count, by: 4).allSatisfy {
                Array(pixels[$0..<$0 + 4]) == first
            })
    }

    @Test func `a colour is laid over what is there, as Cairo lays it`() throws {
        var random = SeededGenerator(seed: 5)
        for hasAlpha in [false, true] {
            let canvases = try (0..<2).map { _ in
                try Canvas(width: 1, height: 1, hasAlpha: hasAlpha)
            }
            for _ in 0..<80 {
                let color = PaintColor(
                    red: .random(in: 0...1, using: &random),
                    green: .random(in: 0...1, using: &random),
                    blue: .random(in: 0...1, using: &random),
                    alpha: Bool.random(using: &random) ? 1 : .random(in: 0...1, using: &random))
                canvases[0].paint(color)
                var grid = CoverageGrid(width: 1, height: 1)
                grid.add(ring: rectangle(0, 0, 1, 1))
                grid.paint(color, .winding, on: canvases[1])
                let (cairo, ours) = (try canvases[0].rgb(), try canvases[1].rgb())
                #expect(zip(cairo, ours).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
                // Rounding errors do not add up.
                canvases[1].clear()
                canvases[1].paint(canvases[0])
            }
        }
    }
}

private func rectangle(_ x0: Double, _ y0: Double, _ x1: Double, _ y1: Double) -> [Coordinate] {
    [
        Coordinate(x: x0, y: y0), Coordinate(x: x1, y: y0), Coordinate(x: x1, y: y1),
        Coordinate(x: x0, y: y1),
    ]
}
