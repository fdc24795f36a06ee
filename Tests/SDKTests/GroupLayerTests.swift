// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

@Suite struct GroupLayerTests {
    private let server = StubServer()

    init() {
        for (number, name) in ["A", "B", "C"].enumerated() {
            let path = "/\(name)/FeatureServer/0"
            server.on(path, json: Sample.layer(0, name, "esriGeometryPoint"))
            server.on(
                path + "/query",
                json: """
                    {"fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"}],
                    "spatialReference":{"wkid":102100},"features":[
                    {"attributes":{"OBJECTID":\(number)},"geometry":{"x":500,"y":500}}]}
                    """)
        }
    }

    private func layer(_ name: String, _ color: SymbolColor) -> FeatureLayer {
        let layer = FeatureLayer(
            featureTable: ServiceFeatureTable(
                url: server.url.appending(path: "\(name)/FeatureServer/0")))
        layer.renderer = SimpleRenderer(
            symbol: SimpleMarkerSymbol(style: .square, color: color, size: 20))
        return layer
    }

    private func view(_ map: Map) -> MapViewProxy {
        map.initialViewpoint = Viewpoint(
            boundingGeometry: Envelope(
                xMin: 0, yMin: 0, xMax: 1_000, yMax: 1_000, spatialReference: .webMercator))
        return MapViewProxy(map: map, size: CGSize(width: 100, height: 100))
    }

    @Test func `a group is drawn bottom to top under its opacity, and hidden as a whole`()
        async throws
    {
        let (red, blue) = (layer("A", .red), layer("B", .blue))
        let group = GroupLayer(childLayers: [red, blue])
        let map = Map(spatialReference: .webMercator)
        map.addOperationalLayer(group)
        let view = view(map)
        #expect(try await view.exportRaster().pixel(50, 50) == .blue)
        blue.isVisible = false
        #expect(try await view.exportRaster().pixel(50, 50) == .red)
        group.opacity = 0.5
        red.opacity = 0.5
        #expect(try await view.exportRaster().pixel(50, 50).alpha == 64)
        group.isVisible = false
        #expect(try await view.exportRaster().pixel(50, 50) == .clear)
        #expect(view.layerViewState(of: red) == .notVisible)
    }

    @Test func `an identify answers a group once, its layers in it, the top one first`()
        async throws
    {
        let inner = GroupLayer(childLayers: [layer("C", .green)])
        let group = GroupLayer(childLayers: [layer("A", .red), layer("B", .blue), inner])
        let map = Map(spatialReference: .webMercator)
        map.addOperationalLayer(group)
        let view = view(map)
        let place = CGPoint(x: 50, y: 50)
        let found = try await view.identifyLayers(screenPoint: place, tolerance: 2)
        let first = try #require(found.first)
        #expect(found.count == 1 && first.layerContent === group && first.geoElements.isEmpty)
        #expect(first.sublayerResults.map(\.layerContent.name) == ["", "B", "A"])
        #expect(first.sublayerResults[0].sublayerResults.map(\.layerContent.name) == ["C"])
        group.layers[1].isVisible = false
        let again = try await view.identifyLayers(screenPoint: place, tolerance: 2)
        #expect(again[0].sublayerResults.map(\.layerContent.name) == ["", "A"])
        // A layer that cannot be asked is there with its error.
        server.on("/A/FeatureServer/0/query", .error(400, "no"))
        let failed = try await view.identifyLayers(screenPoint: place, tolerance: 2)
        #expect(failed[0].sublayerResults.last?.error is ServiceError)
        inner.isVisible = false
        await #expect(throws: ServiceError.self) {
            try await view.identifyLayers(screenPoint: place, tolerance: 2)
        }
    }

    @Test func `of an exclusive group one layer is visible`() {
        let layers = ["A", "B", "C"].map { layer($0, .red) }
        let group = GroupLayer(childLayers: layers)
        func visible() -> [Bool] { layers.map(\.isVisible) }
        group.visibilityMode = .exclusive
        #expect(visible() == [true, false, false])
        layers[2].isVisible = true
        #expect(visible() == [false, false, true])
        layers[2].isVisible = false
        #expect(visible() == [false, false, false])
        layers[0].isVisible = true
        let added = layer("A", .blue)
        group.addLayer(added)
        #expect(!added.isVisible && layers[0].isVisible)
        group.visibilityMode = .independent
        layers[1].isVisible = true
        #expect(visible() == [true, true, false])
    }

    @Test func `layers of an inherited group are as the group`() {
        let layers = ["A", "B"].map { layer($0, .red) }
        layers[1].isVisible = false
        let group = GroupLayer(childLayers: layers)
        #expect(layers[0].canChangeVisibility)
        group.visibilityMode = .inherited
        #expect(layers.allSatisfy { $0.isVisible && !$0.canChangeVisibility })
        group.isVisible = false
        #expect(layers.allSatisfy { !$0.isVisible })
    }

    @Test func `a layer is in one map or group, once, and a group not in itself`() {
        let (first, second) = (layer("A", .red), layer("B", .blue))
        let group = GroupLayer(childLayers: [first, first])
        #expect(group.layers.count == 1)
        let map = Map()
        map.addOperationalLayer(first)
        #expect(map.operationalLayers.isEmpty)
        map.addOperationalLayer(second)
        group.addLayer(second)
        #expect(group.layers.count == 1)
        let outer = GroupLayer(childLayers: [group])
        group.addLayer(outer)
        group.addLayer(group)
        #expect(group.layers.count == 1 && outer.layers.count == 1)
        group.removeAllLayers()
        map.addOperationalLayer(first)
        #expect(map.operationalLayers.count == 2)
        group.insertLayer(layer("C", .red), at: 0)
        group.insertLayer(layer("A", .red), at: 0)
        #expect(group.subLayerContents.count == 2 && group.layers[1].name == "")
    }

    @Test func `a map without a basemap takes the reference of the first layer in a group`()
        async throws
    {
        let group = GroupLayer(childLayers: [layer("Missing", .red), layer("A", .red)])
        let map = Map()
        map.addOperationalLayer(group)
        try await map.load()
        #expect(map.spatialReference == .webMercator)
        #expect(group.fullExtent?.xMax == 1_000 && group.loadStatus == .loaded)
        let lost = GroupLayer(childLayers: [layer("Missing", .red)])
        await #expect(throws: ServiceError.self) { try await lost.load() }
    }

    @Test func `groups go through a web map`() async throws {
        let inner = GroupLayer(childLayers: [layer("C", .green)])
        let group = GroupLayer(childLayers: [layer("A", .red), inner])
        group.name = "both"
        group.visibilityMode = .exclusive
        inner.visibilityMode = .inherited
        let map = Map(spatialReference: .webMercator)
        map.addOperationalLayer(group)
        // Names come with the layers.
        try await group.load()
        let back = try Map.fromJSON(map.toJSON())
        #expect(back.toJSON() == map.toJSON())
        let read = try #require(back.operationalLayers.first as? GroupLayer)
        #expect(read.name == "both" && read.visibilityMode == .exclusive)
        #expect(read.layers.map(\.isVisible) == [true, false])
        #expect((read.layers[1] as? GroupLayer)?.layers.count == 1)
        #expect(try await view(back).exportRaster().pixel(50, 50) == .red)
    }

    @Test func `the layers of a map are followed`() async {
        let map = Map()
        var counts = map.$operationalLayers.makeAsyncIterator()
        #expect(await counts.next()?.count == 0)
        let first = layer("A", .red)
        map.addOperationalLayer(first)
        #expect(await counts.next()?.count == 1)
        map.addOperationalLayer(first)
        map.removeOperationalLayer(first)
        #expect(await counts.next()?.count == 0)
    }

    @Test func `a layer of tiles says whose they are, also through a web map`() throws {
        let tiles = WebTiledLayer(
            urlTemplate: "https://{subDomain}.example.org/{level}/{col}/{row}.png",
            subDomains: ["a", "b"])
        tiles.setAttribution("© example")
        let map = Map()
        map.addOperationalLayer(tiles)
        let read = try Map.fromJSON(map.toJSON()).operationalLayers.first as? WebTiledLayer
        #expect(read?.attribution == "© example" && read?.subDomains == ["a", "b"])
    }
}
