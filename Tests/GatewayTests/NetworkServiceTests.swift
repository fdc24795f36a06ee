// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import NetworkSolve
import Platform
import RouteDirections
import Site
import Synchronization
import TestKit
import Testing

@testable import Gateway

@Suite struct NetworkServiceTests {
    private let site: SimulatedSite
    private let service: GatewayService
    private static let server = "/arcgis/rest/services/Roads/NAServer"

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    private func text(_ path: String, _ form: [String: String]) async -> String {
        let pairs = form.map { $0.key + "=" + Parameters.encode($0.value) }
        let response = await service.answer(
            GatewayRequest(
                path: Array((Self.server + path).utf8),
                form: Array(pairs.joined(separator: "&").utf8), isPost: true))
        return String(decoding: response.body, as: UTF8.self)
    }

    private func ask(
        _ path: String, _ form: [String: String] = [:]
    ) async throws -> [String: Any] {
        let text = await text(path, form)
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(json as? [String: Any], "\(text)")
    }

    private func details(_ path: String, _ form: [String: String]) async throws -> [String] {
        let body = try await ask(path, form)
        let error = try #require(body["error"] as? [String: Any], "\(body)")
        #expect(error["code"] as? Int == 400)
        return try #require(error["details"] as? [String])
    }

    private func features(_ body: [String: Any], _ set: String) throws -> [[String: Any]] {
        let found = try #require(body[set] as? [String: Any], "\(body)")
        return try #require(found["features"] as? [[String: Any]])
    }

    private func attributes(_ body: [String: Any], _ set: String) throws -> [String: Any] {
        try #require(try features(body, set).first?["attributes"] as? [String: Any])
    }

    private func messages(_ body: [String: Any]) -> [String] {
        (body["messages"] as? [[String: Any]] ?? []).compactMap { $0["description"] as? String }
    }

    private var last: RouteRequest {
        get throws { try #require(site.inner.withLock { $0.roads.routes.last }) }
    }

    // MARK: Descriptions

    @Test func `a network lists its layers, and a layer its travel modes`() async throws {
        let root = try await ask("")
        #expect(root["routeLayers"] as? [String] == ["Route"])
        #expect(root["odCostMatrixLayers"] as? [String] == ["ODCostMatrix"])
        for (name, type) in [
            ("Route", "Route"), ("serviceAREA", "ServiceArea"),
            ("ClosestFacility", "ClosestFacility"), ("ODCostMatrix", "ODCostMatrix"),
        ] {
            let layer = try await ask("/" + name)
            #expect(layer["layerType"] as? String == "esriNAServer\(type)Layer")
            #expect(layer["impedance"] as? String == "TravelTime")
            let usual = try #require(layer["defaultTravelMode"] as? String)
            let modes = try #require(layer["supportedTravelModes"] as? [[String: Any]])
            #expect(modes.first?["id"] as? String == usual && modes.count == 4)
            let listed = try await ask("/\(name)/retrieveTravelModes")
            #expect(listed["defaultTravelMode"] as? String == usual)
        }
        let ids = NetworkTravelMode.all(of: SimulatedRoads.network("Roads")).map(\.id)
        #expect(Set(ids).count == 4 && ids.allSatisfy { $0.utf8.count == 16 })
        #expect(ids == NetworkTravelMode.all(of: SimulatedRoads.network("Others")).map(\.id))
        #expect(try await ask("/Other")["error"] != nil)
    }

    // MARK: solve

    @Test func `a route has Esri's attributes, directions and messages`() async throws {
        let body = try await ask(
            "/Route/solve", ["stops": "1,2; 4,6", "returnStops": "true", "useHierarchy": "true"])
        let route = try attributes(body, "routes")
        #expect(route["Name"] as? String == "Location 1 - Location 2")
        #expect(route["StopCount"] as? Int == 2 && route["LastStopID"] as? Int == 2)
        #expect(route["Total_Kilometers"] as? Double == 5)
        #expect(route["Total_TravelTime"] as? Double == 500.0 / 60)
        #expect(route["Shape_Length"] as? Double == 5 && route["StartTime"] == nil)
        #expect(messages(body) == ["Parameter 'useHierarchy' changes nothing."])
        let stop = try #require(
            try features(body, "stops").last?["attributes"] as? [String: Any])
        #expect(stop["Status"] as? Int == 0 && stop["Sequence"] as? Int == 2)
        #expect(stop["Cumul_Kilometers"] as? Double == 5 && stop["SideOfEdge"] as? Int == 1)

        let directions = try #require((body["directions"] as? [[String: Any]])?.first)
        let summary = try #require(directions["summary"] as? [String: Any])
        #expect(summary["totalLength"] as? Double == 5)
        let envelope = try #require(summary["envelope"] as? [String: Any])
        #expect(envelope["xmin"] as? Double == 1 && envelope["ymax"] as? Double == 6)
        let lines = try #require(directions["features"] as? [[String: Any]])
        let kinds = lines.compactMap {
            ($0["attributes"] as? [String: Any])?["maneuverType"] as? String
        }
        #expect(kinds == ["esriDMTDepart", "esriDMTStraight", "esriDMTStop"])
        let etas = lines.compactMap { ($0["attributes"] as? [String: Any])?["ETA"] as? Double }
        #expect(etas == [-2_209_161_600_000, -2_209_161_600_000, -2_209_161_100_000])
        let way = try CompressedGeometry.decode(
            try #require(lines[1]["compressedGeometry"] as? String))
        #expect(way.count == 2 && abs(way[1].y - 6) < 1e-6)
        let end = try CompressedGeometry.decode(
            try #require(lines[2]["compressedGeometry"] as? String))
        #expect(end.count == 2 && end[0] == end[1])
        let strings = try #require(lines[1]["strings"] as? [[String: Any]])
        #expect(strings.first?["stringType"] as? String == "esriDSTStreetName")
    }

    @Test func `stops are features of any reference, with their attributes`() async throws {
        let features = """
            {"type":"features","doNotLocateOnRestrictedElements":true,"features":[
            {"geometry":{"x":445277.96,"y":222684.21},"attributes":{"Name":"B","RouteName":"R",
            "Sequence":2,"CurbApproach":1,"Attr_TravelTime":2}},
            {"geometry":{"x":111319.49,"y":222684.21},"attributes":{"Name":"A","RouteName":"R",
            "Sequence":1,"Bearing":90,"BearingTol":10}}],
            "spatialReference":{"wkid":102100}}
            """
        let body = try await ask(
            "/Route/solve",
            [
                "stops": features, "outSR": "102100", "startTime": "1000", "startTimeIsUTC": "true",
                "returnStops": "true", "directionsLengthUnits": "esriNAUMiles",
            ])
        let request = try last
        #expect(request.stops.map(\.name) == ["A", "B"])
        #expect(abs(request.stops[0].location.x - 1) < 1e-6)
        #expect(request.stops[0].bearing == 90 && request.stops[0].bearingTolerance == 10)
        #expect(request.stops[1].approach == .right)
        #expect(request.terms.departure == Timestamp(microseconds: 1_000_000))
        let route = try attributes(body, "routes")
        #expect(route["Name"] as? String == "R" && route["FirstStopID"] as? Int == 2)
        let driven = 60.0 * (route["Total_TravelTime"] as? Double ?? 0) - 120
        #expect(abs(driven - 300) < 0.01)
        let end = 1000 + ((driven + 120) * 1000).rounded()
        #expect(route["EndTimeUTC"] as? Double == end)
        // The middle of the network is at 5 degrees: 20 minutes.
        #expect(route["EndTime"] as? Double == end + 1_200_000)
        let sets = try #require(body["routes"] as? [String: Any])
        let reference = try #require(sets["spatialReference"] as? [String: Any])
        #expect(reference["wkid"] as? Int == 102_100 && reference["latestWkid"] as? Int == 3857)
        let lines = try #require(
            (body["directions"] as? [[String: Any]])?.first?["features"] as? [[String: Any]])
        let way = try CompressedGeometry.decode(
            try #require(lines[1]["compressedGeometry"] as? String))
        #expect(abs(way[1].x - 445_277.96) < 0.1)
        let length = (lines[1]["attributes"] as? [String: Any])?["length"] as? Double
        #expect(abs((length ?? 0) - 3000 / 1609.344) < 0.001)

        _ = try await ask(
            "/Route/solve",
            [
                "stops": #"[{"geometry":{"x":1,"y":2}},{"geometry":{"x":3,"y":4}}]"#,
                "findBestSequence": "TRUE", "preserveLastStop": "false",
            ])
        #expect(try last.order == .init(keepsFirst: true, keepsLast: false))
    }

    @Test func `a travel mode is an id, a name or an object, and overrides the rest`()
        async throws
    {
        let modes = NetworkTravelMode.all(of: SimulatedRoads.network("Roads"))
        func solve(_ mode: String, _ more: [String: String] = [:]) async throws -> RouteTerms {
            let form = ["stops": "1,2;3,4", "travelMode": mode].merging(more) { $1 }
            let body = try await ask("/Route/solve", form)
            #expect(body["error"] == nil, "\(body)")
            return try last.terms
        }
        #expect(try await solve(modes[2].id).travelMode == "Walking Time")
        #expect(try await solve("walking distance").travelMode == "Walking Distance")
        let object = """
            {"name":"Driving Time","type":"AUTOMOBILE","impedanceAttributeName":"Kilometers",
            "timeAttributeName":"TravelTime","distanceAttributeName":"Miles","useHierarchy":true,
            "restrictionAttributeNames":["Driving an Automobile","Avoid Toll Roads"],
            "attributeParameterValues":[],"uturnAtJunctions":"esriNFSBAtDeadEndsOnly",
            "simplificationTolerance":10,"simplificationToleranceUnits":"esriMeters"}
            """
        let terms = try await solve(
            object,
            [
                "restrictUTurns": "esriNFSBNoBacktrack", "impedanceAttributeName": "TravelTime",
                "restrictionAttributeNames": "Avoid Ferries",
            ])
        #expect(terms.travelMode == "Driving Distance" && terms.uTurns == .atDeadEnds)
        #expect(terms.avoiding == [.toll])
        let plain = try await solve(
            "",
            [
                "restrictUTurns": "esriNFSBNoBacktrack", "impedanceAttributeName": "Kilometers",
                "restrictionAttributeNames": "Avoid Ferries, Avoid Tunnels",
            ])
        #expect(plain.travelMode == "Driving Distance" && plain.uTurns == .nowhere)
        #expect(plain.avoiding == [.ferry, .tunnel])
    }

    @Test func `barriers close, delay and slow roads`() async throws {
        let body = try await ask(
            "/Route/solve",
            [
                "stops": "1,2;3,4",
                "barriers": """
                {"features":[{"geometry":{"x":1,"y":1}},{"geometry":{"x":2,"y":2},
                "attributes":{"Name":"gate","BarrierType":2,"Attr_TravelTime":1.5}}]}
                """,
                "polylineBarriers": #"{"features":[{"geometry":{"paths":[[[1,1],[2,2]]]}}]}"#,
                "polygonBarriers": """
                {"features":[{"geometry":{"rings":[[[0,0],[0,1],[1,1],[0,0]]]},
                "attributes":{"BarrierType":1,"Attr_TravelTime":3}}]}
                """, "returnPolygonBarriers": "true",
            ])
        #expect(try attributes(body, "polygonBarriers")["BarrierType"] as? Int == 1)
        let barriers = try #require(try last.terms.barriers)
        #expect(barriers.map(\.effect) == [.closed, .delay(90), .closed, .factor(3)])
        #expect(barriers[1].name == "gate" && barriers[0].shape == .point(Coordinate(x: 1, y: 1)))
    }

    @Test func `a barrier says how much of a road it closes, and what it leaves aside is named`()
        async throws
    {
        let body = try await ask(
            "/Route/solve",
            [
                "stops": "1,2;3,4",
                "barriers": """
                [{"geometry":{"x":1,"y":1},"attributes":{"Name":"gate","CurbApproach":1}},
                {"geometry":{"x":1,"y":1},"attributes":{"FullEdge":true,"CurbApproach":0}},
                {"geometry":{"x":2,"y":2},"attributes":{"FullEdge":false}},
                {"geometry":{"x":2,"y":2},"attributes":{"Name":"hump","BarrierType":2,
                "Attr_TravelTime":1,"FullEdge":0,"CurbApproach":2}}]
                """,
                "polylineBarriers": """
                [{"geometry":{"paths":[[[1,1],[2,2]]]},"attributes":{"Name":"tape",
                "CurbApproach":1}}]
                """,
            ])
        let barriers = try #require(try last.terms.barriers)
        #expect(barriers.map(\.isPartial) == [true, nil, true, nil, true])
        #expect(barriers.map(\.side) == [.right, nil, nil, .left, nil])
        #expect(
            messages(body) == [
                #"'FullEdge' of barrier "hump" changes nothing."#,
                #"'CurbApproach' of barrier "tape" changes nothing."#,
            ])
    }

    @Test func `the restriction of another way of moving changes nothing, and is named`()
        async throws
    {
        let body = try await ask(
            "/Route/solve",
            [
                "stops": "1,2;3,4", "travelMode": "Driving Time",
                "restrictionAttributeNames": "Walking,Driving an Automobile",
            ])
        #expect(messages(body).map { $0.contains("'Walking' changes nothing") } == [true])
    }

    @Test(arguments: ["", "https://maps.example.org"])
    func `stops by URL are those of a query of this site`(_ prefix: String) async throws {
        site.change {
            $0.answerToQuery = { _ in
                """
                {"geometryType":"esriGeometryPoint","spatialReference":{"wkid":4326},"features":[\
                {"attributes":{"Name":"First"},"geometry":{"x":1,"y":2}},\
                {"attributes":{"Name":"Second"},"geometry":{"x":3,"y":4}}]}
                """
            }
        }
        let url = prefix + "/arcgis/rest/services/City/MapServer/0/query?where=height%3E5&f=html"
        var request = GatewayRequest(
            path: Array((Self.server + "/Route/solve").utf8),
            query: Array(("f=json&stops=" + Parameters.encode(#"{"url":"\#(url)"}"#)).utf8))
        request.origin = "https://maps.example.org"
        let body = String(decoding: await service.answer(request).body, as: UTF8.self)
        let stops = try last.stops
        #expect(stops.map(\.name) == ["First", "Second"], "\(body)")
        #expect(stops.map(\.location) == [Coordinate(x: 1, y: 2), Coordinate(x: 3, y: 4)])
        #expect(site.inner.withLock { $0.queries.last?.clause } == "height>5")
    }

    @Test func `stops by URL that an answer cannot hold are refused, not cut`() async throws {
        site.change {
            $0.answerToQuery = { _ in #"{"features":[],"exceededTransferLimit":true}"# }
        }
        let url = #"{"url":"/arcgis/rest/services/City/MapServer/0/query?where=1=1"}"#
        let details = try await details("/Route/solve", ["stops": url])
        #expect(details.contains { $0.contains("'stops'") && $0.contains("query of fewer") })
        #expect(site.inner.withLock { $0.roads.isUnasked })
    }

    @Test func `stops by URL are asked for the caller`() async throws {
        let ruled = try RuledSite(["anna": [.init(.query, on: "Roads")]])
        let own = GatewayService(backend: site, access: try ruled.control())
        var login = GatewayRequest(
            path: Array("/arcgis/sharing/rest/generateToken".utf8),
            client: RequestClient(isPrivate: true))
        (login.form, login.isPost) = (Array("username=anna&password=password&f=json".utf8), true)
        let token = try #require(JSONTree(await own.answer(login).body)?["token"]?.text)
        let stops = Parameters.encode(#"{"url":"/arcgis/rest/services/City/MapServer/0/query"}"#)
        let answer = await own.answer(
            GatewayRequest(
                path: Array((Self.server + "/Route/solve").utf8),
                query: Array("f=json&stops=\(stops)&token=\(token)".utf8),
                client: RequestClient(isPrivate: true)))
        let body = String(decoding: answer.body, as: UTF8.self)
        #expect(body.contains("'stops'") && body.contains("permission"), "\(body)")
        #expect(site.inner.withLock { $0.queries.isEmpty && $0.roads.isUnasked })
    }

    @Test(arguments: [
        (["stops": "1,2"], "Need at least 2 valid stops."),
        (["stops": "1,2;99,4"], #"Location "Location 2" in "Stops" is unlocated."#),
        (
            ["stops": "1,2;99,4", "ignoreInvalidLocations": "false"],
            #"Location "Location 2" in "Stops" is unlocated."#
        ),
        (
            ["stops": "1,2;98,4"], #"No route from location "Location 1" to location "Location 2"."#
        ),
        (["stops": "1,2;98,4"], "No solution found."), ([:], "'stops' is missing"),
        (["stops": "1,2;x,4"], "'stops'"), (["stops": "{}"], "Need at least 2"),
        (["stops": "1,2;nan,4"], "'stops'"), (["stops": "1,2;1e999,4"], "'stops'"),
        (["stops": #"[{"geometry":{"x":1,"y":2}},{"geometry":{"x":"NaN","y":4}}]"#], "Need at"),
        (["stops": #"{"url":"http://a.example/query"}"#], "a layer of this site"),
        (["stops": #"{"url":"/arcgis/rest/services/City/MapServer"}"#], "a layer of this site"),
        (
            ["stops": #"{"url":"/arcgis/rest/services/Roads/NAServer/Route/solve?stops=1,2"}"#],
            "a layer of this site"
        ),
        (["stops": #"{"features":[{"geometry":{"x":1}}]}"#], "feature 1"),
        (
            ["stops": #"[{"geometry":{"x":1,"y":2},"attributes":{"CurbApproach":9}}]"#],
            "CurbApproach"
        ),
        (
            ["stops": #"[{"geometry":{"x":1,"y":2},"attributes":{"LocationType":2}}]"#], "breaks"
        ),
        (["stops": "1,2;3,4", "travelMode": "Flying"], "'Driving Time'"),
        (["stops": "1,2;3,4", "travelMode": #"{"name":"Flying"}"#], "travelMode"),
        (
            [
                "stops": "1,2;3,4",
                "travelMode":
                    #"{"name":"Driving Time","restrictionAttributeNames":["Avoid Cows"]}"#,
            ], "Avoid Cows"
        ),
        (
            [
                "stops": "1,2;3,4",
                "travelMode": #"{"name":"Driving Time","attributeParameterValues":[{}]}"#,
            ], "attributeParameterValues"
        ),
        (
            [
                "stops": "1,2;3,4",
                "travelMode": #"{"name":"Driving Time","simplificationTolerance":"ten"}"#,
            ], "simplificationTolerance"
        ),
        (["stops": "1,2;3,4", "outputLines": "yes"], "outputLines"),
        (["stops": "1,2;3,4", "useTimeWindows": "true"], "startTime"),
        (
            [
                "stops":
                    #"[{"geometry":{"x":1,"y":2},"attributes":{"TimeWindowStart":5,"TimeWindowEnd":4}}]"#,
                "useTimeWindows": "true", "startTime": "0",
            ], "TimeWindowEnd"
        ),
        (["stops": "1,2;3,4", "outSR": "999999"], "outSR"),
        (["stops": "1,2;3,4", "restrictUTurns": "no"], "restrictUTurns"),
        (["stops": "1,2;3,4", "startTime": "noon"], "startTime"),
        (["stops": "1,2;3,4", "directionsOutputType": "all"], "directionsOutputType"),
        (["stops": "1,2;3,4", "directionsLengthUnits": "cubits"], "directionsLengthUnits"),
        (
            ["stops": "1,2;3,4", "locateSettings": #"{"default":{"tolerance":-1}}"#],
            "'tolerance' of 'locateSettings' is -1"
        ),
        (["stops": "1,2;3,4", "accumulateAttributeNames": "Cows"], "accumulateAttributeNames"),
        (
            [
                "stops": "1,2;3,4",
                "polylineBarriers":
                    #"[{"geometry":{"paths":[[[1,1],[2,2]]]},"attributes":{"BarrierType":1}}]"#,
            ], "BarrierType 1"
        ),
    ])
    func `a failure is in Esri's words, with what is wrong`(
        _ form: [String: String], _ phrase: String
    ) async throws {
        let details = try await details("/Route/solve", form)
        #expect(details.contains { $0.contains(phrase) }, "\(details)")
    }

    @Test func `time windows are asked for, and waits and lateness answered`() async throws {
        let stops = """
            [{"geometry":{"x":1,"y":2}},{"geometry":{"x":4,"y":6},"attributes":
            {"TimeWindowStart":61000,"TimeWindowEnd":62000,"Attr_TravelTime":1}}]
            """
        let body = try await ask(
            "/Route/solve",
            [
                "stops": stops, "useTimeWindows": "true", "timeWindowsAreUTC": "true",
                "startTime": "1000", "startTimeIsUTC": "true", "returnStops": "true",
            ])
        let windows = try last.stops.map(\.window)
        #expect(windows[0] == nil)
        #expect(windows[1]?.start == Timestamp(microseconds: 61_000_000))
        #expect(windows[1]?.end == Timestamp(microseconds: 62_000_000))
        let route = try attributes(body, "routes")
        #expect(route["TotalWait_TravelTime"] as? Double == 1)
        #expect(route["TotalViolation_TravelTime"] as? Double == 1)
        // 500 s of travel, 60 s at the stop, 60 s of waiting.
        #expect(route["EndTimeUTC"] as? Double == 621_000)
        #expect(route["EndTime"] as? Double == 1_821_000)
        let stop = try #require(
            try features(body, "stops").last?["attributes"] as? [String: Any])
        #expect(stop["Wait_TravelTime"] as? Double == 0.5 && stop["Status"] as? Int == 6)
        #expect(stop["Violation_TravelTime"] as? Double == 1)
        #expect(stop["ArriveTimeUTC"] as? Double == 1_001_000)
        #expect(stop["DepartTimeUTC"] as? Double == 1_091_000)
        // Local mean time of the network's middle, 5° east.
        #expect(stop["ArriveTime"] as? Double == 2_201_000)
        #expect(stop["DepartTime"] as? Double == 2_291_000)
        // Without UTC they are in the local mean time of the network's middle, 5° east.
        _ = try await ask(
            "/Route/solve",
            [
                "stops": stops, "useTimeWindows": "true", "startTime": "1000",
                "startTimeIsUTC": "true",
            ])
        #expect(
            try last.stops[1].window?.start
                == Timestamp(microseconds: (61_000 - 1_200_000) * 1_000))
    }

    @Test func `too many stops are refused in Esri's words`() async {
        let stops = (0...1000).map { "\($0 % 90),1" }.joined(separator: ";")
        let text = await text("/Route/solve", ["stops": stops])
        #expect(text.contains("loaded into Stops exceeded the maximum of 1000 allowed"), "\(text)")
        let million = String(repeating: "1,2;", count: 1_000_000)
        let other = await self.text("/Route/solve", ["stops": million])
        #expect(other.contains("exceeded the maximum of 1000 allowed"), "\(other.prefix(300))")
    }

    @Test func `empty results are no error where they are wanted`() async throws {
        let body = try await ask(
            "/Route/solve", ["stops": "1,2;98,4", "returnEmptyResults": "true"])
        #expect(try features(body, "routes").isEmpty)
        #expect(messages(body).contains("No solution found."))
        #expect((body["directions"] as? [Any])?.isEmpty == true)
    }

    @Test func `directions come as much as they are asked`() async throws {
        func solve(_ type: String) async throws -> [String: Any] {
            try await ask(
                "/Route/solve", ["stops": "1,2;4,6", "directionsOutputType": type])
        }
        func lines(_ body: [String: Any]) throws -> [[String: Any]] {
            let first = (body["directions"] as? [[String: Any]])?.first
            return try #require(first?["features"] as? [[String: Any]])
        }
        #expect(try lines(try await solve("esriDOTSummaryOnly")).isEmpty)
        let instructions = try lines(try await solve("esriDOTInstructionsOnly"))
        #expect(instructions.allSatisfy { $0["compressedGeometry"] is String })
        #expect(instructions.allSatisfy { $0["strings"] == nil })
        #expect(try lines(try await solve("esriDOTComplete"))[1]["events"] != nil)
        let sets = try await solve("esriDOTFeatureSets")
        #expect(sets["directions"] == nil)
        #expect(try features(sets, "directionPoints").count == 3)
        #expect(try features(sets, "directionLines").count == 3)
        let bare = try await ask(
            "/Route/solve",
            [
                "stops": "1,2;4,6", "returnDirections": "false",
                "outputLines": "esriNAOutputLineNone",
            ])
        #expect(bare["directions"] == nil)
        #expect(try last.directions == nil)
        #expect(try features(bare, "routes").first?["geometry"] == nil)
    }

    @Test func `an answer says on request what shaped its routes`() async throws {
        let body = try await ask("/Route/solve", ["stops": "1,2;3,4", "explain": "true"])
        #expect(try last.explain == true)
        let shaped = try #require(body["shapedBy"] as? [[String: Any]])
        #expect(shaped.map { $0["routeId"] as? Int } == [1, 1])
        #expect(shaped.map { $0["change"] as? Int } == [57, nil])
        #expect(shaped.map { $0["reason"] as? String } == ["works", nil])
        #expect(shaped.map { $0["barrier"] as? String } == [nil, "flood"])
        #expect(shaped.map { $0["effect"] as? String } == ["closed", "factor"])
        #expect(shaped.map { $0["Total_TravelTime"] as? Double } == [1.5, nil])
        #expect(shaped[1]["Total_TravelTime"] is NSNull)
        let plain = try await ask("/Route/solve", ["stops": "1,2;3,4"])
        #expect(try plain["shapedBy"] == nil && last.explain == nil)
    }

    @Test func `a language that is not known is said`() async throws {
        func said(_ language: String) async throws -> [String] {
            messages(
                try await ask(
                    "/Route/solve", ["stops": "1,2;4,6", "directionsLanguage": language]))
        }
        #expect(try await said("xx-YY") == ["Directions are in 'en': there are none in 'xx-YY'."])
        #expect(try await said("pt_BR").isEmpty)
    }

    @Test func `the past takes the operation history`() async throws {
        _ = try await ask("/Route/solve", ["stops": "1,2;3,4", "at": "5"])
        #expect(try last.terms.at == 5)
        let ruled = try RuledSite([:], anonymous: [.init(.query, on: "Roads")])
        let guarded = GatewayService(backend: site, access: try ruled.control())
        func status(_ path: String, _ query: String) async -> String {
            let response = await guarded.answer(
                GatewayRequest(path: Array(path.utf8), query: Array(query.utf8)))
            return String(decoding: response.body, as: UTF8.self)
        }
        let path = Self.server + "/Route/solve"
        #expect(await status(path, "stops=1,2;3,4").contains("\"routes\""))
        let refused = await status(path, "stops=1,2;3,4&at=5")
        #expect(refused.contains("the past of network 'Roads' takes the operation 'history'"))
        let osrm = await status("/osrm/route/v1/driving/1,2;3,4", "at=5")
        #expect(osrm.contains("\"code\":\"forbidden\""))
    }

    // MARK: Other analyses

    @Test func `facilities are ranked for each incident`() async throws {
        let form = [
            "incidents": "0,0;0,1", "facilities": "3,0;1,0", "returnCFRoutes": "true",
            "defaultTargetFacilityCount": "2", "returnFacilities": "true",
        ]
        let body = try await ask("/ClosestFacility/solveClosestFacility", form)
        let routes = try features(body, "routes").compactMap {
            $0["attributes"] as? [String: Any]
        }
        #expect(routes.compactMap { $0["FacilityID"] as? Int } == [2, 1, 2, 1])
        #expect(routes.compactMap { $0["FacilityRank"] as? Int } == [1, 2, 1, 2])
        #expect(routes.compactMap { $0["IncidentID"] as? Int } == [1, 1, 2, 2])
        #expect(routes[0]["Total_Kilometers"] as? Double == 1)
        #expect(try features(body, "facilities").count == 2)
        #expect(try last.stops.last?.location == Coordinate(x: 3, y: 0))
        let back = try await ask(
            "/ClosestFacility/solveClosestFacility",
            form.merging(["travelDirection": "esriNATravelDirectionFromFacility"]) { $1 })
        #expect(try features(back, "routes").count == 4)
        #expect(try last.stops.first?.location == Coordinate(x: 3, y: 0))
        let lost = try await details(
            "/ClosestFacility/solveClosestFacility", ["incidents": "0,0", "facilities": "98,1"])
        #expect(lost.contains("No solution found."))
    }

    @Test func `service areas are rings, the largest first`() async throws {
        let body = try await ask(
            "/ServiceArea/solveServiceArea",
            [
                "facilities":
                    #"[{"geometry":{"x":1,"y":2},"attributes":{"Name":"F","ObjectID":9}}]"#,
                "defaultBreaks": "10 5", "outputLines": "esriNAOutputLineTrueShape",
                "travelDirection": "esriNATravelDirectionToFacility",
            ])
        let request = try #require(site.inner.withLock { $0.roads.reaches.last })
        #expect(request.breaks == [300, 600] && request.isTowards == true)
        let areas = try features(body, "saPolygons").compactMap {
            $0["attributes"] as? [String: Any]
        }
        #expect(areas.compactMap { $0["Name"] as? String } == ["F : 5 - 10", "F : 0 - 5"])
        #expect(areas.compactMap { $0["FacilityID"] as? Int } == [9, 9])
        #expect(abs((areas[0]["Shape_Area"] as? Double ?? 0) - 0.36) < 1e-9)
        #expect(abs((areas[0]["Shape_Length"] as? Double ?? 0) - 2.4) < 1e-9)
        #expect(try features(body, "saPolylines").count == 2)
        let refused = try await details(
            "/ServiceArea/solveServiceArea",
            ["facilities": "1,2", "mergeSimilarPolygonRanges": "true"])
        #expect(refused[0].contains("mergeSimilarPolygonRanges"))
        let breaks = try await details(
            "/ServiceArea/solveServiceArea", ["facilities": "1,2", "defaultBreaks": "0"])
        #expect(breaks[0].contains("defaultBreaks"))
    }

    @Test func `a matrix is sparse, or lines by rank`() async throws {
        let form = ["origins": "0,0;98,0", "destinations": "3,0;1,0"]
        let body = try await ask("/ODCostMatrix/solveODCostMatrix", form)
        let matrix = try #require(body["odCostMatrix"] as? [String: Any])
        #expect(matrix["costAttributeNames"] as? [String] == ["TravelTime", "Kilometers"])
        #expect(matrix["1"] as? [String: [Double]] == ["1": [5, 3], "2": [100.0 / 60, 1]])
        #expect(matrix["2"] == nil)
        let lines = try await ask(
            "/ODCostMatrix/solveODCostMatrix",
            form.merging(["outputType": "esriNAODOutputStraightLines"]) { $1 })
        let rows = try features(lines, "odLines")
        let ranked = rows.compactMap { $0["attributes"] as? [String: Any] }
        #expect(ranked.compactMap { $0["DestinationID"] as? Int } == [2, 1])
        #expect(ranked[0]["Name"] as? String == "Location 1 - Location 2")
        #expect(rows[0]["geometry"] != nil)
        let bare = try await ask(
            "/ODCostMatrix/solveODCostMatrix",
            form.merging(["outputType": "esriNAODOutputNoLines"]) { $1 })
        #expect(try features(bare, "odLines").first?["geometry"] == nil)
    }

    @Test(arguments: [
        (["defaultCutoff": "-1"], "defaultCutoff"),
        (["defaultCutoff": "nan"], "defaultCutoff"),
        (["defaultTargetDestinationCount": "0"], "defaultTargetDestinationCount"),
        (["outputType": "esriNAODOutputCurves"], "outputType"),
        (["outputLines": "curved"], "outputLines"),
        (["timeOfDay": "noon"], "timeOfDay"),
        (
            ["origins": "1,2;99,4", "ignoreInvalidLocations": "false"],
            #"Location "Location 2" in "Origins" is unlocated."#
        ),
    ])
    func `a matrix refuses by name what it cannot take`(
        _ form: [String: String], _ phrase: String
    ) async throws {
        let base = ["origins": "0,0", "destinations": "3,0"]
        let details = try await details(
            "/ODCostMatrix/solveODCostMatrix", base.merging(form) { $1 })
        #expect(details.contains { $0.contains(phrase) }, "\(details)")
    }

    @Test func `a facility within a negative cost is none, and is refused by name`() async throws {
        let details = try await details(
            "/ClosestFacility/solveClosestFacility",
            ["incidents": "0,0", "facilities": "3,0", "defaultCutoff": "-0.5"])
        #expect(details.contains { $0.contains("defaultCutoff") }, "\(details)")
    }

    @Test func `places whose ids are not unique are numbered, so that no cell hides another`()
        async throws
    {
        let origins =
            #"[{"geometry":{"x":0,"y":0},"attributes":{"ObjectID":7}},"#
            + #"{"geometry":{"x":1,"y":0},"attributes":{"ObjectID":7}}]"#
        let body = try await ask(
            "/ODCostMatrix/solveODCostMatrix",
            ["origins": origins, "destinations": "3,0", "outputLines": "esriNAOutputLineNone"])
        let matrix = try #require(body["odCostMatrix"] as? [String: Any])
        #expect(Set(matrix.keys) == ["1", "2", "costAttributeNames"])
        #expect(messages(body).contains { $0.contains("not unique") })
        #expect(messages(body).contains { $0.contains("'outputLines' changes nothing") })
    }

    @Test func `an operation belongs to its layer`() async throws {
        let details = try await details("/ServiceArea/solve", ["stops": "1,2;3,4"])
        #expect(details[0].contains("Layer ServiceArea has another operation"))
    }

    /// The forms that arcgis-rest-js sends.
    @Test func `the forms of clients are read`() async throws {
        let body = try await ask(
            "/Route/solve",
            [
                "f": "json", "stops": "-117.195677,34.056383;-117.918976,33.812092",
                "returnDirections": "true", "returnRoutes": "true", "returnStops": "true",
                "preserveFirstStop": "true", "preserveLastStop": "true",
                "directionsOutputType": "esriDOTInstructionsOnly", "restrictUTurns": "",
                "returnTraversedEdges": "false", "useHierarchy": "false", "travel_mode": "{}",
                "barriers": "{}", "unknownOne": "1",
            ])
        #expect(body["error"] == nil, "\(body)")
        #expect(
            messages(body).sorted() == [
                "Parameter 'travel_mode' changes nothing.",
                "Parameter 'unknownOne' changes nothing.",
            ])
    }

    /// arcgis-rest-js declares it as a boolean.
    @Test func `lines are asked for as a word or as true and false`() async throws {
        func line(_ word: String) async throws -> Bool {
            let form = ["stops": "1,2;3,4", "outputLines": word]
            let routes = try features(try await ask("/Route/solve", form), "routes")
            return try #require(routes.first)["geometry"] != nil
        }
        for word in ["true", "esriNAOutputLineTrueShape"] {
            #expect(try await line(word))
        }
        for word in ["False", "esriNAOutputLineNone"] {
            #expect(try await line(word) == false)
        }
        let area = ["facilities": "1,2", "outputLines": "true"]
        let body = try await ask("/ServiceArea/solveServiceArea", area)
        #expect(body["saPolylines"] != nil, "\(body)")
    }
}
