// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Rendering
import Testing

/// Renderers and symbols on pictures; features have a field RANK that counts from 1.
@Suite struct RendererTests {
    private static let red = LayerSymbol.Color(200, 0, 0)
    private static let green = LayerSymbol.Color(0, 150, 0)
    private static let blue = LayerSymbol.Color(0, 0, 250)

    private func area(_ color: LayerSymbol.Color) -> FeatureRenderer.Entry {
        .init(LayerSymbol(.fill(.init(color))))
    }

    private func expected(_ color: LayerSymbol.Color) -> [Double] {
        [color.red, color.green, color.blue].map(Double.init)
    }

    /// The colours in the middle of four squares of rank 1 to 4.
    private func colors(
        _ renderer: FeatureRenderer, transparency: Int = 0
    ) throws -> [[UInt8]] {
        let scene = try Scene()
        let squares = [5, 30, 55, 80].map { polygon([square($0, $0 + 15)]) }
        let layer = try scene.layer(0, squares) {
            $0.drawing = LayerDrawing(renderer, transparency: transparency)
        }
        let pixels = try scene.draw(makeRequest(), makeMap([layer]))
        return [12, 37, 62, 87].map { pixels[$0, 99 - $0] }
    }

    @Test func `a value has its symbol, others the default or none`() throws {
        let values: [FeatureRenderer.Value] = [
            .init("2", area(Self.red)), .init("4", area(Self.green)),
        ]

        let some = try colors(.uniqueValues(.init(fields: ["rank"], values: values)))
        let all = try colors(
            .uniqueValues(.init(fields: ["RANK"], values: values, others: area(Self.blue))))

        #expect(some[0] == white && some[2] == white)
        #expect(isNear(some[1], expected(Self.red)) && isNear(some[3], expected(Self.green)))
        #expect(isNear(all[0], expected(Self.blue)) && isNear(all[2], expected(Self.blue)))
        #expect(isNear(all[1], expected(Self.red)))
    }

    @Test func `several fields are joined, a field that is not there is null`() throws {
        let found = try colors(
            .uniqueValues(
                .init(
                    fields: ["RANK", "OBJECTID", "GONE"], delimiter: "/",
                    values: [.init("3/3/<Null>", area(Self.red))])))
        #expect(found.map { $0 != white } == [false, false, true, false])
    }

    @Test func `a range holds its greatest number, not its least`() throws {
        let found = try colors(
            .classBreaks(
                .init(
                    field: "RANK", least: 2,
                    breaks: [.init(upTo: 2, area(Self.red)), .init(upTo: 3.5, area(Self.green))])))
        #expect(found[0] == white && found[3] == white)
        #expect(isNear(found[1], expected(Self.red)) && isNear(found[2], expected(Self.green)))
    }

    @Test func `a layer is seen through as one, whatever lies over each other in it`() throws {
        let scene = try Scene()
        let layer = try scene.layer(
            0, [polygon([square(10, 60)]), polygon([square(40, 90)])]
        ) {
            $0.drawing = LayerDrawing(.simple(area(Self.red)), transparency: 50)
        }
        let pixels = try scene.draw(makeRequest(), makeMap([layer]))

        let mixed = expected(Self.red).map { ($0 + 255) / 2 }
        #expect(isNear(pixels[25, 75], mixed) && isNear(pixels[50, 50], mixed))
        #expect(pixels[5, 5] == white)
    }

    // MARK: Symbols

    private func marker(
        _ style: LayerSymbol.MarkerStyle, angle: Double = 0
    ) throws -> Pixels {
        let scene = try Scene()
        // 60 pixels wide at 96 dots per inch.
        let symbol = LayerSymbol(
            .marker(.init(style, Self.red, sizePoints: 45, angleDegrees: angle)))
        let layer = try scene.layer(0, [#"{"type":"Point","coordinates":[50,50]}"#]) {
            $0.drawing = LayerDrawing(.simple(.init(symbol)))
        }
        return try scene.draw(makeRequest(), makeMap([layer]))
    }

    /// Whether a place, in halves of the symbol's size, y down, is in the shape by its definition.
    static let shapes: [(LayerSymbol.MarkerStyle, @Sendable (Double, Double) -> Bool)] = [
        (.circle, { $0 * $0 + $1 * $1 < 1 }), (.square, { abs($0) < 1 && abs($1) < 1 }),
        (.diamond, { abs($0) + abs($1) < 1 }),
        (.triangle, { abs($1) < 1 && abs($0) < ($1 + 1) / 2 }),
    ]

    @Test(arguments: shapes)
    func `a marker covers its shape`(
        style: LayerSymbol.MarkerStyle, holds: @Sendable (Double, Double) -> Bool
    ) throws {
        let pixels = try marker(style)
        var compared = 0
        for y in 0..<100 {
            for x in 0..<100 {
                let near = [(0.0, 0.0), (-1, 0), (1, 0), (0, -1), (0, 1)].map {
                    holds((Double(x) + 0.5 - 50 + $0.0) / 30, (Double(y) + 0.5 - 50 + $0.1) / 30)
                }
                // Borders are shades of both.
                guard Set(near).count == 1 else { continue }
                compared += 1
                #expect((pixels[x, y] != white) == near[0], "\(style) at \(x), \(y)")
            }
        }
        #expect(compared > 9_000)
    }

    @Test func `crosses are lines, a turned square is a diamond`() throws {
        let cross = try marker(.cross)
        let x = try marker(.x)
        #expect(cross[50, 25] != white && cross[25, 50] != white && cross[35, 35] == white)
        #expect(x[35, 35] != white && x[64, 35] != white && x[50, 25] == white)
        let turned = try marker(.square, angle: 45)
        #expect(turned[50, 12] != white && turned[25, 25] == white)
        #expect(try marker(.cross, angle: 45).differing(from: x, tolerance: 40) > 0)
    }

    @Test(arguments: LayerSymbol.LineStyle.allCases)
    func `a line has the gaps of its style`(style: LayerSymbol.LineStyle) throws {
        let scene = try Scene()
        let layer = try scene.layer(
            0, [#"{"type":"LineString","coordinates":[[0,50],[200,50]]}"#]
        ) {
            $0.drawing = LayerDrawing(
                .simple(
                    .init(LayerSymbol(.line(.init(Self.red, widthPoints: 3, style: style))))))
        }
        let pixels = try scene.draw(
            makeRequest {
                $0.extent = Envelope(minX: 0, minY: 0, maxX: 200, maxY: 100)
                $0.width = 200
            }, makeMap([layer]))
        // Runs of covered pixels along the middle of the line.
        let covered = (4..<196).map { pixels[$0, 50] != white }
        let runs = zip(covered, covered.dropFirst()).count { !$0 && $1 }
        switch style {
        case .solid: #expect(covered.allSatisfy { $0 })
        case .null: #expect(!covered.contains(true))
        // A period of six widths of four pixels; of two, of eight, of ten and a half.
        case .dash: #expect(7...8 ~= runs)
        case .dot: #expect(23...24 ~= runs)
        case .dashDot: #expect(11...13 ~= runs)
        case .dashDotDot: #expect(13...16 ~= runs)
        }
    }

    @Test(arguments: LayerSymbol.FillStyle.allCases)
    func `a fill is lines of its directions`(style: LayerSymbol.FillStyle) throws {
        let scene = try Scene()
        let layer = try scene.layer(0, [polygon([square(10, 90)])]) {
            $0.drawing = LayerDrawing(
                .simple(.init(LayerSymbol(.fill(.init(Self.red, style: style))))))
        }
        let pixels = try scene.draw(makeRequest(), makeMap([layer]))
        func share(_ places: [(Int, Int)]) -> Double {
            Double(places.count { pixels[$0.0, $0.1] != white }) / Double(places.count)
        }
        let all = (20..<80).flatMap { x in (20..<80).map { (x, $0) } }
        // Coverage of the best line in each direction.
        let level = (20..<36).map { y in share((20..<80).map { ($0, y) }) }.max() ?? 0
        let upright = (20..<36).map { x in share((20..<80).map { (x, $0) }) }.max() ?? 0
        let rising = (0..<16).map { s in share((20..<60).map { ($0 + s, 99 - $0) }) }.max() ?? 0
        let falling = (0..<16).map { s in share((20..<60).map { ($0 + s, $0) }) }.max() ?? 0
        let directions = [level, upright, rising, falling].map { $0 == 1 }
        switch style {
        case .solid: #expect(share(all) == 1)
        case .null: #expect(share(all) == 0)
        case .horizontal: #expect(directions == [true, false, false, false])
        case .vertical: #expect(directions == [false, true, false, false])
        case .forwardDiagonal: #expect(directions == [false, false, true, false])
        case .backwardDiagonal: #expect(directions == [false, false, false, true])
        case .cross: #expect(directions == [true, true, false, false])
        case .diagonalCross: #expect(directions == [false, false, true, true])
        }
        #expect(pixels[5, 5] == white)
    }
}
