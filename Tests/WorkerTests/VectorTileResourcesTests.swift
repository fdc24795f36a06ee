// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FedSite
import Foundation
import Geometry
import JobKinds
import Platform
import Site
import TestKit
import Testing
import TilePackages

/// What a VTPK has beside its tiles: its style, the glyphs of its labels, its symbols.
@Suite(.timeLimit(.minutes(5))) struct VectorTileResourcesTests {
    private let exporter: TileExporter

    init() throws {
        exporter = try TileExporter()
        let names = ["Ärger", "Москва", "Ελλάδα", "plain", "more", "last"]
        let points = names.enumerated().map { number, name in
            #"{"type":"Feature","properties":{"name":"\#(name)","other":"東京"},"geometry":"#
                + #"{"type":"Point","coordinates":[\#(number * 50 - 150),10]}}"#
        }
        try exporter.add(points, "points", as: 0)
        try draw([LabelClass(.init([.field("NAME"), .text(" №")]))])
    }

    private func draw(_ labels: [LabelClass], _ style: LayerSymbol.MarkerStyle = .diamond) throws {
        let marker = LayerSymbol.Marker(style, .init(200, 0, 0), sizePoints: 10)
        try exporter.history.map.append(
            LayerDrawingChanged(
                layer: 0,
                drawing: LayerDrawing(
                    .simple(.init(LayerSymbol(.marker(marker)))), labels: labels)))
    }

    private func export(
        _ parameters: [String: String] = [:]
    ) throws -> (product: TileExporter.Product, package: TilePackageReader) {
        let product = try exporter.run(
            .exportVectorTiles,
            ["levels": "0-2", "format": "vtpk"].merging(parameters) { $1 }, times: 2)
        return (product, try TilePackage.open(product.path))
    }

    private static let sprites = [
        "sprites/sprite.json", "sprites/sprite.png", "sprites/sprite@2x.json",
        "sprites/sprite@2x.png",
    ]

    private func fonts(_ ranges: [String]) -> [String] {
        ranges.map { "fonts/DejaVu Sans/\($0).pbf" }
    }

    @Test func `a package has the glyphs that its labels use, and its symbols`() throws {
        let (product, package) = try export()
        // Latin, Greek, Cyrillic and the sign of numbers; no Chinese, which is in no label.
        #expect(
            package.resourcePaths
                == fonts(["0-255", "1024-1279", "768-1023", "8448-8703"]) + Self.sprites)
        let glyphs = try #require(try package.resource(fonts(["1024-1279"])[0]))
        #expect(glyphs.count > 10_000)
        let style = try #require(package.metadata.style)
        let json = try #require(JSONTree(Array(style.utf8)))
        #expect(json["glyphs"]?.text == "../fonts/{fontstack}/{range}.pbf")
        #expect(json["sources"]?["esri"]?["url"]?.text == "../../")
        let icon = try #require(json["layers"]?.elements.first?["layout"]?["icon-image"]?.text)
        let sprites = try #require(try package.resource(Self.sprites[0]))
        let index = try #require(JSONTree(sprites))
        #expect(index.members.map(\.name) == [icon])
        // Each file is listed, and the same export is the same file.
        let archive = try Data(contentsOf: URL(filePath: product.path))
        for path in package.resourcePaths {
            #expect(archive.range(of: Data("\"resources/\(path)\"".utf8)) != nil)
        }
        #expect(try export().product.blob == product.blob)
    }

    @Test func `a part of the map has the glyphs of its own labels`() throws {
        let (_, package) = try export(["area": "40,0,120,20", "levels": "4"])
        #expect(package.resourcePaths == fonts(["0-255", "8448-8703"]) + Self.sprites)
    }

    @Test func `without labels and pictures there is nothing but the style`() throws {
        try draw([], .circle)
        let (_, package) = try export()
        #expect(package.resourcePaths.isEmpty)
        let text = try #require(package.metadata.style)
        let style = try #require(JSONTree(Array(text.utf8)))
        #expect(style["sprite"] == nil && style["layers"]?.elements.count == 1)
        for format in ["mbtiles", "pmtiles"] {
            #expect(try export(["format": format]).package.metadata.style == nil)
        }
    }

    @Test func `an update brings the glyphs and symbols that are new`() throws {
        let base = try export()
        let since = try exporter.last()
        let map = exporter.history.map
        try map.append(LayerEditableChanged(layer: 0, isEditable: true))
        try map.append(
            FeaturesEdited(
                layer: 0,
                added: [
                    EditedFeature(
                        id: 100, shape: .point(.init(x: 30, y: 40)),
                        attributes: Attributes([.init(name: "name", value: .string("Łódź"))]))
                ], changed: [], deleted: [1], nextID: 101, refused: nil))
        try draw([LabelClass(.init([.field("NAME"), .text(" №")]))], .square)
        let update = try exporter.run(
            .exportVectorTiles,
            ["levels": "0-2", "format": "vtpk", "since": String(since)], times: 2)
        let anew = try export()
        let made = exporter.history.site.path + "/made"
        let applied = try TilePackageUpdate.apply(update.path, to: base.package, at: made)
        #expect(applied.sha256 == anew.product.blob.id.rawValue)
        #expect(anew.package.resourcePaths.contains(fonts(["256-511"])[0]))

        // Other texts need glyphs of tiles that are as they were.
        try draw([LabelClass(.init([.field("OTHER")]))])
        let failure = #expect(throws: Failure.self) {
            try exporter.run(
                .exportVectorTiles,
                ["levels": "0-2", "format": "vtpk", "since": String(since)])
        }
        #expect(failure?.message.contains("labels have other texts or fonts") == true)
    }

    @Test func `an update of two packages leads from the one's files to the other's`() throws {
        let base = try export()
        try draw([LabelClass(.init([.field("OTHER")]))], .square)
        let target = try export()
        let path = exporter.history.site.path + "/update"
        try TilePackageUpdate.make(from: base.package, to: target.package, at: path)
        let made = exporter.history.site.path + "/made"
        let applied = try TilePackageUpdate.apply(path, to: base.package, at: made)
        #expect(applied.sha256 == target.product.blob.id.rawValue)
    }
}
