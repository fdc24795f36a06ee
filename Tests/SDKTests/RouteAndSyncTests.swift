// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// Services that speak Esri's forms alone.
@Suite struct RouteAndSyncTests {
    private let server = StubServer()

    init() {
        CairnEnvironment.jobPolling = JobPolling(
            first: .milliseconds(2), longest: .milliseconds(10))
        server.on(
            "/Roads/NAServer/Route",
            json: #"""
                {"layerName":"Route","directionsLanguage":"en","findBestSequence":false,
                "accumulateAttributeNames":["TravelTime","Kilometers"],"preserveFirstStop":true,"defaultTravelMode":"1","supportedTravelModes":[
                {"id":"2","name":"Walking","impedanceAttributeName":"WalkTime"},
                {"id":"1","name":"Driving","impedanceAttributeName":"TravelTime"}]}
                """#)
        server.on(
            "/Roads/NAServer/Route/solve",
            json: #"""
                {"routes":{"spatialReference":{"wkid":4326},"features":[{"attributes":{"Name":"A - B",
                "Total_Meters":1234.5,"Total_Minutes":6.5},"geometry":{"paths":[[[8,47],[8.1,47.1]]]}}]},
                "directions":[{"routeName":"A - B","summary":{"totalLength":1234.5,"totalTime":6.5,"totalDriveTime":5.5},
                "features":[{"attributes":{"text":"Turn left","length":100,"time":1,
                "maneuverType":"esriDMTTurnLeft"},
                "compressedGeometry":"+hf6e7-1vvvvtn+ij4dus+0+0"}]}],
                "stops":{"features":[{"attributes":{"Name":"A"},"geometry":{"x":8,"y":47}},
                {"attributes":{"Name":"B"},"geometry":{"x":8.1,"y":47.1}}]},
                "messages":[{"type":50,"description":"one stop was moved"}]}
                """#)
    }

    private var task: RouteTask {
        RouteTask(url: server.url.appending(path: "Roads/NAServer/Route"))
    }

    @Test func `default parameters are the service's, an initialiser's are empty`() async throws {
        let task = task
        let parameters = try await task.makeDefaultParameters()
        #expect(parameters.travelMode?.name == "Driving")
        #expect(parameters.returnsDirections)
        #expect(task.travelModes.map(\.name) == ["Walking", "Driving"])
        let empty = RouteParameters()
        #expect(empty.travelMode == nil && !empty.returnsDirections)
    }

    @Test func `another travel mode goes without the sums of the service's own`() async throws {
        let task = task
        let parameters = try await task.makeDefaultParameters()
        #expect(parameters.accumulateAttributeNames == ["TravelTime", "Kilometers"])
        parameters.travelMode = task.travelModes.first { $0.name == "Walking" }
        parameters.setStops([
            Stop(point: Point(latitude: 47, longitude: 8)),
            Stop(point: Point(latitude: 47.1, longitude: 8.1)),
        ])
        func asked() async throws -> String? {
            _ = try await task.solveRoute(using: parameters)
            return server.requests("/Roads/NAServer/Route/solve").last?
                .parameters["accumulateAttributeNames"]
        }
        #expect(try await asked() == nil)
        parameters.accumulateAttributeNames = ["WalkTime"]
        #expect(try await asked() == "WalkTime")
    }

    @Test func `a route has its line, steps, length and time`() async throws {
        let task = task
        let parameters = try await task.makeDefaultParameters()
        parameters.returnsStops = true
        let stops = [
            Stop(point: Point(latitude: 47, longitude: 8)),
            Stop(point: Point(latitude: 47.1, longitude: 8.1)),
        ]
        stops[0].name = "A"
        parameters.setStops(stops)
        let result = try await task.solveRoute(using: parameters)
        let route = try #require(result.routes.first)
        #expect(route.totalLength == Measurement(value: 1234.5, unit: UnitLength.meters))
        #expect(route.totalTime == 390 && route.travelTime == 330)
        #expect(route.geometry?.pathPoints.first?.count == 2)
        let step = try #require(route.directionManeuvers.first)
        #expect(route.directionManeuvers.count == 1 && step.text == "Turn left")
        #expect(step.maneuverKind == .turnLeft && step.maneuverType == .turnLeft)
        #expect(step.duration == 60)
        #expect(step.length == Measurement(value: 100, unit: UnitLength.meters))
        // The vector of Esri's documentation, digit for digit.
        let line = try #require(step.geometry as? Polyline).pathPoints
        #expect(line.count == 1 && line[0].count == 2)
        #expect(abs(line[0][0].x + 117.19569992454) < 1e-10)
        #expect(abs(line[0][1].y - 34.05649001460) < 1e-10)
        #expect(route.stops.map(\.name) == ["A", "B"])
        #expect(result.messages == ["one stop was moved"])
        let asked = try #require(server.requests("/Roads/NAServer/Route/solve").last).parameters
        #expect(asked["stops"]?.contains(#""Name":"A""#) == true)
        #expect(asked["travelMode"]?.contains(#""id":"1""#) == true)
        #expect(asked["returnDirections"] == "true" && asked["outSR"] == "4326")
    }

    @Test func `distances of directions are in the units asked for, lengths are measurements`()
        async throws
    {
        let parameters = RouteParameters()
        parameters.setStops([
            Stop(point: Point(latitude: 47, longitude: 8)),
            Stop(point: Point(latitude: 47.1, longitude: 8.1)),
        ])
        for (system, name, metres) in [
            (UnitSystem.imperial, "esriNAUMiles", 160_934.4),
            (.metric, "esriNAUKilometers", 100_000),
        ] {
            parameters.directionsDistanceUnits = system
            let route = try #require(
                await task.solveRoute(using: parameters).routes.first)
            let length = try #require(route.directionManeuvers.first).length
            #expect(abs(length.converted(to: .meters).value - metres) < 1e-6)
            // The line's own length says its unit.
            #expect(route.totalLength == Measurement(value: 1234.5, unit: UnitLength.meters))
            let asked = try #require(server.requests("/Roads/NAServer/Route/solve").last)
            #expect(asked.parameters["directionsLengthUnits"] == name)
        }
    }

    @Test func `times are moments, and stops have the order and the names of their routes`()
        async throws
    {
        server.on(
            "/Roads/NAServer/Route/solve",
            json: #"""
                {"routes":{"spatialReference":{"wkid":4326},"features":[{"attributes":{"Name":"R",
                "Total_TravelTime":5,"TotalWait_TravelTime":2,"TotalViolation_TravelTime":0.5,
                "StartTimeUTC":60000,"EndTimeUTC":480000,"StartTime":1}}]},
                "directions":[{"features":[{"attributes":{"text":"Turn left on Main Street",
                "arriveTimeUTC":90000,"ETA":1},
                "strings":[{"string":"Main Street","stringType":"esriDSTStreetName"}]}]}],
                "stops":{"features":[
                {"attributes":{"Name":"B","RouteName":"R","Sequence":2,"Status":7},
                "geometry":{"x":8.1,"y":47.1}},
                {"attributes":{"Name":"A","RouteName":"R","Sequence":1,"Status":6},
                "geometry":{"x":8,"y":47}},
                {"attributes":{"Name":"C","RouteName":"S","Sequence":1,"Status":5},
                "geometry":{"x":8,"y":47}}]}}
                """#)
        let stops = [8.1, 8.0].map { Stop(point: Point(latitude: 47, longitude: $0)) }
        #expect(stops[0].locationStatus == .notLocated)
        let start = Date(timeIntervalSince1970: 60)
        stops[0].routeName = "R"
        stops[0].timeWindows = [
            TimeWindow(startDate: start, endDate: start.addingTimeInterval(60))
        ]
        let parameters = RouteParameters()
        parameters.setStops(stops)
        parameters.startDate = start
        parameters.directionsStyle = .navigation
        parameters.routeShapeType = .straightLine
        let route = try #require(try await task.solveRoute(using: parameters).routes.first)
        #expect(route.stops.map(\.name) == ["A", "B"])
        #expect(route.stops.map(\.locationStatus) == [.onClosest, .onClosestNotRestricted])
        #expect(route.waitTime == 120 && route.violationTime == 30)
        #expect(route.startTime == start && route.endTime == Date(timeIntervalSince1970: 480))
        let step = try #require(route.directionManeuvers.first)
        #expect(step.estimatedArrivalTime == Date(timeIntervalSince1970: 90))
        #expect(step.fromLevel == -1 && step.toLevel == -1)
        #expect(step.messages.map(\.text) == ["Main Street"])
        #expect(step.messages.map(\.kind) == ["StreetName"])
        let asked = try #require(server.requests("/Roads/NAServer/Route/solve").last).parameters
        #expect(asked["startTime"] == "60000" && asked["startTimeIsUTC"] == "true")
        #expect(asked["useTimeWindows"] == "true" && asked["timeWindowsAreUTC"] == "true")
        let places = try #require(asked["stops"])
        #expect(places.contains(#""TimeWindowStart":60000,"TimeWindowEnd":120000"#))
        #expect(places.contains(#""RouteName":"R""#))
        #expect(asked["directionsStyleName"] == "NA Navigation")
        #expect(asked["outputLines"] == "esriNAOutputLineStraight")
        stops[1].timeWindows = stops[0].timeWindows + stops[0].timeWindows
        await #expect(throws: CairnError.self) { try await task.solveRoute(using: parameters) }
    }

    @Test func `stops are two or more, all in one reference`() async throws {
        let parameters = RouteParameters()
        parameters.setStops([Stop(point: Point(latitude: 0, longitude: 0))])
        await #expect(throws: CairnError.self) { try await task.solveRoute(using: parameters) }
        parameters.setStops([
            Stop(point: Point(latitude: 0, longitude: 0)),
            Stop(point: Point(x: 0, y: 0, spatialReference: .webMercator)),
        ])
        await #expect(throws: CairnError.self) { try await task.solveRoute(using: parameters) }
        #expect(server.requests("/Roads/NAServer/Route/solve").isEmpty)
    }

    @Test func `areas are those of their facilities, in rings or whole`() async throws {
        server.on(
            "/Roads/NAServer/ServiceArea",
            json: #"{"layerName":"ServiceArea","defaultBreaks":[5,10]}"#)
        server.on(
            "/Roads/NAServer/ServiceArea/solveServiceArea",
            json: #"""
                {"saPolygons":{"spatialReference":{"wkid":4326},"features":[
                {"attributes":{"FacilityID":2,"FromBreak":5,"ToBreak":10},
                "geometry":{"rings":[[[0,0],[0,1],[1,1],[0,0]]]}}]},"messages":[]}
                """#)
        let task = ServiceAreaTask(
            url: server.url.appending(path: "Roads/NAServer/ServiceArea"))
        let parameters = try await task.makeDefaultParameters()
        #expect(parameters.defaultImpedanceCutoffs == [5, 10])
        await #expect(throws: CairnError.self) {
            try await task.solveServiceArea(using: parameters)
        }
        parameters.setFacilities([
            ServiceAreaFacility(point: Point(latitude: 47, longitude: 8)),
            ServiceAreaFacility(point: Point(latitude: 47.1, longitude: 8.1), name: "B"),
        ])
        parameters.geometryAtCutoff = .disks
        parameters.travelDirection = .toFacility
        let result = try await task.solveServiceArea(using: parameters)
        #expect(result.resultPolygons(forFacilityAtIndex: 0).isEmpty)
        let area = try #require(result.resultPolygons(forFacilityAtIndex: 1).first)
        #expect(area.fromImpedanceCutoff == 5 && area.toImpedanceCutoff == 10)
        #expect(area.geometry is Polygon)
        let asked = try #require(
            server.requests("/Roads/NAServer/ServiceArea/solveServiceArea").last
        ).parameters
        #expect(asked["splitPolygonsAtBreaks"] == "false")
        #expect(asked["travelDirection"] == "esriNATravelDirectionToFacility")
        #expect(asked["defaultBreaks"] == "5.0,10.0")
    }

    @Test func `the closest facilities are ranked by incident`() async throws {
        server.on("/Roads/NAServer/ClosestFacility", json: #"{"layerName":"ClosestFacility"}"#)
        server.on(
            "/Roads/NAServer/ClosestFacility/solveClosestFacility",
            json: #"""
                {"routes":{"spatialReference":{"wkid":4326},"features":[
                {"attributes":{"ObjectID":1,"FacilityID":2,"FacilityRank":2,"IncidentID":1,
                "Total_Seconds":90},"geometry":{"paths":[[[8,47],[8.1,47.1]]]}},
                {"attributes":{"ObjectID":2,"FacilityID":1,"FacilityRank":1,"IncidentID":1,
                "Total_Seconds":60},"geometry":{"paths":[[[8,47],[8.2,47.1]]]}}]}}
                """#)
        let task = ClosestFacilityTask(
            url: server.url.appending(path: "Roads/NAServer/ClosestFacility"))
        let parameters = try await task.makeDefaultParameters()
        parameters.defaultTargetFacilityCount = 2
        parameters.setIncidents([Incident(point: Point(latitude: 47, longitude: 8))])
        parameters.setFacilities([
            Facility(point: Point(latitude: 47, longitude: 8.2)),
            Facility(point: Point(latitude: 47.1, longitude: 8.1)),
        ])
        let result = try await task.solveClosestFacility(using: parameters)
        #expect(result.rankedIndexesOfFacilities(forIncidentAtIndex: 0) == [0, 1])
        #expect(result.route(toFacilityAtIndex: 1, fromIncidentAtIndex: 0)?.totalTime == 90)
        #expect(result.route(toFacilityAtIndex: 1, fromIncidentAtIndex: 1) == nil)
    }

    // MARK: Geodatabases

    @Test func `a geodatabase is made, synchronised and given back`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        server.on(
            "/City/FeatureServer",
            json:
                #"{"syncEnabled":true,"capabilities":"Query,Sync","layers":[{"id":3,"name":"Places"}],"supportedExportFormats":"json,gpkg"}"#
        )
        server.on(
            "/City/FeatureServer/replicas/R1", json: #"{"replicaID":"R1","replicaServerGen":41}"#)
        server.on(
            "/City/FeatureServer/createReplica",
            json: #"{"statusUrl":"\#(server.url)/City/FeatureServer/jobs/7"}"#)
        server.on(
            "/City/FeatureServer/jobs/7",
            inTurn: [
                .json(#"{"status":"ExportingData"}"#),
                .json(
                    #"{"status":"Completed","replicaID":"R1","resultUrl":"\#(server.url)/files/r.gpkg"}"#
                ),
            ])
        let served = folder.appending(path: "served.gpkg")
        try PackageFiles.geodatabase(at: served)
        server.on(
            "/files/r.gpkg",
            .bytes(try Data(contentsOf: served), type: "application/octet-stream"))
        let task = GeodatabaseSyncTask(url: server.url.appending(path: "City/FeatureServer"))
        let area = Envelope(xMin: 0, yMin: 0, xMax: 9, yMax: 9, spatialReference: .wgs84)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
        #expect(parameters.layerOptions.map(\.layerID) == [3])
        let job = task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: folder.appending(path: "city.gpkg"))
        job.start()
        let geodatabase = try await job.output
        #expect(geodatabase.syncID == "R1")
        try await geodatabase.load()
        // Another program finds the registration in the file.
        #expect(Geodatabase(fileURL: geodatabase.fileURL).syncID == "R1")
        let asked = try #require(server.requests("/City/FeatureServer/createReplica").last)
            .parameters
        #expect(asked["layers"] == "3" && asked["async"] == "true" && asked["inSR"] == "4326")
        #expect(asked["dataFormat"] == "gpkg")

        server.on(
            "/City/FeatureServer/synchronizeReplica",
            json: #"{"statusUrl":"\#(server.url)/City/FeatureServer/jobs/8"}"#)
        server.on(
            "/City/FeatureServer/jobs/8",
            json: #"""
                {"status":"Completed","responseType":"esriReplicaResponseTypeEdits",
                "replicaServerGen":42,"edits":[{"id":3,"features":{"adds":[],"updates":[
                {"attributes":{"GlobalID":"6f9619ff-8b86-d011-b42d-00c04fc964ff","name":"Z"}}],
                "deleteIds":[]}}]}
                """#)
        let sync = SyncGeodatabaseParameters()
        sync.shouldRollbackOnFailure = true
        let syncing = task.makeSyncGeodatabaseJob(parameters: sync, geodatabase: geodatabase)
        syncing.start()
        #expect(try await syncing.output.isEmpty)
        let places = try #require(geodatabase.featureTable(named: "Places"))
        let named = QueryParameters()
        named.whereClause = "name = 'Z'"
        #expect(try await places.queryFeatures(using: named).features().count == 1)
        let sent = try #require(
            server.requests("/City/FeatureServer/synchronizeReplica").last
        ).parameters
        #expect(sent["replicaID"] == "R1" && sent["rollbackOnFailure"] == "true")
        #expect(sent["syncDirection"] == "bidirectional" && sent["replicaServerGen"] == "41")

        server.on("/City/FeatureServer/unRegisterReplica", json: #"{"success":true}"#)
        try await task.unregisterGeodatabase(geodatabase)
        #expect(geodatabase.syncID == nil)
        await #expect(throws: CairnError.self) {
            try await task.unregisterGeodatabase(geodatabase)
        }
    }

    @Test func `a service without a capability is named in the error`() async throws {
        server.on("/City/FeatureServer", json: #"{"capabilities":"Query","layers":[]}"#)
        server.on("/Base/MapServer", json: Sample.tiledService)
        let sync = GeodatabaseSyncTask(url: server.url.appending(path: "City/FeatureServer"))
        let error = await #expect(throws: CairnError.self) { try await sync.load() }
        #expect(error?.kind == .unsupported)
        #expect(error?.description.contains("synchronisation") == true)
        let tiles = ExportTileCacheTask(url: server.url.appending(path: "Base/MapServer"))
        let other = await #expect(throws: CairnError.self) { try await tiles.load() }
        #expect(other?.description.contains("exportTiles") == true)
        let layer = ArcGISMapImageLayer(url: server.url.appending(path: "City/MapServer"))
        await #expect(throws: CairnError.self) {
            for try await _ in layer.changes() {}
        }
        let map = Map(spatialReference: .wgs84)
        map.addOperationalLayer(layer)
        await #expect(throws: CairnError.self) { for try await _ in map.changes {} }
    }

    @Test func `a status URL on another server is not followed`() async throws {
        server.on(
            "/City/FeatureServer",
            json: #"{"syncEnabled":true,"layers":[{"id":0,"name":"a"}]}"#)
        server.on(
            "/City/FeatureServer/createReplica",
            json: #"{"statusUrl":"http://elsewhere.test/jobs/7"}"#)
        let task = GeodatabaseSyncTask(url: server.url.appending(path: "City/FeatureServer"))
        let job = task.makeGenerateGeodatabaseJob(
            parameters: GenerateGeodatabaseParameters(),
            downloadFileURL: FileManager.default.temporaryDirectory.appending(path: "never"))
        job.start()
        await #expect(throws: TransportError.self) { try await job.output }
        #expect(job.status == .failed)
    }
}
