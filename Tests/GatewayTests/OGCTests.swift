// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import Synchronization
import TestKit
import Testing

@testable import Gateway

/// A service on a simulated site whose queries find `matched` features.
private struct Asked {
    let site: SimulatedSite
    let service: GatewayService

    init(matched: Int = 1, features: Int = 1) throws {
        site = SimulatedSite(map: try Samples.map())
        site.change { inner in
            inner.answerToQuery = { request in
                guard request.result == .features else { return "{\"count\":\(matched)}" }
                let all = (0..<features).map {
                    #"{"type":"Feature","id":\#($0),"geometry":null,"properties":{"A":"]}"}}"#
                }
                return #"{"type":"FeatureCollection","features":["#
                    + all.joined(separator: ",") + "],\"numberReturned\":\(features)}"
            }
        }
        service = GatewayService(backend: site)
    }

    func get(_ url: String, accept: String = "", wantsPage: Bool = false) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                wantsPage: wantsPage, origin: "http://h:1", accept: accept))
    }

    func json(_ url: String) async throws -> RelaxedValue {
        try RelaxedJSON.parse(String(decoding: await get(url).body, as: UTF8.self))
    }

    /// The last query that a URL leads to.
    func query(_ parameters: String) async throws -> QueryRequest {
        let response = await get("/ogc/collections/City.0/items?" + parameters)
        #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return try #require(site.inner.withLock { $0.lastQuery })
    }
}

extension RelaxedValue {
    fileprivate var elements: [RelaxedValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    /// The link of that relation.
    fileprivate func link(_ relation: String) -> RelaxedValue? {
        self["links"]?.elements.first { $0["rel"] == .string(relation) }?["href"]
    }
}

@Suite struct OGCTests {
    @Test func `only layers of datasets that may be queried are collections, top first`()
        async throws
    {
        let asked = try Asked()
        asked.site.change { inner in
            for index in inner.map.layers.indices where inner.map.layers[index].id == 3 {
                inner.map.layers[index].isQueryable = false
            }
        }
        let list = try #require(try await asked.json("/ogc/collections")["collections"]).elements
        #expect(list.map { $0["id"] } == [.string("City.2"), .string("City.0")])
        #expect(list.first?["title"] == .string("Odd \"name\""))
        #expect(
            list.first?["storageCrs"] == .string("http://www.opengis.net/def/crs/EPSG/0/2154"))
        #expect(
            list.first?["extent"]?["spatial"]?["bbox"]
                == .array([.array([.number(1), .number(2), .number(3), .number(4)])]))
    }

    static let refused: [(String, Int)] = [
        ("/ogc/nothing", 404), ("/ogc/collections/City", 404), ("/ogc/collections/City.1", 404),
        ("/ogc/collections/City.99", 404), ("/ogc/collections/Mars.0", 404),
        ("/ogc/collections/City.00/items", 404), ("/ogc/collections/City.0/items/x", 404),
        ("/ogc/collections/City.0/items/1/2", 404), ("/ogc?x=1", 400), ("/ogc?f=xml", 400),
        ("/ogc/collections/City.0?bbox=1,2,3,4", 400),
        ("/ogc/collections/City.0/items?nothing=1", 400),
        ("/ogc/collections/City.0/items?nothing=", 400),
        ("/ogc/collections/City.0/items?POP=many", 400),
        ("/ogc/collections/City.0/items?POP=", 400),
        ("/ogc/collections/City.0/items?limit=0", 400),
        ("/ogc/collections/City.0/items?limit=x", 400),
        ("/ogc/collections/City.0/items?offset=-1", 400),
        ("/ogc/collections/City.0/items?bbox=1,2,3", 400),
        ("/ogc/collections/City.0/items?bbox=1,2,3,4,5", 400),
        ("/ogc/collections/City.0/items?bbox=1,9,3,4", 400),
        ("/ogc/collections/City.0/items?bbox=1,2,nan,4", 400),
        ("/ogc/collections/City.0/items?crs=EPSG:4326", 400),
        ("/ogc/collections/City.0/items?bbox-crs=http://www.opengis.net/def/crs/EPSG/0/2154", 400),
        ("/ogc/collections/City.0/items?datetime=yesterday", 400),
        ("/ogc/collections/City.0/items?datetime=2024-01-02/2024-01-01", 400),
        ("/ogc/collections/City.0/items?datetime=../../..", 400),
        ("/ogc/collections/City.0/items?datetime=..", 400),
        ("/ogc/collections/City.0/items?datetime=", 400),
        ("/ogc/collections/City.0/items?datetime=2024", 400),
        ("/ogc/collections/City.0/items?datetime=2024-02-30", 400),
        ("/ogc/collections/City.0/items?datetime=2024-02-29T13:00:00", 400),
        ("/ogc/collections/City.0/items?datetime=2024-02-29T13:00Z", 400),
        ("/ogc/collections/City.0/items?datetime=2024-02-29%2013:00:00Z", 400),
        ("/ogc/collections/City.0/items?bbox=", 400),
        ("/ogc/collections/City.0/items?bbox=1,2,9,3,4,8", 400),
        ("/ogc/collections/City.0/items?bbox=1,2,3,4,5,6,7", 400),
        ("/ogc/collections/City.0/items?limit=-1", 400),
        ("/ogc/collections/City.0/items?limit=1.5", 400),
        ("/ogc/collections/City.0/items?limit=", 400),
        ("/ogc/collections/City.0/items?crs=", 400),
        ("/ogc/collections/City.0/items/1?bbox=1,2,3,4", 400),
        ("/ogc/collections/City.0/items/1?limit=1", 400),
        ("/ogc/collections/City.0/items/1?crs=http://www.opengis.net/def/crs/EPSG/0/1", 400),
        ("/ogc/collections?limit=1", 400), ("/ogc/api?x=1", 400), ("/ogc/conformance?x=1", 400),
        ("/ogc/collections/City.0/items?at=x", 400),
        ("/ogc/collections/City.0/items?a=%", 400),
    ]

    @Test(arguments: refused)
    func `a request that cannot be answered has a status and a sentence`(
        _ url: String, _ status: Int
    )
        async throws
    {
        let response = try await Asked().get(url)
        #expect(response.status == status)
        let body = try RelaxedJSON.parse(String(decoding: response.body, as: UTF8.self))
        guard case .string(let code)? = body["code"],
            case .string(let sentence)? = body["description"]
        else {
            Issue.record("no exception: \(body)")
            return
        }
        #expect(!code.isEmpty && !sentence.isEmpty)
    }

    @Test func `a client that takes neither JSON nor HTML hears 406`() async throws {
        let asked = try Asked()
        #expect(await asked.get("/ogc", accept: "image/png").status == 406)
        #expect(await asked.get("/ogc?f=json", accept: "image/png").status == 200)
        for accept in ["*/*", "application/geo+json, text/plain", "application/*;q=0.8", ""] {
            #expect(await asked.get("/ogc", accept: accept).status == 200)
        }
    }

    /// The form of the answer by the header `Accept`; nil for none.
    static let accepts: [(String, String?)] = [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("application/json, text/html;q=0.5", "application/json"),
        ("text/html;q=0.5, application/geo+json", "application/json"),
        ("application/json;q=0.2, text/html;q=0.3", "text/html"),
        ("text/html;q=0, */*", "application/json"), ("*/*", "application/json"),
        ("application/json;q=0, */*", "text/html"), ("text/*", "text/html"),
        ("application/*;q=0.3, text/html;q=0.2", "application/json"),
        ("application/json;q=0", nil), ("*/*;q=0", nil), ("text/plain, image/*", nil),
        ("APPLICATION/JSON ; Q=1.0", "application/json"), ("nonsense", "application/json"),
        ("application/vnd.oai.openapi+json;version=3.0", "application/json"),
    ]

    @Test(arguments: accepts)
    func `the media type that is wanted most is given`(_ accept: String, _ type: String?)
        async throws
    {
        let answer = try await Asked().get(
            "/ogc/collections", accept: accept, wantsPage: accept.contains("text/html"))
        #expect(answer.status == (type == nil ? 406 : 200))
        if let type { #expect(answer.contentType.hasPrefix(type), "\(answer.contentType)") }
    }

    @Test func `a feature without geometry or time is in every box and of every time`() async throws
    {
        let asked = try Asked()
        #expect(try await asked.query("").matchesMissing == nil)
        #expect(try await asked.query("bbox=1,2,3,4").matchesMissing == true)
        #expect(try await asked.query("datetime=1970-01-02/..").matchesMissing == true)
    }

    @Test func `the features API takes no method but GET`() {
        for route in RouteTable.shared.routes {
            let isReadOnly = ["ogc", "osrm", "asset", "openapi"].contains {
                route.label.hasPrefix($0)
            }
            #expect((route.methods == .read) == (isReadOnly || route.style == .ogc))
        }
    }

    @Test func `a box is read in the order of its reference's axes`() async throws {
        let asked = try Asked()
        let plain = try await asked.query("bbox=1,2,3,4")
        #expect(
            plain.spatialFilter?.geometry
                == .envelope(Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4)))
        #expect(plain.spatialFilter?.spatialReference == .wgs84)
        let swapped = try await asked.query(
            "bbox=2,1,4,3&bbox-crs=http://www.opengis.net/def/crs/EPSG/0/4326")
        #expect(swapped.spatialFilter == plain.spatialFilter)
        let high = try await asked.query("bbox=1,2,-100,3,4,100")
        #expect(high.spatialFilter == plain.spatialFilter)
    }

    @Test func `a box over the 180th meridian is two`() async throws {
        let query = try await Asked().query("bbox=170,-50,-160,50")
        let shape = try #require(query.spatialFilter?.geometry)
        guard case .polygon(let rings) = shape else {
            Issue.record("\(shape)")
            return
        }
        let boxes = rings.map { Shape.polygon(rings: [$0]).envelope }
        #expect(
            boxes == [
                Envelope(minX: 170, minY: -50, maxX: 180, maxY: 50),
                Envelope(minX: -180, minY: -50, maxX: -160, maxY: 50),
            ])
    }

    @Test func `datetime is a moment or a span of time`() async throws {
        let asked = try Asked()
        let day: Int64 = 86_400_000
        #expect(
            try await asked.query("datetime=1970-01-02T00:00:00Z").time == TimeExtent(instant: day))
        #expect(
            try await asked.query("datetime=1970-01-02/..").time == TimeExtent(from: day, to: nil))
        #expect(
            try await asked.query("datetime=/1970-01-02").time
                == TimeExtent(from: nil, to: 2 * day - 1))
        #expect(try await asked.query("datetime=../..").time == nil)
        #expect(
            try await asked.query("datetime=1970-01-02t00:00:00z").time
                == TimeExtent(instant: day))
        #expect(
            try await asked.query("datetime=1970-01-02T02:00:00.5%2B02:00/").time
                == TimeExtent(from: day + 500, to: nil))
        #expect(
            try await asked.query("datetime=1970-01-02").time
                == TimeExtent(from: day, to: 2 * day - 1))
    }

    @Test func `the answer's reference is the one that is named`() async throws {
        let asked = try Asked()
        #expect(try await asked.query("").outReference == nil)
        let uri = "http://www.opengis.net/def/crs/EPSG/0/4326"
        #expect(try await asked.query("crs=" + uri).outReference == .wgs84)
        let response = await asked.get("/ogc/collections/City.0/items?crs=" + uri)
        #expect(response.headers["Content-Crs"] == "<\(uri)>")
        #expect(response.contentType == "application/geo+json")
    }

    @Test func `a value of a property is quoted, whatever it is`() async throws {
        let asked = try Asked()
        #expect(
            try await asked.query("name=O'Hara&pop=12").clause
                == #""NAME" = 'O''Hara' AND "POP" = '12'"#)
        var random = SeededGenerator(seed: 27)
        let letters = Array("'\"\\%_- ;()aé\n🗺")
        for _ in 0..<200 {
            let text = String(
                (0..<Int.random(in: 1..<9, using: &random)).map { _ in
                    letters.randomElement(using: &random) ?? "'"
                })
            let clause = try #require(
                try await asked.query("NAME=" + Parameters.encode(text)).clause)
            let inner = try #require(clause.wholeMatch(of: /"NAME" = '((?:[^']|'')*)'/)).output.1
            #expect(inner.replacing("''", with: "'") == text)
        }
        for word in ["", "null", "undefined"] {
            #expect(try await asked.query("NAME=" + word).clause == "\"NAME\" = '\(word)'")
        }
    }

    @Test func `the count and the features are of one sequence number`() async throws {
        let query = try await Asked().query("minSequence=3")
        #expect(query.asOf == .sequence(9) && query.minSequence == nil)
    }

    @Test func `pages are linked as long as there are any`() async throws {
        let asked = try Asked(matched: 25, features: 10)
        let url = "/ogc/collections/City.0/items"
        let first = try await asked.json(url + "?limit=10&at=5")
        #expect(first["numberMatched"] == .number(25) && first["numberReturned"] == .number(10))
        #expect(first["features"]?.elements.count == 10)
        #expect(first.link("prev") == nil)
        #expect(first.link("next") == .string("http://h:1\(url)?limit=10&at=5&offset=10"))
        let second = try await asked.json(url + "?limit=10&offset=10")
        #expect(second.link("prev") == .string("http://h:1\(url)?limit=10&offset=0"))
        #expect(second.link("next") == .string("http://h:1\(url)?limit=10&offset=20"))
        let third = try await Asked(matched: 25, features: 5).json(url + "?limit=10&offset=20")
        #expect(third.link("next") == nil && third.link("prev") != nil)
        let beyond = try await Asked(matched: 25, features: 0).json(url + "?offset=90")
        #expect(beyond.link("next") == nil && beyond["features"] == .array([]))
    }

    @Test func `a feature stands alone, and one that is not there is missed`() async throws {
        let asked = try Asked()
        let url = "/ogc/collections/City.0/items/17"
        let feature = try await asked.json(url)
        #expect(feature["type"] == .string("Feature") && feature["id"] == .number(0))
        #expect(feature.link("self") == .string("http://h:1" + url))
        #expect(asked.site.inner.withLock { $0.lastQuery?.objectIDs } == [17])
        #expect(try await Asked(matched: 0, features: 0).get(url).status == 404)
    }

    @Test func `links of a feature keep the reference that it is in`() async throws {
        let crs = "http://www.opengis.net/def/crs/EPSG/0/3857"
        let url = "/ogc/collections/City.0/items/17"
        let feature = try await Asked().json(url + "?crs=" + crs + "&at=5")
        for (relation, rest) in [("self", ""), ("alternate", "&f=html")] {
            guard case .string(let link)? = feature.link(relation) else {
                Issue.record("no \(relation)")
                continue
            }
            let parts = link.split(separator: "?").map(String.init)
            #expect(parts.first == "http://h:1" + url)
            let told = try Parameters(query: Array(parts.last?.utf8 ?? "".utf8), form: [])
            #expect(told["crs"] == crs && told["at"] == "5")
            #expect(told["f"] == (rest.isEmpty ? nil : "html"))
        }
        // The collection is in none.
        #expect(
            feature.link("collection") == .string("http://h:1/ogc/collections/City.0?at=5"))
    }

    @Test func `a collection with time says from when to when its features are`() async throws {
        let asked = try Asked()
        let plain = try await asked.json("/ogc/collections/City.0")
        #expect(plain["extent"]?["spatial"] != nil && plain["extent"]?["temporal"] == nil)
        asked.site.change { inner in
            inner.map.layers[0].timeInfo = LayerTimeInfo(startField: "POP")
            inner.answerToQuery = { _ in
                #"{"features":[{"attributes":{"first":-86400000,"last":500}}]}"#
            }
        }
        let list = try #require(try await asked.json("/ogc/collections")["collections"]).elements
        for collection in [try await asked.json("/ogc/collections/City.0"), list.last] {
            let time = try #require(collection?["extent"]?["temporal"])
            #expect(
                time["interval"]
                    == .array([
                        .array([
                            .string("1969-12-31T00:00:00Z"), .string("1970-01-01T00:00:00.500Z"),
                        ])
                    ]))
            #expect(
                time["trs"] == .string("http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"))
        }
        #expect(list.first?["extent"]?["temporal"] == nil)
        // A time field without values is not listed.
        asked.site.change { inner in
            inner.map.layers[0].definitionExpression = "POP > 1"
            inner.answerToQuery = { _ in
                #"{"features":[{"attributes":{"first":null,"last":null}}]}"#
            }
        }
        #expect(
            try await asked.json("/ogc/collections/City.0")["extent"]?["temporal"] == nil)
    }

    @Test func `a layer with Z is given in CRS84h as well`() async throws {
        let name = "http://www.opengis.net/def/crs/OGC/0/CRS84h"
        let asked = try Asked()
        #expect(await asked.get("/ogc/collections/City.0/items?crs=" + name).status == 400)
        asked.site.change { $0.map.layers[0].properties?.hasZ = true }
        let told = try await asked.json("/ogc/collections/City.0")["crs"]?.elements ?? []
        // The first one is the default.
        #expect(told.prefix(2) == [.string(OGCReference.crs84.uri), .string(name)])
        let query = try await asked.query("bbox=1,2,3,4&bbox-crs=\(name)&crs=" + name)
        #expect(query.outReference == nil && query.returnZ)
        #expect(query.spatialFilter?.geometry.envelope.minX == 1)
        let response = await asked.get("/ogc/collections/City.0/items?crs=" + name)
        #expect(response.headers["Content-Crs"] == "<\(name)>")
    }

    @Test func `a box with heights selects what it selects without them`() async throws {
        let flat = try await Asked().query("bbox=1,2,3,4")
        let high = try await Asked().query("bbox=1,2,-100,3,4,9000")
        #expect(high.spatialFilter == flat.spatialFilter && flat.spatialFilter != nil)
    }

    @Test func `the API says how tokens are shown where there are any`() async throws {
        func api(_ hasTokens: Bool) throws -> RelaxedValue {
            let links = OGCLinks(GatewayRequest(path: []), Parameters([:]))
            return try RelaxedJSON.parse(
                String(
                    decoding: OGCDocument.api(links, hasTokens: hasTokens), as: UTF8.self))
        }
        let plain = try await Asked().json("/ogc/api")
        #expect(plain["security"] == nil && plain["components"]?["securitySchemes"] == nil)
        #expect(try api(false)["security"] == nil)

        let told = try api(true)
        guard case .object(let schemes)? = told["components"]?["securitySchemes"] else {
            Issue.record("no schemes")
            return
        }
        #expect(schemes["bearer"]?["type"] == .string("http"))
        #expect(schemes["bearer"]?["scheme"] == .string("bearer"))
        #expect(schemes["token"]?["in"] == .string("query"))
        #expect(schemes["token"]?["name"] == .string("token"))
        // Each is a way of its own, and so is none.
        var ways: [Set<String>] = []
        for case .object(let way) in told["security"]?.elements ?? [] { ways.append(Set(way.keys)) }
        #expect(ways == [["bearer"], ["token"], []])
    }

    @Test func `the past is linked to the past`() async throws {
        let landing = try await Asked().json("/ogc?at=5")
        #expect(landing.link("data") == .string("http://h:1/ogc/collections?at=5"))
    }

    @Test func `every reference in the API's description leads somewhere`() async throws {
        let api = try await Asked().json("/ogc/api")
        func walk(_ value: RelaxedValue) {
            switch value {
            case .object(let members):
                for (name, member) in members {
                    if name == "$ref", case .string(let text) = member {
                        let steps = text.split(separator: "/").dropFirst().map(String.init)
                        #expect(steps.reduce(api as RelaxedValue?) { $0?[$1] } != nil, "\(text)")
                    }
                    walk(member)
                }
            case .array(let elements): elements.forEach(walk)
            case .null, .bool, .number, .string: break
            }
        }
        walk(api)
        #expect(
            api["components"]?["parameters"]?["limit"]?["schema"]?["maximum"]
                == .number(Double(QueryRequest.recordBound)))
        for name in ["bbox", "datetime", "limit"] {
            let parameter = try #require(api["components"]?["parameters"]?[name])
            #expect(parameter["style"] == .string("form") && parameter["explode"] == .bool(false))
            #expect(parameter["in"] == .string("query") && parameter["required"] == .bool(false))
        }
        let item = api["paths"]?["/collections/{collectionId}/items/{featureId}"]?["get"]
        for status in ["200", "400", "404", "406", "default"] {
            #expect(item?["responses"]?[status] != nil, "\(status)")
        }
    }
}
