// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import Platform
import Synchronization
import Testing

@testable import Gateway

private let root = "/arcgis/rest/services/City"

@Suite struct QueryResourceTests {
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    private func get(_ url: String, form: String = "") async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                form: Array(form.utf8)))
    }

    private func json(_ url: String) async throws -> RelaxedValue {
        try RelaxedJSON.parse(String(decoding: await get(url).body, as: UTF8.self))
    }

    private func asked(_ query: String, form: String = "") async throws -> QueryRequest {
        site.change { $0.lastQuery = nil }
        let answer = await get(root + "/FeatureServer/3/query?" + query, form: form)
        let request = site.inner.withLock { $0.lastQuery }
        return try #require(request, "\(String(decoding: answer.body, as: UTF8.self))")
    }

    @Test func `quantisation is read with all its members, or with some`() async throws {
        let whole = try await asked(
            "quantizationParameters={mode:'view',originPosition:'lowerLeft',tolerance:1.5,"
                + "extent:{xmin:0,ymin:1,xmax:2,ymax:3,spatialReference:{wkid:102100}}}")
        var expected = QueryQuantization()
        expected.origin = .lowerLeft
        expected.tolerance = 1.5
        expected.extent = Envelope(minX: 0, minY: 1, maxX: 2, maxY: 3)
        expected.spatialReference = SpatialReference(wkid: 102_100)
        #expect(whole.quantization == expected)
        #expect(try await asked("quantizationParameters={}").quantization == QueryQuantization())
        #expect(try await asked("where=1=1").quantization == nil)
        for (json, word) in [
            ("[]", "a JSON object"), ("{mode:'edit'}", "'mode': expected view"),
            ("{originPosition:'middle'}", "upperLeft or lowerLeft"),
            ("{tolerance:0}", "greater than 0"), ("{extent:{x:1,y:2}}", "xmin, ymin, xmax"),
            ("{}&returnZ=true", "returnZ"),
        ] {
            let message = try await refusal("quantizationParameters=" + json)
            #expect(message.hasPrefix("parameter 'quantizationParameters'"), "\(message)")
            #expect(message.contains(word), "\(message)")
        }
    }

    @Test func `a clause is asked of the moment at which the request came`() async throws {
        let start = WallClock.microseconds()
        let request = try await asked(
            "where=day%20%3E%20CURRENT_TIMESTAMP%20-%203&having=MAX(day)%3CCURRENT_DATE")
        let end = WallClock.microseconds()

        let clause = try #require(request.clause)
        let match = try #require(clause.wholeMatch(of: /day > TIMESTAMP '(.*)' - 3/))
        let moment = try #require(Timestamp(iso: String(match.output.1)))
        #expect(start / 1000 <= moment.microseconds / 1000 && moment.microseconds <= end)
        #expect(try #require(request.having).hasPrefix("MAX(day)<DATE '"))
    }

    @Test func `the clauses of several layers are asked of one moment`() async throws {
        let definitions = "layerDefs=1:day%3CCURRENT_TIMESTAMP;3:day%3ECURRENT_TIMESTAMP"
        _ = await get(root + "/MapServer/find?searchText=a&" + definitions)
        let found = try #require(site.inner.withLock { $0.lastFind })
        _ = await get(
            root + "/MapServer/identify?geometry=1,2&tolerance=3&mapExtent=0,0,9,9"
                + "&imageDisplay=90,90,96&" + definitions)
        let identified = try #require(site.inner.withLock { $0.lastIdentify })
        _ = await get(root + "/MapServer/export?bbox=0,0,9,9&" + definitions)
        let drawn = try #require(site.inner.withLock { $0.lastExport })

        for clauses in [
            found.layerDefinitions, identified.layerDefinitions, drawn.layerDefinitions,
        ] {
            let first = try #require(clauses[1]), second = try #require(clauses[3])
            #expect(first.hasPrefix("day<TIMESTAMP '20"))
            #expect(second == first.replacing("<", with: ">"))
        }
    }

    private func refusal(_ query: String) async throws -> String {
        site.change { $0.lastQuery = nil }
        let answer = try await json(root + "/MapServer/3/query?" + query)
        #expect(site.inner.withLock { $0.lastQuery } == nil)
        guard case .string(let message)? = answer["error"]?["message"] else { return "answered" }
        return message
    }

    @Test func `an answer is passed on as it is, with its sequence number`() async throws {
        for path in ["/MapServer/3/query", "/FeatureServer/3/query/"] {
            let answer = await get(root + path + "?where=1%3D1")
            #expect(String(decoding: answer.body, as: UTF8.self) == #"{"count":1}"#)
            #expect(answer.sequence == 9 && answer.isStale)
            #expect(answer.contentType.hasPrefix("application/json"))
        }
        let geo = await get(root + "/MapServer/3/query?f=geojson")
        #expect(geo.contentType.hasPrefix("application/geo+json"))
        let pretty = await get(root + "/MapServer/3/query?f=pjson")
        #expect(String(decoding: pretty.body, as: UTF8.self) == "{\n  \"count\": 1\n}")
    }

    @Test func `a query as clients send it is understood`() async throws {
        // QGIS, twice.
        var request = try await asked(
            "f=json&objectIds=1,2,3&inSR=3857&outSR=3857&returnGeometry=true&outFields=*"
                + "&returnM=false&returnZ=false")
        #expect(request.objectIDs == [1, 2, 3] && request.outFields == ["*"])
        #expect(request.outReference == .webMercator && request.layer == 3)
        request = try await asked(
            "f=json&where=1%3D1&returnIdsOnly=true&geometry=-100000.000000,6650000.000000,"
                + "0.000000,6700000.000000&geometryType=esriGeometryEnvelope"
                + "&spatialRel=esriSpatialRelEnvelopeIntersects")
        #expect(request.result == .objectIDs && request.clause == "1=1")
        #expect(
            request.spatialFilter
                == QuerySpatialFilter(
                    geometry: .envelope(
                        Envelope(minX: -100_000, minY: 6_650_000, maxX: 0, maxY: 6_700_000)),
                    relation: .envelopeIntersects))
        // GDAL.
        request = try await asked(
            "where=OBJECTID%3E0&outFields=*&orderByFields=OBJECTID+ASC,%22A+B%22+desc&f=json"
                + "&resultRecordCount=500&resultOffset=500")
        #expect(request.limit == 500 && request.offset == 500)
        #expect(
            request.order == [
                QueryOrder(field: "OBJECTID"), QueryOrder(field: "A B", isDescending: true),
            ])
        request = try await asked("where=1%3D1&outFields=*&f=geojson&returnExtentOnly=true")
        #expect(request.result == .extent && request.form == .geoJSON && !request.returnCount)
        // esridump.
        request = try await asked(
            "f=json",
            form: "resultOffset=0&resultRecordCount=1000&where=1%3D1&geometryPrecision=7"
                + "&returnGeometry=True&outSR=4326&outFields=%2A")
        #expect(request.geometryPrecision == 7 && request.returnGeometry && request.limit == 1000)
        request = try await asked(
            "f=json&outFields=&outStatistics=%5B%7B%22statisticType%22:%22min%22,"
                + "%22onStatisticField%22:%22OBJECTID%22,%22outStatisticFieldName%22:%22THE_MIN%22"
                + "%7D,%7BstatisticType:%22VAR%22,onStatisticField:%22POP%22%7D%5D")
        #expect(
            request.statistics == [
                QueryStatistic(kind: .min, field: "OBJECTID", name: "THE_MIN"),
                QueryStatistic(kind: .variance, field: "POP", name: "VAR_POP"),
            ])
        // esri-leaflet.
        request = try await asked(
            "returnGeometry=true&where=1=1&outSR=4326&outFields=*&geometry=-1.6,51.5"
                + "&geometryType=esriGeometryPoint&spatialRel=esriSpatialRelIntersects"
                + "&units=esriSRUnit_Kilometer&distance=5&inSR=4326&resultType=tile&f=json")
        #expect(
            request.spatialFilter
                == QuerySpatialFilter(
                    geometry: .point(Coordinate(x: -1.6, y: 51.5)), spatialReference: .wgs84,
                    distanceMeters: 5000))
        request = try await asked(
            "returnCountOnly=true&returnExtentOnly=true&time=0,null&at=5&returnDistinctValues=1"
                + "&groupByFieldsForStatistics=a,%20b&returnCentroid=true&maxAllowableOffset=0.5")
        #expect(request.result == .extent && request.returnCount && request.at == 5)
        #expect(request.time == TimeExtent(from: 0, to: nil) && request.returnDistinctValues)
        #expect(request.groupFields == ["a", "b"] && request.maxAllowableOffset == 0.5)
        request = try await asked(
            "text=O'Hare&geometry=1,2&spatialRel=esriSpatialRelRelation&relationParam=fffttt***")
        #expect(request.text == "O'Hare" && request.spatialFilter?.relation == .pattern)
        #expect(request.spatialFilter?.pattern == "FFFTTT***")
    }

    @Test(arguments: [
        ("spatialRel=esriSpatialRelNone", "spatialRel"), ("units=parsec&distance=1", "units"),
        ("distance=-1", "distance"), ("geometry=NaN,1", "geometry"),
        ("geometry=1,2,3", "geometry"), ("geometryType=circle", "geometryType"),
        ("resultOffset=-1", "resultOffset"), ("resultOffset=99999999999999999999", "resultOffset"),
        ("resultRecordCount=x", "resultRecordCount"), ("objectIds=1,x", "objectIds"),
        ("objectIds=99999999999999999999", "objectIds"),
        ("returnGeometry=perhaps", "returnGeometry"),
        ("f=pbf", "'f'"), ("resultType=all", "resultType"), ("sqlFormat=x", "sqlFormat"),
        ("rangeValues=%5B%5D", "rangeValues"), ("outSR=x", "outSR"),
        ("outStatistics=%7B%7D", "outStatistics"),
        ("outStatistics=%5B1%5D", "outStatistics"), ("geometryPrecision=-1", "geometryPrecision"),
        (
            "outStatistics=%5B%7BstatisticType:%22mode%22,onStatisticField:%22a%22%7D%5D",
            "statisticType"
        ),
        ("timeout=0", "timeout"), ("time=x", "time"),
        ("maxAllowableOffset=-1", "maxAllowableOffset"),
    ])
    func `an unknown value is refused by a sentence that names it`(
        query: String, name: String
    ) async throws {
        #expect(try await refusal(query).contains(name))
    }

    @Test func `commas and words within an expression are its own`() async throws {
        let request = try await asked(
            "orderByFields=SUBSTRING(%22A,B%22,1,2)+DESC,+POSITION(',)+desc'+IN+c),%22a%22||%22b%22+asc,d"
                + "&groupByFieldsForStatistics=EXTRACT(MONTH+FROM+d),%22e%22,MOD(f,2)"
                + "&outStatistics=%5B%7BstatisticType:%22sum%22,onStatisticField:%22A-B%22%7D%5D")
        #expect(
            request.order == [
                QueryOrder(field: #"SUBSTRING("A,B",1,2)"#, isDescending: true),
                QueryOrder(field: "POSITION(',) desc' IN c)"),
                QueryOrder(field: #""a"||"b""#), QueryOrder(field: "d"),
            ])
        #expect(request.groupFields == ["EXTRACT(MONTH FROM d)", "e", "MOD(f,2)"])
        #expect(request.statistics == [QueryStatistic(kind: .sum, field: "A-B", name: "SUM_A-B")])
    }

    @Test func `deep JSON is refused`() async throws {
        let deep = String(repeating: "%5B", count: 5000)
        #expect(try await refusal("outStatistics=" + deep).contains("nested deeper"))
        #expect(try await refusal("geometry=%7Brings:" + deep).contains("nested deeper"))
    }

    @Test func `one feature is what a query for its object id finds`() async throws {
        let geometry = #""rings":[[[0,0],[0,1],[1,0],[0,0]]]"#
        let attributes = #"{"OBJECTID":12,"NAME":"\"geometry\":{\"features\":[","geometry":null}"#
        let head =
            #"{"objectIdFieldName":"OBJECTID","fieldAliases":{"features":"\"features\":["},"#
            + #""spatialReference":{"wkid":102100,"latestWkid":3857},"fields":[],"features":["#
        let named = #"{"spatialReference":{"wkid":102100,"latestWkid":3857},\#(geometry)}"#
        for (feature, expected) in [
            (
                #"{"attributes":\#(attributes),"geometry":{\#(geometry)}}"#,
                #"{"attributes":\#(attributes),"geometry":\#(named)}"#
            ),
            (#"{"attributes":\#(attributes)}"#, #"{"attributes":\#(attributes)}"#),
        ] {
            site.change { $0.answerToQuery = { _ in head + feature + "]}" } }
            for path in ["/MapServer/3/12", "/FeatureServer/3/12/"] {
                let answer = await get(root + path + "?f=json")
                #expect(
                    String(decoding: answer.body, as: UTF8.self) == #"{"feature":\#(expected)}"#)
                #expect(answer.sequence == 9 && answer.isStale)
            }
        }
        // A query's other parameters select nothing here.
        _ = await get(
            root + "/FeatureServer/3/12?outSR=4326&at=5&returnGeometry=false&geometryPrecision=2"
                + "&where=1%3D0&returnCountOnly=true&objectIds=1&resultOffset=7")
        var expected = QueryRequest(map: try #require(MapName(rawValue: "City")), layer: 3)
        expected.objectIDs = [12]
        expected.outFields = ["*"]
        expected.outReference = .wgs84
        expected.at = 5
        expected.returnGeometry = false
        expected.geometryPrecision = 2
        #expect(site.inner.withLock { $0.lastQuery } == expected)
        _ = await get(root + "/MapServer/3/-7?outFields=NAME,POP&minSequence=4")
        let seven = site.inner.withLock { $0.lastQuery }
        #expect(seven?.objectIDs == [-7] && seven?.outFields == ["NAME", "POP"])
        #expect(seven?.minSequence == 4)

        site.change { $0.answerToQuery = { _ in head + "]}" } }
        let none = try await json(root + "/MapServer/3/13")
        #expect(none["error"]?["code"] == .number(404))
        #expect(
            none["error"]?["message"] == .string("layer 3 has no feature with the object id 13"))
        for path in ["/3/x", "/3/99999999999999999999", "/3/12/13"] {
            #expect(try await json(root + "/MapServer" + path)["error"]?["code"] == .number(404))
            #expect(
                try await json(root + "/FeatureServer" + path)["error"]?["code"] == .number(404))
        }
        #expect(try await json(root + "/MapServer/3/12?f=geojson")["error"] != nil)
    }

    @Test func `a map is described as a service of features`() async throws {
        site.change { inner in
            inner.map.layers[3].kind = .layer(
                source: .wms(WMSSource(url: "http://x", layers: ["a"])))
        }
        let service = try await json(root + "/FeatureServer?f=json")
        guard case .array(let layers)? = service["layers"] else {
            Issue.record("no layers")
            return
        }
        // Neither the group nor what another server draws.
        #expect(layers.map { $0["id"] } == [.number(3), .number(0)])
        #expect(service["supportedQueryFormats"] == .string("JSON, geoJSON"))
        #expect(service["maxRecordCount"] == .number(2000))
        #expect(service["capabilities"] == .string("Query"))

        for path in ["/FeatureServer/3", "/MapServer/3"] {
            let layer = try await json(root + path)
            #expect(layer["supportsPagination"] == .bool(true), "\(path)")
            #expect(layer["advancedQueryCapabilities"]?["supportsStatistics"] == .bool(true))
            #expect(layer["objectIdField"] == .string("OBJECTID"))
            #expect(layer["maxRecordCount"] == .number(2000))
        }
        #expect(try await json(root + "/FeatureServer/1")["error"]?["code"] == .number(400))
        #expect(try await json(root + "/FeatureServer/2")["error"]?["code"] == .number(400))
        #expect(try await json(root + "/MapServer/2")["supportsStatistics"] == .bool(false))
        #expect(try await json(root + "/FeatureServer/3/addFeatures")["error"] != nil)
        guard case .array(let all)? = try await json(root + "/FeatureServer/layers")["layers"]
        else {
            Issue.record("no layers")
            return
        }
        #expect(all.count == 2)
    }
}
