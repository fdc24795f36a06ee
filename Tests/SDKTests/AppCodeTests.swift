// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// Code in the shape that apps have: view models of the main actor, credentials of their own,
/// parameter objects that are changed through a `let`.
@Suite struct AppCodeTests {
    private let server = StubServer()

    init() {
        server.on("/City/FeatureServer/0", json: Self.layer)
    }

    private static let layer = #"""
        {"id":0,"name":"Places","geometryType":"esriGeometryPoint","objectIdField":"OBJECTID",
        "capabilities":"Query,Editing","fields":[
        {"name":"OBJECTID","type":"esriFieldTypeOID"},
        {"name":"kind","type":"esriFieldTypeInteger","domain":{"type":"codedValue","name":"Kinds",
        "codedValues":[{"name":"Tree","code":1},{"name":"Bench","code":2}]}},
        {"name":"height","type":"esriFieldTypeDouble","domain":{"type":"range","name":"Heights",
        "range":[0,120]}}],
        "extent":{"xmin":0,"ymin":0,"xmax":1,"ymax":1,"spatialReference":{"wkid":4326}}}
        """#

    private var table: ServiceFeatureTable {
        ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/0"))
    }

    // MARK: Concurrency

    /// Compiles only where the requirement leaves its isolation to the class.
    @MainActor
    private final class SignInModel: ArcGISAuthenticationChallengeHandler {
        var count = 0

        func handleArcGISAuthenticationChallenge(
            _ challenge: ArcGISAuthenticationChallenge
        ) async throws -> ArcGISAuthenticationChallenge.Disposition {
            count += 1
            return .continueWithoutCredential
        }
    }

    private struct SignInValue: ArcGISAuthenticationChallengeHandler {
        func handleArcGISAuthenticationChallenge(
            _ challenge: ArcGISAuthenticationChallenge
        ) async throws -> ArcGISAuthenticationChallenge.Disposition { .cancel }
    }

    @Test func `classes of the main actor and values of the app answer challenges`() async throws {
        let url = server.url
        let challenge = ArcGISAuthenticationChallenge(
            requestURL: url,
            error: ServiceError(code: 499, message: "token required", url: url))
        let model = SignInModel()
        let handlers: [any ArcGISAuthenticationChallengeHandler] = [model, SignInValue()]
        var declined = 0
        for handler in handlers {
            if case .cancel = try await handler.handleArcGISAuthenticationChallenge(challenge) {
                declined += 1
            }
        }
        #expect(await model.count == 1 && declined == 1)
    }

    /// Asks the same server for its token, as a credential that renews itself does.
    private final class AskingCredential: ArcGISCredential {
        let url: URL

        init(_ url: URL) { self.url = url }

        func tokenInfo(for url: URL) async throws -> TokenInfo? {
            let source = ServiceFeatureTable(url: self.url.appending(path: "Tokens/0"))
            try await source.load()
            return TokenInfo(accessToken: source.tableName, expirationDate: nil)
        }

        func invalidate() async -> Bool { false }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a token is renewed at the server that all requests wait for`() async throws {
        server.on("/Tokens/0", json: #"{"name":"fresh","fields":[]}"#)
        server.on("/Many/*") { request in
            request.parameters["token"] == "fresh"
                ? .json(Self.layer) : .error(400, "without its token")
        }
        let credential = AskingCredential(server.url)
        let tables = (0..<40).map { number in
            let table = ServiceFeatureTable(url: server.url.appending(path: "Many/\(number)"))
            table.credential = credential
            return table
        }
        await tables.load()
        #expect(tables.filter { $0.loadStatus == .loaded }.count == 40)
    }

    // MARK: Answers that are not what they should be

    @Test(arguments: ["nan", "-inf", "inf", "1e300", "-1", "soon"])
    func `a rest that no clock has is none`(_ rest: String) async throws {
        let isLong = rest == "inf" || rest == "1e300"
        let busy = StubAnswer.bytes(
            Data(), type: "text/plain", status: 503, headers: [("Retry-After", rest)])
        server.on("/Busy/0", inTurn: [busy, .json(Self.layer)])
        let busyTable = ServiceFeatureTable(url: server.url.appending(path: "Busy/0"))
        let loading = Task { try await busyTable.load() }
        guard isLong else { return try await loading.value }
        // It waits for the longest rest there is.
        while server.requests("/Busy/0").isEmpty { await Task.yield() }
        busyTable.cancelLoad()
        await #expect(throws: CancellationError.self) { try await loading.value }
    }

    @Test func `a service that answers the same features for each offset is not asked for ever`()
        async throws
    {
        server.on(
            "/City/FeatureServer/0/query",
            json: #"""
                {"exceededTransferLimit":true,"fields":[{"name":"OBJECTID",
                "type":"esriFieldTypeOID"}],"features":[{"attributes":{"OBJECTID":7}}]}
                """#)
        let error = await #expect(throws: TransportError.self) {
            try await table.queryFeatures(using: QueryParameters())
        }
        #expect(error?.kind == .invalidAnswer)
        #expect(server.requests("/City/FeatureServer/0/query").count == 2)
    }

    @Test func `a result at a file of this machine fails the job`() async throws {
        CairnEnvironment.jobPolling = JobPolling(
            first: .milliseconds(2), longest: .milliseconds(10))
        server.on("/Jobs/GPServer/T/submitJob", json: #"{"jobId":"j1"}"#)
        server.on(
            "/Jobs/GPServer/T/jobs/j1",
            json: #"""
                {"jobId":"j1","jobStatus":"esriJobSucceeded",
                "results":{"out":{"paramUrl":"results/out"}}}
                """#)
        server.on(
            "/Jobs/GPServer/T/jobs/j1/results/out",
            json: #"""
                {"paramName":"out","dataType":"GPDataFile","value":{"url":"file:///etc/hostname"}}
                """#)
        let task = GeoprocessingTask(url: server.url.appending(path: "Jobs/GPServer/T"))
        let job = task.makeJob(
            parameters: GeoprocessingParameters(executionType: .asynchronousSubmit))
        job.start()
        let error = await #expect(throws: TransportError.self) { try await job.output }
        #expect(error?.description.contains("'file:///etc/hostname'") == true)
    }

    @Test func `an error's old form has its sentence`() async throws {
        server.on("/Old/0", json: #"{"status":"error","code":500,"messages":["it is closed"]}"#)
        let old = ServiceFeatureTable(url: server.url.appending(path: "Old/0"))
        let error = await #expect(throws: ServiceError.self) { try await old.load() }
        #expect(error?.code == 500 && error?.message == "it is closed")
    }

    // MARK: Networks

    @Test func `numbers of facilities that no list has are passed over`() async throws {
        server.on("/Roads/NAServer/ClosestFacility", json: #"{"layerName":"CF"}"#)
        server.on(
            "/Roads/NAServer/ClosestFacility/solveClosestFacility",
            json: #"""
                {"routes":{"features":[
                {"attributes":{"FacilityID":1e300,"IncidentID":1,"FacilityRank":1}},
                {"attributes":{"FacilityID":0,"IncidentID":1,"FacilityRank":2}},
                {"attributes":{"FacilityID":2,"IncidentID":1,"FacilityRank":3}}]}}
                """#)
        let task = ClosestFacilityTask(
            url: server.url.appending(path: "Roads/NAServer/ClosestFacility"))
        let parameters = try await task.makeDefaultParameters()
        let places = [0.0, 1].map { Point(latitude: 47, longitude: 8 + $0) }
        parameters.setFacilities(places.map(Facility.init(point:)))
        parameters.setIncidents([Incident(point: places[0])])
        parameters.setPointBarriers([PointBarrier(point: places[1])])
        let result = try await task.solveClosestFacility(using: parameters)
        #expect(result.rankedIndexesOfFacilities(forIncidentAtIndex: 0) == [1])
        #expect(result.route(toFacilityAtIndex: 1, fromIncidentAtIndex: 0) != nil)
        let path = "/Roads/NAServer/ClosestFacility/solveClosestFacility"
        let asked = try #require(server.requests(path).last).parameters
        #expect(asked["barriers"]?.contains(#""x":9"#) == true)
        parameters.clearPointBarriers()
        _ = try await task.solveClosestFacility(using: parameters)
        #expect(try #require(server.requests(path).last).parameters["barriers"] == nil)
    }

    @Test func `barriers say what they do, on which side and under which name`() async throws {
        server.on("/Roads/NAServer/Route", json: #"{"layerName":"Route"}"#)
        server.on("/Roads/NAServer/Route/solve", json: #"{"routes":{"features":[]}}"#)
        let task = RouteTask(url: server.url.appending(path: "Roads/NAServer/Route"))
        let parameters = RouteParameters()
        let places = [0.0, 1].map { Point(latitude: 47, longitude: 8 + $0) }
        parameters.setStops(places.map(Stop.init(point:)))
        let gate = PointBarrier(point: places[0])
        gate.curbApproach = .rightSide
        let hump = PointBarrier(point: places[1])
        hump.name = "hump"
        hump.kind = .costAdjustment
        hump.addedCosts = ["TravelTime": 1.5]
        parameters.setPointBarriers([gate, hump])
        parameters.setPolylineBarriers([PolylineBarrier(polyline: Polyline(points: places))])
        let works = PolygonBarrier(
            polygon: Polygon(points: places + [Point(latitude: 48, longitude: 8)]))
        works.kind = .costAdjustment
        works.scaleFactors = ["TravelTime": 2]
        parameters.setPolygonBarriers([works])
        _ = try await task.solveRoute(using: parameters)

        let asked = try #require(server.requests("/Roads/NAServer/Route/solve").last).parameters
        func attributes(_ name: String) throws -> [NSDictionary] {
            let json = try JSONSerialization.jsonObject(with: Data((asked[name] ?? "").utf8))
            let features = (json as? [String: Any])?["features"] as? [[String: Any]]
            return try #require(features).map { $0["attributes"] as? NSDictionary ?? [:] }
        }
        #expect(
            try attributes("barriers") == [
                ["CurbApproach": 1],
                ["Name": "hump", "BarrierType": 2, "Attr_TravelTime": 1.5],
            ])
        #expect(try attributes("polylineBarriers") == [[:]])
        #expect(
            try attributes("polygonBarriers") == [["BarrierType": 1, "Attr_TravelTime": 2.0]])
    }

    @Test func `facilities of a service area may be a table's points`() async throws {
        server.on("/Roads/NAServer/ServiceArea", json: #"{"layerName":"SA"}"#)
        server.on(
            "/Roads/NAServer/ServiceArea/solveServiceArea",
            json: #"{"saPolygons":{"features":[]}}"#)
        server.on(
            "/City/FeatureServer/0/query",
            json: #"""
                {"fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"}],
                "spatialReference":{"wkid":4326},"features":[
                {"attributes":{"OBJECTID":1},"geometry":{"x":8,"y":47}},
                {"attributes":{"OBJECTID":2},"geometry":{"x":9,"y":47}}]}
                """#)
        let task = ServiceAreaTask(url: server.url.appending(path: "Roads/NAServer/ServiceArea"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setFacilities(fromFeaturesIn: table, queryParameters: QueryParameters())
        parameters.removeAllDefaultImpedanceCutoffs()
        parameters.addDefaultImpedanceCutoffs([1, 3])
        parameters.geometryAtOverlap = .dissolve
        parameters.polygonDetail = .high
        let result = try await task.solveServiceArea(using: parameters)
        #expect(result.facilities.map(\.geometry.x) == [8, 9])
        let asked = try #require(
            server.requests("/Roads/NAServer/ServiceArea/solveServiceArea").last
        ).parameters
        #expect(asked["defaultBreaks"] == "1.0,3.0")
        #expect(asked["mergeSimilarPolygonRanges"] == "true")
        parameters.setFacilities([ServiceAreaFacility(point: Point(latitude: 47, longitude: 8))])
        _ = try await task.solveServiceArea(using: parameters)
        let alone = server.requests("/Roads/NAServer/ServiceArea/solveServiceArea").last
        #expect(alone?.parameters["mergeSimilarPolygonRanges"] == "false")
        #expect(asked["outputPolygons"] == "esriNAOutputPolygonDetailed")
    }

    @Test func `an answer without a solution is no empty one`() async throws {
        server.on("/Roads/NAServer/Route", json: #"{"layerName":"Route"}"#)
        server.on("/Roads/NAServer/Route/solve", json: "17")
        let parameters = RouteParameters()
        parameters.setStops([0.0, 1].map { Stop(point: Point(latitude: 47, longitude: $0)) })
        let task = RouteTask(url: server.url.appending(path: "Roads/NAServer/Route"))
        let error = await #expect(throws: TransportError.self) {
            try await task.solveRoute(using: parameters)
        }
        #expect(error?.kind == .invalidAnswer)
    }

    // MARK: Tables

    @Test func `what a query found is read as samples read it`() async throws {
        server.on(
            "/City/FeatureServer/0/query",
            json: #"""
                {"fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"}],
                "features":[{"attributes":{"OBJECTID":7}},{"attributes":{"OBJECTID":9}}]}
                """#)
        let parameters = QueryParameters()
        parameters.addObjectIDs([7, 9].map { (id: Int) in id })
        let result = try await table.queryFeatures(using: parameters)
        let first = result.features().makeIterator().next() as? ArcGISFeature
        #expect(first?.attributes["OBJECTID"] as? Int64 == 7)
        var ids: [Int64] = []
        for feature in result.features() {
            guard let feature = feature as? ArcGISFeature else { continue }
            ids.append(feature.attributes["OBJECTID"] as? Int64 ?? 0)
        }
        #expect(ids == [7, 9] && result.features().count == 2 && !result.features().isEmpty)
        #expect(Array(result.features()).last === result.features()[1])
        #expect(
            server.requests("/City/FeatureServer/0/query").last?.parameters["objectIds"] == "7,9")
    }

    @Test func `statistics come by groups`() async throws {
        server.on(
            "/City/FeatureServer/0/query",
            json: #"""
                {"fields":[{"name":"kind","type":"esriFieldTypeInteger"},
                {"name":"tallest","type":"esriFieldTypeDouble"}],"features":[
                {"attributes":{"kind":1,"tallest":31.5}},{"attributes":{"kind":2,"tallest":null}}]}
                """#)
        let parameters = StatisticsQueryParameters(statisticDefinitions: [
            StatisticDefinition(
                fieldName: "height", statisticType: .maximum, outputAlias: "tallest")
        ])
        parameters.whereClause = "height > 1"
        parameters.addGroupByFieldNames(["kind"])
        parameters.addOrderByFields([OrderBy(fieldName: "kind", sortOrder: .descending)])
        let records = try await table.queryStatistics(using: parameters).statisticRecords()
        #expect(records.map { $0.group["kind"] as? Int32 } == [1, 2])
        #expect(records[0].statistics["tallest"] as? Double == 31.5)
        #expect(records[1].statistics.isEmpty)
        let asked = try #require(server.requests("/City/FeatureServer/0/query").last).parameters
        #expect(asked["where"] == "height > 1" && asked["orderByFields"] == "kind DESC")
        #expect(asked["groupByFieldsForStatistics"] == "kind")
        #expect(
            asked["outStatistics"]
                == #"[{"statisticType":"max","onStatisticField":"height","#
                + #""outStatisticFieldName":"tallest"}]"#)
        await #expect(throws: CairnError.self) {
            try await table.queryStatistics(
                using: StatisticsQueryParameters(statisticDefinitions: []))
        }
    }

    @Test func `fields say which values they may have`() async throws {
        let table = table
        try await table.load()
        let kinds = try #require(table.field(named: "kind")?.domain as? CodedValueDomain)
        #expect(kinds.codedValues.map(\.name) == ["Tree", "Bench"])
        #expect(kinds.codedValues.map { $0.code as? Int32 } == [1, 2])
        let heights = try #require(table.field(named: "height")?.domain as? RangeDomain)
        #expect(heights.minValue as? Double == 0 && heights.maxValue as? Double == 120)
    }

    @Test func `a feature leads to its table, its layer and the selection`() async throws {
        let table = table
        let layer = FeatureLayer(featureTable: table)
        try await table.load()
        let feature = table.makeFeature(geometry: Point(latitude: 1, longitude: 2))
        #expect((feature.table?.layer as? FeatureLayer) === layer)
        layer.selectFeatures([feature, feature])
        #expect(layer.selectedFeatures.count == 1)
        layer.unselectFeature(feature)
        #expect(layer.selectedFeatures.isEmpty)
        #expect(table.canAddFeature && table.canDelete(feature))
        try await table.add([feature])
        #expect(table.hasLocalEdits)
        try await table.undoLocalEdits()
        #expect(!table.hasLocalEdits)
    }

    // MARK: Geometry

    @Test func `builders make what their points say`() throws {
        let line = PolylineBuilder(spatialReference: .wgs84)
        line.add(Point(x: 1, y: 2))
        line.add(Point(latitude: 4, longitude: 3))
        line.addPart(points: [Point(x: 5, y: 6)])
        let built = line.toGeometry()
        #expect(built.parts.map(\.points.count) == [2, 1])
        #expect(built.parts[0].endPoint == Point(latitude: 4, longitude: 3))
        let area = PolygonBuilder(points: [0.0, 1, 2].map { Point(x: $0, y: $0 * $0) })
        let ring = try #require(area.toGeometry().parts.first)
        #expect(ring.points.count == 4 && ring.startPoint == ring.endPoint)
        let again = PolygonBuilder(polygon: area.toGeometry())
        again.add(Point(x: 0, y: 9))
        #expect(again.toGeometry().parts.first?.points.count == 5)
    }

    @Test(arguments: [(190.0, -170.0), (-190, 170), (540, -180), (180, 180), (-180, -180), (8, 8)])
    func `longitudes are brought between -180 and 180`(_ from: Double, _ to: Double) throws {
        let point = Point(latitude: 47, longitude: from)
        #expect((GeometryEngine.normalizeCentralMeridian(of: point) as? Point)?.x == to)
    }

    @Test func `what crosses the meridian of 180 degrees is not normalised`() {
        let crossing = Envelope(xMin: 170, yMin: 0, xMax: 190, yMax: 1, spatialReference: .wgs84)
        #expect(GeometryEngine.normalizeCentralMeridian(of: crossing) == nil)
        let beyond = Envelope(xMin: 190, yMin: 0, xMax: 200, yMax: 1, spatialReference: .wgs84)
        #expect(
            (GeometryEngine.normalizeCentralMeridian(of: beyond) as? Envelope)?.xMin == -170)
    }

    @Test func `a viewpoint is the same after its JSON`() throws {
        let viewpoint = Viewpoint(
            center: Point(latitude: 47, longitude: 8), scale: 5_000, rotation: 30)
        let read = try Viewpoint.fromJSON(viewpoint.toJSON())
        #expect(read.targetGeometry == viewpoint.targetGeometry && read.kind == .centerAndScale)
        #expect(read.targetScale == 5_000 && read.rotation == 30)
        #expect(throws: CairnError.self) { try Viewpoint.fromJSON("{}") }
    }

    @Test(arguments: [0.0, 45, 90, 200])
    func `a picture leaves out what lies beside it`(_ rotation: Double) async throws {
        let map = Map(spatialReference: .webMercator)
        map.initialViewpoint = Viewpoint(
            center: Point(x: 0, y: 0, spatialReference: .webMercator), scale: 10_000,
            rotation: rotation)
        let view = MapViewProxy(map: map, size: CGSize(width: 40, height: 40))
        let empty = try await view.exportRaster()
        let away = [-1e9, -5_000, 5_000, 1e9]
        let overlay = GraphicsOverlay()
        for far in away {
            for near in away + [0] {
                for (x, y) in [(far, near), (near, far)] {
                    let point = Point(x: x, y: y, spatialReference: .webMercator)
                    overlay.addGraphics([
                        Graphic(geometry: point),
                        Graphic(geometry: Envelope(center: point, width: 10, height: 10)),
                    ])
                }
            }
        }
        view.graphicsOverlays = [overlay]
        #expect(try await view.exportRaster().bytes == empty.bytes)
    }

    @Test func `turned tiles that lie beside the view are left out`() async throws {
        let tile = try await MapViewProxy(
            map: Map(spatialReference: .webMercator), size: CGSize(width: 1, height: 1)
        ).exportImage()
        let layer = WebTiledLayer(urlTemplate: "\(server.url)/tiles/{level}/{col}/{row}.png")
        server.on("/tiles/*", .bytes(tile, type: "image/png"))
        let map = Map(basemap: Basemap(baseLayer: layer))
        map.initialViewpoint = Viewpoint(
            center: Point(latitude: 47, longitude: 8), scale: 34_000, rotation: 45)
        let view = MapViewProxy(map: map, size: CGSize(width: 400, height: 400))
        _ = try await view.exportRaster()
        #expect(server.requests.count > 16)
    }

    @Test(arguments: [1e300, .nan, 0, -1])
    func `a scale that cannot be shown is refused`(_ scale: Double) async throws {
        let map = Map(spatialReference: .webMercator)
        map.initialViewpoint = Viewpoint(
            center: Point(x: 0, y: 0, spatialReference: .webMercator), scale: scale)
        let view = MapViewProxy(
            map: map, size: CGSize(width: CGFloat.nan, height: .infinity), dpi: 1e300)
        await #expect(throws: CairnError.self) { try await view.exportRaster() }
        #expect(await view.setViewpointScale(scale) == false)
    }

    @Test func `a portal is asked with or without a user`() async throws {
        server.on("/sharing/rest/portals/self", json: #"{"portalName":"P"}"#)
        let open = Portal(url: server.url)
        try await open.load()
        #expect(open.name == "P")
        let closed = Portal(url: server.url, connection: .authenticated)
        let credential = TokenCredential(
            url: server.url, tokenInfo: TokenInfo(accessToken: "good", expirationDate: nil))
        CairnEnvironment.authenticationManager.arcGISCredentialStore.add(credential)
        defer { CairnEnvironment.authenticationManager.arcGISCredentialStore.remove(credential) }
        try await closed.load()
        #expect(PortalItem.ID("a/../b") == nil && PortalItem.ID("") == nil)
        let item = PortalItem(portal: open, id: try #require(PortalItem.ID("4f2a")))
        #expect(item.id == "4f2a")
    }
}
