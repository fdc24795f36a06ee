// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FedSite
import Foundation
import Geometry
import JobKinds
import Remote
import Site
import TestKit
import Testing
import TilePackages
import VectorTiles

@testable import Worker
@testable import WorkerPools

/// Exports of tiles, their chunks run by the real engines.
@Suite(.timeLimit(.minutes(5))) struct ExportTilesTests {
    private let exporter: TileExporter
    private var history: FedSite { exporter.history }
    private var maps: IdentifyOperations { exporter.maps }

    init() throws {
        exporter = try TileExporter()
        // Areas that share borders, and points with a value of each kind.
        var areas: [String] = []
        for row in 0..<6 {
            for column in 0..<8 {
                let corners = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)].map { x, y in
                    let (x, y) = (column + x, row + y)
                    return "[\(Double(x) * 9.7 - 40 + Double(y % 3)),\(Double(y) * 8.3 - 20)]"
                }
                areas.append(
                    #"{"type":"Feature","properties":{"name":"area \#(row)-\#(column)"},"#
                        + #""geometry":{"type":"Polygon","coordinates":[["#
                        + corners.joined(separator: ",") + "]]}}")
            }
        }
        let points = (0..<40).map { number in
            #"{"type":"Feature","properties":{"n":\#(number),"half":\#(Double(number) / 2),"#
                + #""text":\#(number % 5 == 0 ? "null" : "\"p\(number)\"")},"geometry":"#
                + #"{"type":"Point","coordinates":[\#(number * 2 - 40),\#(number - 20)]}}"#
        }
        try exporter.add(areas, "areas", as: 0)
        try exporter.add(points, "points", as: 1)
    }

    private func last() throws -> Int64 { try exporter.last() }

    private func export(
        _ kind: JobKind, _ parameters: [String: String], times: Int = 1
    ) throws -> (package: TilePackageReader, blob: BlobReference, chunks: Int) {
        let product = try exporter.run(kind, parameters, times: times)
        return (try TilePackage.open(product.path), product.blob, product.chunks)
    }

    private func tiles(
        _ package: TilePackageReader
    ) throws(Failure) -> [TileAddress: [UInt8]] {
        var tiles: [TileAddress: [UInt8]] = [:]
        try package.forEach { tile, bytes in tiles[tile] = bytes }
        return tiles
    }

    @Test(arguments: ["mbtiles", "gpkg", "pmtiles", "tpkx"])
    func `a package of pictures has the tiles that the map service draws`(
        _ format: String
    ) throws {
        let whole = try export(.exportTiles, ["levels": "0-3", "format": format])
        let package = whole.package
        let found = try tiles(package)
        let blank = try #require(
            TileAddress(level: 3, row: 0, column: 0).map { try drawn($0, DrawnLayers(.show)) })
        var count = 0
        for level in 0...3 {
            for row in 0..<1 << level {
                for column in 0..<1 << level {
                    let tile = try #require(
                        TileAddress(level: level, row: row, column: column))
                    let picture = try drawn(tile, DrawnLayers())
                    #expect(found[tile] == (picture == blank ? nil : picture), "\(tile)")
                    if picture != blank { count += 1 }
                }
            }
        }
        #expect(count > 8 && found.count == count)
        #expect(package.metadata.levels == 0...3 && package.metadata.encoding == .png)
        let provenance = Dictionary(
            package.metadata.provenance.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        #expect(provenance["map"] == history.map.name.rawValue)
        #expect(provenance["sequence"] == String(try last()))
        #expect(provenance["kind"] == "ExportTiles")
        // Scales are another way to say the levels.
        let scales = "591657528,295828764, 148500000,73957191"
        let same = try export(.exportTiles, ["scales": scales, "format": format])
        #expect(same.blob == whole.blob)
        #expect {
            try export(.exportTiles, ["scales": "295828764,200000000"])
        } throws: { ($0 as? Failure)?.message.contains("level 2, 1:147914382") == true }
        #expect(throws: Failure.self) {
            try export(.exportTiles, ["scales": "295828764", "levels": "1"])
        }
    }

    /// A tile as the map service has it.
    private func drawn(_ tile: TileAddress, _ layers: DrawnLayers) throws -> [UInt8] {
        let block = PictureBlock(containing: tile)
        var request = block.request(map: history.map.name, minSequence: try last())
        request.layers = layers
        return try maps.export(request).pieces()[block.index(of: tile)]
    }

    @Test func `an area limits the tiles to those that it touches`() throws {
        let triangle = #"{"type":"Polygon","coordinates":[[[0,0],[20,0],[0,20],[0,0]]]}"#
        let (package, _, _) = try export(.exportTiles, ["levels": "5", "area": triangle])
        let found = try tiles(package)
        let outside = try #require(TileAddress(level: 5, row: 14, column: 17))
        let inside = try #require(TileAddress(level: 5, row: 15, column: 16))
        #expect(found[inside] != nil && found[outside] == nil)
        let box = try tiles(
            try export(.exportTiles, ["levels": "5", "area": "0,0,20,20"]).package)
        #expect(box[outside] != nil)
        #expect(found.allSatisfy { box[$0.key] == $0.value })
        #expect(
            Set(box.keys)
                == Set(
                    (14...15).flatMap { row in
                        (16...17).compactMap { TileAddress(level: 5, row: row, column: $0) }
                    }))
    }

    @Test(arguments: ["mbtiles", "pmtiles", "vtpk"])
    func `a package of vector tiles has the tiles that the service makes, with their features`(
        _ format: String
    ) throws {
        let (package, _, chunks) = try export(
            .exportVectorTiles, ["levels": "0-6", "format": format], times: 2)
        #expect(chunks == 1 + 16)
        let found = try tiles(package)
        var names: Set<String> = []
        var points: Set<UInt64> = []
        for (tile, bytes) in found {
            #expect(try vectorTile(tile) == bytes, "\(tile)")
            for layer in try VectorTileReader().read(bytes).layers where tile.level == 6 {
                for feature in layer.features {
                    let values = Dictionary(
                        feature.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
                    if case .string(let name)? = values["name"] {
                        names.insert(name)
                    } else if let id = feature.id {
                        points.insert(id)
                        guard case .uint64(let number)? = values["n"] else {
                            Issue.record("\(values)")
                            continue
                        }
                        #expect((values["text"] == nil) == (number % 5 == 0))
                    }
                }
            }
        }
        #expect(names.count == 48 && points.count == 40)
        // What is not in the package is empty in the service too.
        for level in 0...2 {
            for row in 0..<1 << level {
                for column in 0..<1 << level {
                    let tile = try #require(
                        TileAddress(level: level, row: row, column: column))
                    #expect(try vectorTile(tile) == found[tile] ?? [], "\(tile)")
                }
            }
        }
        #expect(package.metadata.vectorLayers.count == 2)
    }

    private func vectorTile(_ tile: TileAddress) throws -> [UInt8] {
        let map = try maps.map(named: history.map.name, at: try last())
        let layers = map.tileLayers().filter { $0.levels ~= tile.level }
        let contents = try maps.tileContent(
            of: layers, in: map, meeting: VectorTileOptions.standard.reach(of: tile),
            isCancelled: { false })
        var builder = try VectorTileBuilder(contents)
        return builder.tile(tile).bytes ?? []
    }

    @Test func `equal exports are equal files, and a layer that is hidden is in none`() throws {
        let first = try export(.exportVectorTiles, ["levels": "0-3"])
        let again = try export(.exportVectorTiles, ["levels": "0-3"])
        #expect(first.blob == again.blob)
        let alone = try export(.exportVectorTiles, ["levels": "0-3", "layers": "1"])
        #expect(alone.package.metadata.vectorLayers.map(\.id).count == 1)
        #expect(throws: Failure.self) {
            try export(.exportVectorTiles, ["levels": "0", "layers": "9"])
        }
    }

    @Test func `a feature without a place is named by the job, and a layer without by its failure`()
        throws
    {
        #expect(try exporter.run(.exportVectorTiles, ["levels": "0-1"]).warnings == [])
        try history.map.append(LayerEditableChanged(layer: 0, isEditable: true))
        let ring = [(0, 0), (9, 0), (1e306, 9), (0, 0)].map { Coordinate(x: $0.0, y: $0.1) }
        try history.map.append(
            FeaturesEdited(
                layer: 0, added: [],
                changed: [
                    EditedFeature(
                        id: 7, shape: .polygon(rings: [ring]),
                        attributes: Attributes([.init(name: "name", value: .string("far"))]))
                ], deleted: [], nextID: 99, refused: nil))
        #expect(
            try exporter.run(.exportVectorTiles, ["levels": "0-1"]).warnings == [
                "layer 'layer 0': 1 features have no place in EPSG:3857 or are damaged, and are in "
                    + "no tile: 7"
            ])
        #expect(
            try exporter.run(.exportTiles, ["levels": "0-1"]).warnings == [
                "layer 'layer 0': 1 features have a position without a place in EPSG:3857, and "
                    + "are not or not wholly drawn: 7",
                "layer 'layer 0': 1 features have a position without a place in EPSG:3857, and "
                    + "are not or not wholly drawn: 7",
            ])
        let nowhere = SpatialReference(wkid: 99_999)
        try history.map.add(
            .graphics(GraphicsSource(spatialReference: nowhere)),
            LayerProperties(
                extent: nil, spatialReference: nowhere, geometryType: .point, fields: [],
                featureCount: 0), as: 2)
        // Without graphics it is in no tile.
        _ = try exporter.run(.exportVectorTiles, ["levels": "0-1"])
        try history.map.append(
            GraphicAdded(
                layer: 2,
                graphic: Graphic(
                    id: 1, shape: .point(Coordinate(x: 0, y: 0)), attributes: Attributes([]),
                    zIndex: 0)))
        #expect {
            try exporter.run(.exportVectorTiles, ["levels": "0-1"])
        } throws: { ($0 as? Failure)?.message.hasPrefix("layer 2 'layer 2': ") == true }
    }

    @Test func `graphics are a layer for each kind, and one of the layer's name where it is alone`()
        throws
    {
        let source = GraphicsSource(spatialReference: .wgs84)
        try history.map.add(
            .graphics(source),
            LayerProperties(
                extent: nil, spatialReference: .wgs84, geometryType: nil, fields: [],
                featureCount: 0), as: 2)
        func add(_ id: Int64, _ shape: Shape, _ note: String) throws {
            try history.map.append(
                GraphicAdded(
                    layer: 2,
                    graphic: Graphic(
                        id: id, shape: shape,
                        attributes: Attributes([.init(name: "note", value: .string(note))]),
                        zIndex: 0)))
        }
        func notes() throws -> [String: [String]] {
            let (package, _, _) = try export(
                .exportVectorTiles, ["levels": "0-1", "layers": "2"])
            let whole = try #require(TileAddress(level: 0, row: 0, column: 0))
            let tile = try VectorTileReader().read(try #require(try tiles(package)[whole]))
            let named = package.metadata.vectorLayers.map(\.id)
            #expect(named == tile.layers.map(\.name))
            return Dictionary(
                uniqueKeysWithValues: tile.layers.map { layer in
                    (
                        layer.name,
                        layer.features.flatMap(\.attributes).map { "\($0.name)=\($0.value)" }
                    )
                })
        }
        let (a, b) = (Coordinate(x: 10, y: 10), Coordinate(x: 30, y: 20))
        try add(1, .point(a), "here")
        #expect(Set(try notes().keys) == ["layer 2"])
        try add(2, .multipoint([a, b]), "twice")
        #expect(Set(try notes().keys) == ["layer 2"])
        try add(3, .polyline(paths: [[a, b]]), "way")
        let corner = Coordinate(x: 30, y: 10)
        try add(4, .polygon(rings: [[a, b, corner, a]]), "area")
        let found = try notes()
        #expect(Set(found.keys) == ["layer 2 areas", "layer 2 lines", "layer 2 points"])
        #expect(found["layer 2 points"]?.count == 2 && found["layer 2 lines"]?.count == 1)
        // The service has the same.
        let tile = try #require(TileAddress(level: 1, row: 0, column: 1))
        let names = try VectorTileReader().read(try vectorTile(tile)).layers.map(\.name)
        #expect(names.suffix(3) == ["layer 2 areas", "layer 2 lines", "layer 2 points"])
    }

    @Test func `a lower quality of jpg makes a smaller package, and png has none`() throws {
        let usual = try export(.exportTiles, ["levels": "0-1", "tileFormat": "jpg"]).blob
        let low = try export(
            .exportTiles, ["levels": "0-1", "tileFormat": "jpg", "quality": "20"]
        ).blob
        #expect(low.byteCount < usual.byteCount)
        for (format, quality) in [("png", "20"), ("jpg", "0"), ("jpg", "101"), ("jpg", "x")] {
            #expect {
                try export(
                    .exportTiles, ["levels": "0", "tileFormat": format, "quality": quality])
            } throws: { ($0 as? Failure)?.message.contains("'quality'") == true }
        }
    }
}
