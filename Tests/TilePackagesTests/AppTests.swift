// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import Testing
import TilePackages

/// Packages that an app opens with the SDK, which has a reader of its own.
@Suite struct AppTests {
    private static func place(_ level: Int, _ row: Int, _ column: Int) -> (x: Double, y: Double) {
        let half = 20_037_508.342_787
        let side = 2 * half / Double(1 << level)
        return (-half + (Double(column) + 0.5) * side, half - (Double(row) + 0.5) * side)
    }

    @Test func `pictures of a package are drawn where they are`() async throws {
        let package = try WrittenPackage(.tpkx, .png, levels: 3...9)
        let cache = TileCache(fileURL: URL(filePath: package.path))
        let layer = ArcGISTiledLayer(tileCache: cache)
        let map = Map(basemap: Basemap(baseLayer: layer))
        try await map.load()
        #expect(layer.loadStatus == .loaded && layer.spatialReference == .webMercator)
        #expect(cache.tileInfo?.levelsOfDetail.map(\.level) == Array(0...9))
        let view = MapViewProxy(map: map, size: CGSize(width: 8, height: 8))
        for tile in package.tiles.prefix(40) {
            let (x, y) = Self.place(tile.level, tile.row, tile.column)
            let center = Point(x: x, y: y, spatialReference: .webMercator)
            let resolution = 2 * 20_037_508.342_787 / 256 / Double(1 << tile.level)
            await view.setViewpoint(Viewpoint(center: center, scale: resolution * 96 / 0.0254))
            let picture = try await view.exportRaster()
            let middle = picture.pixel(4, 4)
            #expect(
                [middle.red, middle.green, middle.blue, middle.alpha]
                    == [
                        UInt8(truncatingIfNeeded: tile.row), UInt8(truncatingIfNeeded: tile.column),
                        77, 255,
                    ],
                "tile \(tile.level)/\(tile.row)/\(tile.column)")
        }
    }

    @Test func `vector tiles of a package are its bytes`() async throws {
        let package = try WrittenPackage(.vtpk, .mvt, levels: 0...9)
        let layer = ArcGISVectorTiledLayer(
            vectorTileCache: VectorTileCache(fileURL: URL(filePath: package.path)))
        await #expect(throws: CairnError.self) {
            _ = try await layer.tileData(level: 0, row: 0, column: 0)
        }
        try await layer.load()
        for tile in package.tiles {
            let found = try await layer.tileData(
                level: tile.level, row: tile.row, column: tile.column)
            #expect(found.map { [UInt8]($0) } == tile.bytes)
        }
        #expect(try await layer.tileData(level: 9, row: 511, column: 400) == nil)
        #expect(try await layer.tileData(level: -1, row: 0, column: 0) == nil)
    }

    @Test func `a package that is cut short, or is none, says so`() async throws {
        let package = try WrittenPackage(.tpkx, .png, levels: 0...2)
        let whole = try Data(contentsOf: URL(filePath: package.path))
        let file = package.folder.file("cut.tpkx")
        for count in [0, 10, 100, whole.count / 2, whole.count - 30, whole.count - 1] {
            try whole.prefix(count).write(to: URL(filePath: file))
            let cache = TileCache(fileURL: URL(filePath: file))
            let error = await #expect(throws: CairnError.self) { try await cache.load() }
            #expect(error?.kind == .invalidDocument, "\(count) bytes")
        }
        let missing = TileCache(fileURL: URL(filePath: package.folder.file("none.tpkx")))
        let error = await #expect(throws: CairnError.self) { try await missing.load() }
        #expect(error?.kind == .file)
    }
}
