// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

@Suite struct MapTests {
    private let server = StubServer()

    init() {
        server.on("/City/MapServer", json: Sample.mapService)
        server.on("/Base/MapServer", json: Sample.tiledService)
    }

    private func image(_ name: String = "City") -> ArcGISMapImageLayer {
        ArcGISMapImageLayer(url: server.url.appending(path: "\(name)/MapServer"))
    }

    @Test func `the basemap decides the reference, and it stays`() async throws {
        let base = ArcGISTiledLayer(url: server.url.appending(path: "Base/MapServer"))
        let map = Map(basemap: Basemap(baseLayer: base))
        #expect(map.spatialReference == nil)
        try await map.load()
        #expect(map.spatialReference == .webMercator)
        map.basemap = nil
        #expect(map.spatialReference == .webMercator)
    }

    @Test func `a basemap that fails leaves the map blank until it is tried again`() async throws {
        server.on("/Down/MapServer", .error(500, "out of order"))
        let base = ArcGISTiledLayer(url: server.url.appending(path: "Down/MapServer"))
        let basemap = Basemap(baseLayer: base)
        basemap.name = "Ground"
        let map = Map(basemap: basemap)
        map.addOperationalLayer(image())
        let error = await #expect(throws: CairnError.self) { try await map.load() }
        #expect(error?.kind == .noSpatialReference)
        #expect(error?.description.contains("its basemap 'Ground' failed") == true)
        #expect(error?.description.contains("out of order") == true)
        #expect(map.spatialReference == nil)
        let view = MapViewProxy(map: map, size: CGSize(width: 100, height: 100))
        await #expect(throws: CairnError.self) {
            try await view.identifyLayers(screenPoint: CGPoint(x: 1, y: 1), tolerance: 0)
        }
        await #expect(throws: CairnError.self) { try await view.exportImage() }

        // Taken away, the next layer decides.
        map.basemap = nil
        try await map.retryLoad()
        #expect(map.spatialReference == .webMercator)
    }

    @Test func `a map without a basemap takes the first layer's reference`() async throws {
        let map = Map()
        map.addOperationalLayer(image())
        try await map.load()
        #expect(map.spatialReference == .webMercator)
        map.removeAllOperationalLayers()
        #expect(map.spatialReference == .webMercator)
    }

    @Test func `a layer that fails does not fail the map`() async throws {
        let map = Map(basemapStyle: .arcGISTopographic)
        let bad = image("Missing")
        map.addOperationalLayers([bad, image()])
        try await map.load()
        #expect(map.spatialReference == .webMercator)
        await #expect(throws: ServiceError.self) { try await bad.load() }
    }

    @Test func `layers lie bottom to top, and one layer is in one map once`() {
        let map = Map()
        let (first, second, third) = (image(), image(), image())
        map.addOperationalLayers([first, second])
        map.insertOperationalLayer(third, at: 0)
        map.addOperationalLayer(first)
        Map().addOperationalLayer(second)
        #expect(
            map.operationalLayers.map { ObjectIdentifier($0) }
                == [third, first, second].map { ObjectIdentifier($0) })
        map.removeOperationalLayer(first)
        let other = Map()
        other.addOperationalLayer(first)
        #expect(other.operationalLayers.count == 1)
    }

    @Test func `a style of a basemap is an empty one in Web Mercator unless the app says more`()
        async throws
    {
        let map = Map(basemapStyle: .arcGISImagery)
        try await map.load()
        #expect(map.spatialReference == .webMercator)
        #expect(map.basemap?.baseLayers.isEmpty == true)
    }

    @Test func `tiles of another reference show nothing, other layers are projected`()
        async throws
    {
        server.on(
            "/Degrees/MapServer",
            json: Sample.tiledService.replacingOccurrences(of: "102100", with: "4326"))
        server.on("/City/FeatureServer/0", json: Sample.layer(0, "Places", "esriGeometryPoint"))
        server.on(
            "/City/FeatureServer/0/query",
            json: #"""
                {"spatialReference":{"wkid":102100},"fields":[{"name":"OBJECTID",
                "type":"esriFieldTypeOID"}],"features":[{"attributes":{"OBJECTID":1},
                "geometry":{"x":0,"y":0}}]}
                """#)
        server.on("/City/MapServer/identify", json: #"{"results":[]}"#)
        let tiles = ArcGISTiledLayer(url: server.url.appending(path: "Degrees/MapServer"))
        let table = ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/0"))
        let map = Map(basemapStyle: .arcGISTopographic)
        let image = image()
        map.addOperationalLayers([tiles, image, FeatureLayer(featureTable: table)])
        map.initialViewpoint = Viewpoint(latitude: 0, longitude: 0, scale: 5_000)
        let view = MapViewProxy(map: map, size: CGSize(width: 100, height: 100))
        let mark = Graphic(
            geometry: Point(latitude: 0, longitude: 0),
            symbol: SimpleMarkerSymbol(style: .square, color: .red, size: 20))
        view.graphicsOverlays = [GraphicsOverlay(graphics: [mark])]
        let raster = try await view.exportRaster()
        #expect(raster.pixel(50, 50) == .red)
        guard case .incompatible(let why) = view.layerViewState(of: tiles) else {
            Issue.record("the tiles are \(view.layerViewState(of: tiles))")
            return
        }
        #expect("\(why)".contains("4326"), "\(why)")
        #expect(server.requests.allSatisfy { !$0.path.contains("/tile/") })
        _ = try await view.identifyLayers(screenPoint: CGPoint(x: 50, y: 50), tolerance: 2)
        #expect(server.requests("/City/MapServer/identify").last?.parameters["sr"] == "102100")
        // The place of the service's picture is in the map's reference.
        #expect(
            server.requests("/City/MapServer/export").last?.parameters["imageSR"] == "102100")
    }

    @Test func `a map goes through its document without loss`() async throws {
        let map = Map(basemapStyle: .arcGISTopographic)
        map.initialViewpoint = Viewpoint(latitude: 47.37, longitude: 8.54, scale: 5_000)
        let image = image()
        image.name = "the city"
        image.opacity = 0.5
        image.isVisible = false
        let table = ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/3"))
        let features = FeatureLayer(featureTable: table)
        features.definitionExpression = "floors > 3"
        map.addOperationalLayers([image, features])
        try await image.load()
        image.mapImageSublayers[1].mapImageSublayers[0].isVisible = false
        image.mapImageSublayers[0].definitionExpression = "name <> ''"
        map.addBookmark(Bookmark(name: "home", viewpoint: map.initialViewpoint))

        let back = try Map.fromJSON(map.toJSON())
        #expect(back.basemap?.style == .arcGISTopographic)
        #expect(back.initialViewpoint?.targetScale == 5_000)
        #expect((back.initialViewpoint?.targetGeometry as? Point)?.y == 47.37)
        #expect(back.operationalLayers.map(\.name) == ["the city", features.name])
        let first = try #require(back.operationalLayers.first as? ArcGISMapImageLayer)
        #expect(first.url == image.url && !first.isVisible && first.opacity == 0.5)
        let second = try #require(back.operationalLayers.last as? FeatureLayer)
        #expect(second.definitionExpression == "floors > 3")
        #expect(back.bookmarks.map(\.name) == ["home"])
        #expect(back.toJSON() == map.toJSON())
        try await first.load()
        #expect(back.toJSON() == map.toJSON())
        #expect(!first.mapImageSublayers[1].mapImageSublayers[0].isVisible)
        #expect(first.mapImageSublayers[0].definitionExpression == "name <> ''")
        let place = back.bookmarks[0]
        place.name = "there"
        back.addBookmarks([Bookmark(name: "away", viewpoint: nil)])
        #expect(back.bookmarks.map(\.name) == ["there", "away"])
        back.removeBookmark(place)
        #expect(back.bookmarks.map(\.name) == ["away"])
        #expect(throws: CairnError.self) { try Map.fromJSON("[]") }
        #expect(throws: CairnError.self) { try Map.fromJSON("{") }
    }

    @Test func `vector tiles of a service are its bytes, and the layer goes through a document`()
        async throws
    {
        server.on(
            "/World/VectorTileServer",
            json: Sample.tiledService.replacingOccurrences(
                of: #""mapName":"Base""#,
                with: #""name":"World","defaultStyles":"resources/styles","#
                    + #""tiles":["tile/{z}/{y}/{x}.pbf"]"#))
        server.on(
            "/World/VectorTileServer/tile/3/2/1.pbf",
            .bytes(Data([26, 0]), type: "application/x-protobuf"))
        server.on(
            "/World/VectorTileServer/tile/3/2/2.pbf", .bytes(Data(), type: "application/x-protobuf")
        )
        server.on("/World/VectorTileServer/resources/styles/root.json", json: #"{"version":8}"#)
        let url = server.url.appending(path: "World/VectorTileServer")
        let layer = ArcGISVectorTiledLayer(url: url)
        try await layer.load()
        #expect(layer.name == "World" && layer.spatialReference == .webMercator)
        #expect(try await layer.tileData(level: 3, row: 2, column: 1) == Data([26, 0]))
        #expect(try await layer.tileData(level: 3, row: 2, column: 2) == nil)
        #expect(try await layer.tileData(level: 3, row: 9, column: 9) == nil)
        #expect(try await layer.styleJSON() == #"{"version":8}"#)

        let map = Map()
        map.addOperationalLayer(layer)
        let back = try Map.fromJSON(map.toJSON()).operationalLayers.first
        #expect((back as? ArcGISVectorTiledLayer)?.url == url)
    }
}
