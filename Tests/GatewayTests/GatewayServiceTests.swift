// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import FoundationEssentials
import Geometry
import Platform
import Synchronization
import Testing

@testable import Gateway

private let root = "/arcgis/rest/services"

/// A service on a simulated site, with requests by URL.
private struct Asked {
    let site: SimulatedSite
    let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    func get(_ url: String, form: String = "", wantsPage: Bool = false) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                form: Array(form.utf8), wantsPage: wantsPage))
    }

    func text(_ url: String) async -> String {
        String(decoding: await get(url).body, as: UTF8.self)
    }

    func json(_ url: String) async throws -> RelaxedValue { try RelaxedJSON.parse(await text(url)) }

    func errorCode(_ url: String) async throws -> Double? {
        try await json(url)["error"]?["code"]?.number
    }
}

extension RelaxedValue {
    fileprivate subscript(index: Int) -> RelaxedValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    fileprivate var elements: [RelaxedValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }
}

@Suite struct MapServerTests {
    @Test func `the catalog lists maps and locators`() async throws {
        #expect(
            try await Asked().text(root)
                == #"{"currentVersion":10.91,"folders":[],"services":[{"name":"City","type":"MapServer"},{"name":"City","type":"FeatureServer"},{"name":"World","type":"GeocodeServer"},{"name":"Roads","type":"NAServer"}]}"#
        )
    }

    @Test func `layers are listed top first, a group before what it holds`() async throws {
        let service = try await Asked().json(root + "/City/MapServer?f=json")
        let layers = try #require(service["layers"]).elements
        #expect(layers.map { $0["id"] } == [.number(1), .number(2), .number(3), .number(0)])
        #expect(layers[0]["subLayerIds"] == .array([.number(2), .number(3)]))
        #expect(layers[0]["type"] == .string("Group Layer"))
        #expect(layers[1]["parentLayerId"] == .number(1))
        #expect(layers[1]["defaultVisibility"] == .bool(false))
        #expect(layers[3]["parentLayerId"] == .number(-1))
        #expect(layers[3]["minScale"] == .number(50_000))
    }

    @Test func `a layer's type is what an ArcGIS server calls it`() async throws {
        let kinds: [(LayerSource, String)] = [
            (.raster(try Samples.hash()), "Raster Layer"),
            (.wms(WMSSource(url: "http://x", layers: ["a"])), "Raster Layer"),
            (.mapService(ArcGISSource(url: "http://x")), "Raster Layer"),
            (.tiles(TileSource(url: "http://x")), "Raster Layer"),
            (.featureService(ArcGISSource(url: "http://x")), "Feature Layer"),
            (.graphics(GraphicsSource(spatialReference: .wgs84)), "Feature Layer"),
        ]
        for (source, type) in kinds {
            let asked = try Asked()
            asked.site.change { $0.map.layers[0].kind = .layer(source: source) }

            let service = try await asked.json(root + "/City/MapServer")
            let legend = try await asked.json(root + "/City/MapServer/legend")

            #expect(service["layers"]?.elements.last?["type"] == .string(type))
            #expect(legend["layers"]?.elements.last?["layerType"] == .string(type))
            #expect(try await asked.json(root + "/City/MapServer/0")["type"] == .string(type))
        }
    }

    @Test func `both numbers of a spatial reference are given`() async throws {
        let text = try await Asked().text(root + "/City/MapServer")
        #expect(text.contains(#""spatialReference":{"wkid":102100,"latestWkid":3857}"#))
    }

    @Test func `a layer in another reference is placed by its extent in degrees`() async throws {
        let layer = try await Asked().json(root + "/City/MapServer/2?f=json")
        let extent = try #require(layer["extent"])
        let expected = WebMercator.project(Coordinate(x: 3, y: 4))
        #expect(extent["xmax"] == .number(expected.x))
        #expect(extent["ymax"] == .number(expected.y))
        #expect(extent["spatialReference"]?["latestWkid"] == .number(3857))
    }

    @Test func `a layer has fields, and its text field for display`() async throws {
        let layer = try await Asked().json(root + "/City/MapServer/0?f=json")
        #expect(layer["displayField"] == .string("NAME"))
        #expect(layer["objectIdField"] == .string("OBJECTID"))
        #expect(layer["geometryType"] == .string("esriGeometryPolygon"))
        let fields = try #require(layer["fields"]).elements
        #expect(
            fields.map { $0["type"] } == [
                .string("esriFieldTypeOID"), .string("esriFieldTypeInteger"),
                .string("esriFieldTypeString"),
            ])
    }

    @Test func `a layer tells its time, aliases, Z and whether it may be queried`() async throws {
        let asked = try Asked()
        asked.site.change { inner in
            inner.map.layers[0].timeInfo = LayerTimeInfo(startField: "BUILT", endField: "RAZED")
            inner.map.layers[0].fieldAliases = ["POP": "People"]
            inner.map.layers[0].isQueryable = false
            inner.map.layers[0].properties?.hasZ = true
        }

        let layer = try await asked.json(root + "/City/MapServer/0?f=json")

        #expect(layer["timeInfo"]?["startTimeField"] == .string("BUILT"))
        #expect(layer["timeInfo"]?["endTimeField"] == .string("RAZED"))
        #expect(layer["capabilities"] == .string("Map"))
        #expect(layer["hasZ"] == .bool(true) && layer["hasM"] == .bool(false))
        let fields = try #require(layer["fields"]).elements
        #expect(
            fields.map { $0["alias"] } == [
                .string("OBJECTID"), .string("People"), .string("NAME"),
            ])
        let plain = try await Asked().json(root + "/City/MapServer/0?f=json")
        #expect(plain["capabilities"] == .string("Map,Query") && plain["timeInfo"] == nil)
    }

    @Test func `a service tells from when to when the features of its layers with time are`()
        async throws
    {
        let asked = try Asked()
        let plain = try await asked.json(root + "/City/MapServer")
        #expect(plain["timeInfo"] == nil)
        asked.site.change { inner in
            for index in [0, 2] {
                inner.map.layers[index].timeInfo = LayerTimeInfo(startField: "POP")
            }
            inner.answerToQuery = { request in
                let (first, last) = request.layer == 0 ? (-5, 7) : (-2, 11)
                return #"{"features":[{"attributes":{"first":\#(first),"last":\#(last)}}]}"#
            }
        }
        let root = try await asked.json(root + "/City/MapServer")
        #expect(root["timeInfo"]?["timeExtent"] == .array([.number(-5), .number(11)]))
        #expect(root["timeInfo"]?["timeReference"]?["timeZone"] == .string("UTC"))
    }

    @Test func `fields say how long text may be, whether they may be edited and be null`()
        async throws
    {
        let asked = try Asked()
        asked.site.change { inner in
            inner.map.layers[0].properties?.fields.append(
                FieldDescription(name: "NOTE", type: .string))
            inner.map.layers[0].edits = LayerEdits(isOpen: true)
        }
        func fields(_ path: String) async throws -> [RelaxedValue] {
            try #require(try await asked.json(root + "/City/" + path)["fields"]).elements
        }
        let edited = try await fields("FeatureServer/0")
        #expect(edited.map { $0["editable"] } == [false, true, true, true].map { .bool($0) })
        #expect(edited.map { $0["nullable"] } == [false, true, true, true].map { .bool($0) })
        // A text without a length has one that no client truncates at.
        let lengths = edited.map { $0["length"]?.number }
        #expect(lengths[..<3] == [nil, nil, 80] && lengths[3] ?? 0 >= 1_000_000)
        asked.site.change { $0.map.layers[0].edits = nil }
        let closed = try await fields("FeatureServer/0")
        #expect(closed.allSatisfy { $0["editable"] == .bool(false) })
        #expect(closed.map { $0["nullable"] } == edited.map { $0["nullable"] })
    }

    @Test func `the parent of a layer is a group of the map, and none of a feature service`()
        async throws
    {
        let asked = try Asked()
        for id in [2, 3] {
            let layer = try await asked.json(root + "/City/MapServer/\(id)")
            #expect(layer["parentLayer"]?["id"] == .number(1))
            #expect(layer["parentLayer"]?["name"] == .string("Group"))
            // There are no groups in it.
            let feature = try await asked.json(root + "/City/FeatureServer/\(id)")
            #expect(feature["parentLayer"] == .null)
        }
        #expect(try await asked.json(root + "/City/MapServer/0")["parentLayer"] == .null)
    }

    @Test func `a map without layers is the whole world, for clients to open`() async throws {
        let asked = try Asked()
        asked.site.change { inner in
            (inner.map.layers, inner.map.rootLayers) = ([], [])
            (inner.map.spatialReference, inner.map.initialExtent) = (nil, nil)
        }
        for kind in ["MapServer", "FeatureServer"] {
            let service = try await asked.json(root + "/City/" + kind)
            #expect(service["spatialReference"]?["wkid"] == .number(102_100))
            #expect(service["layers"] == .array([]) && service["units"] == .string("esriMeters"))
            for name in ["initialExtent", "fullExtent"] {
                let extent = try #require(service[name])
                #expect(extent["xmin"]?.number ?? 0 < -2e7 && extent["ymax"]?.number ?? 0 > 2e7)
                #expect(extent["spatialReference"]?["latestWkid"] == .number(3857))
            }
        }
    }

    @Test func `a layer without features has the extent of the world`() async throws {
        let asked = try Asked()
        asked.site.change { inner in
            inner.map.layers[0].properties?.extent = nil
            inner.map.layers[0].properties?.spatialReference = .wgs84
        }
        for kind in ["MapServer", "FeatureServer"] {
            let extent = try await asked.json(root + "/City/\(kind)/0")["extent"]
            #expect(extent?["xmin"] == .number(-180) && extent?["ymax"] == .number(90))
            #expect(extent?["spatialReference"]?["wkid"] == .number(4326))
        }
    }

    @Test func `a layer with time tells from when to when its features are`() async throws {
        let asked = try Asked()
        asked.site.change { inner in
            inner.map.layers[0].timeInfo = LayerTimeInfo(startField: "BUILT", endField: "RAZED")
            inner.answerToQuery = { _ in
                #"{"fields":[],"features":[{"attributes":{"first":-86400000,"last":5,"end":9}}]}"#
            }
        }
        let expected = RelaxedValue.array([.number(-86_400_000), .number(9)])
        for url in ["/City/MapServer/0", "/City/FeatureServer/0", "/City/MapServer/0?at=5"] {
            let layer = try await asked.json(root + url)
            #expect(layer["timeInfo"]?["timeExtent"] == expected, "\(url)")
        }
        let all = try await asked.json(root + "/City/MapServer/layers")
        let layer = all["layers"]?.elements.first { $0["id"] == .number(0) }
        #expect(layer?["timeInfo"]?["timeExtent"] == expected)
        // Once for as long as the layer is the same.
        let queries = asked.site.inner.withLock { $0.queries }
        #expect(queries.count == 1)
        let query = try #require(queries.first)
        #expect(query.statistics.map(\.field) == ["BUILT", "BUILT", "RAZED"])
        #expect(query.statistics.map(\.kind) == [.min, .max, .max])
        #expect(query.layer == 0 && query.isAuxiliary == true && query.asOf == nil)

        asked.site.change { inner in
            inner.map.layers[0].definitionExpression = "POP > 1"
            inner.map.layers[0].timeInfo?.endField = nil
            inner.answerToQuery = { _ in
                #"{"fields":[],"features":[{"attributes":{"first":null,"last":null}}]}"#
            }
        }
        let empty = try await asked.json(root + "/City/MapServer/0")
        #expect(empty["timeInfo"]?["timeExtent"] == nil && empty["timeInfo"] != nil)
        // The extent of the visible features is a separate query.
        let asks = asked.site.inner.withLock { $0.queries }
        #expect(asks.count { !$0.statistics.isEmpty } == 2)
        #expect(asks.allSatisfy { !$0.statistics.isEmpty || $0.result == .extent })
    }

    @Test func `a layer tells how it is drawn, in a form that can be given to another`()
        async throws
    {
        let asked = try Asked()
        let entries = ["a", "b", "c"].enumerated().map { number, label in
            FeatureRenderer.Entry(LayerSymbol(standard: number, .polygon), label: label)
        }
        let drawing = LayerDrawing(
            .uniqueValues(
                .init(
                    fields: ["NAME"],
                    values: [.init("A", entries[0]), .init("B", entries[1])], others: entries[2])),
            transparency: 25, labels: [LabelClass(.init([.field("NAME")]))])
        asked.site.change { $0.map.layers[0].drawing = drawing }

        struct Layer: Decodable { var drawingInfo: LayerDrawing, hasLabels: Bool }
        let body = await asked.text(root + "/City/MapServer/0?f=json")
        let layer = try CairnJSON.decode(Layer.self, from: Data(body.utf8))
        #expect(layer.drawingInfo == drawing && layer.hasLabels)
        let plain = try CairnJSON.decode(
            Layer.self, from: Data(try await Asked().text(root + "/City/MapServer/0?f=json").utf8))
        #expect(
            plain.drawingInfo.renderer == .simple(.init(LayerSymbol(standard: 0, .polygon)))
                && !plain.hasLabels)
        let legend = try await asked.json(root + "/City/MapServer/legend?f=json")
        let shown = try #require(legend["layers"]).elements.first { $0["layerId"] == .number(0) }
        #expect(
            shown?["legend"]?.elements.map { $0["label"] } == ["a", "b", "c"].map { .string($0) })
    }

    @Test func `a group has no fields but an extent`() async throws {
        let group = try await Asked().json(root + "/City/MapServer/1")
        #expect(group["fields"] == .null)
        #expect(group["extent"]?["xmin"] == .number(0))
    }

    @Test func `a blank map says neither reference nor extent`() async throws {
        let asked = try Asked()
        asked.site.change { inner in
            inner.map.spatialReference = nil
            inner.map.initialExtent = nil
        }
        let service = try await asked.json(root + "/City/MapServer")
        #expect(service["spatialReference"] == nil)
        #expect(service["fullExtent"] == nil)
        #expect(service["layers"]?.elements.count == 4)
    }

    @Test func `every layer that is loaded has a picture in the legend`() async throws {
        let legend = try await Asked().json(root + "/City/MapServer/legend?f=json")
        let layers = try #require(legend["layers"]).elements
        #expect(layers.count == 3)
        for layer in layers {
            guard case .string(let text)? = layer["legend"]?[0]?["imageData"],
                let data = Data(base64Encoded: text)
            else {
                Issue.record("no picture in \(layer)")
                continue
            }
            #expect(Array(data.prefix(4)) == [0x89, 0x50, 0x4E, 0x47])
        }
    }

    @Test func `legends of other servers stand among the map's own`() async throws {
        let asked = try Asked()
        let picture = try #require(
            LegendEntry(
                label: "far",
                png: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
                    + Array("IHDR".utf8) + [0, 0, 0, 30, 0, 0, 1, 2, 8, 6, 0, 0, 0, 0, 0, 0, 0]))
        let path = root + "/City/MapServer/legend?f=json&at=5&timeout=3"
        asked.site.change { site in
            site.map.layers[0].kind = .layer(
                source: .wms(WMSSource(url: "http://x", layers: ["a"])))
            site.map.layers[0].properties?.geometryType = nil
            site.legends = .success(LayerLegends(entries: [0: [picture]], missing: []))
        }
        func layer(_ body: RelaxedValue) throws -> RelaxedValue {
            try #require(body["layers"]?.elements.first { $0["layerId"] == .number(0) })
        }

        let entry = try #require(try layer(try await asked.json(path))["legend"]?[0])
        #expect(entry["label"] == .string("far") && entry["url"] == .string("0-0"))
        #expect(entry["width"] == .number(30) && entry["height"] == .number(258))
        #expect(entry["imageData"] == .string(picture.picture.base64EncodedString()))
        #expect(asked.site.inner.withLock { $0.lastLegend?.at } == 5)

        // Without workers the map's own symbols are listed all the same.
        asked.site.change { $0.legends = .failure(Failure(.unavailable, "nobody there")) }
        let response = await asked.get(path)
        let body = try RelaxedJSON.parse(String(decoding: response.body, as: UTF8.self))
        #expect(try layer(body)["legend"]?.elements.count == 0)
        #expect(body["layers"]?.elements.count == 3)
        #expect(response.missing.map(\.layerID) == [0])
    }

    @Test func `a raster's legend is asked of a worker, and tiles have a square of no colour`()
        async throws
    {
        let asked = try Asked()
        let path = root + "/City/MapServer/legend?f=json"
        let picture = try #require(
            LegendEntry(
                label: "Forest <b>",
                png: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
                    + Array("IHDR".utf8) + [0, 0, 0, 20, 0, 0, 0, 20, 8, 6, 0, 0, 0, 0, 0, 0, 0]))
        let hash = try Samples.hash()
        asked.site.change { site in
            site.map.layers[0].kind = .layer(
                source: .tiles(TileSource(url: "http://x/{z}/{x}/{y}.png")))
            site.map.layers[0].properties?.geometryType = nil
        }
        func entries() async throws -> [RelaxedValue] {
            let body = try await asked.json(path)
            return body["layers"]?.elements.first { $0["layerId"] == .number(0) }?["legend"]?
                .elements ?? []
        }

        let tiles = try await entries()
        #expect(tiles.count == 1 && tiles[0]["label"] == .string(""))
        #expect(asked.site.inner.withLock { $0.lastLegend } == nil)

        asked.site.change { site in
            site.map.layers[0].kind = .layer(source: .raster(hash))
            site.legends = .success(LayerLegends(entries: [0: [picture, picture]], missing: []))
        }
        let raster = try await entries()
        #expect(raster.map { $0["label"] } == [.string("Forest <b>"), .string("Forest <b>")])
        #expect(raster[0]["imageData"] == .string(picture.picture.base64EncodedString()))
        let page = await asked.text(root + "/City/MapServer/legend?f=html")
        #expect(page.ranges(of: picture.picture.base64EncodedString()).count == 2)
        #expect(page.contains("</li>") && page.contains("Forest &lt;b&gt;</li>"))
    }

    @Test func `the past is asked for by sequence number`() async throws {
        let asked = try Asked()
        let response = await asked.get(root + "/City/MapServer?at=5")
        #expect(asked.site.inner.withLock { $0.lastAt } == .sequence(5))
        #expect(response.sequence == 7)
    }

    static let wrong: [(String, Double)] = [
        ("/Nowhere/MapServer", 404), ("/City/MapServer/9", 400), ("/City/MapServer/exports", 404),
        ("/Mars/FeatureServer", 404), ("/City", 404), ("/a%2Fb/MapServer", 404),
        ("/City/MapServer?f=kmz", 400), ("/City/MapServer?at=x", 400),
        ("/City/MapServer/identify", 400), ("/Mars/GeocodeServer", 404),
        ("/World/GeocodeServer/findAddressCandidates", 400),
        ("/World/GeocodeServer/suggest?text=", 400),
        ("/World/GeocodeServer/reverseGeocode?location=1", 400),
        ("/World/GeocodeServer/findAddressCandidates?singleLine=a&outSR=999999", 400),
    ]

    @Test(arguments: wrong)
    func `a request that cannot be answered is an error body with status 200`(
        _ path: String, _ code: Double
    ) async throws {
        let asked = try Asked()
        #expect(await asked.get(root + path).status == 200)
        #expect(try await asked.errorCode(root + path) == code)
        #expect(try await asked.json(root + path)["error"]?["details"] != nil)
    }

    @Test(arguments: [
        "/arcgis/rest/info/", "/arcgis/rest/services/City/MapServer/", "//arcgis/rest/services//",
        "/ARCGIS/REST/services/City/mapserver/LAYERS",
    ])
    func `slashes at the end and letter case of resources do not matter`(
        _ path: String
    ) async throws {
        #expect(try await Asked().json(path)["error"] == nil)
    }

    @Test func `a browser gets a page, in which names cannot act`() async throws {
        let asked = try Asked()
        asked.site.change { $0.map.layers[0].name = "<script>" }
        let response = await asked.get(root + "/City/MapServer", wantsPage: true)
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(response.contentType.hasPrefix("text/html"))
        #expect(!text.contains("<script>"))
    }

    @Test func `a layer shows its popup definition byte for byte in both services`() async throws {
        let asked = try Asked()
        let popup = "{ \"title\" : \"{NAME} \\u00e9\",\n\t\"fieldInfos\":[] }\n"
        let layer = try #require(
            asked.site.inner.withLock { $0.map.layers.first { $0.kind != .group }?.id })
        let path = "/City/MapServer/\(layer)?f=json"
        #expect(await !asked.text(root + path).contains("popupInfo"))
        asked.site.change { inner in
            for index in inner.map.layers.indices where inner.map.layers[index].id == layer {
                inner.map.layers[index].info = LayerInfo(popup: popup)
            }
        }
        for service in ["MapServer", "FeatureServer"] {
            let text = await asked.text(root + path.replacing("MapServer", with: service))
            #expect(text.contains("\"popupInfo\":" + popup + ","), "\(service)")
            #expect(JSONTree(Array(text.utf8))?["popupInfo"]?["title"]?.text == "{NAME} é")
        }
    }

    @Test func `pretty JSON says the same as plain JSON`() async throws {
        let asked = try Asked()
        let plain = try await asked.json(root + "/City/MapServer/layers?f=json")
        let pretty = await asked.text(root + "/City/MapServer/layers?f=pjson")
        #expect(try RelaxedJSON.parse(pretty) == plain)
        #expect(pretty.contains("\n"))
    }

    @Test func `health follows the log`() async throws {
        let asked = try Asked()
        #expect(await asked.get("/healthz").status == 200)
        asked.site.change { $0.isStale = true }
        #expect(await asked.get("/healthz").status == 503)
    }
}

@Suite struct IdentifyBodyTests {
    private let query =
        root + "/City/MapServer/identify?f=json&geometry=1,2&tolerance=3&mapExtent=0,0,9,9"
        + "&imageDisplay=90,90,96"

    private func asked(_ answer: IdentifyAnswer) throws -> Asked {
        let asked = try Asked()
        asked.site.change { $0.identify = .success(answer) }
        return asked
    }

    @Test func `values are texts, as ArcGIS writes them, and null is null`() async throws {
        let text = try await asked(Samples.answer(geometry: nil)).text(query)
        #expect(
            text
                == #"{"results":[{"layerId":2,"layerName":"Places","displayFieldName":"NAME","value":"Höhe","attributes":{"OBJECTID":"17","NAME":"Höhe","AREA":"2.5","WHOLE":"3","SEEN":"2020-09-13T12:26:40.500Z","NONE":null},"geometryType":"esriGeometryPolygon"}]}"#
        )
    }

    @Test func `unformatted values are numbers and epoch milliseconds`() async throws {
        let text = try await asked(Samples.answer(geometry: nil))
            .text(query + "&returnUnformattedValues=TRUE&returnGeometry=false")
        #expect(
            text.contains(
                #""OBJECTID":17,"NAME":"Höhe","AREA":2.5,"WHOLE":3,"SEEN":1600000000500,"NONE":null"#
            ))
        #expect(!text.contains("geometryType"))
    }

    @Test func `geometry carries its own spatial reference`() async throws {
        let shape = Shape.point(Coordinate(x: -1.5, y: 2))
        let text = try await asked(Samples.answer(geometry: shape)).text(query)
        #expect(
            text.contains(
                #""geometry":{"x":-1.5,"y":2,"spatialReference":{"wkid":102100,"latestWkid":3857}}"#
            ))
    }

    @Test func `Z and M stay with their coordinates when a ring is turned`() async throws {
        // Counter-clockwise, so that Esri's order turns it round; the second ring is a hole in it.
        let rings = [[(0, 0), (9, 0), (9, 9), (0, 0)], [(5, 2), (6, 2), (6, 3), (5, 2)]]
        let shape = Shape.polygon(
            rings: rings.map { $0.map { Coordinate(x: Double($0.0), y: Double($0.1)) } })
        var answer = Samples.answer(geometry: shape)
        answer.layers[0].results[0].zValues = rings.flatMap { $0.map { Double($0.0 * 10 + $0.1) } }
        answer.layers[0].results[0].mValues = [nil] + [Double?](repeating: 7, count: 7)

        let text = try await asked(answer).text(query + "&returnZ=true&returnM=true")

        #expect(
            text.contains(
                #""hasZ":true,"hasM":true,"rings":[[[0,0,0,7],[9,9,99,7],[9,0,90,7],[0,0,0,null]],"#
                    + "[[5,2,52,7],[6,2,62,7],[6,3,63,7],[5,2,52,7]]]"))
    }

    @Test func `a point has its Z and M by name`() async throws {
        var answer = Samples.answer(geometry: .point(Coordinate(x: 1, y: 2)))
        answer.layers[0].results[0].zValues = [3.5]
        answer.layers[0].results[0].mValues = [nil]
        let text = try await asked(answer).text(query + "&returnZ=true")
        #expect(text.contains(#""geometry":{"x":1,"y":2,"z":3.5,"m":null,"spatialReference""#))
    }

    @Test func `an explained answer keeps Esri's keys and adds its own`() async throws {
        var answer = Samples.answer(geometry: nil, isTruncated: true)
        answer.layers[0].hitCount = 5
        answer.layers[0].results[0].distance = 1.5
        answer.layers = [
            IdentifyLayerResult(
                layerID: 9, layerName: "Group", results: [], sublayerResults: answer.layers,
                transferLimitExceeded: false)
        ]
        answer.explanation = IdentifyExplanation(
            mapSpatialReference: .wgs84, resolution: 0.5, scale: 1000, tolerance: 1.5,
            toleranceMeters: 2,
            layers: [
                LayerExplanation(
                    skipped: 4, layerName: "Hidden", reason: .invisible, detail: "it is hidden")
            ])

        let body = try await asked(answer).json(query + "&explain=true")

        guard case .array(let results)? = body["results"] else {
            Issue.record("no results")
            return
        }
        #expect(results.count == 1 && results[0]["layerId"] == .number(2))
        #expect(results[0]["distance"] == .number(1.5) && results[0]["objectId"] == .number(17))
        #expect(body["exceededTransferLimit"] == .bool(true))
        let explanation = try #require(body["explanation"])
        #expect(explanation["tolerance"] == .number(1.5))
        guard case .array(let layers)? = explanation["layers"],
            case .array(let tree)? = body["layerResults"]
        else {
            Issue.record("no layers")
            return
        }
        #expect(layers[0]["reason"] == .string("invisible"))
        #expect(tree[0]["hitCount"] == .number(0) && tree[0]["totalHitCount"] == .number(5))
        #expect(tree[0]["totalResultCount"] == .number(1))
        guard case .array(let inside)? = tree[0]["subLayerResults"] else {
            Issue.record("no sublayers")
            return
        }
        #expect(inside[0]["exceededTransferLimit"] == .bool(true))
        #expect(inside[0]["objectIds"] == .array([.number(17)]))
    }

    @Test func `an identify without a hit is an empty list, a cut list says so`() async throws {
        #expect(try await Asked().text(query) == #"{"results":[]}"#)
        let cut = try await asked(Samples.answer(geometry: nil, isTruncated: true)).json(query)
        #expect(cut["exceededTransferLimit"] == .bool(true))
    }

    @Test func `a layer whose server fails is named beside the results`() async throws {
        var answer = Samples.answer(geometry: nil)
        answer.failures = [
            LayerFailure(
                layerID: 4, layerName: "Far",
                error: Failure(.timedOut, "http://far/wms: too slow", details: ["5 s"]))
        ]

        let body = try await asked(answer).json(query)

        #expect(body["results"]?[0]?["layerId"] == .number(2))
        #expect(body["error"] == nil)
        let failure = body["layerFailures"]?[0]
        #expect(failure?["layerId"] == .number(4) && failure?["layerName"] == .string("Far"))
        #expect(failure?["code"] == .number(504))
        #expect(failure?["message"] == .string("http://far/wms: too slow"))
        #expect(failure?["details"]?[0] == .string("5 s"))
        #expect(try await asked(Samples.answer(geometry: nil)).json(query)["layerFailures"] == nil)
    }

    @Test func `a worker's refusal reaches the client as its sentence`() async throws {
        let asked = try Asked()
        asked.site.change {
            $0.identify = .failure(Failure(.unavailable, "no identify worker is running"))
        }
        let error = try await asked.json(query)["error"]
        #expect(error?["code"] == .number(503))
        #expect(error?["message"] == .string("no identify worker is running"))
    }

    @Test(arguments: ["", "&layers=top:7"])
    func `an identify at a layer's URL is that of all with its number`(layers: String)
        async throws
    {
        let asked = try asked(Samples.answer(geometry: nil))
        let whole = await asked.text(query + "&layers=all:2")
        let expected = asked.site.inner.withLock { $0.lastIdentify }
        asked.site.change { $0.lastIdentify = nil }
        let path = query.replacing("MapServer/identify", with: "MapServer/2/identify") + layers
        #expect(await asked.text(path) == whole)
        #expect(expected?.layers == LayerSelection(.all, ids: [2]))
        #expect(asked.site.inner.withLock { $0.lastIdentify } == expected)
    }

    @Test func `a form's body is read like a query`() async throws {
        let asked = try Asked()
        let form =
            "geometry=%7Bx%3A%201%2C%20y%3A%202%7D&tolerance=3&mapExtent=0,0,9,9"
            + "&imageDisplay=90,90,96&sr=102100"
        _ = await asked.get(root + "/City/MapServer/identify", form: form)
        let request = asked.site.inner.withLock { $0.lastIdentify }
        #expect(request?.geometry == .point(Coordinate(x: 1, y: 2)))
        #expect(request?.spatialReference?.latestWkid == 3857)
    }
}

@Suite struct RingOrderTests {
    private static func square(_ least: Double, _ most: Double) -> [Coordinate] {
        [
            Coordinate(x: least, y: least), Coordinate(x: most, y: least),
            Coordinate(x: most, y: most), Coordinate(x: least, y: most),
            Coordinate(x: least, y: least),
        ]
    }

    @Test func `exteriors are clockwise and holes are not, however they came`() {
        let rings = [
            Self.square(0, 10), Self.square(1, 9), Self.square(2, 8), Self.square(20, 30),
            Self.square(20, 25).map { Coordinate(x: $0.x, y: $0.y) },
        ]
        for turned in 0..<(1 << rings.count) {
            let input = rings.enumerated().map { index, ring in
                turned >> index & 1 == 1 ? ring.reversed() : ring
            }
            let output = RingOrder.esri(input)
            #expect(output.map(Ring.isClockwise) == [true, false, true, true, false])
            for (before, after) in zip(input, output) {
                #expect(after == before || after == before.reversed())
            }
        }
    }
}

@Suite struct GeocodeServerTests {
    private let candidates = root + "/World/GeocodeServer/findAddressCandidates?f=json"

    private func asked() throws -> Asked {
        let asked = try Asked()
        asked.site.change { $0.candidates = [Samples.paris] }
        return asked
    }

    @Test func `the root names the parameter for a single line, and what it can do`() async throws {
        let page = try await asked().json(root + "/world/GeocodeServer/?f=json")
        #expect(page["singleLineAddressField"]?["name"] == .string("SingleLine"))
        #expect(page["capabilities"] == .string("Geocode,ReverseGeocode,Suggest"))
        for name in ["addressFields", "candidateFields", "categories"] {
            #expect(page[name]?[0]?["name"] != nil, "\(name)")
        }
        for name in ["intersectionCandidateFields", "countries", "spatialReference"] {
            #expect(page[name] != nil, "\(name)")
        }
        for name in [
            "MinimumCandidateScore", "MaxBatchSize", "SuggestedBatchSize", "LoadBalancerTimeOut",
        ] {
            #expect(page["locatorProperties"]?[name] != nil, "\(name)")
        }
        guard case .array(let fields)? = page["candidateFields"] else {
            Issue.record("no fields")
            return
        }
        let names = Candidate.fields.map { RelaxedValue.string($0.name) }
        #expect(fields.map { $0["name"] } == [.string("Shape")] + names)
    }

    @Test func `a candidate has address, location, score, attributes and extent`() async throws {
        let text = try await asked().text(candidates + "&SingleLine=paris&maxLocations=1")
        #expect(
            text
                == #"{"spatialReference":{"wkid":4326,"latestWkid":4326},"candidates":[{"address":"Paris, France","location":{"x":2.35,"y":48.85},"score":98.5,"attributes":{},"extent":{"xmin":2.2,"ymin":48.8,"xmax":2.5,"ymax":48.9}}]}"#
        )
    }

    @Test func `attributes are those asked for`() async throws {
        let all = try await asked().json(candidates + "&singleLine=paris&outFields=*")
        #expect(all["candidates"]?[0]?["attributes"]?["City"] == .string("Paris"))
        let some = try await asked().json(
            candidates + "&singleLine=paris&outFields=match_addr%2CAddr_type")
        #expect(
            some["candidates"]?[0]?["attributes"]
                == .object([
                    "Match_addr": .string("Paris, France"), "Addr_type": .string("Locality"),
                ]))
    }

    @Test func `Web Mercator is given when asked for`() async throws {
        let answer = try await asked().json(candidates + "&singleLine=paris&outSR=102100")
        let place = WebMercator.project(Coordinate(x: 2.35, y: 48.85))
        #expect(answer["candidates"]?[0]?["location"]?["x"] == .number(place.x))
        #expect(answer["spatialReference"]?["latestWkid"] == .number(3857))
    }

    /// Origins of projections, and an example of EPSG's guidance note 7-2.
    private static let knownPlaces = [
        (2154, 3.0, 46.5, 700_000.0, 6_600_000.0), (3035, 10, 52, 4_321_000, 3_210_000),
        (3035, 5, 50, 3_962_799.45, 2_999_718.85), (32_631, 3, 0, 500_000, 0),
        (4258, 2.35, 48.85, 2.35, 48.85),
    ]

    @Test(arguments: knownPlaces)
    func `places are given in any reference that PROJ knows`(
        wkid: Int, longitude: Double, latitude: Double, x: Double, y: Double
    ) async throws {
        let asked = try asked()
        asked.site.change {
            $0.candidates[0].location = Coordinate(x: longitude, y: latitude)
            $0.candidates[0].extent = Envelope(
                minX: longitude - 0.5, minY: latitude - 0.25, maxX: longitude + 0.5,
                maxY: latitude + 0.25)
        }
        let line = "&singleLine=paris&outSR="
        let records = #"{"records":[{"attributes":{"OBJECTID":1,"SingleLine":"Paris"}}]}"#
        let service = root + "/World/GeocodeServer/"
        for (url, member) in [
            (candidates + line + "\(wkid)", "candidates"),
            (candidates + line + #"{"wkid":\#(wkid)}"#, "candidates"),
            (service + "geocodeAddresses?addresses=\(records)&outSR=\(wkid)", "locations"),
        ] {
            let answer = try await asked.json(url)
            let place = try #require(answer[member]?[0])
            let at = try #require(place["location"]?["x"]?.number)
            #expect(abs(at - x) < 0.01, "\(url)")
            #expect(abs(try #require(place["location"]?["y"]?.number) - y) < 0.01)
            let sides = try ["xmin", "xmax", "ymin", "ymax"].map {
                try #require(place["extent"]?[$0]?.number)
            }
            #expect(sides[0] < x && x < sides[1] && sides[2] < y && y < sides[3])
            #expect(answer["spatialReference"]?["wkid"] == .number(Double(wkid)))
        }
        let answer = try await asked.json(
            service + "reverseGeocode?outSR=\(wkid)&location="
                + "{x:\(x),y:\(y),spatialReference:{wkid:\(wkid)}}")
        #expect(abs(try #require(answer["location"]?["x"]?.number) - x) < 0.01)
        #expect(answer["location"]?["spatialReference"]?["wkid"] == .number(Double(wkid)))
        let location = try #require(asked.site.inner.withLock { $0.lastReverse?.location })
        #expect(abs(location.x - longitude) < 1e-6 && abs(location.y - latitude) < 1e-6)
    }

    @Test func `a search extent in another reference holds what lies in it`() async throws {
        let asked = try asked()
        _ = await asked.get(
            candidates + "&singleLine=paris&searchExtent="
                + "{xmin:0,ymin:6000000,xmax:1400000,ymax:7200000,spatialReference:{wkid:2154}}")

        let extent = try #require(asked.site.inner.withLock { $0.lastGeocode?.searchExtent })
        // The meridian of 3° is the middle of the grid, and its parallels are bent towards the
        // south there.
        #expect(abs(extent.minX + extent.maxX - 6) < 1e-6)
        for (x, y) in [
            (0.0, 6e6), (1.4e6, 6e6), (0, 7.2e6), (1.4e6, 7.2e6), (7e5, 6e6), (7e5, 7.2e6),
        ] {
            _ = await asked.get(
                candidates
                    + "&singleLine=paris&location={x:\(x),y:\(y),spatialReference:{wkid:2154}}")
            let corner = try #require(asked.site.inner.withLock { $0.lastGeocode?.location })
            #expect(extent.expanded(by: 1e-9).contains(corner))
        }
    }

    @Test(arguments: [
        ("170,-30,-170,0", 170.0, 190.0), ("-170,-30,170,0", -170, 170), ("5,0,0,-30", 0, 5),
        ("{xmin:170,ymin:-30,xmax:-170,ymax:0}", 170, 190),
        (
            "{xmin:18924313.4,ymin:-3503549.8,xmax:-18924313.4,ymax:0,"
                + "spatialReference:{wkid:102100}}", 170, 190
        ),
    ])
    func `a search extent may lie over the antimeridian`(
        _ text: String, _ first: Double, _ last: Double
    ) async throws {
        let asked = try asked()
        _ = await asked.get(candidates + "&singleLine=suva&searchExtent=" + text)
        let extent = try #require(asked.site.inner.withLock { $0.lastGeocode?.searchExtent })
        #expect(abs(extent.minX - first) < 1e-6 && abs(extent.maxX - last) < 1e-6)
        #expect(abs(extent.minY + 30) < 1e-6 && abs(extent.maxY) < 1e-6)
    }

    @Test func `a candidate without a place in a reference is reported, not invented`() async throws
    {
        let asked = try asked()
        asked.site.change { $0.candidates[0].location = Coordinate(x: 0, y: -90) }
        let answer = try await asked.json(candidates + "&singleLine=paris&outSR=2154")
        let location = answer["candidates"]?[0]?["location"]
        #expect(location?["x"] == .string("NaN") && location?["y"] == .string("NaN"))
        for (parameter, value) in [
            ("location", "{x:1e300,y:0,spatialReference:{wkid:32631}}"),
            (
                "searchExtent",
                "{xmin:1e300,ymin:1e300,xmax:1.1e300,ymax:1.1e300,spatialReference:{wkid:32631}}"
            ),
            ("outSR", "999999"), ("location", "{x:1,y:2,spatialReference:{wkid:999999}}"),
        ] {
            let refusal = try await asked.json(
                candidates + "&singleLine=paris&\(parameter)=\(value)")
            guard case .string(let message)? = refusal["error"]?["message"] else {
                Issue.record("\(parameter)=\(value) was answered")
                continue
            }
            #expect(message.hasPrefix("parameter '\(parameter)': "), "\(message)")
        }
    }

    @Test func `parameters become the request, within bounds`() async throws {
        let asked = try asked()
        _ = await asked.get(
            candidates + "&address=12+rue&city=Paris&postal=75002&SingleLine=undefined"
                + "&maxLocations=9999&sourceCountry=fr,%20de&searchExtent=1,2,3,4"
                + "&location={x:2,y:48,spatialReference:{wkid:4326}}&distance=2000"
                + "&category=city,%20Populated%20Place&langCode=fr&forStorage=false"
                + "&matchOutOfRange=true&locationType=rooftop")
        let request = asked.site.inner.withLock { $0.lastGeocode }
        #expect(request?.categories == ["city", "Populated Place"])
        #expect(request?.distanceMeters == 2000)
        #expect(request?.singleLine == "12 rue, Paris, 75002")
        #expect(request?.maxLocations == 50)
        #expect(request?.countryCodes == ["fr", "de"])
        #expect(request?.searchExtent == Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4))
        #expect(request?.location == Coordinate(x: 2, y: 48))
        #expect(request?.language == "fr")
    }

    @Test func `a language is passed on by every operation`() async throws {
        let asked = try asked()
        let service = root + "/World/GeocodeServer/"
        _ = await asked.get(service + "suggest?text=par&langCode=de-DE")
        #expect(asked.site.inner.withLock { $0.lastSuggest?.language } == "de-DE")
        _ = await asked.get(service + "reverseGeocode?location=2,48&langCode=ger")
        #expect(asked.site.inner.withLock { $0.lastReverse?.language } == "ger")
        _ = await asked.get(
            service + "geocodeAddresses?langCode=it&addresses="
                + #"{"records":[{"attributes":{"OBJECTID":1,"SingleLine":"Paris"}}]}"#)
        #expect(asked.site.inner.withLock { $0.lastGeocode?.language } == "it")
        _ = await asked.get(service + "findAddressCandidates?singleLine=Paris")
        #expect(asked.site.inner.withLock { $0.lastGeocode?.language } == nil)
    }

    @Test func `the root names the attribution that the sources ask for, if any`() async throws {
        let asked = try asked()
        let url = root + "/World/GeocodeServer"
        #expect(try await asked.json(url)["copyrightText"] == nil)
        asked.site.change { $0.attributions = ["GeoNames, CC BY 4.0", "© b"] }
        #expect(
            try await asked.json(url)["copyrightText"] == .string("GeoNames, CC BY 4.0; © b"))
    }

    @Test func `origins and the language are attributes like others`() async throws {
        let asked = try asked()
        asked.site.inner.withLock { inner in
            let attributes = inner.candidates[0].attributes
            inner.candidates[0].attributes = Attributes(
                attributes.entries.filter { !["Origins", "LangCode"].contains($0.name) } + [
                    .init(name: "Origins", value: .string("a.tsv#7; b.osm.pbf#node/5")),
                    .init(name: "LangCode", value: .string("GER")),
                ])
        }
        let origins = RelaxedValue.string("a.tsv#7; b.osm.pbf#node/5")
        for fields in ["origins", "*"] {
            let answer = try await asked.json(candidates + "&singleLine=paris&outFields=" + fields)
            #expect(answer["candidates"]?[0]?["attributes"]?["Origins"] == origins)
        }
        let bare = try await asked.json(candidates + "&singleLine=paris&outFields=City")
        #expect(bare["candidates"]?[0]?["attributes"]?["Origins"] == nil)
        let reverse = root + "/World/GeocodeServer/reverseGeocode?location=2.35,48.85"
        let plain = try await asked.json(reverse)["address"]
        #expect(plain?["Origins"] == nil && plain?["LangCode"] == .string("GER"))
        let address = try await asked.json(reverse + "&outFields=Origins")["address"]
        #expect(address?["Origins"] == origins && address?["PostalExt"] == .string(""))
    }

    @Test func `parts stay parts, and an explanation is written where one is asked for`()
        async throws
    {
        let asked = try asked()
        asked.site.change {
            $0.candidates[0].explanation = Explanation(
                words: [
                    .init(text: "paris", meaning: .name, match: .exact, name: "Paris", lost: 0),
                    .init(text: "\"x", meaning: .unexplained, match: nil, name: nil, lost: 1.5),
                ], weight: 7, lost: 1.5,
                order: .init(importance: 0.75, role: 0.25, nearness: 0.5))
        }
        let answer = try await asked.json(
            candidates + "&Address=12+rue&Address2=bis&city=Paris&Region=IDF&postal=75002"
                + "&minScore=80&explain=true")
        let request = asked.site.inner.withLock { $0.lastGeocode }
        #expect(
            request?.fields
                == AddressFields(
                    address: "12 rue, bis", city: "Paris", region: "IDF", postal: "75002"))
        #expect(request?.minScore == 80 && request?.explain == true)
        let explanation = try #require(answer["candidates"]?[0]?["explanation"])
        #expect(explanation["words"]?[1]?["text"] == .string("\"x"))
        #expect(explanation["words"]?[1]?["match"] == nil)
        #expect(explanation["order"]?["weight"] == .number(1))
        #expect(explanation["lost"] == .number(1.5))

        _ = await asked.get(candidates + "&SingleLine=paris&city=Rome")
        let line = asked.site.inner.withLock { $0.lastGeocode }
        #expect(line?.fields == nil && line?.explain == nil && line?.singleLine == "paris")
    }

    @Test func `a location in Web Mercator is turned into degrees`() async throws {
        let asked = try asked()
        let meters = WebMercator.project(Coordinate(x: 2, y: 48))
        _ = await asked.get(
            root + "/World/GeocodeServer/reverseGeocode?location="
                + "{x:\(meters.x),y:\(meters.y),spatialReference:{wkid:102100}}&distance=500")
        let request = try #require(asked.site.inner.withLock { $0.lastReverse })
        #expect(abs(request.location.x - 2) < 1e-9 && abs(request.location.y - 48) < 1e-9)
        #expect(request.maxDistanceMeters == 500)
    }

    @Test func `an address has every key that clients read unguarded`() async throws {
        let answer = try await asked().json(
            root + "/World/GeocodeServer/reverseGeocode?location=2.35,48.85")
        for key in ["Address", "City", "Region", "Postal", "CountryCode", "LongLabel"] {
            #expect(answer["address"]?[key] != nil)
        }
        #expect(answer["address"]?["CountryCode"] == .string("FRA"))
        #expect(answer["location"]?["spatialReference"]?["wkid"] == .number(4326))
    }

    @Test func `an address says how far something nearer across a border is, if there is`()
        async throws
    {
        let asked = try asked()
        let url = root + "/World/GeocodeServer/reverseGeocode?location=2.35,48.85"
        #expect(try await asked.json(url)["address"]?["NearerAcrossBorder"] == nil)
        asked.site.inner.withLock { inner in
            let attributes = inner.candidates[0].attributes
            inner.candidates[0].attributes = Attributes(
                attributes.entries + [.init(name: "NearerAcrossBorder", value: .real(12.5))])
        }
        let answer = try await asked.json(url)
        #expect(answer["address"]?["NearerAcrossBorder"] == .number(12.5))
    }

    @Test func `no address is the error that geopy reads as nothing`() async throws {
        let error = try await Asked().json(
            root + "/World/GeocodeServer/reverseGeocode?location=0,0")["error"]
        guard case .string(let detail)? = error?["details"]?[0] else {
            Issue.record("no detail")
            return
        }
        #expect(detail.contains("Unable to find"))
    }

    @Test func `suggestions keep their quotes and keys`() async throws {
        let asked = try asked()
        #expect(
            await asked.text(
                root + "/World/GeocodeServer/suggest?text=par&maxSuggestions=99")
                == #"{"suggestions":[{"text":"Paris, \"Texas\"","magicKey":"k1","isCollection":false}]}"#
        )
        #expect(asked.site.inner.withLock { $0.lastSuggest }?.maxSuggestions == 15)
    }

    @Test func `suggestions are limited by country, category and extent`() async throws {
        let asked = try asked()
        _ = await asked.get(
            root + "/World/GeocodeServer/suggest?text=par&countryCode=FR,DEU&category=City"
                + "&searchExtent=1,2,3,4&location=2.3,48.8&distance=5000")
        let request = asked.site.inner.withLock { $0.lastSuggest }
        #expect(request?.countryCodes == ["FR", "DEU"] && request?.categories == ["City"])
        #expect(request?.searchExtent == Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4))
        #expect(request?.distanceMeters == 5000)
    }

    @Test func `types of features are asked for by name, intersections as one of them`()
        async throws
    {
        let asked = try asked()
        func types(_ query: String) async -> [String]? {
            let url = root + "/World/GeocodeServer/reverseGeocode?location=2,48&langCode=fr&"
            _ = await asked.get(url + query)
            return asked.site.inner.withLock { $0.lastReverse }?.featureTypes
        }
        #expect(
            await types("featureTypes=StreetAddress,%20locality") == ["StreetAddress", "locality"])
        #expect(await types("returnIntersection=true") == ["StreetInt"])
        #expect(await types("returnIntersection=false") == nil)
    }
}
