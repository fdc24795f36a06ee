// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Identify
import Site
import Synchronization
import TestKit
import Testing

@testable import Curl
@testable import Remote

@Suite(.timeLimit(.minutes(2))) struct ArcGISTests {
    let fixture: RemoteFixture

    init() throws { fixture = try RemoteFixture() }

    private func mapService(
        _ id: LayerID, _ path: String = "/arcgis/MapServer", layers: [Int]? = nil,
        credential: String? = nil
    ) throws -> LayerDescription {
        try fixture.layer(
            id,
            .mapService(
                ArcGISSource(
                    url: fixture.server.url + path, layers: layers, credential: credential)))
    }

    private func featureService(_ id: LayerID) throws -> LayerDescription {
        try fixture.layer(
            id,
            .featureService(ArcGISSource(url: fixture.server.url + "/arcgis/FeatureServer/0")))
    }

    @Test func `a map service is identified with our geometry, tolerance and pixels`() throws {
        let map = try fixture.map([try mapService(0)], wkid: 3857)

        let answer = try fixture.identify(
            try fixture.request(250_000, 6_200_000, pixel: 100), in: map)

        let layer = try #require(answer.layers.first)
        #expect(layer.sublayerResults.map(\.layerName) == ["Points", "Lines"])
        #expect(layer.flattened.map(\.objectID) == [40, 43])
        #expect(layer.flattened.map(\.distance) == [0, 300])
        let attributes = layer.flattened[0].attributes
        #expect(attributes.entries.first?.name == "ZZ")
        #expect(attributes["pixel"] == .real(100) && attributes["tolerance"] == .string("3"))
        #expect(attributes["asked"] == .string("all") && attributes["middle"] == .real(0))
        #expect(layer.flattened[0].displayFieldName == "NAME")
        #expect(answer.failures == nil)
    }

    @Test(arguments: [
        ("pixel = 100 AND asked = 'all'", 2), ("\"PIXEL\" < 100", 0), ("tolerance = 3", 2),
        ("asked LIKE 'a%' AND middle BETWEEN -1 AND 1", 2), ("nothing IS NOT NULL", 0), (" ", 2),
        ("1 = 0", 0),
    ])
    func `a clause decides here on what a map service tells`(_ clause: String, _ count: Int) throws
    {
        let map = try fixture.map([try mapService(0)], wkid: 3857)
        var request = try fixture.request(250_000, 6_200_000, pixel: 100)
        request.layerDefinitions = [0: clause]

        let answer = try fixture.identify(request, in: map)

        #expect(answer.failures == nil)
        #expect(answer.layers.flatMap(\.flattened).count == count)
        #expect(answer.explanation?.layers.first?.excludedByDefinition == 2 - count)
        let asked = try fixture.server.log().filter { $0.contains("/identify") }
        #expect(asked.count == 1 && !asked[0].contains("middle") && !asked[0].contains("layerDefs"))
    }

    @Test(arguments: [
        "KIND = 1; DROP TABLE x", "KIND = 1) OR (1=1", "KIND =", "'", "KIND = 1 /* x",
    ])
    func `text that is no clause is an error, and is not sent`(_ clause: String) throws {
        let layers = [try mapService(0), try featureService(1)]
        let map = try fixture.map(layers, wkid: 3857)
        for id: LayerID in [0, 1] {
            var request = try fixture.request(0, 6_000_000, pixel: 100)
            request.layerDefinitions = [id: clause]
            do {
                _ = try fixture.identify(request, in: map)
                Issue.record("it was answered")
            } catch {
                #expect(error.code == .invalidParameter)
                #expect(error.message.contains("layerDefs of layer \(id)"))
            }
        }
        let asked = try fixture.server.log()
        #expect(!asked.contains { $0.contains("/query") || $0.contains("/identify") })
    }

    @Test func `text that is no definition expression is its layer's failure`() throws {
        var layers = [try mapService(0), try featureService(1)]
        for index in layers.indices { layers[index].definitionExpression = "KIND =" }
        let map = try fixture.map(layers, wkid: 3857)

        let answer = try fixture.identify(
            try fixture.request(0, 6_000_000, pixel: 100), in: map)

        #expect(answer.failures?.map(\.layerID).sorted() == [0, 1] && answer.layers.isEmpty)
        #expect(answer.failures?.allSatisfy { $0.error.code == .invalidParameter } == true)
    }

    @Test func `only the layers that are wanted are asked, and they must exist`() throws {
        let map = try fixture.map([try mapService(0, layers: [3])], wkid: 3857)

        let answer = try fixture.identify(
            try fixture.request(250_000, 6_200_000, option: .visible, pixel: 100), in: map)

        #expect(answer.results.first?.attributes["asked"] == .string("visible:3"))
        #expect(throws: Failure.self) { try mapService(0, layers: [7]) }
        #expect(throws: Failure.self) { try mapService(0, "/wms") }
    }

    @Test func `a token goes in the form, and its lack is the service's sentence`() throws {
        do {
            _ = try mapService(0, "/arcgis/guarded/MapServer")
            Issue.record("it loaded")
        } catch {
            #expect("\(error)".contains("499: Token Required"))
        }
        try fixture.credentials.set(Credential(secret: "geheim"), as: "gis")

        let layer = try mapService(0, "/arcgis/guarded/MapServer", credential: "gis")
        let answer = try fixture.identify(
            try fixture.request(0, 6_000_000, pixel: 10),
            in: try fixture.map([layer], wkid: 3857))

        #expect(answer.results.count == 2)
        let log = try fixture.server.log()
        #expect(log.allSatisfy { !$0.split(separator: "|")[0].contains("geheim") })
    }

    @Test func `a feature service tells its fields, the object id first`() throws {
        let properties = try #require(try featureService(0).properties)

        #expect(properties.geometryType == .point)
        #expect(properties.fields.map(\.name) == ["OBJECTID", "NAME", "KIND", "SEEN"])
        #expect(properties.fields.map(\.type) == [.objectID, .string, .smallInteger, .date])
        #expect(properties.spatialReference.wkid == 3857)
    }

    @Test(arguments: [3857, 4326])
    func `a feature service's hits are those of a scan, nearest first`(wkid: Int) throws {
        let map = try fixture.map([try featureService(0)], wkid: wkid)
        var request = try fixture.request(5200, 6_007_300, pixel: 500)
        if wkid == 4326 {
            request = try fixture.request(
                5200 / 111_319.49079327358, 47.354_8, pixel: 500 / 111_319.490_793_273_58)
        }
        let transform = { (place: Coordinate) in
            wkid == 3857 ? place : WebMercator.unproject(place)
        }
        let resolution = request.mapExtent.width / 800
        guard case .point(let middle) = request.geometry else { return }
        let scan = (0..<400).compactMap { index -> (Double, Int64)? in
            let place = transform(
                Coordinate(x: Double(index % 20) * 1000, y: 6e6 + Double(index / 20) * 1000))
            let distance =
                ((place.x - middle.x) * (place.x - middle.x)
                + (place.y - middle.y) * (place.y - middle.y)).squareRoot()
            return distance <= 3 * resolution ? (distance, Int64(index + 1)) : nil
        }.sorted { $0 < $1 }

        let results = try fixture.identify(request, in: map).results

        #expect(!scan.isEmpty)
        #expect(results.map(\.objectID) == scan.map(\.1))
        #expect(zip(results, scan).allSatisfy { abs($0.distance - $1.0) < 1e-6 })
        #expect(results.first?.displayFieldName == "NAME")
        #expect(results.first?.attributes["SEEN"] == .date(1_600_000_000_000))
    }

    @Test func `a clause goes along, to every page`() throws {
        var layer = try featureService(0)
        layer.definitionExpression = "KIND = 1"
        let map = try fixture.map([layer], wkid: 3857)
        var request = try fixture.request(0, 6_000_000, pixel: 100)
        request.tolerance = 0
        request.geometry = .envelope(Envelope(minX: 0, minY: 6e6, maxX: 3000, maxY: 6_001_000))

        let few = try fixture.identify(request, in: map)
        #expect(few.results.map(\.objectID) == [2, 4, 22, 24])
        request.geometry = .envelope(Envelope(minX: 0, minY: 6e6, maxX: 2e4, maxY: 6_020_000))
        let many = try fixture.identify(request, in: map)
        #expect(many.results.count == 200 && !many.transferLimitExceeded)
    }

    @Test func `an answer without features is no answer, and an object id comes once`() throws {
        let question = try fixture.question(try featureService(0))
        for text in ["{}", "null", "[]", #"{"features":null}"#] {
            var search = search(question)
            #expect(throws: Failure(.unreadable, "its answer has no features")) {
                _ = try search.take(page(text))
            }
        }
        var search = search(question)
        #expect(try search.take(page("{\"features\":[\(Self.features(7, 8, 7))]}")) == nil)
        let answer = try search.take(page(#"{"features":[]}"#))
        #expect(answer?.features.map(\.id) == [7, 8] && answer?.isCut == false)
    }

    @Test(arguments: [
        (#"{"x":1e300,"y":48}"#, "cannot be read"), (#"{"x":2,"y":null}"#, "cannot be read"),
        (#"{"rings":[[[0,0],[0,1e13],[1,1],[0,0]]]}"#, "cannot be read"),
        (#"{"paths":[[[0,0],["NaN",1]]]}"#, "cannot be read"),
        (#"{"curvePaths":[[[0,0],{"c":[[3,3],[1,4]]}]]}"#, "curves"),
    ])
    func `features that cannot be measured are reported beside the others, found and drawn`(
        _ geometry: String, _ word: String
    ) throws {
        let feature = #"{"attributes":{"OBJECTID":7},"geometry":\#(geometry)}"#
        func isTold(_ shortfall: Failure?) -> Bool {
            shortfall?.code == .unreadable && shortfall?.message.contains(word) == true
                && shortfall?.message.hasPrefix("its feature 7 has") == true
        }
        var search = search(try question(hasPages: true))
        let first = "{\"exceededTransferLimit\":true,\"features\":[\(Self.features(6)),\(feature)]}"
        let second = page(
            "{\"exceededTransferLimit\":false,\"features\":[\(Self.features(8))]}")
        #expect(try search.take(page(first)) == nil)
        let answer = try #require(try search.take(second))
        #expect(answer.features.map(\.id) == [6, 7, 8] && !answer.isCut)
        #expect(answer.features.map { $0.shape == nil } == [false, true, false])
        #expect(isTold(answer.shortfall))

        var pages = pages(of: try question(hasPages: true))
        #expect(try pages.take(page(first)) == nil)
        #expect(
            pages.calls[0].parameters.contains { $0.name == "where" && $0.value == "OBJECTID > 7" })
        let picture = try #require(try pages.take(second))
        guard case .features(let drawn) = picture.content else {
            Issue.record("\(picture.content)")
            return
        }
        #expect(drawn.map(\.id) == [6, 7, 8] && drawn[1].shape == nil && isTold(picture.shortfall))
    }

    @Test(arguments: [("place", 3_000), ("half", 1_000)])
    func `features that a service does not deliver are a failure beside its hits`(
        _ kind: String, _ count: Int
    ) throws {
        let url = fixture.server.url + "/features/\(kind)/FeatureServer/0"
        let layer = try fixture.layer(4, .featureService(ArcGISSource(url: url)))
        let map = try fixture.map([layer])
        var request = try fixture.request(7, 1)
        request.explain = true
        request.maximumResultsPerLayer = 1_000

        let answer = try fixture.identify(request, in: map)

        // Its points are in rows of 90, one row above the other.
        let there = stride(from: 7, through: count, by: 90).filter { kind != "place" || $0 != 7 }
        #expect(answer.results.map { Int($0.objectID) } == there)
        #expect(answer.transferLimitExceeded == (kind == "half"))
        let failure = try #require(answer.failures?.first)
        #expect(answer.failures?.count == 1 && failure.layerID == 4)
        #expect(failure.error.message.hasPrefix(url + ": "))
        #expect(failure.error.message.contains("its feature 7 has") == (kind == "place"))
        let told = try #require(answer.explanation?.layers.first { $0.layerID == 4 })
        #expect(told.status == .searched && told.hitCount == there.count)
        #expect(told.detail == failure.error.description)
    }

    @Test func `a service that is left alone midway is a failure beside its hits`() throws {
        let url = fixture.server.url + "/features/half/FeatureServer/0"
        let layer = try fixture.layer(4, .featureService(ArcGISSource(url: url)))
        let services = fixture.services
        let inquiry = services.ask([try fixture.question(layer)])

        let answer = try inquiry.features(at: 0) { take in
            take()
            // Another client's request took too long meanwhile.
            services.breakers.note(
                Breakers.service(url), .free, [.failure(WebError(.timedOut, "no answer"))], .zero,
                after: .zero)
        }.get()

        #expect(!answer.features.isEmpty && answer.isCut)
        let sentence = try #require(answer.shortfall).message
        #expect(sentence.hasPrefix(url + ": ") && sentence.contains("are paused"), "\(sentence)")
    }

    @Test(arguments: ["null", "{}", #"{"x":"NaN","y":"NaN"}"#, #"{"x":null}"#, #"{"rings":[]}"#])
    func `a feature that lies nowhere has no shape`(_ geometry: String) throws {
        var search = search(try fixture.question(try featureService(0)))
        let text = #"[{"attributes":{"OBJECTID":7},"geometry":\#(geometry)}]"#
        let answer = try search.take(
            page(#"{"exceededTransferLimit":false,"features":\#(text)}"#))
        #expect(answer?.features.map(\.id) == [7] && answer?.features[0].shape == nil)
    }

    @Test(arguments: ["{}", "null", #"{"features":null}"#])
    func `an answer without features is no empty picture`(_ text: String) throws {
        var pages = pages(of: try question(hasPages: true))
        #expect(throws: Failure(.unreadable, "its answer has no features")) {
            _ = try pages.take(page(text))
        }
    }

    private func search(_ question: RemoteQuestion) -> FeatureSearch {
        FeatureSearch(
            question,
            of: FeatureServiceLayer(source: ArcGISSource(url: "http://there/FeatureServer/0")))
    }

    private func pages(of question: RemoteQuestion) -> FeaturePages {
        FeaturePages(
            RemotePictureQuestion(
                source: question.source, properties: question.properties,
                spatialReference: .webMercator,
                extent: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1), width: 1, height: 1,
                unitsPerPixel: 1, dpi: 96), url: "http://there/FeatureServer/0/query")
    }

    private func page(_ text: String) -> WebAnswers {
        let body = Array(text.utf8)
        return [
            .success(WebResponse(status: 200, contentType: "application/json", body: body))
        ]
    }

    private static func features(_ ids: Int...) -> String {
        ids.map { #"{"attributes":{"OBJECTID":\#($0)},"geometry":{"x":2,"y":48}}"# }
            .joined(separator: ",")
    }

    private static func cut(_ ids: Int...) -> String {
        let list = ids.map { features($0) }.joined(separator: ",")
        return "{\"exceededTransferLimit\":true,\"features\":[\(list)]}"
    }

    /// A layer with paging, or without.
    private func question(hasPages: Bool) throws -> RemoteQuestion {
        var layer = try featureService(0)
        layer.properties?.service?.pageSize = hasPages ? 10 : nil
        return try fixture.question(layer)
    }

    @Test func `features behind a page are asked for by object id, or by what is known`() throws {
        func clause(_ search: FeatureSearch) -> String? {
            search.calls.first?.parameters.first { $0.name == "where" }?.value
        }
        var question = try question(hasPages: true)
        question.clause = "KIND = 1"
        var ordered = search(question)
        #expect(clause(ordered) == "KIND = 1")
        #expect(try ordered.take(page(Self.cut(3, 5, 9))) == nil)
        #expect(clause(ordered) == "KIND = 1 AND OBJECTID > 9")
        // It does not order them after all.
        #expect(try ordered.take(page(Self.cut(12, 10))) == nil)
        #expect(clause(ordered) == "KIND = 1 AND OBJECTID NOT IN (3,5,9,10,12)")
        // A short page need not be the last.
        #expect(try ordered.take(page("{\"features\":[\(Self.features(4))]}")) == nil)
        let all = try ordered.take(page(#"{"features":[]}"#))
        #expect(all?.features.map(\.id) == [3, 5, 9, 12, 10, 4] && all?.isCut == false)

        var unordered = search(try self.question(hasPages: false))
        #expect(try unordered.take(page(Self.cut(3, 5))) == nil)
        #expect(clause(unordered) == "OBJECTID NOT IN (3,5)")
        #expect(unordered.calls.first?.parameters.contains { $0.name == "orderByFields" } == false)
    }

    @Test func `a search ends where a page brings nothing new, fails, or is too much`() throws {
        var same = search(try question(hasPages: true))
        #expect(try same.take(page(Self.cut(1, 2))) == nil)
        let again = try same.take(page(Self.cut(1, 2)))
        #expect(again?.features.map(\.id) == [1, 2] && again?.isCut == true)

        var broken = search(try question(hasPages: true))
        #expect(try broken.take(page(Self.cut(1, 2))) == nil)
        let rest = try broken.take([.failure(WebError(.unreachable, "it broke off"))])
        #expect(rest?.features.map(\.id) == [1, 2] && rest?.isCut == true)
        #expect(rest?.shortfall?.message.contains("it broke off") == true)

        var endless = search(try question(hasPages: true))
        var (count, answer) = (0, RemoteAnswer?.none)
        while answer == nil {
            count += 1
            answer = try endless.take(page(Self.cut(count)))
        }
        #expect(count == FeatureWalk.callBound && answer?.isCut == true)
    }

    @Test func `a page that is too large is asked for in smaller pages`() throws {
        let tooLarge: WebAnswers = [.failure(WebError(.tooLarge, "it is too large"))]
        func limit(_ search: FeatureSearch) -> String? {
            search.calls.first?.parameters.first { $0.name == "resultRecordCount" }?.value
        }
        var search = search(try question(hasPages: true))
        #expect(limit(search) == nil)
        #expect(try search.take(tooLarge) == nil && limit(search) == "2")
        // As many as requested: there may be more, whatever the server reports.
        #expect(try search.take(page("{\"features\":[\(Self.features(1, 2))]}")) == nil)
        #expect(try search.take(tooLarge) == nil && limit(search) == "1")
        #expect(try search.take(page("{\"features\":[\(Self.features(6))]}")) == nil)
        let answer = try search.take(page(#"{"features":[]}"#))
        #expect(answer?.features.map(\.id) == [1, 2, 6] && answer?.isCut == false)

        var unpaged = self.search(try question(hasPages: false))
        #expect(throws: Failure.self) { try unpaged.take(tooLarge) }
    }

    @Test func `a map service gives as many results as a layer may have, and says where it is cut`()
        throws
    {
        let layer = try mapService(0)
        let question = try fixture.question(layer)
        let result = #"{"layerId":0,"layerName":"Points","attributes":{}}"#
        func answer(_ count: Int) throws(Failure) -> RemoteAnswer {
            let results = Array(repeating: result, count: count).joined(separator: ",")
            var question = question
            question.limit = IdentifyLimits.resultsPerLayer
            return try MapServiceLayer(source: ArcGISSource(url: "http://there/MapServer")).answer(
                WebResponse(
                    status: 200, contentType: "application/json",
                    body: Array(#"{"results":[\#(results)]}"#.utf8)), to: question)
        }
        let asked = Mutex<[Int]>([])
        let map = try fixture.map([layer], wkid: 3857)
        let identified = try fixture.engine.identify(
            try fixture.request(250_000, 6_200_000, pixel: 100), in: map,
            remotes: { questions in
                asked.withLock { $0 = questions.map(\.limit) }
                return { _ in Result { () throws(Failure) in try answer(1_001) } }
            })
        #expect(asked.withLock { $0 } == [1_000])
        #expect(identified.results.count == 1_000 && identified.transferLimitExceeded)
        #expect(try answer(1_000).isCut == false)
    }

    @Test func `tiles have load states and no features`() throws {
        func tiles(_ id: LayerID, _ path: String) throws -> LayerDescription {
            try fixture.layer(id, .tiles(TileSource(url: fixture.server.url + path)))
        }
        let layers = [
            try tiles(0, "/tiles/{z}/{x}/{y}.png"), try tiles(1, "/arcgis/mute/MapServer"),
            try tiles(2, "/arcgis/tiled/MapServer"),
        ]
        #expect(layers.map { $0.properties?.spatialReference.wkid } == [3857, 3857, 3857])
        #expect(throws: Failure.self) { try tiles(3, "/ok/{z}/{x}/{y}") }
        #expect(throws: Failure.self) { try tiles(3, "/arcgis/MapServer") }

        let answer = try fixture.identify(
            try fixture.request(0, 6_000_000, pixel: 10),
            in: try fixture.map(layers, wkid: 3857))

        #expect(answer.layers.map(\.layerID) == [2])
        let explained = try #require(answer.explanation?.layers)
        #expect(explained.map(\.reason) == [nil, .tiled, .tiled])
        #expect(answer.failures == nil)
    }
}
