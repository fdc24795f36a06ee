// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// Feature layers that are drawn here, what their tables keep, and legends.
@Suite struct FeatureLayerTests {
    private let server = StubServer()
    private let path = "/City/FeatureServer/0"

    private static let drawing = #"""
        ,"drawingInfo":{"renderer":{"type":"uniqueValue","field1":"owner","defaultLabel":"others",
        "defaultSymbol":{"type":"esriSMS","style":"esriSMSSquare","color":[128,128,128,255],"size":8},
        "uniqueValueInfos":[{"value":"Ada","label":"of Ada",
        "symbol":{"type":"esriSMS","style":"esriSMSSquare","color":[255,0,0,255],"size":8}}]}}}
        """#

    /// Two points, at 100,500 and 900,500.
    private static let features = #"""
        {"fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"},
        {"name":"owner","type":"esriFieldTypeString"},
        {"name":"floors","type":"esriFieldTypeSmallInteger"}],
        "spatialReference":{"wkid":102100},"features":[
        {"attributes":{"OBJECTID":1,"owner":"Ada","floors":3},"geometry":{"x":100,"y":500}},
        {"attributes":{"OBJECTID":2,"owner":"Bob","floors":8},"geometry":{"x":900,"y":500}}]}
        """#

    init() {
        let layer = Sample.layer(0, "Houses", "esriGeometryPoint").dropLast(1)
        server.on(path, json: layer + Self.drawing)
        server.on(path + "/query", json: Self.features)
    }

    private func table() -> ServiceFeatureTable {
        ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/0"))
    }

    private func map(_ layer: Layer) -> Map {
        let map = Map(spatialReference: .webMercator)
        map.initialViewpoint = Viewpoint(
            boundingGeometry: Envelope(
                xMin: 0, yMin: 0, xMax: 1_000, yMax: 1_000, spatialReference: .webMercator))
        if layer.loadStatus == .notLoaded { map.addOperationalLayer(layer) }
        return map
    }

    /// The colors at the two points in a picture of 100 pixels for 1,000 metres.
    private func picture(of layer: Layer, in map: Map) async throws -> [SymbolColor] {
        let view = MapViewProxy(map: map, size: CGSize(width: 100, height: 100))
        let picture = try await view.exportRaster()
        return [picture.pixel(10, 50), picture.pixel(90, 50)]
    }

    @Test func `without a map service the layer is drawn here, by the service's renderer`()
        async throws
    {
        let layer = FeatureLayer(featureTable: table())
        #expect(layer.renderer == nil)
        let map = map(layer)
        #expect(try await picture(of: layer, in: map) == [.red, .gray])
        #expect((layer.renderer as? UniqueValueRenderer)?.defaultLabel == "others")
        let asked = try #require(server.requests(path + "/query").last)
        #expect(asked.parameters["spatialRel"] == "esriSpatialRelEnvelopeIntersects")
        #expect(asked.parameters["outSR"] == "102100")

        layer.renderer = SimpleRenderer(
            symbol: SimpleMarkerSymbol(style: .square, color: .blue, size: 8))
        #expect(try await picture(of: layer, in: map) == [.blue, .blue])
        layer.resetRenderer()
        #expect(try await picture(of: layer, in: map) == [.red, .gray])
    }

    @Test func `hidden features are neither drawn nor identified`() async throws {
        let layer = FeatureLayer(featureTable: table())
        let map = map(layer)
        let found = try await layer.featureTable.queryFeatures(using: QueryParameters()).features()
        layer.setVisible(false, for: found[0])
        #expect(try await picture(of: layer, in: map) == [.clear, .gray])
        let view = MapViewProxy(map: map, size: CGSize(width: 100, height: 100))
        let first = CGPoint(x: 10, y: 50)
        #expect(try await view.identifyLayers(screenPoint: first, tolerance: 2).isEmpty)
        let second = CGPoint(x: 90, y: 50)
        #expect(try await view.identifyLayers(screenPoint: second, tolerance: 2).count == 1)
        layer.setVisible(false, for: found)
        #expect(try await picture(of: layer, in: map) == [.clear, .clear])
        layer.setVisible(true, for: [found[1]])
        #expect(try await picture(of: layer, in: map) == [.clear, .gray])
        layer.resetFeaturesVisible()
        #expect(try await picture(of: layer, in: map) == [.red, .gray])
    }

    @Test func `a renderer that was set goes through a web map`() async throws {
        let layer = FeatureLayer(featureTable: table())
        let renderer = ClassBreaksRenderer(
            fieldName: "floors",
            classBreaks: [
                ClassBreak(
                    minValue: 0, maxValue: 5,
                    symbol: SimpleMarkerSymbol(style: .square, color: .orange, size: 8)),
                ClassBreak(
                    minValue: 5, maxValue: 10,
                    symbol: SimpleMarkerSymbol(style: .square, color: .purple, size: 8)),
            ])
        layer.renderer = renderer
        let map = map(layer)
        let back = try Map.fromJSON(map.toJSON())
        let read = try #require(back.operationalLayers.first as? FeatureLayer)
        #expect(read.renderer?.toJSON() == renderer.toJSON())
        #expect(try await picture(of: read, in: back) == [.orange, .purple])
        // The service's own is not written.
        layer.resetRenderer()
        #expect(!map.toJSON().contains("drawingInfo"))
    }

    @Test func `in manual mode everything is known from what was populated`() async throws {
        let table = table()
        await #expect(throws: CairnError.self) {
            try await table.populateFromService(clearCache: true)
        }
        table.featureRequestMode = .manualCache
        let layer = FeatureLayer(featureTable: table)
        let map = map(layer)
        #expect(try await picture(of: layer, in: map) == [.clear, .clear])
        #expect(server.requests(path + "/query").isEmpty && table.numberOfFeatures == 0)

        let parameters = QueryParameters()
        parameters.whereClause = "floors > 0"
        let found = try await table.populateFromService(
            using: parameters, clearCache: true, outFields: ["*"])
        #expect(found.features().count == 2 && table.numberOfFeatures == 2)
        #expect(server.requests(path + "/query").last?.parameters["where"] == "floors > 0")
        #expect(try await picture(of: layer, in: map) == [.red, .gray])
        let query = QueryParameters()
        query.whereClause = "UPPER(owner) LIKE 'B%' AND NOT floors BETWEEN 1 AND 3"
        #expect(try await table.queryFeatures(using: query).features().map(owner) == ["Bob"])
        query.whereClause = ""
        query.addOrderByField(OrderBy(fieldName: "floors", sortOrder: .descending))
        #expect(
            try await table.queryFeatures(using: query).features().map(owner) == ["Bob", "Ada"])
        query.geometry = Envelope(
            xMin: 0, yMin: 0, xMax: 200, yMax: 600, spatialReference: .webMercator)
        query.outSpatialReference = .wgs84
        let near = try await table.queryFeatures(using: query).features()
        #expect(near.map(owner) == ["Ada"] && near[0].geometry?.spatialReference == .wgs84)
        // What is kept stays as it is.
        #expect(found.features()[0].geometry?.spatialReference == .webMercator)
        layer.definitionExpression = "owner = 'Bob'"
        #expect(try await picture(of: layer, in: map) == [.clear, .gray])
        let view = MapViewProxy(map: map, size: CGSize(width: 100, height: 100))
        let hit = try await view.identifyLayers(
            screenPoint: CGPoint(x: 90, y: 50), tolerance: 1)
        #expect(hit.first?.geoElements.count == 1)
        #expect(server.requests(path + "/query").count == 1)

        query.geometry = nil
        for (clause, owners) in [
            ("floors = 3 OR owner IN ('Bob', 'Eve')", ["Bob", "Ada"]),
            ("key IS NULL AND floors <> 3", ["Bob"]), ("key IS NOT NULL OR key = 'x'", []),
            ("NOT (floors >= 8)", ["Ada"]), ("owner LIKE '_d%a'", ["Ada"]),
            ("NOT key = 'x'", []), ("Floors > 2.5e0 AND lower(owner) < 'b'", ["Ada"]),
            ("owner NOT LIKE 'A%'", ["Bob"]), ("owner = 'O''Neil'", []),
        ] {
            query.whereClause = clause
            let found = try await table.queryFeatures(using: query).features().map(owner)
            #expect(found == owners, "\(clause)")
        }
        // Populated again, a feature is there once.
        try await table.populateFromService(clearCache: false, outFields: ["owner"])
        #expect(table.numberOfFeatures == 2)
        #expect(server.requests(path + "/query").last?.parameters["outFields"] == "owner,OBJECTID")
        for clause in [
            "floors IN (SELECT 1)", "floors =", "owner LIKE owner", "'open", "floors = 1 extra",
            "SQRT(floors) = 1", "floors ! 1", String(repeating: "(", count: 1_000),
            String(repeating: "NOT ", count: 100_000) + "floors = 1",
            String(repeating: "floors = 1 AND ", count: 100_000) + "floors = 1",
        ] {
            query.whereClause = clause
            let error = await #expect(throws: CairnError.self) {
                try await table.queryFeatures(using: query)
            }
            #expect(error?.kind == .unsupported, "\(clause.prefix(40))")
        }
        table.featureRequestMode = .onInteractionNoCache
        #expect(table.numberOfFeatures == 0)
    }

    private func owner(_ feature: Feature) -> String {
        feature.attributes["owner"] as? String ?? ""
    }

    @Test func `an area is asked once for pictures, until the table is edited`() async throws {
        let table = table()
        server.on(
            path + "/applyEdits", json: #"{"updateResults":[{"objectId":1,"success":true}]}"#)
        let layer = FeatureLayer(featureTable: table)
        let map = map(layer)
        for _ in 0..<3 { #expect(try await picture(of: layer, in: map) == [.red, .gray]) }
        #expect(server.requests(path + "/query").count == 1 && table.numberOfFeatures == 2)
        let feature = try #require(
            try await table.queryFeatures(using: QueryParameters()).features().first)
        feature.setAttributeValue("Eve", forKey: "owner")
        try await table.update(feature)
        try await table.applyEdits()
        server.on(path + "/query", json: Self.features.replacingOccurrences(of: "Ada", with: "Eve"))
        #expect(try await picture(of: layer, in: map) == [.gray, .gray])
        let count = server.requests(path + "/query").count
        table.featureRequestMode = .onInteractionNoCache
        for _ in 0..<2 { _ = try await picture(of: layer, in: map) }
        #expect(server.requests(path + "/query").count == count + 2)
    }

    @Test func `a feature of some fields loads the others, and a refreshed one reads anew`()
        async throws
    {
        let table = table()
        server.on(
            path + "/query",
            json: #"""
                {"fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"}],"features":[
                {"attributes":{"OBJECTID":1}}],"spatialReference":{"wkid":102100}}
                """#)
        let parameters = QueryParameters()
        parameters.returnsGeometry = false
        let feature = try #require(
            try await table.queryFeatures(using: parameters, queryFeatureFields: .idsOnly)
                .features().first as? ArcGISFeature)
        #expect(feature.loadStatus == .notLoaded && feature.geometry == nil)
        server.on(path + "/query", json: Self.features)
        try await feature.load()
        #expect(feature.loadStatus == .loaded && owner(feature) == "Ada")
        #expect((feature.geometry as? Point)?.x == 100)
        #expect(server.requests(path + "/query").last?.parameters["objectIds"] == "1")
        let count = server.requests(path + "/query").count
        try await feature.load()
        #expect(server.requests(path + "/query").count == count)

        feature.setAttributeValue("mine", forKey: "owner")
        feature.refresh()
        #expect(feature.loadStatus == .notLoaded && owner(feature) == "mine")
        try await feature.load()
        #expect(owner(feature) == "Ada")
        feature.refresh()
        server.on(path + "/query", json: #"{"features":[],"fields":[]}"#)
        let error = await #expect(throws: CairnError.self) { try await feature.load() }
        #expect(error?.kind == .invalidState && feature.loadStatus == .failed)
        // A new one has nothing to load.
        let new = try #require(table.makeFeature() as? ArcGISFeature)
        #expect(new.loadStatus == .loaded)
        try await new.load()
    }

    @Test func `a table says what its layer is`() async throws {
        let table = table()
        #expect(table.layerInfo == nil)
        try await table.load()
        let info = try #require(table.layerInfo)
        #expect(info.id == 0 && info.name == "Houses" && info.displayFieldName == "owner")
        #expect(info.objectIDFieldName == "OBJECTID" && info.geometryType == Point.self)
        #expect(info.capabilities == ["Query", "Editing"] && info.maxRecordCount == 2)
    }

    // MARK: Legends

    @Test func `a feature layer's legend is its renderer's`() async throws {
        let layer = FeatureLayer(featureTable: table())
        let infos = try await layer.legendInfos
        #expect(infos.map(\.name) == ["of Ada", "others"])
        #expect((infos[0].symbol as? SimpleMarkerSymbol)?.color == .red)
        layer.renderer = SimpleRenderer()
        #expect(try await layer.legendInfos.map(\.name) == [""])
    }

    @Test func `a map service's legend is its sublayers' pictures, asked once`() async throws {
        let png = try await MapViewProxy(
            map: Map(spatialReference: .webMercator), size: CGSize(width: 20, height: 20)
        ).exportImage().base64EncodedString()
        server.on("/City/MapServer", json: Sample.mapService)
        server.on(
            "/City/MapServer/legend",
            json: """
                {"layers":[{"layerId":2,"layerName":"Roads","legend":[
                {"label":"wide","imageData":"\(png)","contentType":"image/png","width":20,"height":20},
                {"label":"narrow","imageData":"\(png)","width":20,"height":20}]},
                {"layerId":0,"legend":[{"label":"","imageData":"\(png)"}]}]}
                """)
        let layer = ArcGISMapImageLayer(url: server.url.appending(path: "City/MapServer"))
        try await layer.load()
        let ground = layer.subLayerContents[1]
        #expect(try await ground.legendInfos.isEmpty)
        let roads = try await ground.subLayerContents[0].legendInfos
        #expect(roads.map(\.name) == ["wide", "narrow"])
        let symbol = try #require(roads[0].symbol as? PictureMarkerSymbol)
        #expect(symbol.width == 15 && symbol.height == 15)
        try await symbol.load()
        #expect(try await layer.subLayerContents[0].legendInfos.map(\.name) == [""])
        #expect(try await ground.subLayerContents[1].legendInfos.isEmpty)
        #expect(try await layer.legendInfos.isEmpty)
        #expect(server.requests("/City/MapServer/legend").count == 1)
        let down = StubServer()
        down.on("/City/MapServer", json: Sample.mapService)
        let other = ArcGISMapImageLayer(url: down.url.appending(path: "City/MapServer"))
        try await other.load()
        await #expect(throws: ServiceError.self) {
            try await other.mapImageSublayers[0].legendInfos
        }
    }
}
