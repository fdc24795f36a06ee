// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Cairo
import Foundation
import Geometry
import TestKit
import Testing

@testable import Rendering

@Suite struct LabelTests {
    private static let ink = LayerSymbol.Color(255, 0, 0)
    private static let clear = FeatureRenderer.simple(
        .init(LayerSymbol(.marker(.init(.circle, .clear, sizePoints: 1)))))

    /// Red letters, nothing else; no halo.
    private func label(
        _ expression: String = "[RANK]", _ placement: LabelPlacement? = nil,
        condition: String? = nil, scaleRange: ScaleRange = .unlimited, size: Double = 8,
        color: LayerSymbol.Color = ink
    ) throws -> LabelClass {
        LabelClass(
            try LabelExpression(parsing: expression), placement: placement, condition: condition,
            scaleRange: scaleRange,
            symbol: TextSymbol(color: color, sizePoints: size, haloColor: nil, haloPoints: 0))
    }

    private func points(_ places: [(Double, Double)]) -> [String] {
        places.map { #"{"type":"Point","coordinates":[\#($0.0),\#($0.1)]}"# }
    }

    private func draw(
        _ geometries: [String], _ labels: [LabelClass], _ renderer: FeatureRenderer = clear,
        size: Int = 200, dpi: Double = 96
    ) throws -> Pixels {
        let scene = try Scene()
        let layer = try scene.layer(0, geometries) {
            $0.drawing = LayerDrawing(renderer, labels: labels)
        }
        return try scene.draw(
            makeRequest(size: size) {
                $0.extent = Envelope(minX: 0, minY: 0, maxX: 200, maxY: 200)
                $0.dpi = dpi
            }, makeMap([layer]))
    }

    /// The rectangle around all pixels that are not white, from the upper left corner; nil for
    /// none.
    private func marked(_ pixels: Pixels) -> Envelope? {
        var result: Envelope?
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where pixels[x, y] != white {
                let here = Envelope(
                    minX: Double(x), minY: Double(y), maxX: Double(x + 1), maxY: Double(y + 1))
                result = result.map { $0.union(here) } ?? here
            }
        }
        return result
    }

    private func inkCount(_ pixels: Pixels) -> Int {
        (0..<pixels.width * pixels.height).count {
            pixels[$0 % pixels.width, $0 / pixels.width] != white
        }
    }

    // MARK: Places

    static let placements: [(LabelPlacement, Double, Double)] = [
        (.aboveRight, 1, -1), (.centerRight, 1, 0), (.belowRight, 1, 1), (.aboveCenter, 0, -1),
        (.center, 0, 0), (.belowCenter, 0, 1), (.aboveLeft, -1, -1), (.centerLeft, -1, 0),
        (.belowLeft, -1, 1),
    ]

    @Test(arguments: placements)
    func `a point's label stands where it is wanted`(
        placement: LabelPlacement, side: Double, rise: Double
    ) throws {
        let box = try #require(
            marked(try draw(points([(100, 100)]), [try label("\"Ulm\"", placement)])))
        let middle = box.center
        #expect(side == 0 ? abs(middle.x - 100) < 3 : (middle.x - 100) * side > box.width / 3)
        #expect(rise == 0 ? abs(middle.y - 100) < 4 : (middle.y - 100) * rise > box.height / 3)
        // Near, and not on the point.
        #expect(abs(middle.x - 100) < box.width && abs(middle.y - 100) < 2 * box.height)
    }

    @Test func `a label that finds its place taken takes another of the point's, or none`() throws {
        let one = try draw(points([(100, 100)]), [try label("\"Donau\"")])
        let two = try draw(points([(100, 100), (100, 100)]), [try label("\"Donau\"")])
        let many = try draw(
            points(Array(repeating: (100, 100), count: 30)), [try label("\"Donau\"")])
        let letters = [one, two, many].map(inkCount)
        #expect(letters[1] > letters[0] * 3 / 2)
        // Eight places around a point.
        #expect(letters[2] >= letters[1] && letters[2] <= letters[0] * 9)
    }

    @Test func `a label is not cut by the border`() throws {
        for place in [(4.0, 4.0), (196, 196), (4, 196), (196, 4), (100, 196)] {
            let pixels = try draw(points([place]), [try label("\"Wasserburg\"", size: 12)])
            let box = try #require(marked(pixels), "\(place)")
            #expect(box.minX > 0 && box.minY > 0 && box.maxX < 200 && box.maxY < 200, "\(place)")
        }
        // Too wide for the picture altogether.
        #expect(
            marked(try draw(points([(100, 100)]), [try label("\"Wasserburg am Inn\"", size: 40)]))
                == nil)
    }

    @Test func `a line's label goes along it, never upside down`() throws {
        func box(_ line: String, _ placement: LabelPlacement) throws -> Envelope {
            let renderer = FeatureRenderer.simple(
                .init(LayerSymbol(.line(.init(.clear, widthPoints: 2)))))
            let text = #"{"type":"LineString","coordinates":\#(line)}"#
            return try #require(
                marked(try draw([text], [try label("\"Hauptstrasse\"", placement)], renderer)))
        }
        let level = try box("[[10,100],[190,100]]", .aboveAlong)
        #expect(level.width > 4 * level.height && level.maxY <= 100)
        #expect(abs(level.center.x - 100) < 4)
        #expect(try box("[[190,100],[10,100]]", .aboveAlong) == level)
        #expect(try box("[[10,100],[190,100]]", .belowAlong).minY >= 99)
        #expect(abs(try box("[[10,100],[190,100]]", .centerAlong).center.y - 100) < 4)
        let upright = try box("[[100,10],[100,190]]", .aboveAlong)
        #expect(upright.height > 4 * upright.width)
        let slanted = try box("[[10,10],[190,190]]", .centerAlong)
        #expect(abs(slanted.width - slanted.height) < 8 && abs(slanted.center.y - 100) < 6)
    }

    @Test func `a short or winding line has no label`() throws {
        let renderer = FeatureRenderer.simple(
            .init(LayerSymbol(.line(.init(.clear, widthPoints: 2)))))
        let label = try label("\"Hauptstrasse\"", size: 10)
        let zigzag = (0..<40).map { "[\(10 + $0 * 4),\($0 % 2 == 0 ? 60 : 140)]" }
            .joined(separator: ",")
        for line in ["[[10,100],[40,100]]", "[\(zigzag)]"] {
            let text = #"{"type":"LineString","coordinates":\#(line)}"#
            #expect(marked(try draw([text], [label], renderer)) == nil)
        }
    }

    @Test func `an area's label stands inside it, not in its hole`() throws {
        let renderer = FeatureRenderer.simple(
            .init(LayerSymbol(.fill(.init(.clear, style: .null)))))
        // A frame whose right side is the widest.
        let frame = polygon([
            square(0, 200),
            [(20, 20), (120, 20), (120, 180), (20, 180), (20, 20)],
        ])
        let box = try #require(marked(try draw([frame], [try label("\"Ulm\"")], renderer)))
        #expect(box.minX > 120 && box.maxX < 200)
        let narrow = polygon([[(90, 20), (100, 20), (100, 180), (90, 180), (90, 20)]])
        #expect(marked(try draw([narrow], [try label("\"Ludwigshafen\"")], renderer)) == nil)
    }

    @Test(arguments: Seeds.chosen(6))
    func `the inner place is as good as any of a fine grid`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 3...40, using: &random)
        func ring(_ scale: Double) -> [Coordinate] {
            let ring = (0..<count).map { corner in
                let angle = 2 * Double.pi * Double(corner) / Double(count)
                let reach = scale * Double.random(in: 20...100, using: &random)
                return Coordinate(x: 100 + reach * cos(angle), y: 100 + 0.6 * reach * sin(angle))
            }
            return ring + [ring[0]]
        }
        let rings = Bool.random(using: &random) ? [ring(1), ring(0.15)] : [ring(1)]
        let inner = try #require(InnerPlace(rings, precision: 0.5))

        func distance(_ place: Coordinate) -> Double {
            var isInside = false
            var least = Double.infinity
            for ring in rings {
                for (a, b) in zip(ring, ring.dropFirst()) {
                    if (a.y > place.y) != (b.y > place.y),
                        place.x < a.x + (place.y - a.y) / (b.y - a.y) * (b.x - a.x)
                    {
                        isInside.toggle()
                    }
                    for step in 0...100 {
                        let share = Double(step) / 100
                        least = min(
                            least,
                            hypot(
                                a.x + (b.x - a.x) * share - place.x,
                                a.y + (b.y - a.y) * share - place.y))
                    }
                }
            }
            return isInside ? least : -least
        }
        #expect(abs(distance(inner.place) - inner.distance) < 1, "seed \(seed)")
        var best = 0.0
        for x in stride(from: 0.0, to: 200, by: 4) {
            for y in stride(from: 0.0, to: 200, by: 4) {
                best = max(best, distance(Coordinate(x: x, y: y)))
            }
        }
        #expect(inner.distance > best - 1, "seed \(seed): \(inner.distance), \(best)")
    }

    // MARK: Overlaps

    @Test(arguments: Seeds.chosen(4))
    func `boxes overlap when a place lies in both`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func box() -> LabelBox {
            let angle = Double.random(in: 0...7, using: &random)
            return LabelBox(
                center: Coordinate(
                    x: Double.random(in: 0...30, using: &random),
                    y: Double.random(in: 0...30, using: &random)),
                width: Double.random(in: 4...30, using: &random),
                height: Double.random(in: 4...12, using: &random),
                along: Coordinate(x: cos(angle), y: sin(angle)))
        }
        func holds(_ box: LabelBox, _ x: Double, _ y: Double, grown: Double) -> Bool {
            let (dx, dy) = (x - box.center.x, y - box.center.y)
            return abs(dx * box.along.x + dy * box.along.y) < box.halfWidth + grown
                && abs(dy * box.along.x - dx * box.along.y) < box.halfHeight + grown
        }
        var found = (0, 0)
        for _ in 0..<100 {
            let (one, two) = (box(), box())
            func share(_ grown: Double) -> Bool {
                for x in stride(from: -30.0, to: 60, by: 0.5) {
                    for y in stride(from: -30.0, to: 60, by: 0.5)
                    where holds(one, x, y, grown: grown) && holds(two, x, y, grown: grown) {
                        return true
                    }
                }
                return false
            }
            // A common place that the grid misses is a sliver; one that it finds is one.
            if share(0) { #expect(one.overlaps(two) && two.overlaps(one), "seed \(seed)") }
            if !share(0.5) { #expect(!one.overlaps(two) && !two.overlaps(one), "seed \(seed)") }
            if one.overlaps(two) { found.0 += 1 } else { found.1 += 1 }
        }
        #expect(found.0 > 10 && found.1 > 10)
    }

    @Test(arguments: Seeds.chosen(3))
    func `no two labels overlap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let places = (0..<60).map { _ in
            (
                Double.random(in: 0...200, using: &random),
                Double.random(in: 0...200, using: &random)
            )
        }
        // Half translucent ink: twice on one pixel it would be darker than anywhere alone.
        let ink = LayerSymbol.Color(0, 0, 0, alpha: 100)
        let pixels = try draw(points(places), [try label("\"OOOO\"", size: 10, color: ink)])
        let darkest = pixels.bytes.min() ?? 0
        #expect(darkest >= 154 && darkest < 170, "seed \(seed): \(darkest)")
    }

    // MARK: Which

    @Test func `the first class whose clause holds labels a feature`() throws {
        let pixels = try draw(
            points([(40, 100), (100, 100), (160, 100)]),
            [
                try label("\"X\"", .center, condition: "RANK = 2", color: .init(0, 0, 255)),
                try label("\"X\"", .center, condition: "NOWHERE = 3"),
                try label("\"X\"", .center, condition: "RANK < 3", color: .init(0, 255, 0)),
            ])
        func hue(_ x: Int) -> [Bool] {
            var darkest: [UInt8] = [255, 255, 255]
            for dx in -5...5 {
                for dy in -5...5 {
                    let here = Array(pixels[x + dx, 100 + dy].prefix(3))
                    let (sum, least) = (
                        here.reduce(0) { $0 + Int($1) }, darkest.reduce(0) { $0 + Int($1) }
                    )
                    if sum < least { darkest = here }
                }
            }
            return darkest.map { $0 < 128 }
        }
        #expect(hue(40) == [true, false, true])
        #expect(hue(100) == [true, true, false])
        #expect(hue(160) == [false, false, false])
    }

    @Test func `labels are drawn at their scales`() throws {
        // A unit to a pixel is 1 : 3,779.5 at 96 dots per inch.
        for (range, isDrawn) in [
            (ScaleRange(minScale: 3_000, maxScale: 0), false),
            (ScaleRange(minScale: 4_000, maxScale: 3_000), true),
            (ScaleRange(minScale: 0, maxScale: 4_000), false),
        ] {
            let pixels = try draw(points([(100, 100)]), [try label(scaleRange: range)])
            #expect((marked(pixels) != nil) == isDrawn, "\(range)")
        }
    }

    @Test func `an upper layer's labels go before a lower one's`() throws {
        let scene = try Scene()
        func layer(_ id: LayerID, _ color: LayerSymbol.Color) throws -> LayerDescription {
            let label = try label("\"XX\"", .center, color: color)
            return try scene.layer(id, points([(100, 100)])) {
                $0.drawing = LayerDrawing(Self.clear, labels: [label])
            }
        }
        let pixels = try scene.draw(
            makeRequest(size: 200) {
                $0.extent = Envelope(minX: 0, minY: 0, maxX: 200, maxY: 200)
            },
            makeMap([try layer(0, .init(255, 0, 0)), try layer(1, .init(0, 0, 255))]))
        let seen = Set((80..<120).flatMap { x in (80..<120).map { pixels[x, $0] } })
        #expect(seen.contains { $0[0] < 100 && $0[2] > 200 })
        #expect(!seen.contains { $0[0] > 200 && $0[2] < 100 })
    }

    @Test func `a halo lies around letters, and letters grow with the resolution`() throws {
        var halo = try label("\"I\"", .center)
        halo.symbol.haloColor = .init(0, 255, 0)
        halo.symbol.haloPoints = 3
        let pixels = try draw(points([(100, 100)]), [halo])
        let plain = try #require(
            marked(try draw(points([(100, 100)]), [try label("\"I\"", .center)])))
        let haloed = try #require(marked(pixels))
        // Three points are four pixels on each side.
        #expect(abs(haloed.width - plain.width - 8) <= 2)
        #expect(
            pixels[100, Int(haloed.minY) + 2][1] > 200 && pixels[100, Int(haloed.minY) + 2][0] < 100
        )
        let fine = try #require(
            marked(try draw(points([(100, 100)]), [try label("\"I\"", .center)], dpi: 192)))
        #expect(abs(fine.height - 2 * plain.height) <= 3)
    }

    @Test func `a label of any text is drawn or left out, without a failure`() throws {
        for text in [
            "مدينة", "北京", "a\u{0301}\u{0301}", "👩‍👩‍👧", "<b>&amp;", String(repeating: "x", count: 900),
        ] {
            let pixels = try draw(
                points([(100, 100)]), [try label("\"\(text)\"", .center, size: 4)])
            #expect(pixels.width == 200)
        }
        #expect(
            marked(try draw(points([(100, 100)]), [try label("\"X\"", size: 0)])) == nil)
    }
}
