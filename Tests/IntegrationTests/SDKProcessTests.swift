// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import TestKit
import Testing

/// The SDK against a running site, without a stub.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct SDKProcessTests {
    @Test func `features are queried, edited and seen by the next query`() async throws {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let (site, services) = (running.site, running.services)
        try #require(try await site.run("map editable Grid points on").status == 0)
        let id = try await running.layer("points")
        let table = ServiceFeatureTable(
            url: services.appending(path: "Grid/FeatureServer/\(id)"))
        let parameters = QueryParameters()
        parameters.whereClause = "size = 3"
        let count = try await table.queryFeatureCount(using: parameters)
        let found = try await table.queryFeatures(using: parameters)
        #expect(found.features().count == count)
        #expect(table.geometryType == Point.self)
        let feature = try #require(found.features().first)
        #expect(feature.attributes["size"] as? Int32 == 3)
        feature.setAttributeValue("changed", forKey: "name")
        try await table.update(feature)
        let added = table.makeFeature(
            attributes: ["name": "new", "size": 3],
            geometry: Point(latitude: 1, longitude: 1))
        try await table.add(added)
        let results = try await table.applyEdits()
        #expect(results.count == 2 && results.allSatisfy { !$0.didCompleteWithErrors })
        #expect(try await table.queryFeatureCount(using: parameters) == count + 1)
        parameters.whereClause = "name = 'changed'"
        #expect(try await table.queryFeatureCount(using: parameters) == 1)
    }

    @Test func `a job of the site is followed, and goes on in another process after a kill`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let services = running.services
        let task = GeoprocessingTask(
            url: services.appending(path: "Jobs/GPServer/ExportFeatures"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setInputValue(GeoprocessingString(value: "Grid"), forKey: "map")
        parameters.setInputValue(GeoprocessingString(value: "points"), forKey: "layer")
        parameters.setInputValue(GeoprocessingString(value: "geojson"), forKey: "format")
        let job = task.makeJob(parameters: parameters)
        job.start()
        let output = try await job.output
        let file = try #require(output.outputs["output"] as? GeoprocessingDataFile)
        let bytes = try await file.data()
        let object = try #require(
            try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect((object["features"] as? [Any])?.count == 300)

        // Read back by another program, an ended job ends again with its output.
        let again = try GeoprocessingJob.fromJSON(job.toJSON())
        #expect(again.status == .paused)
        again.start()
        #expect(try await again.output.outputs["output"] != nil)

        // The same submission, sent again, is the same job.
        let ticket = try GeoprocessingJob.fromJSON(
            job.toJSON().replacingOccurrences(
                of: #""serverJobID":"\#(job.serverJobID)","#, with: ""
            )
            .replacingOccurrences(of: #""output":"#, with: #""old":"#))
        #expect(ticket.serverJobID == "")
        ticket.start()
        _ = try await ticket.output
        #expect(ticket.serverJobID == job.serverJobID)
    }

    @Test func `the tiles of a map are estimated, then exported into packages`() async throws {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let area = Envelope(xMin: 0, yMin: 0, xMax: 9, yMax: 9, spatialReference: .wgs84)

        let service = running.services.appending(path: "Grid/MapServer")
        let pictures = ExportTileCacheTask(url: service)
        let parameters = try await pictures.makeDefaultExportTileCacheParameters(
            areaOfInterest: area, minScale: 40_000_000, maxScale: 8_000_000)
        #expect(parameters.levelIDs == [4, 5, 6])
        let before = pictures.makeEstimateTileCacheSizeJob(parameters: parameters)
        before.start()
        // Half a tile of level 4, one and a half of level 6.
        let estimated = try await before.output
        #expect(estimated.tileCount == 1 + 1 + 4 && estimated.fileSize == 48_000)

        let file = URL(filePath: running.site.folder + "/Grid.tpkx")
        let export = pictures.makeExportTileCacheJob(
            parameters: parameters, downloadFileURL: file)
        export.start()
        let cache = try await export.output
        try await cache.load()
        try await Self.verify(file, is: "tpkx", levels: "4 to 6", running.site)
        // Read back by another program, the ended job ends again with its file.
        let again = try ExportTileCacheJob.fromJSON(export.toJSON())
        again.start()
        #expect(try await again.output.fileURL == cache.fileURL)

        // What was packed is what the next estimate goes by.
        let after = pictures.makeEstimateTileCacheSizeJob(parameters: parameters)
        after.start()
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        #expect(try await after.output.fileSize == size.map { Int64($0) })

        let vectors = ExportVectorTilesTask(
            url: running.services.appending(path: "Grid/VectorTileServer"))
        let wanted = try await vectors.makeDefaultExportVectorTilesParameters(
            areaOfInterest: area, maxScale: 8_000_000)
        #expect(wanted.maxLevel == 5)
        let packed = URL(filePath: running.site.folder + "/Grid.vtpk")
        let resources = URL(filePath: running.site.folder + "/resources")
        let job = vectors.makeExportVectorTilesJob(
            parameters: wanted, vectorTileCacheURL: packed, itemResourceCacheURL: resources)
        job.start()
        let output = try await job.output
        try await output.vectorTileCache?.load()
        #expect(output.itemResourceCache != nil)
        try await Self.verify(packed, is: "vtpk", levels: "0 to 5", running.site)
    }

    private static func verify(
        _ file: URL, is format: String, levels: String, _ site: SmallSite
    ) async throws {
        let verified = try await site.run("tiles verify \(file.path)")
        #expect(verified.status == 0, "\(verified.errors)")
        let shown = try await site.run("tiles show \(file.path)").output
        #expect(shown.contains(format) && shown.contains("levels \(levels)"), "\(shown)")
    }

    @Test func `vector tiles of the site have the colors of its pictures`() async throws {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let area = Envelope(xMin: 8.5, yMin: 8.5, xMax: 11.5, yMax: 11.5, spatialReference: .wgs84)
        func picture(_ layer: Layer) async throws -> Raster {
            let map = Map(spatialReference: .webMercator)
            map.addOperationalLayer(layer)
            let view = MapViewProxy(map: map, size: CGSize(width: 400, height: 400))
            await view.setViewpoint(Viewpoint(boundingGeometry: area))
            return try await view.exportRaster()
        }
        let tiles = ArcGISVectorTiledLayer(
            url: running.services.appending(path: "Grid/VectorTileServer"))
        let drawn = try await picture(tiles)
        #expect(tiles.undrawnStyleParts.isEmpty, "\(tiles.undrawnStyleParts)")
        let exported = try await picture(
            ArcGISMapImageLayer(url: running.services.appending(path: "Grid/MapServer")))
        var (equal, colors) = (0, Set<SymbolColor>())
        for y in 0..<400 {
            for x in 0..<400 {
                let (own, other) = (drawn.pixel(x, y), exported.pixel(x, y))
                colors.insert(other)
                let differs = [\SymbolColor.red, \.green, \.blue, \.alpha].contains {
                    abs(Int(own[keyPath: $0]) - Int(other[keyPath: $0])) > 12
                }
                if !differs { equal += 1 }
            }
        }
        // The rest are the edges of marks and lines, which are smoothed in another way.
        #expect(equal >= 144_000, "\(equal) of 160000 pixels are equal")
        #expect(colors.count >= 3)
    }

    @Test func `an export of tiles is cancelled, and one that is refused says why`() async throws {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let task = ExportTileCacheTask(url: running.services.appending(path: "Grid/MapServer"))
        let file = URL(filePath: running.site.folder + "/never.tpkx")
        let many = ExportTileCacheParameters()
        many.addLevelIDs(Array(0...13))
        let job = task.makeExportTileCacheJob(parameters: many, downloadFileURL: file)
        job.start()
        try await waitUntil("the server has the job") { !job.serverJobID.isEmpty }
        #expect(await job.cancel())
        #expect(job.status == .failed)
        #expect(!FileManager.default.fileExists(atPath: file.path))

        let tooMany = ExportTileCacheParameters()
        tooMany.addLevelIDs([23])
        let refused = task.makeExportTileCacheJob(parameters: tooMany, downloadFileURL: file)
        refused.start()
        let error = await #expect(throws: ServiceError.self) { try await refused.output }
        #expect(error?.message.contains("expected at most") == true)
    }

    @Test func `a picture of a view has the service's pixels`() async throws {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let services = running.services
        let map = Map()
        map.addOperationalLayer(
            ArcGISMapImageLayer(url: services.appending(path: "Grid/MapServer")))
        let view = MapViewProxy(map: map, size: CGSize(width: 200, height: 150))
        let empty = try await view.exportImage()
        #expect(empty.starts(with: [137, 80, 78, 71]))
        let overlay = GraphicsOverlay()
        overlay.addGraphic(
            Graphic(
                geometry: map.operationalLayers.first?.fullExtent,
                symbol: SimpleFillSymbol(color: .red)))
        view.graphicsOverlays = [overlay]
        #expect(try await view.exportImage() != empty)
    }
}
