// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Locator
import Testing

/// Maps that are taken offline from a service that speaks Esri's forms, and packages in files.
@Suite struct OfflineMapTests {
    private let server = StubServer()
    private let folder: URL
    private let area = Envelope(
        xMin: 0, yMin: 0, xMax: 400, yMax: 400, spatialReference: .webMercator)

    init() throws {
        CairnEnvironment.jobPolling = JobPolling(
            first: .milliseconds(2), longest: .milliseconds(10))
        folder = try PackageFiles.folder()
        let file = folder.appending(path: "served.gpkg")
        try PackageFiles.geodatabase(at: file)
        let geodatabase = try Data(contentsOf: file)
        server.on("/City/FeatureServer/0", json: Sample.layer(0, "Places", "esriGeometryPoint"))
        server.on("/City/FeatureServer/1", json: Sample.layer(1, "Notes"))
        server.on(
            "/City/FeatureServer",
            json:
                #"{"syncEnabled":true,"layers":[{"id":0,"name":"Places"},{"id":1,"name":"Notes"}]}"#
        )
        server.on(
            "/City/FeatureServer/createReplica",
            json: #"{"statusUrl":"\#(server.url)/City/FeatureServer/jobs/7"}"#)
        server.on(
            "/City/FeatureServer/jobs/7",
            json: #"{"status":"Completed","replicaID":"R1","resultUrl":"\#(server.url)/files/r"}"#)
        server.on("/files/r", .bytes(geodatabase, type: "application/octet-stream"))
    }

    /// A map of places, with a basemap of tiles where they are given.
    private func online(tiles: Data? = nil) -> Map {
        let map: Map
        if let tiles {
            server.on(
                "/Base/MapServer",
                json: Sample.tiledService.replacingOccurrences(
                    of: #""layers":[]"#, with: #""layers":[],"exportTilesAllowed":true"#))
            server.on("/Base/MapServer/exportTiles", json: #"{"jobId":"j1"}"#)
            server.on(
                "/Base/MapServer/jobs/j1",
                json: #"""
                    {"jobId":"j1","jobStatus":"esriJobSucceeded",
                    "results":{"out_service_url":{"paramUrl":"results/out_service_url"}}}
                    """#)
            server.on(
                "/Base/MapServer/jobs/j1/results/out_service_url",
                json:
                    #"{"paramName":"out_service_url","value":"\#(server.url)/files/base.tpkx"}"#)
            server.on("/files/base.tpkx", .bytes(tiles, type: "application/octet-stream"))
            map = Map(
                basemap: Basemap(
                    baseLayer: ArcGISTiledLayer(url: server.url.appending(path: "Base/MapServer"))))
        } else {
            map = Map(spatialReference: .webMercator)
        }
        let table = ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/0"))
        let places = FeatureLayer(featureTable: table)
        places.name = "Places"
        places.definitionExpression = "kind = 2"
        map.addOperationalLayer(places)
        return map
    }

    private func taken(
        _ map: Map, _ change: (GenerateOfflineMapParameters) -> Void = { _ in }
    ) async throws -> GenerateOfflineMapResult {
        let task = OfflineMapTask(onlineMap: map)
        let parameters = try await task.makeDefaultGenerateOfflineMapParameters(
            areaOfInterest: area)
        change(parameters)
        let job = task.makeGenerateOfflineMapJob(
            parameters: parameters, downloadDirectory: folder.appending(path: "package"))
        job.start()
        return try await job.output
    }

    @Test func `an offline map draws, identifies and queries without one request`() async throws {
        let blue = SymbolColor(red: 0, green: 0, blue: 255)
        let map = online(tiles: PackageFiles.tiles(try await PackageFiles.picture(blue)))
        map.addTable(
            ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/1")))
        let result = try await taken(map)
        #expect(!result.hasErrors, "\(result.layerErrors) \(result.tableErrors)")
        let asked = server.requests.count
        // Whatever is asked from here on fails.
        for path in ["/City/*", "/Base/*", "/files/*"] { server.on(path, .unreachable) }
        let offline = result.offlineMap
        #expect(offline === result.mobileMapPackage.maps.first)
        try await offline.load()
        #expect(offline.spatialReference == .webMercator)
        let view = MapViewProxy(map: offline, size: CGSize(width: 200, height: 200))
        await view.setViewpoint(
            Viewpoint(center: Point(x: 200, y: 200, spatialReference: .webMercator), scale: 8_000))
        let hits = try await view.identifyLayers(
            screenPoint: CGPoint(x: 100, y: 100), tolerance: 3)
        #expect(hits.map(\.layerContent.name) == ["Places"])
        #expect(hits.first?.geoElements.first?.attributes["name"] as? String == "B")
        let layer = try #require(offline.operationalLayers.first as? FeatureLayer)
        let table = try #require(layer.featureTable as? GeodatabaseFeatureTable)
        let parameters = QueryParameters()
        parameters.whereClause = "height > 2"
        #expect(try await table.queryFeatureCount(using: parameters) == 1)
        let picture = try await view.exportRaster()
        #expect(picture.pixel(190, 3) == blue)
        #expect(picture.pixel(100, 100) != blue)
        let notes = try #require(offline.tables.first as? GeodatabaseFeatureTable)
        #expect(try await notes.queryFeatureCount(using: QueryParameters()) == 1)
        #expect(server.requests.count == asked)
    }

    @Test func `a package as an archive is the same, and its files go with it`() async throws {
        let result = try await taken(online()) { $0.itemInfo = OfflineMapItemInfo() }
        let package = folder.appending(path: "package")
        let members = try ["map.json", "0.gpkg"].map { name in
            (
                name: "city/\(name)",
                bytes: [UInt8](try Data(contentsOf: package.appending(path: name)))
            )
        }
        result.mobileMapPackage.close()
        let archive = folder.appending(path: "city.mmpk")
        try PackageFiles.archive(members).write(to: archive)
        let asked = server.requests.count
        let opened = MobileMapPackage(fileURL: archive)
        try await opened.load()
        let layer = try #require(
            opened.maps.first?.operationalLayers.first as? FeatureLayer)
        let found = try await layer.featureTable.queryFeatures(using: QueryParameters())
        #expect(found.features().count == 3)
        #expect(opened.locatorTask == nil && opened.itemInfo != nil)
        let file = try #require((layer.featureTable as? GeodatabaseFeatureTable)?.geodatabase)
            .fileURL
        #expect(FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
        opened.close()
        #expect(!FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
        await #expect(throws: CairnError.self) {
            try await layer.featureTable.queryFeatures(using: QueryParameters())
        }
        #expect(server.requests.count == asked)
    }

    @Test func `an archive that leads out of its folder, or is none, is refused`() async throws {
        let archive = folder.appending(path: "bad.mmpk")
        let outside = "cairn-\(UUID().uuidString)"
        for name in ["../\(outside)", "a/../../\(outside)", "/tmp/\(outside)", "a\\..\\b"] {
            try PackageFiles.archive([("map.json", [UInt8]("{}".utf8)), (name, [1])])
                .write(to: archive)
            let error = await #expect(throws: CairnError.self) {
                try await MobileMapPackage(fileURL: archive).load()
            }
            #expect(error?.kind == .invalidDocument, "\(name)")
        }
        #expect(!FileManager.default.fileExists(atPath: "/tmp/\(outside)"))
        for bytes in [Data("no archive".utf8), PackageFiles.archive([("other.json", [])])] {
            try bytes.write(to: archive)
            let error = await #expect(throws: CairnError.self) {
                try await MobileMapPackage(fileURL: archive).load()
            }
            #expect(error?.description.contains("is no package of a map") == true)
        }
    }

    @Test func `a locator in a package finds places without a server`() async throws {
        _ = try await taken(online())
        let source = folder.appending(path: "places.txt")
        try """
        id\tname\tlatitude\tlongitude\tcountry\tpopulation
        1\tZürich\t47.3667\t8.55\tCH\t341730
        """.write(to: source, atomically: true, encoding: .utf8)
        let built = try LocatorBuilder.build(
            sources: [source.path(percentEncoded: false)], into: folder.path(percentEncoded: false))
        try FileManager.default.copyItem(
            at: folder.appending(path: "\(built.id)/locator.bin"),
            to: folder.appending(path: "package/locator.bin"))
        let asked = server.requests.count
        let package = MobileMapPackage(fileURL: folder.appending(path: "package"))
        try await package.load()
        let locator = try #require(package.locatorTask)
        let found = try await locator.geocode(forSearchText: "zurich")
        #expect(found.first?.displayLocation?.x == 8.55)
        #expect(server.requests.count == asked)
    }

    @Test func `what cannot be taken is named by its layer, and left out of the map`()
        async throws
    {
        let map = online()
        let tiles = WebTiledLayer(urlTemplate: "http://tiles.test/{level}/{col}/{row}.png")
        tiles.name = "tiles"
        map.addOperationalLayer(tiles)
        let table = ServiceFeatureTable(url: server.url.appending(path: "Other/FeatureServer/4"))
        map.addTable(table)
        server.on("/files/r", .bytes(Data("damaged".utf8), type: "application/octet-stream"))
        let result = try await taken(map)
        #expect(result.hasErrors)
        let errors = result.layerErrors
        #expect(Set(errors.keys.map(\.name)) == ["Places", "tiles"])
        #expect(errors.keys.contains { $0.layer === tiles })
        let sentences = errors.map { "\($0.key.name): \($0.value)" }.sorted()
        #expect(sentences[0].contains("is neither a GeoPackage nor JSON"))
        #expect(sentences[1].contains("WebTiledLayer is not taken offline"))
        #expect(result.tableErrors.keys.map(\.featureTable).first === table)
        #expect(result.offlineMap.operationalLayers.isEmpty)
    }

    @Test func `the layers of a group are taken with their group`() async throws {
        let map = online()
        let places = try #require(map.operationalLayers.first)
        map.removeAllOperationalLayers()
        let inner = GroupLayer(childLayers: [places])
        inner.name = "Inner"
        let outer = GroupLayer(childLayers: [inner, WebTiledLayer(urlTemplate: "https://x/{col}")])
        outer.name = "Outer"
        outer.visibilityMode = .exclusive
        map.addOperationalLayer(outer)
        let result = try await taken(map)
        #expect(result.layerErrors.count == 1)
        let group = try #require(result.offlineMap.operationalLayers.first as? GroupLayer)
        #expect(group.name == "Outer" && group.visibilityMode == .exclusive)
        let child = try #require(group.layers.first as? GroupLayer)
        let layer = try #require(child.layers.first as? FeatureLayer)
        #expect(child.name == "Inner" && layer.name == "Places" && group.layers.count == 1)
        #expect(layer.featureTable is GeodatabaseFeatureTable)
    }

    @Test func `a map without updates registers no geodatabase`() async throws {
        let result = try await taken(online()) { $0.updateMode = .noUpdates }
        #expect(!result.hasErrors)
        let asked = server.requests("/City/FeatureServer/createReplica")
        #expect(asked.map { $0.parameters["syncModel"] } == ["none"])
        let task = OfflineMapTask(onlineMap: online())
        let parameters = GenerateOfflineMapParameters(areaOfInterest: area)
        parameters.updateMode = .noUpdates
        let overrides = try await task.makeGenerateOfflineMapParameterOverrides(
            parameters: parameters)
        #expect(overrides.generateGeodatabaseParameters.values.map(\.syncModel) == [.none])
    }

    @Test func `overrides are what services give, and an app may change them`() async throws {
        let map = online(tiles: PackageFiles.tiles(Data()))
        let layer = try #require(map.operationalLayers.first)
        let base = try #require(map.basemap?.baseLayers.first)
        let task = OfflineMapTask(onlineMap: map)
        let parameters = try await task.makeDefaultGenerateOfflineMapParameters(
            areaOfInterest: area)
        let capabilities = try await task.offlineMapCapabilities(parameters: parameters)
        #expect(!capabilities.hasErrors && capabilities.layerCapabilities.count == 2)
        let overrides = try await task.makeGenerateOfflineMapParameterOverrides(
            parameters: parameters)
        let tiles = try #require(
            overrides.exportTileCacheParameters[OfflineMapParametersKey(layer: base)])
        #expect(tiles.levelIDs == [0, 1])
        tiles.compressionQuality = 20
        let features = try #require(
            overrides.generateGeodatabaseParameters[OfflineMapParametersKey(layer: layer)])
        #expect(features.layerOptions.map(\.whereClause) == ["kind = 2"])
        features.layerOptions[0].whereClause = "kind = 3"
        let job = task.makeGenerateOfflineMapJob(
            parameters: parameters, downloadDirectory: folder.appending(path: "package"),
            overrides: overrides)
        // Read back, the job is the same.
        let restored = try GenerateOfflineMapJob.fromJSON(job.toJSON())
        restored.start()
        let result = try await restored.output
        #expect(!result.hasErrors)
        let replica = try #require(server.requests("/City/FeatureServer/createReplica").last)
        #expect(replica.parameters["layerQueries"]?.contains("kind = 3") == true)
        #expect(replica.parameters["replicaSR"] == "102100")
        let export = try #require(server.requests("/Base/MapServer/exportTiles").last)
        #expect(export.parameters["compressionQuality"] == "20")
    }

    @Test func `only a package's own document names files`() async throws {
        let file = folder.appending(path: "served.gpkg")
        let outside = try PackageFiles.folder()
        let document = #"""
            {"operationalLayers":[{"id":"a","title":"a","layerType":"ArcGISFeatureLayer",
            "url":"\#(file.absoluteString)#Places"},{"id":"b","title":"b",
            "layerType":"ArcGISTiledMapServiceLayer","url":"../x.tpkx"}],"baseMap":{}}
            """#
        #expect(try Map.fromJSON(document).operationalLayers.map(\.name) == ["b"])
        server.on("/map.json", json: document)
        let remote = try #require(Map(url: server.url.appending(path: "map.json")))
        try? await remote.load()
        #expect(!remote.operationalLayers.contains { $0 is FeatureLayer })
        try document.write(
            to: outside.appending(path: "map.json"), atomically: true, encoding: .utf8)
        let package = MobileMapPackage(fileURL: outside)
        try await package.load()
        #expect(package.maps.first?.operationalLayers.isEmpty == true)
    }
}
