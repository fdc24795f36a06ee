// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Platform
import Testing

@testable import Cairn

/// Bytes of tiles and styles that may be anything.
@Suite struct VectorTileReaderTests {
    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 33
        }
    }

    private var tile: Data {
        let square = TileBytes.square((0, 0), (4096, 4096))
        let kinds: [TileBytes.Kind] = [.point, .line, .polygon]
        let features = (0..<12).map { number -> TileBytes.Feature in
            TileBytes.Feature(
                kind: kinds[number % 3], parts: [square],
                attributes: [
                    "name": .text("text \(number)"), "number": .number(Double(number)),
                    "whole": .whole(-3), "flag": .flag(true),
                ], id: UInt64(number))
        }
        var tile = TileBytes()
        tile.add("areas", features)
        return tile.data
    }

    @Test func `what is written is read`() throws {
        let read = try VectorTile(tile)
        let layer = try #require(read.layers.first)
        #expect(read.layers.count == 1 && layer.name == "areas" && layer.features.count == 12)
        let feature = layer.features[2]
        #expect(feature.kind == .polygon && feature.id == 2)
        #expect(feature.parts.map(\.count) == [4] && feature.parts[0][2].x == 4096)
        #expect(layer.attribute("name", of: feature) == .text("text 2"))
        #expect(layer.attribute("number", of: feature) == .number(2))
        #expect(layer.attribute("whole", of: feature) == .number(-3))
        #expect(layer.attribute("flag", of: feature) == .flag(true))
        #expect(layer.attribute("gone", of: feature) == nil)
        #expect(layer.features[0].parts == [feature.parts[0]])
    }

    @Test func `tiles that are changed anywhere are read or refused`() throws {
        var random = Random(state: 7)
        let bytes = [UInt8](tile)
        var (read, refused) = (0, 0)
        for _ in 0..<5_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = changed.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<4, using: &random) {
                case 0: changed[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: changed.removeSubrange(place...)
                default: changed.insert(0xff, at: place)
                }
                if changed.isEmpty { changed = [0x1a] }
            }
            do {
                _ = try VectorTile(Data(changed))
                read += 1
            } catch {
                #expect((error as? CairnError)?.kind == .invalidDocument)
                refused += 1
            }
        }
        #expect(read > 100 && refused > 100)
    }

    @Test func `what a tile must not be is said`() throws {
        /// A tile of one layer `a` with more fields.
        func tile(_ fields: [UInt8]) -> Data {
            let layer: [UInt8] = [0x0a, 1, 0x61] + fields
            return Data([0x1a, UInt8(layer.count)] + layer)
        }
        func feature(_ fields: [UInt8]) -> Data { tile([0x12, UInt8(fields.count)] + fields) }
        for (bytes, what) in [
            (tile([0x78, 3]), "version 3"), (tile([0x28, 0]), "0 cells"),
            (Data([0x1a, 200]), "ends after"), (Data([0x1f]), "wire type"),
            (feature([0x18, 9]), "type 9"), (feature([0x12, 1, 0]), "no pairs"),
            (feature([0x12, 2, 0, 0]), "outside"),
            (feature([0x18, 3, 0x22, 1, 0x7f]), "no ring"),
            (feature([0x18, 2, 0x22, 1, 0x0a]), "no beginning"),
            (feature([0x18, 1, 0x22, 1, 0x0b]), "command 3"),
            (feature([0x18, 1, 0x22, 2, 0xf9, 0x7f]), "do not follow"),
            (
                feature(
                    [0x18, 1, 0x22, 13, 0x11, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0xff, 0xff, 0xff]
                        + [0xff, 0x0f, 0]), "32 bits"
            ),
        ] {
            let error = #expect(throws: CairnError.self) { _ = try VectorTile(bytes) }
            #expect(error?.description.contains(what) == true, "\(error?.description ?? "")")
        }
        // Features of two bytes each want a hundred times as much memory.
        let many = Array(repeatElement([0x12, 0] as [UInt8], count: 700_000).joined())
        let length: Int = many.count + 3
        let head: [UInt8] = [
            0x1a, UInt8(length & 127) | 128, UInt8(length >> 7 & 127) | 128, UInt8(length >> 14),
            0x0a, 1, 0x61,
        ]
        let crowd = #expect(throws: CairnError.self) {
            _ = try VectorTile(Data(head + many))
        }
        #expect(crowd?.description.contains("of memory") == true)
        // Gzip whose length is another.
        #expect(throws: CairnError.self) {
            _ = try VectorTile(Data([0x1f, 0x8b, 8, 0] + [UInt8](repeating: 255, count: 40)))
        }
        #expect(try VectorTile(Data()).layers.isEmpty)
    }

    private static let style = VectorService.style(
        [
            #"{"id":"g","type":"background","paint":{"background-color":{"stops":[[0,"red"]]}}}"#,
            VectorService.layer(
                "fill",
                #"""
                "filter":["all",["in","name","a","text 2"],[">=","number",2]],"paint":{"fill-color":
                ["match",["get","name"],["a","text 2"],["rgb",255,0,["*",2,["get","number"]]],
                "lime"],"fill-opacity":["interpolate",["linear"],["zoom"],0,0.5,5,1]}
                """#),
            VectorService.layer(
                "line",
                #"""
                "filter":["case",["has","name"],["<",["get","number"],9],false],"layout":
                {"line-cap":"round","line-join":"miter"},"paint":{"line-width":
                ["let","w",["number",["get","number"],2],["step",["zoom"],["var","w"],5,1]],
                "line-dasharray":[2,1],"line-color":{"property":"number","stops":[[0,"red"],
                [9,"blue"]]}}
                """#),
            VectorService.layer("circle", #""paint":{"circle-radius":["sqrt",["get","number"]]}"#),
            VectorService.layer(
                "symbol",
                #"""
                "layout":{"text-field":["concat",["slice",["get","name"],0,3]," {x}"],
                "text-size":10,"text-offset":[0,1],"text-variable-anchor":["top","left"],
                "symbol-placement":"line"}
                """#),
        ].joined(separator: ","))

    @Test func `styles that are changed anywhere are drawn or refused`() throws {
        var random = Random(state: 11)
        let info = try #require(
            TileInfo(
                JSON(Array(VectorService.description(levels: 0...0).utf8))?.member("tileInfo")))
        let frame = ViewFrame(
            center: Place(0, 0), scale: VectorService.resolution * 96 / 0.0254, rotation: 0,
            width: 32, height: 32, dpi: 96, spatialReference: .webMercator)
        let grid = try #require(try TileGrid(frame, info, deepest: nil))
        let tile = try VectorTile(tile)
        let bytes = Array(Self.style.utf8)
        let words = ["1e308", "-1", "null", "[]", "{}", "\"a\"", "[\"zoom\"]", "0", "true"]
        let marks = Set("[]{},:".utf8)
        // Whole values are changed, so that most of what comes of it is JSON still.
        let places = bytes.indices.filter { marks.contains(bytes[$0]) }
        var (drawn, refused) = (0, 0)
        for _ in 0..<600 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let place = Int.random(in: 0..<places.count - 1, using: &random)
                let word = words[Int.random(in: 0..<words.count, using: &random)]
                let (from, to) = (places[place] + 1, places[place + 1])
                guard to <= changed.count, from < to else { continue }
                changed.replaceSubrange(from..<to, with: Array(word.utf8))
            }
            guard let json = JSON(changed), let style = try? TileStyle(json) else {
                refused += 1
                continue
            }
            let drawing = TileDrawing(
                style, grid, [(0, 0, tile)], width: 32, height: 32, budget: DrawingBudget(300_000))
            do {
                _ = try drawing.draw()
                drawn += 1
            } catch {
                #expect((error as? CairnError)?.kind == .invalidState)
                refused += 1
            }
        }
        #expect(drawn > 100 && refused > 10, "\(drawn) and \(refused)")
    }

    @Test func `a picture of anything ends within its budget`() throws {
        let style = try TileStyle(
            try #require(
                JSON(
                    Array(
                        VectorService.style(
                            VectorService.layer("fill", #""paint":{"fill-color":"red"}"#) + ","
                                + VectorService.layer("line", #""paint":{"line-width":9999}"#)
                        ).utf8))))
        let info = try #require(
            TileInfo(
                JSON(Array(VectorService.description(levels: 0...0).utf8))?.member("tileInfo")))
        let frame = ViewFrame(
            center: Place(0, 0), scale: 1e6, rotation: 10, width: 64, height: 64, dpi: 96,
            spatialReference: .webMercator)
        let grid = try #require(try TileGrid(frame, info, deepest: nil))
        var random = Random(state: 3)
        var tile = TileBytes()
        let reach = 2_000_000_000
        tile.add(
            "areas",
            (0..<60).map { number in
                TileBytes.Feature(
                    kind: number % 2 == 0 ? .polygon : .line,
                    parts: [
                        (0..<9).map { _ in
                            (
                                Int.random(in: -reach...reach, using: &random),
                                Int.random(in: -reach...reach, using: &random)
                            )
                        }
                    ])
            })
        let read = try VectorTile(tile.data)
        let whole = TileDrawing(style, grid, [(0, 0, read)], width: 64, height: 64)
        #expect(try whole.draw().raster.width == 64)
        let bounded = TileDrawing(
            style, grid, [(0, 0, read)], width: 64, height: 64, budget: DrawingBudget(9_000))
        let error = #expect(throws: CairnError.self) { try bounded.draw() }
        #expect(error?.kind == .invalidState)
    }
}
