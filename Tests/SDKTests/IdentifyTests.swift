// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

@Suite struct IdentifyThroughViewTests {
    private let server = StubServer()

    init() {
        server.on("/City/MapServer", json: Sample.mapService)
        server.on("/City/MapServer/0", json: Sample.layer(0, "Places", "esriGeometryPoint"))
        server.on("/City/MapServer/2", json: Sample.layer(2, "Roads", "esriGeometryPolyline"))
        server.on("/City/MapServer/3", json: Sample.layer(3, "Parcels"))
    }

    private func result(_ layer: Int, _ owner: String) -> String {
        #"""
        {"layerId":\#(layer),"layerName":"x","displayFieldName":"owner","value":"\#(owner)",
        "attributes":{"OBJECTID":"7","owner":"\#(owner)","floors":3,"built":1000,
        "key":"{6F9619FF-8B86-D011-B42D-00C04FC964FF}","gone":null},
        "geometryType":"esriGeometryPoint","geometry":{"x":500,"y":500}}
        """#
    }

    private func view(_ layers: [Layer]) -> MapViewProxy {
        let map = Map(basemapStyle: .arcGISTopographic)
        map.initialViewpoint = Viewpoint(
            center: Point(x: 500, y: 500, spatialReference: .webMercator), scale: 10_000)
        map.addOperationalLayers(layers)
        return MapViewProxy(map: map, size: CGSize(width: 400, height: 300))
    }

    private var image: ArcGISMapImageLayer {
        ArcGISMapImageLayer(url: server.url.appending(path: "City/MapServer"))
    }

    @Test func `one result comes for each layer, sublayers nested, the top one first`()
        async throws
    {
        server.on(
            "/City/MapServer/identify",
            json: #"{"results":[\#(result(0, "a")),\#(result(2, "b")),\#(result(3, "c"))]}"#)
        let found = try await view([image]).identifyLayers(
            screenPoint: CGPoint(x: 200, y: 150), tolerance: 6, maximumResultsPerLayer: nil)
        #expect(found.count == 1)
        #expect(found[0].geoElements.isEmpty)
        // A service lists its layers top to bottom.
        #expect(found[0].sublayerResults.map(\.layerContent.name) == ["Places", "Ground"])
        #expect(
            found[0].sublayerResults[1].sublayerResults.map(\.layerContent.name)
                == ["Roads", "Parcels"])
        let asked = try #require(server.requests("/City/MapServer/identify").first).parameters
        #expect(asked["layers"] == "visible:0,2,3")
        #expect(asked["imageDisplay"] == "400,300,96")
        #expect(asked["tolerance"] == "6")
        #expect(asked["sr"] == "102100")
        #expect(asked["returnUnformattedValues"] == "true")
    }

    @Test func `attributes are typed by their fields`() async throws {
        server.on("/City/MapServer/identify", json: #"{"results":[\#(result(0, "a"))]}"#)
        let found = try await view([image]).identifyLayers(
            screenPoint: CGPoint(x: 200, y: 150), tolerance: 6)
        let element = try #require(found.first?.sublayerResults.first?.geoElements.first)
        #expect(element.attributes["OBJECTID"] as? Int64 == 7)
        #expect(element.attributes["owner"] as? String == "a")
        #expect(element.attributes["floors"] as? Int16 == 3)
        #expect(element.attributes["built"] as? Date == Date(timeIntervalSince1970: 1))
        #expect(element.attributes["key"] is UUID)
        #expect(element.attributes["gone"] == nil)
        #expect((element.geometry as? Point)?.x == 500)
    }

    @Test func `hidden layers and those out of scale are not asked, nor below hidden parents`()
        async throws
    {
        server.on("/City/MapServer/identify", json: #"{"results":[]}"#)
        let layer = image
        try await layer.load()
        let view = view([layer])
        await view.setViewpointScale(100_000)
        _ = try await view.identifyLayers(screenPoint: CGPoint(x: 1, y: 1), tolerance: 0)
        #expect(server.requests.last?.parameters["layers"] == "visible:0,2")
        layer.mapImageSublayers[1].isVisible = false
        _ = try await view.identifyLayers(screenPoint: CGPoint(x: 1, y: 1), tolerance: 0)
        #expect(server.requests.last?.parameters["layers"] == "visible:0")
        layer.subLayerContents[0].isVisible = false
        let count = server.requests.count
        _ = try await view.identifyLayers(screenPoint: CGPoint(x: 1, y: 1), tolerance: 0)
        #expect(server.requests.count == count)
    }

    @Test func `a layer's results are limited, and say so`() async throws {
        let many = (0..<5).map { result(0, "n\($0)") }.joined(separator: ",")
        server.on("/City/MapServer/identify", json: #"{"results":[\#(many)]}"#)
        let view = view([image])
        let one = try await view.identifyLayers(
            screenPoint: CGPoint(x: 1, y: 1), tolerance: 0)
        #expect(one[0].sublayerResults[0].geoElements.count == 1)
        #expect(one[0].sublayerResults[0].isTransferLimitExceeded)
        let all = try await view.identifyLayers(
            screenPoint: CGPoint(x: 1, y: 1), tolerance: 0, maximumResultsPerLayer: nil)
        #expect(all[0].sublayerResults[0].geoElements.count == 5)
        #expect(!all[0].sublayerResults[0].isTransferLimitExceeded)
    }

    @Test func `a layer that cannot be asked has a result with its error`() async throws {
        server.on("/City/MapServer/identify", json: #"{"results":[\#(result(0, "a"))]}"#)
        let bad = ArcGISMapImageLayer(url: server.url.appending(path: "Missing/MapServer"))
        let view = view([image, bad])
        let found = try await view.identifyLayers(
            screenPoint: CGPoint(x: 1, y: 1), tolerance: 0)
        #expect(found.count == 2)
        #expect((found[0].error as? ServiceError)?.code == 404)
        #expect(found[0].layerContent === bad)
        server.on("/City/MapServer/identify", .error(500, "no"))
        let all = await #expect(throws: ServiceError.self) {
            try await view.identifyLayers(screenPoint: CGPoint(x: 1, y: 1), tolerance: 0)
        }
        #expect(all?.code == 404)
    }

    @Test(arguments: [-1.0, 100.5, .nan, .infinity])
    func `a tolerance outside 0 to 100 is refused`(_ tolerance: Double) async throws {
        let view = view([image])
        await #expect(throws: CairnError.self) {
            try await view.identifyLayers(screenPoint: .zero, tolerance: tolerance)
        }
    }

    @Test func `a feature layer without a map service tests the circle itself`() async throws {
        server.on("/City/FeatureServer/3", json: Sample.layer(3, "Parcels"))
        server.on("/City/MapServer/identify", .error(404, "no service"))
        // Inside the circle's envelope, one inside the circle and one in its corner.
        server.on(
            "/City/FeatureServer/3/query",
            json: #"""
                {"spatialReference":{"wkid":102100},"features":[
                {"attributes":{"OBJECTID":1},"geometry":{"rings":[[[505,500],[506,500],[506,501],
                [505,500]]]}},
                {"attributes":{"OBJECTID":2},"geometry":{"rings":[[[526,526],[527,526],[527,527],
                [526,526]]]}}]}
                """#)
        let table = ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/3"))
        let layer = FeatureLayer(featureTable: table)
        layer.definitionExpression = "floors > 2"
        let view = view([layer])
        // 10 pixels at 1:10,000 are 26.5 metres.
        let found = try await view.identifyLayers(
            screenPoint: CGPoint(x: 200, y: 150), tolerance: 10, maximumResultsPerLayer: nil)
        #expect(found.first?.geoElements.map { $0.attributes["OBJECTID"] as? Int64 } == [1])
        #expect(
            server.requests("/City/FeatureServer/3/query").first?.parameters["where"]
                == "floors > 2")
    }

    @Test func `graphics are found by their distance, the top one first`() async throws {
        let view = view([])
        let overlay = GraphicsOverlay()
        let low = Graphic(geometry: Point(x: 500, y: 500, spatialReference: .webMercator))
        let high = Graphic(geometry: Point(latitude: 0.00449157, longitude: 0.00449157))
        let far = Graphic(geometry: Point(x: 900, y: 900, spatialReference: .webMercator))
        high.zIndex = 1
        overlay.addGraphics([low, far, high, low])
        #expect(overlay.graphics.count == 3)
        view.graphicsOverlays = [overlay]
        let found = try await view.identify(
            on: overlay, screenPoint: CGPoint(x: 200, y: 150), tolerance: 3, maximumResults: nil)
        #expect(found.graphics == [high, low])
        let all = try await view.identifyGraphicsOverlays(
            screenPoint: CGPoint(x: 200, y: 150), tolerance: 3)
        #expect(all.first?.graphics == [high])
        #expect(all.first?.isTransferLimitExceeded == true)
    }

    @Test func `a turned view finds the place under its pixel`() async throws {
        let view = view([])
        try await view.map.load()
        await view.setViewpointRotation(90)
        // 100 pixels to the right of a view turned by 90 degrees counterclockwise lie south.
        let place = try #require(view.location(fromScreenPoint: CGPoint(x: 300, y: 150)))
        let metres = 100 * 10_000 * 0.0254 / 96
        #expect(abs(place.x - 500) < 1e-6)
        #expect(abs(abs(place.y - 500) - metres) < 1e-6)
        let back = try #require(view.screenPoint(fromLocation: place))
        #expect(abs(back.x - 300) < 1e-6 && abs(back.y - 150) < 1e-6)
    }

    @Test func `a cancelled identify ends its request`() async throws {
        let gate = StubGate()
        server.on("/City/MapServer/identify", StubAnswer.json(#"{"results":[]}"#).held(by: gate))
        let view = view([image])
        let asked = Task {
            try await view.identifyLayers(screenPoint: CGPoint(x: 1, y: 1), tolerance: 0)
        }
        await gate.arrived()
        asked.cancel()
        await #expect(throws: CancellationError.self) { try await asked.value }
    }
}
