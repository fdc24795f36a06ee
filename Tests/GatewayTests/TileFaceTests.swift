// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expat
import Geometry
import Synchronization
import Testing

@testable import Gateway

/// A service on a simulated site with the map City, in a folder or not.
private struct Asked {
    let site: SimulatedSite
    let service: GatewayService

    init(map name: String = "City") throws {
        site = SimulatedSite(map: try Samples.map())
        let name = try MapName(parsing: name)
        site.change { inner in
            inner.map = MapDescription(
                name: name, sequence: 7, rootLayers: inner.map.rootLayers,
                layers: inner.map.layers, basemap: 0, spatialReference: .webMercator,
                initialExtent: inner.map.initialExtent)
        }
        service = GatewayService(backend: site)
    }

    func get(
        _ url: String, accept: String = "", wantsPage: Bool = false, noneMatch: String = ""
    ) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        let request = GatewayRequest(
            path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
            wantsPage: wantsPage, origin: "http://h:1", accept: accept, noneMatch: noneMatch)
        return await service.answer(request).selected(by: request)
    }

    func json(_ url: String) async throws -> RelaxedValue {
        try RelaxedJSON.parse(String(decoding: await get(url).body, as: UTF8.self))
    }

    /// The root of a document, and the status.
    func xml(_ url: String) async throws -> (root: XMLElement, status: Int) {
        let response = await get(url)
        #expect(response.contentType == "text/xml;charset=UTF-8", "\(url)")
        return (try XMLReader.read(response.body), response.status)
    }

    /// How often workers were asked for a block.
    var drawingCount: Int { site.inner.withLock { $0.exportCount } }
}

extension RelaxedValue {
    fileprivate var elements: [RelaxedValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    fileprivate var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The links of that relation.
    fileprivate func links(_ relation: String) -> [RelaxedValue] {
        self["links"]?.elements.filter { $0["rel"] == .string(relation) } ?? []
    }
}

/// Level 0 of 07-057r7, annex E.4, halved at each level: the table's own numbers.
private let tableOfDenominators: [Int: Double] = [
    0: 559_082_264.028_717_8, 1: 279_541_132.014_358_9, 2: 139_770_566.007_179_4,
    3: 69_885_283.003_589_72, 10: 545_978.773_465_544_7, 18: 2_132.729_583_849_783_7,
]

private let mapServer = "/arcgis/rest/services/City/MapServer"

@Suite struct WMTSTests {
    private static let wmts = mapServer + "/WMTS"
    private static let document = wmts + "/1.0.0/WMTSCapabilities.xml"

    private static func tile(_ changes: String = "") -> String {
        wmts + "?" + changes
            + "&SERVICE=WMTS&Request=GetTile&version=1.0.0&LAYER=City&style=default"
            + "&tileMatrixSet=GoogleMapsCompatible&TileMatrix=3&TILEROW=2&tilecol=1"
            + "&format=image/png"
    }

    @Test func `the capabilities name the layer, its extent and its tiles`() async throws {
        let (root, status) = try await Asked().xml(Self.document)
        #expect(status == 200 && root.name == "Capabilities")
        #expect(root.attributes["version"] == "1.0.0")
        let layer = try #require(root.first("Contents")?.first("Layer"))
        #expect(layer.first("Title")?.text == "City" && layer.first("Identifier")?.text == "City")
        // Of each layer of the sample.
        let box = try #require(layer.first("WGS84BoundingBox"))
        #expect(box.first("LowerCorner")?.text == "1.0 2.0")
        #expect(box.first("UpperCorner")?.text == "3.0 4.0")
        #expect(layer.first("Style")?.attributes["isDefault"] == "true")
        #expect(layer.first("Format")?.text == "image/png")
        let url = try #require(layer.first("ResourceURL")?.attributes["template"])
        #expect(
            url == "http://h:1\(Self.wmts)/tile/1.0.0/City/{Style}/{TileMatrixSet}/{TileMatrix}"
                + "/{TileRow}/{TileCol}.png")
        let operations = root.first("OperationsMetadata")?.all("Operation") ?? []
        #expect(operations.compactMap { $0.attributes["name"] } == ["GetCapabilities", "GetTile"])
        for operation in operations {
            let ways = operation.first("DCP")?.first("HTTP")?.all("Get") ?? []
            let names = ways.compactMap {
                $0.first("Constraint")?.first("AllowedValues")?.first("Value")?.text
            }
            #expect(names == ["RESTful", "KVP"])
            #expect(ways.last?.attributes["href"] == "http://h:1\(Self.wmts)?")
        }
    }

    @Test func `the matrices are those of the well-known scale set`() async throws {
        let (root, _) = try await Asked().xml(Self.document)
        let set = try #require(root.first("Contents")?.first("TileMatrixSet"))
        #expect(set.first("SupportedCRS")?.text == "urn:ogc:def:crs:EPSG::3857")
        #expect(
            set.first("WellKnownScaleSet")?.text
                == "urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible")
        let matrices = set.all("TileMatrix")
        #expect(matrices.compactMap { $0.first("Identifier")?.text } == (0...23).map { "\($0)" })
        for (level, matrix) in matrices.enumerated() {
            let scale = try #require(Double(matrix.first("ScaleDenominator")?.text ?? ""))
            if let expected = tableOfDenominators[level] {
                #expect(abs(scale / expected - 1) < 1e-14, "level \(level)")
            }
            // A pixel is 0.28 mm wide, and all pixels together are the world.
            let world = scale * 0.00028 * 256 * Double(1 << level)
            #expect(abs(world / (2 * TileAddress.halfWorldMeters) - 1) < 1e-12)
            let corner = matrix.first("TopLeftCorner")?.text.split(separator: " ")
                .compactMap { Double($0) }
            #expect(corner == [-TileAddress.halfWorldMeters, TileAddress.halfWorldMeters])
            for name in ["MatrixWidth", "MatrixHeight"] {
                #expect(matrix.first(name)?.text == "\(1 << level)")
            }
        }
    }

    @Test func `capabilities are the same document however they are asked for`() async throws {
        let asked = try Asked()
        let document = await asked.get(Self.document).body
        for query in [
            "", "?service=WMTS&request=GetCapabilities",
            "?SERVICE=wmts&REQUEST=getcapabilities&AcceptVersions=2.0.0,1.0.0",
        ] {
            #expect(await asked.get(Self.wmts + query).body == document, "\(query)")
        }
    }

    @Test func `a tile is the map's own tile, by path and by parameters`() async throws {
        let asked = try Asked()
        let own = await asked.get(mapServer + "/tile/3/2/1")
        #expect(own.contentType == "image/png")
        let path = Self.wmts + "/tile/1.0.0/City/default/"
        for url in [
            Self.tile(), Self.tile("style="), Self.tile("tilematrixset=default028mm"),
            path + "GoogleMapsCompatible/3/2/1.png", path + "default028mm/3/2/1.png",
            "/ogc/City/map/tiles/WebMercatorQuad/3/2/1",
        ] {
            let tile = await asked.get(url)
            #expect(tile.status == 200 && tile.body == own.body, "\(url)")
            #expect(tile.headers["ETag"] == own.headers["ETag"])
            #expect(tile.headers["Cache-Control"] == "no-cache")
            let tag = try #require(own.headers["ETag"])
            #expect(await asked.get(url, noneMatch: tag).status == 304)
        }
        // All of one block.
        #expect(asked.drawingCount == 1)
    }

    /// What a request changes, the code of the answer and the parameter that it names.
    static let refused: [(String, String, String)] = [
        (tile("tilerow=8"), "TileOutOfRange", "TileRow"),
        (tile("tilerow=-1"), "TileOutOfRange", "TileRow"),
        (tile("tilecol=8"), "TileOutOfRange", "TileCol"),
        (tile("tilecol=x"), "InvalidParameterValue", "TileCol"),
        (tile("tilecol=99999999999999999999"), "InvalidParameterValue", "TileCol"),
        (tile("tilematrix=24"), "InvalidParameterValue", "TileMatrix"),
        (tile("tilematrix=-1"), "InvalidParameterValue", "TileMatrix"),
        (tile("tilematrix=03"), "InvalidParameterValue", "TileMatrix"),
        (tile("tilematrixset=WorldCRS84Quad"), "InvalidParameterValue", "TileMatrixSet"),
        (tile("layer=Other"), "InvalidParameterValue", "Layer"),
        (tile("style=bold"), "InvalidParameterValue", "Style"),
        (tile("format=image/jpeg"), "InvalidParameterValue", "Format"),
        (tile("version=1.1.0"), "InvalidParameterValue", "Version"),
        (tile("service=WMS"), "InvalidParameterValue", "Service"),
        (tile("request=GetMap"), "InvalidParameterValue", "Request"),
        (wmts + "?service=WMTS", "MissingParameterValue", "Request"),
        (wmts + "?request=GetTile", "MissingParameterValue", "Service"),
        (wmts + "?service=WMTS&request=GetTile", "MissingParameterValue", "Layer"),
        (
            wmts + "?service=WMTS&request=GetTile&layer=City", "MissingParameterValue",
            "TileMatrixSet"
        ),
        (
            wmts + "?service=WMTS&request=GetCapabilities&acceptversions=2.0.0",
            "VersionNegotiationFailed", "AcceptVersions"
        ),
        (
            wmts + "/tile/1.0.0/City/default/GoogleMapsCompatible/1/2/0.png", "TileOutOfRange",
            "TileRow"
        ),
        (
            wmts + "/tile/1.0.0/City/default/GoogleMapsCompatible/x/0/0.png",
            "InvalidParameterValue", "TileMatrix"
        ),
        (
            wmts + "/tile/1.0.0/City/default/GoogleMapsCompatible/1/0/0.jpg",
            "InvalidParameterValue", ""
        ),
        (wmts + "/tile/1.0.0/City/default/1/0/0.png", "InvalidParameterValue", ""),
        (tile("at=3"), "InvalidParameterValue", ""),
    ]

    @Test(arguments: refused)
    func `a request that cannot be answered is an exception that names the parameter`(
        _ url: String, _ code: String, _ locator: String
    ) async throws {
        let asked = try Asked()
        let (root, status) = try await asked.xml(url)
        #expect(status == 400 && root.name == "ExceptionReport")
        let exception = try #require(root.first("Exception"))
        #expect(exception.attributes["exceptionCode"] == code)
        #expect(exception.attributes["locator"] ?? "" == locator)
        #expect(exception.first("ExceptionText")?.text.isEmpty == false)
        #expect(asked.drawingCount == 0)
    }

    @Test func `other failures have their status`() async throws {
        let asked = try Asked()
        let unsupported = try await asked.xml(Self.wmts + "?service=WMTS&request=GetFeatureInfo")
        #expect(unsupported.status == 501)
        let missing = try await asked.xml("/arcgis/rest/services/None/MapServer/WMTS")
        #expect(missing.status == 404 && missing.root.name == "ExceptionReport")
    }

    @Test func `a map in a folder is a layer with an underscore`() async throws {
        let asked = try Asked(map: "Planning/Zones")
        let service = "/arcgis/rest/services/Planning/Zones/MapServer/WMTS"
        let (root, _) = try await asked.xml(service)
        let layer = try #require(root.first("Contents")?.first("Layer"))
        #expect(layer.first("Identifier")?.text == "Planning_Zones")
        let tile = await asked.get(
            service + "/tile/1.0.0/Planning_Zones/default/GoogleMapsCompatible/0/0/0.png")
        #expect(tile.contentType == "image/png")
    }

    @Test func `text of a map does not leave its element`() async throws {
        let asked = try Asked()
        asked.site.change {
            $0.map.properties = MapProperties(title: "a <b> & \"c\"", description: "]]></x>")
        }
        let (root, _) = try await asked.xml(Self.document)
        #expect(root.first("ServiceIdentification")?.first("Title")?.text == "a <b> & \"c\"")
        #expect(root.first("ServiceIdentification")?.first("Abstract")?.text == "]]></x>")
    }

    @Test func `a token of the query is in every URL of the document`() async throws {
        let asked = try Asked()
        let (root, _) = try await asked.xml(Self.document + "?token=a%26b")
        let layer = root.first("Contents")?.first("Layer")
        #expect(
            layer?.first("ResourceURL")?.attributes["template"]?.hasSuffix(".png?token=a%26b")
                == true)
        let ways = root.first("OperationsMetadata")?.first("Operation")?.first("DCP")?.first("HTTP")
        #expect(
            ways?.all("Get").last?.attributes["href"] == "http://h:1\(Self.wmts)?token=a%26b&")
    }
}

@Suite struct OGCTileTests {
    private static let relation = "http://www.opengis.net/def/rel/ogc/1.0/"

    @Test func `a client finds the tiles from the landing page by links`() async throws {
        let asked = try Asked(map: "Planning/Zones")
        func follow(_ document: RelaxedValue, _ relation: String) async throws -> RelaxedValue {
            let url = try #require(document.links(relation).first?["href"]?.text)
            return try await asked.json(String(url.trimmingPrefix("http://h:1")))
        }
        let landing = try await asked.json("/ogc")
        let list = try await follow(landing, Self.relation + "tilesets-map")
        let entry = try #require(list["tilesets"]?.elements.first)
        let tileset = try await follow(entry, "self")
        #expect(tileset["dataType"] == .string("map"))
        #expect(tileset["crs"] == .string("http://www.opengis.net/def/crs/EPSG/0/3857"))
        #expect(tileset["boundingBox"]?["lowerLeft"] == .array([.number(1), .number(2)]))
        let template = try #require(tileset.links("item").first)
        #expect(template["templated"] == .bool(true))
        let href = try #require(template["href"]?.text)
        let url = href.replacing("{tileMatrix}", with: "1").replacing("{tileRow}", with: "0")
            .replacing("{tileCol}", with: "1")
        let tile = await asked.get(String(url.trimmingPrefix("http://h:1")), accept: "image/png")
        #expect(tile.status == 200 && tile.contentType == "image/png")

        // The same from the collections.
        let collection = try #require(
            try await asked.json("/ogc/collections")["collections"]?.elements.first)
        let own = try await follow(collection, "related")
        #expect(own["tilesets"] == list["tilesets"])
        // And from the map, which says where it is.
        for kind in ["map", "vector"] {
            let map = try await asked.json("/ogc/Planning.Zones/\(kind)")
            #expect(map["id"] == .string("Planning.Zones"))
            let corners: [RelaxedValue] = [1, 2, 3, 4].map { .number($0) }
            #expect(map["extent"]?["spatial"]?["bbox"] == .array([.array(corners)]))
            let tilesets = try await follow(map, Self.relation + "tilesets-" + kind)
            #expect(tilesets["tilesets"]?.elements.first?["dataType"] == .string(kind))
        }
        // And to what the scheme is.
        let scheme = try await follow(tileset, Self.relation + "tiling-scheme")
        #expect(scheme["uri"] == tileset["tileMatrixSetURI"])
        let schemes = try await follow(landing, Self.relation + "tiling-schemes")
        #expect(schemes["tileMatrixSets"]?.elements.count == 1)
    }

    @Test func `the scheme is WebMercatorQuad, and limits are the whole of it`() async throws {
        let asked = try Asked()
        let scheme = try await asked.json("/ogc/tileMatrixSets/WebMercatorQuad")
        let matrices = try #require(scheme["tileMatrices"]).elements
        let limits = try #require(
            try await asked.json("/ogc/City/map/tiles/WebMercatorQuad")["tileMatrixSetLimits"]
        ).elements
        #expect(matrices.count == 24 && limits.count == 24)
        for (level, matrix) in matrices.enumerated() {
            guard case .number(let scale)? = matrix["scaleDenominator"],
                case .number(let size)? = matrix["cellSize"]
            else {
                Issue.record("level \(level) has no numbers")
                continue
            }
            #expect(abs(scale * 0.00028 / size - 1) < 1e-12)
            if let expected = tableOfDenominators[level] {
                #expect(abs(scale / expected - 1) < 1e-14)
            }
            #expect(matrix["id"] == .string("\(level)"))
            #expect(matrix["matrixWidth"] == .number(Double(1 << level)))
            // Version 1 of the standard says the same.
            let old = try #require(scheme["tileMatrix"]?.elements[level])
            #expect(old["identifier"] == matrix["id"])
            #expect(old["topLeftCorner"] == matrix["pointOfOrigin"])
            for name in ["scaleDenominator", "tileWidth", "tileHeight", "matrixHeight"] {
                #expect(old[name] == matrix[name] && old[name] != nil)
            }
            #expect(limits[level]["tileMatrix"] == .string("\(level)"))
            #expect(limits[level]["maxTileRow"] == .number(Double(1 << level - 1)))
            #expect(limits[level]["minTileCol"] == .number(0))
        }
    }

    @Test func `TileJSON leads to the same tiles`() async throws {
        let asked = try Asked()
        let own = await asked.get(mapServer + "/tile/1/0/1").body
        for url in [
            mapServer + "/tilejson.json", "/ogc/City/map/tiles/WebMercatorQuad?f=tilejson",
        ] {
            let document = try await asked.json(url)
            #expect(document["tilejson"] == .string("3.0.0"))
            #expect(document["minzoom"] == .number(0) && document["maxzoom"] == .number(23))
            #expect(document["bounds"] == .array([.number(1), .number(2), .number(3), .number(4)]))
            #expect(document["center"] == .array([.number(2), .number(3), .number(7)]))
            // Pictures have none: the member is required of vector tiles.
            #expect(document["vector_layers"] == nil)
            let template = try #require(document["tiles"]?.elements.first?.text)
            let tile = template.replacing("{z}", with: "1").replacing("{y}", with: "0")
                .replacing("{x}", with: "1")
            #expect(await asked.get(String(tile.trimmingPrefix("http://h:1"))).body == own)
        }
    }

    @Test(arguments: [
        ("/ogc/City/map/tiles/WebMercatorQuad/24/0/0", 404),
        ("/ogc/City/map/tiles/WebMercatorQuad/1/2/0", 404),
        ("/ogc/City/map/tiles/WebMercatorQuad/1/-1/0", 404),
        ("/ogc/City/map/tiles/WebMercatorQuad/a/0/0", 404),
        ("/ogc/City/map/tiles/WorldCRS84Quad/0/0/0", 404),
        ("/ogc/City/vector/tiles/WebMercatorQuad/24/0/0", 404),
        ("/ogc/City/vector/tiles/WebMercatorQuad/1/2/0", 404),
        ("/ogc/City/vector/tiles/WebMercatorQuad/0/0/0?f=png", 400),
        ("/ogc/City/vector/tiles/WebMercatorQuad/0/0/0?at=3", 400),
        ("/ogc/Mars/vector/tiles", 404), ("/ogc/vector/tiles?at=3", 400),
        ("/ogc/City/vector/tiles/WorldCRS84Quad/0/0/0", 404),
        ("/ogc/City/tiles", 404), ("/ogc/Mars/map/tiles", 404), ("/ogc/Mars", 404),
        ("/ogc/City/map?at=3", 400), ("/ogc/City/vector?f=xml", 400), ("/ogc/Mars/map", 404),
        ("/ogc/tileMatrixSets/WorldCRS84Quad", 404),
        ("/ogc/City/map/tiles/WebMercatorQuad/0/0/0?f=jpg", 400),
        ("/ogc/City/map/tiles/WebMercatorQuad/0/0/0?at=3", 400),
        ("/ogc/City/map/tiles/WebMercatorQuad?at=3", 400),
        ("/ogc/City/map/tiles/WebMercatorQuad?f=xml", 400),
        ("/ogc/City/map/tiles?f=tilejson", 400), ("/ogc/map/tiles?at=3", 400),
    ])
    func `what is not there has a status and a sentence`(
        _ url: String, _ status: Int
    ) async throws {
        let asked = try Asked()
        #expect(await asked.get(url).status == status)
        let body = try await asked.json(url)
        #expect(body["code"]?.text != nil && body["description"]?.text != nil)
        #expect(asked.drawingCount == 0)
    }

    @Test func `the classes of pictures and of vector tiles are announced`() async throws {
        let classes = try #require(try await Asked().json("/ogc/conformance")["conformsTo"])
            .elements.compactMap(\.text)
        #expect(classes.contains("http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core"))
        #expect(classes.contains("http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/png"))
        #expect(classes.contains("http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/mvt"))
    }

    @Test func `a client finds the vector tiles from the landing page, and what is in them`()
        async throws
    {
        let asked = try Asked()
        func follow(_ json: RelaxedValue, _ relation: String) async throws -> RelaxedValue {
            let url = try #require(json.links(relation).first?["href"]?.text)
            return try await asked.json(String(url.trimmingPrefix("http://h:1")))
        }
        let landing = try await asked.json("/ogc")
        let list = try await follow(landing, Self.relation + "tilesets-vector")
        #expect(list.links("self").first?["href"]?.text == "http://h:1/ogc/vector/tiles")
        let entry = try #require(list["tilesets"]?.elements.first)
        #expect(list["tilesets"]?.elements.count == 1 && entry["dataType"] == .string("vector"))
        let tileset = try await follow(entry, "self")
        #expect(tileset["dataType"] == .string("vector"))
        let scheme = try await follow(tileset, Self.relation + "tiling-scheme")
        #expect(scheme["uri"] == tileset["tileMatrixSetURI"])
        // Those of the service, by their names.
        let service = try await asked.json(
            "/arcgis/rest/services/City/VectorTileServer/tilejson.json")
        let layers = try #require(tileset["layers"]?.elements)
        #expect(
            layers.compactMap { $0["id"]?.text }
                == service["vector_layers"]?.elements.compactMap { $0["id"]?.text })
        #expect(!layers.isEmpty)
        for layer in layers {
            #expect(layer["dataType"] == .string("vector"))
            #expect(layer["geometryDimension"]?.number != nil)
            let properties = try #require(layer["propertiesSchema"]?["properties"])
            #expect(properties["POP"]?["type"] == .string("number"))
            #expect(properties["NAME"]?["type"] == .string("string"))
            #expect(properties["OBJECTID"] == nil)
        }
        let template = try #require(tileset.links("item").first)
        #expect(template["type"] == .string("application/vnd.mapbox-vector-tile"))
        let href = try #require(template["href"]?.text)
        let url = href.replacing("{tileMatrix}", with: "3").replacing("{tileRow}", with: "2")
            .replacing("{tileCol}", with: "5")
        let own = await asked.get("/arcgis/rest/services/City/VectorTileServer/tile/3/2/5.pbf")
        for query in ["", "?f=mvt", "?f=MVT"] {
            let tile = await asked.get(String(url.trimmingPrefix("http://h:1")) + query)
            #expect(tile.status == 200 && tile.body == own.body)
            #expect(tile.contentType == "application/vnd.mapbox-vector-tile")
            #expect(tile.headers == own.headers)
        }
        // All the same tile, made once.
        #expect(asked.drawingCount == 1)
        let document = try await asked.json(
            "/ogc/City/vector/tiles/WebMercatorQuad?f=tilejson")
        #expect(document["vector_layers"]?.elements.count == layers.count)
        #expect(
            document["tiles"]?.elements.first?.text
                == "http://h:1/ogc/City/vector/tiles/WebMercatorQuad/{z}/{y}/{x}")
    }

    @Test func `a vector tile without features has no content`() async throws {
        let asked = try Asked()
        #expect(await asked.get("/ogc/City/vector/tiles/WebMercatorQuad/5/2/5").status == 204)
    }

    @Test func `a browser gets a tile as a picture, and what describes it as a page`()
        async throws
    {
        let asked = try Asked()
        let tileset = "/ogc/City/map/tiles/WebMercatorQuad"
        let accept = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
        let tile = await asked.get(tileset + "/0/0/0", accept: accept, wantsPage: true)
        #expect(tile.contentType == "image/png")
        let page = await asked.get(tileset, accept: accept, wantsPage: true)
        #expect(page.contentType.hasPrefix("text/html"))
    }
}

@Suite struct TiledMapTests {
    private func extent(_ change: (inout MapDescription) -> Void) throws -> Envelope {
        var map = try Samples.map()
        change(&map)
        return TiledMap(map).extent
    }

    private func all(_ extent: Envelope?) throws -> Envelope {
        try self.extent { map in
            for index in map.layers.indices {
                map.layers[index].properties?.extent = nil
                map.layers[index].properties?.geographicExtent = extent
            }
        }
    }

    private static let world = Envelope(
        minX: -180, minY: -WebMercator.latitudeLimit, maxX: 180, maxY: WebMercator.latitudeLimit)

    @Test func `an extent is that of all layers, or the world where one is unknown`() throws {
        #expect(try extent { _ in } == Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4))
        let wide = try extent {
            $0.layers[0].properties?.geographicExtent = Envelope(
                minX: -10, minY: 3, maxX: 2, maxY: 50)
        }
        #expect(wide == Envelope(minX: -10, minY: 2, maxX: 3, maxY: 50))
        #expect(try all(nil) == Self.world)
        #expect(try extent { $0.layers = [] } == Self.world)
        let unknown = try extent {
            $0.layers[0].properties?.extent = nil
            $0.layers[0].properties?.geographicExtent = nil
        }
        #expect(unknown == Self.world)
    }

    @Test func `an extent stays within the scheme, and has an area`() throws {
        #expect(try all(Envelope(minX: -200, minY: -90, maxX: 200, maxY: 90)) == Self.world)
        let place = try all(Envelope(minX: 5, minY: 6, maxX: 5, maxY: 6))
        #expect(place.minX < 5 && place.maxX > 5 && place.minY < 6 && place.maxY > 6)
        #expect(place.width < 0.01)
    }
}
