// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Geometry
import Testing
import VectorTiles

struct EncodingTests {
    let address: TileAddress
    let cells: TileCells

    init() throws {
        address = try #require(TileAddress(level: 6, row: 20, column: 33))
        cells = TileCells(address: address)
    }

    private func tile(_ layers: [VectorTileLayer]) throws -> VectorTile {
        var builder = try VectorTileBuilder(layers, options: .init(step: 1))
        return builder.tile(address)
    }

    @Test func `the bytes of the specification's examples`() throws {
        func geometry(_ shape: Shape) throws -> [UInt8] {
            let feature = VectorTileFeature(id: nil, shape: shape)
            let bytes = try #require(
                try tile([VectorTileLayer(name: "a", features: [feature])]).bytes)
            // Layer, version, name, feature, type, length of geometry; after it the extent.
            return Array(bytes.dropFirst(13).dropLast(3))
        }
        // Section 4.3.5, with the exterior of 4.3.5.6 first.
        #expect(try geometry(.point(cells.coordinate(25, 17))) == [9, 50, 34])
        #expect(
            try geometry(.multipoint([cells.coordinate(5, 7), cells.coordinate(3, 2)]))
                == [17, 10, 14, 3, 9])
        #expect(
            try geometry(
                .polyline(paths: [
                    [(2.0, 2.0), (2, 10), (10, 10)].map { cells.coordinate($0.0, $0.1) }
                ])) == [9, 4, 4, 18, 0, 16, 16, 0])
        #expect(
            try geometry(.polygon(rings: [cells.ring([(3, 6), (8, 12), (20, 34)])]))
                == [9, 6, 12, 18, 10, 12, 24, 44, 15])
        let squares = [
            cells.ring([(0, 0), (10, 0), (10, 10), (0, 10)]),
            cells.ring([(11, 11), (20, 11), (20, 20), (11, 20)]),
            cells.ring([(13, 13), (13, 17), (17, 17), (17, 13)]),
        ]
        #expect(
            try geometry(.polygon(rings: squares)) == [
                9, 0, 0, 26, 20, 0, 0, 20, 19, 0, 15, 9, 22, 2, 26, 18, 0, 0, 18, 17, 0, 15, 9, 4,
                13, 26, 0, 8, 8, 0, 0, 7, 15,
            ])
    }

    @Test func `ids and typed attributes come back`() throws {
        let point = Shape.point(cells.coordinate(9, 9))
        let features = [
            VectorTileFeature(
                id: .max,
                attributes: [
                    ("text", .string("Größe \u{0} e\u{301}")), ("absent", nil),
                    ("less", .int64(.min)),
                    ("more", .uint64(.max)), ("wide", .double(-0.0)), ("narrow", .float(1.5)),
                    ("truth", .bool(false)),
                ], shape: point),
            VectorTileFeature(
                id: 0, attributes: [("more", .int64(7)), ("count", .uint64(7))], shape: point),
            VectorTileFeature(id: nil, attributes: [("wide", .double(0))], shape: point),
        ]
        let bytes = try #require(
            try tile([VectorTileLayer(name: "a", features: features)]).bytes)
        let layer = try #require(try VectorTileReader().read(bytes).layers.first)
        #expect(layer.features.map(\.id) == [.max, 0, nil])
        #expect(
            layer.features[0].attributes.map(\.name) == [
                "text", "less", "more", "wide", "narrow", "truth",
            ])
        let values = layer.features[0].attributes.map(\.value)
        #expect(
            values == [
                .string("Größe \u{0} e\u{301}"), .int64(.min), .uint64(.max), .double(-0.0),
                .float(1.5), .bool(false),
            ])
        #expect(layer.features[1].attributes.map(\.value) == [.uint64(7), .uint64(7)])
        for (feature, sign) in [(0, FloatingPointSign.minus), (2, .plus)] {
            let wide = layer.features[feature].attributes.first { $0.name == "wide" }
            guard case .double(let number)? = wide?.value else {
                Issue.record("no double")
                continue
            }
            #expect(number.sign == sign)
        }
    }

    @Test func `layers keep their order, and one without features is left out`() throws {
        let here = VectorTileFeature(id: 1, shape: .point(cells.coordinate(9, 9)))
        let elsewhere = VectorTileFeature(id: 1, shape: .point(cells.coordinate(9000, 9)))
        let nowhere = VectorTileFeature(id: 2, shape: .point(Coordinate(x: .nan, y: 0)))
        let layers = [
            VectorTileLayer(name: "b", features: [here]),
            VectorTileLayer(name: "c", features: [elsewhere, nowhere]),
            VectorTileLayer(name: "a", features: [here, here]),
        ]
        #expect(layers.map(\.unplaceable) == [0, 1, 0])
        let built = try tile(layers)
        let bytes = try #require(built.bytes)
        #expect(try VectorTileReader().read(bytes).layers.map(\.name) == ["b", "a"])
        #expect(built.report.layers.map(\.kept) == [1, 0, 2])
        #expect(built.report.layers.map(\.touching) == [1, 0, 2])
        #expect(try tile([layers[1]]).bytes == nil)
        #expect(throws: Failure.self) { try VectorTileBuilder([layers[0], layers[0]]) }
    }

    @Test(arguments: [(1000, 8, 1), (4096, 4096, 1), (4096, 8, 3), (4096, 8, 0), (0, 0, 1)])
    func `options outside their bounds are refused`(
        extent: Int, buffer: Int, step: Int
    ) {
        #expect(throws: Failure.self) {
            try VectorTileOptions(extent: extent, buffer: buffer, step: step)
        }
    }
}
