// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import NetworkSolve
import RouteDirections
import Synchronization
import TestKit
import Testing

@testable import Gateway

@Suite struct OSRMTests {
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    private func ask(_ path: String, _ query: String = "") async throws -> (Int, [String: Any]) {
        let response = await service.answer(
            GatewayRequest(path: Array(path.utf8), query: Array(query.utf8)))
        let json = try JSONSerialization.jsonObject(with: Data(response.body))
        return (response.status, try #require(json as? [String: Any]))
    }

    private func route(_ query: String, _ places: String = "1,2;4,6") async throws -> [String: Any]
    {
        let (status, body) = try await ask("/osrm/Roads/route/v1/driving/" + places, query)
        #expect(status == 200 && body["code"] as? String == "Ok", "\(body)")
        return body
    }

    private func refusal(_ path: String, _ query: String = "") async throws -> String {
        let (status, body) = try await ask("/osrm/" + path, query)
        #expect(status == 400, "\(path)?\(query): \(body)")
        #expect((body["message"] as? String)?.isEmpty == false)
        return try #require(body["code"] as? String)
    }

    private var lastRoute: RouteRequest {
        get throws { try #require(site.inner.withLock { $0.roads.routes.last }) }
    }

    private func first(_ body: [String: Any], _ name: String) throws -> [String: Any] {
        try #require((body[name] as? [[String: Any]])?.first)
    }

    @Test func `a route has what OSRM's clients read`() async throws {
        let body = try await route("")
        let route = try first(body, "routes")
        #expect(route["distance"] as? Double == 5000 && route["duration"] as? Double == 500)
        #expect(route["weight"] as? Double == 500 && route["weight_name"] as? String == "duration")
        let geometry = try #require(route["geometry"] as? String)
        #expect(
            try EncodedPolyline.five.decode(geometry)
                == [Coordinate(x: 1, y: 2), Coordinate(x: 4, y: 6)])
        let leg = try first(route, "legs")
        #expect((leg["steps"] as? [Any])?.isEmpty == true && leg["summary"] as? String == "")
        let waypoint = try first(body, "waypoints")
        #expect(waypoint["location"] as? [Double] == [1, 2])
        #expect(waypoint["name"] as? String == "Main St" && waypoint["hint"] is String)
        #expect(waypoint["distance"] as? Double == 1.25)
        #expect(try lastRoute.terms.travelMode == "Driving Time")
        #expect(try lastRoute.directions == nil)
    }

    @Test func `numbers have one decimal`() async throws {
        let route = try first(try await route("", "0,0;1,1"), "routes")
        #expect(route["distance"] as? Double == 1414.2 && route["duration"] as? Double == 141.4)
    }

    @Test func `steps end with an arrival of two equal points`() async throws {
        let body = try await route("steps=true&geometries=geojson&overview=full")
        let leg = try first(try first(body, "routes"), "legs")
        #expect(leg["summary"] as? String == "Main St")
        let steps = try #require(leg["steps"] as? [[String: Any]])
        #expect(steps.count == 2)
        let last = try #require(steps.last)
        let line = try #require((last["geometry"] as? [String: Any])?["coordinates"] as? [[Double]])
        #expect(line == [[4, 6], [4, 6]])
        let maneuver = try #require(last["maneuver"] as? [String: Any])
        #expect(maneuver["type"] as? String == "arrive" && maneuver["bearing_after"] as? Int == 0)
        let crossing = try first(last, "intersections")
        #expect(crossing["bearings"] as? [Int] == [270] && crossing["in"] as? Int == 0)
        let start = try first(steps[0], "intersections")
        #expect(start["in"] == nil && start["out"] as? Int == 0)
        #expect(steps[0]["mode"] as? String == "driving")
        #expect(steps[0]["driving_side"] as? String == "right")
    }

    @Test func `annotations have a value for each segment`() async throws {
        let leg = try first(
            try first(try await route("annotations=true&overview=false"), "routes"), "legs")
        let annotation = try #require(leg["annotation"] as? [String: Any])
        #expect(annotation["distance"] as? [Double] == [5000])
        #expect(annotation["duration"] as? [Double] == [500])
        #expect(annotation["speed"] as? [Double] == [10])
        #expect(annotation["nodes"] == nil && annotation["datasources"] as? [Int] == [0])
    }

    @Test func `lists of options reach the places`() async throws {
        _ = try await route(
            "bearings=90,20;&radiuses=50;unlimited&approaches=curb;&hints=;&exclude=toll,ferry"
                + "&alternatives=2&generate_hints=false&skip_waypoints=true")
        let request = try lastRoute
        #expect(request.stops[0].bearing == 90 && request.stops[0].bearingTolerance == 20)
        #expect(request.stops[0].radius == 50 && request.stops[1].radius == nil)
        #expect(request.stops[0].approach == .right && request.stops[1].approach == nil)
        #expect(request.terms.avoiding == [.toll, .ferry] && request.alternatives == 2)
        _ = try await route("continue_straight=true", "1,2;3,4;5,6")
        #expect(try lastRoute.stops.map(\.approach) == [nil, .noUTurn, nil])
    }

    @Test func `profiles are modes, and places come as polylines too`() async throws {
        let (status, _) = try await ask(
            "/osrm/route/v1/foot/polyline(_p~iF~ps%7CU_ulLnnqC).json", "geometries=polyline6")
        #expect(status == 200)
        let request = try lastRoute
        #expect(request.terms.network == "Roads" && request.terms.travelMode == "Walking Time")
        #expect(request.stops.map(\.location.x) == [-120.2, -120.95])
        #expect(request.stops.map(\.location.y) == [38.5, 40.7])
        let distance = try await ask("/osrm/Roads/route/v1/Driving%20Distance/1,2;3,4", "")
        #expect(distance.0 == 200)
        #expect(try lastRoute.terms.travelMode == "Driving Distance")
    }

    @Test(arguments: [
        ("Roads/route/v1/driving/1,2;3", "", "InvalidQuery"),
        ("Roads/route/v1/driving/1,2;3,nan", "", "InvalidQuery"),
        ("Roads/route/v1/driving/polyline(%01)", "", "InvalidQuery"),
        ("Roads/route/v1/driving/1,2;3,94", "", "InvalidValue"),
        ("Roads/route/v1/driving/1,2", "", "InvalidOptions"),
        ("Roads/route/v1/flying/1,2;3,4", "", "InvalidUrl"),
        ("Lanes/route/v1/driving/1,2;3,4", "", "InvalidUrl"),
        ("Roads/route/v1/driving", "", "InvalidUrl"),
        ("Roads/fly/v1/driving/1,2;3,4", "", "InvalidService"),
        ("fly/v1/driving/1,2;3,4", "", "InvalidService"),
        ("Roads/route/v2/driving/1,2;3,4", "", "InvalidVersion"),
        ("Roads/route/v1/driving/1,2;3,4", "radiuses=1", "InvalidOptions"),
        ("Roads/route/v1/driving/1,2;3,4", "hints=;;", "InvalidOptions"),
        ("Roads/route/v1/driving/1,2;3,4", "bearings=400,1;", "InvalidOptions"),
        ("Roads/route/v1/driving/1,2;3,4", "exclude=cows", "InvalidValue"),
        ("Roads/route/v1/driving/1,2;3,4", "geometries=wkt", "InvalidOptions"),
        ("Roads/route/v1/driving/1,2;3,4", "annotations=nodes", "NotImplemented"),
        ("Roads/route/v1/driving/1,2;3,4", "alternatives=9", "TooBig"),
        ("Roads/route/v1/driving/1,2;3,4", "speed=9", "InvalidOptions"),
        ("Roads/route/v1/driving/1,2;99,4", "", "NoSegment"),
        ("Roads/route/v1/driving/1,2;98,4", "", "NoRoute"),
        ("Roads/trip/v1/driving/1,2;98,4", "", "NoTrips"),
        ("Roads/trip/v1/driving/1,2;3,4", "destination=last", "NotImplemented"),
        ("Roads/table/v1/driving/1,2;99,4", "", "NoSegment"),
        ("Roads/table/v1/driving/1,2;3,4", "sources=2", "InvalidOptions"),
        ("Roads/nearest/v1/driving/99,2", "", "NoSegment"),
        ("Roads/nearest/v1/driving/1,2", "number=101", "TooBig"),
        ("Roads/match/v1/driving/99,2;99,4", "", "NoMatch"),
        ("Roads/match/v1/driving/1,2", "", "InvalidOptions"),
        ("Roads/match/v1/driving/1,2;3,4", "timestamps=1", "InvalidOptions"),
        ("Roads/match/v1/driving/1,2;3,4", "timestamps=1;noon", "InvalidOptions"),
        ("Roads/match/v1/driving/1,2;3,4", "gaps=mind", "InvalidOptions"),
        ("Roads/match/v1/driving/1,2;3,4", "waypoints=0", "NotImplemented"),
        ("Roads/match/v1/driving/1,2;3,4", "approaches=curb;", "NotImplemented"),
    ])
    func `what is not offered is refused with OSRM's codes`(
        _ path: String, _ query: String, _ code: String
    ) async throws {
        #expect(try await refusal(path, query) == code)
    }

    @Test func `a table has rows of sources, null where there is no route`() async throws {
        let (_, body) = try await ask(
            "/osrm/Roads/table/v1/car/0,0;1,0;98,0",
            "sources=1;2&destinations=0&annotations=duration,distance")
        func cells(_ name: String) -> [[Double?]] {
            (body[name] as? [[Any]] ?? []).map { row in row.map { $0 as? Double } }
        }
        #expect(cells("durations") == [[100], [nil]] && cells("distances") == [[1000], [nil]])
        #expect((body["sources"] as? [Any])?.count == 2)
        #expect((body["destinations"] as? [Any])?.count == 1)
        let (_, plain) = try await ask("/osrm/Roads/table/v1/car/0,0;1,0")
        #expect(plain["durations"] as? [[Double]] == [[0, 100], [100, 0]])
        #expect(plain["distances"] == nil)
        #expect(site.inner.withLock { $0.roads.tables.map(\.wantsBoth) } == [true, nil])
    }

    @Test func `nearest and trip have their waypoints`() async throws {
        let (_, nearest) = try await ask("/osrm/Roads/nearest/v1/driving/1,2", "number=3")
        #expect(try first(nearest, "waypoints")["location"] as? [Double] == [1, 2])
        let (_, trip) = try await ask(
            "/osrm/Roads/trip/v1/driving/1,2;3,4", "roundtrip=false&source=first&destination=last")
        let places = try #require(trip["waypoints"] as? [[String: Any]])
        #expect(places.compactMap { $0["waypoint_index"] as? Int } == [0, 1])
        #expect(places.compactMap { $0["trips_index"] as? Int } == [0, 0])
        #expect((trip["trips"] as? [Any])?.count == 1)
        #expect(try lastRoute.order == .init(keepsFirst: true, keepsLast: true, returns: false))
    }

    @Test func `a trace has matchings, and null for positions without a road`() async throws {
        let (status, body) = try await ask(
            "/osrm/Roads/match/v1/driving/1,2;99,0;4,6",
            "timestamps=10;20;30.5&radiuses=7;;500&gaps=ignore&tidy=true&overview=full"
                + "&geometries=geojson&bearings=90,20;;")
        #expect(status == 200 && body["code"] as? String == "Ok")
        let points = try #require(body["tracepoints"] as? [Any])
        #expect(points.count == 3 && points[1] is NSNull)
        let last = try #require(points[2] as? [String: Any])
        #expect(last["matchings_index"] as? Int == 0 && last["waypoint_index"] as? Int == 1)
        #expect(last["alternatives_count"] as? Int == 2 && last["hint"] is String)
        let matching = try first(body, "matchings")
        #expect(matching["confidence"] as? Double == 0.75)
        #expect(matching["distance"] as? Double == 5000)
        #expect((matching["legs"] as? [Any])?.count == 1)
        let request = try #require(site.inner.withLock { $0.roads.traces.last })
        #expect(request.points.map(\.precision) == [7, nil, 100])
        #expect(
            request.points.map { $0.time?.microseconds } == [10_000_000, 20_000_000, 30_500_000])
        #expect(request.terms.departure == request.points[0].time)
        #expect(request.tidies == true && request.bridgesPauses == true)
        #expect(request.points[0].bearing == 90 && request.points[0].bearingTolerance == 20)
    }

    @Test func `an overview keeps its ends and loses what no screen shows`() {
        let line = (0...1000).map {
            Coordinate(x: Double($0) / 100, y: $0 % 2 == 0 ? 0 : 0.0001)
        }
        let simple = LineSimplification.simplified(line)
        #expect(simple == [line[0], line[1000]])
        let bent = [line[0], Coordinate(x: 5, y: 1), line[1000]]
        #expect(LineSimplification.simplified(bent) == bent)
        #expect(LineSimplification.simplified([line[0]]) == [line[0]])
        #expect(LineSimplification.simplified(line, within: 0) == line)
    }
}
