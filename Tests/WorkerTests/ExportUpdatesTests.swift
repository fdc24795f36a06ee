// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FedSite
import Foundation
import Geometry
import JobKinds
import Site
import TestKit
import Testing
import TilePackages

/// Updates of tile packages: what an export with `since` makes of the package that was there.
@Suite(.timeLimit(.minutes(10))) struct ExportUpdatesTests {
    private let exporter: TileExporter
    /// The graphics layer's number.
    private static let sketch = 2

    init() throws {
        exporter = try TileExporter()
        var areas: [String] = []
        for row in 0..<4 {
            for column in 0..<5 {
                let (x, y) = (Double(column) * 21 - 60, Double(row) * 17 - 35)
                let ring = [(0, 0), (23, 1), (20, 19), (0, 16), (0, 0)]
                    .map { "[\(x + Double($0.0)),\(y + Double($0.1))]" }.joined(separator: ",")
                areas.append(
                    #"{"type":"Feature","properties":{"name":"area \#(row)-\#(column)"},"#
                        + #""geometry":{"type":"Polygon","coordinates":[[\#(ring)]]}}"#)
            }
        }
        let points = (0..<30).map { number in
            #"{"type":"Feature","properties":{"n":\#(number)},"geometry":"#
                + #"{"type":"Point","coordinates":[\#(number * 4 - 60),\#(number * 3 - 45)]}}"#
        }
        try exporter.add(areas, "areas", as: 0)
        try exporter.add(points, "points", as: 1)
        let map = exporter.history.map
        try map.add(
            .graphics(GraphicsSource(spatialReference: .wgs84)),
            LayerProperties(
                extent: nil, spatialReference: .wgs84, geometryType: .point, fields: [],
                featureCount: 0), as: Self.sketch)
        for layer in 0...1 { try map.append(LayerEditableChanged(layer: layer, isEditable: true)) }
        try map.append(
            LayerDrawingChanged(
                layer: 0, drawing: LayerDrawing(labels: [LabelClass(.init([.field("name")]))])))
    }

    /// What a map's edits of one story know.
    private struct Story {
        var random: SeededGenerator
        /// The ids of the features of each layer, of the graphics of the last.
        var ids: [[Int64]]
        var next: [Int64]

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            ids = [Array(1...20), Array(1...30), []]
            next = [1_000, 1_000, 1]
        }

        mutating func place() -> Coordinate {
            Coordinate(
                x: Double.random(in: -179...179, using: &random),
                y: Double.random(in: -80...80, using: &random))
        }

        mutating func shape(_ layer: Int) -> Shape {
            let place = place()
            if layer == ExportUpdatesTests.sketch, Int.random(in: 0..<3, using: &random) == 0 {
                let middle = Coordinate(x: place.x / 2, y: place.y / 2)
                return .polyline(paths: [[place, middle]])
            }
            guard layer == 0 else { return .point(place) }
            let (width, height) = (
                Double.random(in: 0.01...30, using: &random),
                Double.random(in: 0.01...15, using: &random)
            )
            return .polygon(rings: [
                [(0, 0), (width, 0), (width / 2, height), (0, 0)].map {
                    Coordinate(x: place.x + $0.0, y: place.y + $0.1)
                }
            ])
        }

        mutating func feature(_ layer: Int, _ id: Int64) -> EditedFeature {
            let number = Int64.random(in: 0..<1_000, using: &random)
            return EditedFeature(
                id: id, shape: shape(layer),
                attributes: Attributes([
                    layer == 0
                        ? Attributes.Entry(
                            name: "name", value: .string("edited \(number)"))
                        : Attributes.Entry(name: "n", value: .integer(number))
                ]))
        }

        /// The event of a few edits of features.
        mutating func edits(_ layer: Int) -> FeaturesEdited {
            var event = FeaturesEdited(
                layer: layer, added: [], changed: [], deleted: [], nextID: next[layer],
                refused: nil)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let touched = Set(event.changed.map(\.id) + event.deleted)
                let known = ids[layer].filter { !touched.contains($0) }.randomElement(
                    using: &random)
                switch (Int.random(in: 0..<3, using: &random), known) {
                case (0, let id?):
                    ids[layer].removeAll { $0 == id }
                    event.deleted.append(id)
                case (1, let id?): event.changed.append(feature(layer, id))
                default:
                    event.added.append(feature(layer, next[layer]))
                    next[layer] += 1
                }
            }
            ids[layer] += event.added.map(\.id)
            event.changed.sort { $0.id < $1.id }
            event.deleted.sort()
            event.nextID = next[layer]
            return event
        }

        /// The event of one edit of a graphic.
        mutating func sketch() -> any EventPayload {
            let layer = ExportUpdatesTests.sketch
            func graphic(_ id: Int64) -> Graphic {
                Graphic(
                    id: id, shape: shape(layer),
                    attributes: Attributes([.init(name: "note", value: .string("note \(id)"))]),
                    zIndex: Int.random(in: 0...2, using: &random))
            }
            switch (Int.random(in: 0..<4, using: &random), ids[layer].randomElement(using: &random))
            {
            case (0, let id?):
                ids[layer].removeAll { $0 == id }
                return GraphicRemoved(layer: layer, graphic: id)
            case (1, let id?): return GraphicChanged(layer: layer, graphic: graphic(id))
            default:
                next[layer] += 1
                ids[layer].append(next[layer] - 1)
                return GraphicAdded(layer: layer, graphic: graphic(next[layer] - 1))
            }
        }

        /// The event of a change that is no edit of features.
        mutating func other() -> any EventPayload {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return LayerVisibilityChanged(layer: 1, isVisible: .random(using: &random))
            case 1:
                return LayerDefinitionChanged(
                    layer: 1, expression: "n < \(Int.random(in: 5...40, using: &random))")
            case 2:
                return LayerDrawingChanged(
                    layer: 1,
                    drawing: LayerDrawing(
                        transparency: Int.random(in: 0...80, using: &random)))
            default:
                return LayerScaleRangeChanged(
                    layer: 0,
                    scaleRange: ScaleRange(
                        minScale: Bool.random(using: &random) ? 0 : 200_000_000, maxScale: 0))
            }
        }
    }

    @Test(arguments: [
        ("ExportTiles", "mbtiles"), ("ExportVectorTiles", "pmtiles"), ("ExportVectorTiles", "vtpk"),
    ])
    func `an update of random edits makes the file of an export anew`(
        _ kind: String, _ format: String
    ) throws {
        let kind = JobKind(rawValue: kind)
        let parameters = ["levels": "0-3", "format": format]
        var story = Story(seed: Seeds.chosen(1).first ?? 1)
        var package = try exporter.run(kind, parameters)
        var since = try exporter.last()
        for number in 0..<20 {
            for _ in 0..<Int.random(in: 1...3, using: &story.random) {
                let payload: any EventPayload =
                    switch Int.random(in: 0..<(number < 15 ? 3 : 4), using: &story.random) {
                    case 0: story.edits(0)
                    case 1: story.edits(1)
                    case 2: story.sketch()
                    default: story.other()
                    }
                try exporter.history.map.append(payload)
            }
            let update = try exporter.run(
                kind, parameters.merging(["since": String(since)]) { $1 })
            let anew = try exporter.run(kind, parameters)
            #expect(update.blob.type == .tileUpdate)
            let made = exporter.history.site.path + "/made"
            let base = try TilePackage.open(package.path)
            let applied = try TilePackageUpdate.apply(update.path, to: base, at: made)
            #expect(applied.sha256 == anew.blob.id.rawValue, "story \(number)")
            // It is for that package alone.
            #expect(throws: Failure.self) {
                try TilePackageUpdate.apply(
                    update.path, to: try TilePackage.open(anew.path), at: made)
            }
            (package, since) = (anew, try exporter.last())
        }
    }

    @Test func `an edit of one point draws a block of each level, and makes a few vector tiles`()
        throws
    {
        let (since, map) = (try exporter.last(), exporter.history.map)
        try map.append(
            FeaturesEdited(
                layer: 1,
                added: [
                    EditedFeature(
                        id: 1_000, shape: .point(Coordinate(x: 100.3, y: 47.1)),
                        attributes: Attributes([.init(name: "n", value: .integer(7))]))
                ], changed: [], deleted: [], nextID: 1_001, refused: nil))
        let levels = 0...12
        let parameters = ["levels": "0-12", "area": "90,40,110,55", "since": String(since)]
        let pictures = try exporter.run(.exportTiles, parameters)
        // Once as it was and once as it is.
        #expect(exporter.counts.pictures == 2 * levels.count)
        _ = try exporter.run(.exportVectorTiles, parameters)
        // Some more where the point is near the border of a tile.
        #expect(2 * levels.count...4 * levels.count ~= exporter.counts.contents)
        #expect(pictures.chunks <= levels.count)
    }

    @Test func `an update of nothing is empty, one of a map that was not there is refused`() throws
    {
        let last = try exporter.last()
        let parameters = ["levels": "0-2", "since": String(last)]
        let package = try exporter.run(.exportVectorTiles, ["levels": "0-2"])
        let update = try exporter.run(.exportVectorTiles, parameters)
        #expect(exporter.counts.contents > 0 && update.chunks == 0)
        let made = exporter.history.site.path + "/made"
        let applied = try TilePackageUpdate.apply(
            update.path, to: try TilePackage.open(package.path), at: made)
        #expect(applied.sha256 == package.blob.id.rawValue)
        for since in ["1", "0", String(last + 1), "-1", "x"] {
            #expect(throws: Failure.self, "\(since)") {
                try exporter.run(.exportVectorTiles, ["levels": "0-2", "since": since])
            }
        }
        #expect(throws: Failure.self) {
            try exporter.run(
                .exportTiles, ["levels": "0", "since": String(last), "at": String(last - 1)])
        }
    }
}
