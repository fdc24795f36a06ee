// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import TestKit
import Testing

/// The SDK's network tasks against a running site.
@Suite(.serialized, .timeLimit(.minutes(3)), .processes) struct SDKRouteTests {
    @Test func `routes, areas and closest facilities are those of the site`() async throws {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let town = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../deploy/sample/town.osm").standardized.path()
        let built = try await running.site.run("network build Town \(town)")
        try #require(built.status == 0, "\(built.errors)")
        let service = running.services.appending(path: "Town/NAServer")
        let (start, end) = (
            Point(latitude: 51.0002, longitude: 13.0001),
            Point(latitude: 51.0089, longitude: 13.0061)
        )

        let routes = RouteTask(url: service.appending(path: "Route"))
        let parameters = try await routes.makeDefaultParameters()
        #expect(parameters.travelMode?.name == "Driving Time")
        parameters.setStops([Stop(point: start), Stop(point: end)])
        parameters.returnsDirections = true
        let route = try #require(try await routes.solveRoute(using: parameters).routes.first)
        let said = try await running.site.run(
            "route 13.0001,51.0002 13.0061,51.0089 --network Town --json")
        let answer = try #require(
            try JSONSerialization.jsonObject(with: Data(said.output.utf8)) as? [String: Any])
        let best = try #require((answer["routes"] as? [[String: Any]])?.first)
        let (length, duration) = (
            try #require(best["length"] as? Double), try #require(best["duration"] as? Double)
        )
        #expect(abs(route.totalLength.converted(to: .meters).value - length) < 0.01)
        #expect(abs(route.totalTime - duration) < 0.01)
        #expect(route.directionManeuvers.contains { $0.text.contains("Bridge Street") })
        #expect(route.directionManeuvers.first?.maneuverKind == .depart)
        let whole = route.directionManeuvers.reduce(0.0) {
            $0 + $1.length.converted(to: .meters).value
        }
        #expect(abs(whole - length) < 0.01)

        // Where the nearer bridge is barred the route is longer.
        parameters.setPointBarriers([
            PointBarrier(point: Point(latitude: 51.0045, longitude: 13.0030))
        ])
        let other = try #require(try await routes.solveRoute(using: parameters).routes.first)
        #expect(other.totalTime > route.totalTime)

        let areas = ServiceAreaTask(url: service.appending(path: "ServiceArea"))
        let wanted = try await areas.makeDefaultParameters()
        wanted.removeAllDefaultImpedanceCutoffs()
        wanted.addDefaultImpedanceCutoffs([0.5, 1])
        wanted.setFacilities([ServiceAreaFacility(point: start)])
        let found = try await areas.solveServiceArea(using: wanted)
            .resultPolygons(forFacilityAtIndex: 0)
        #expect(found.map(\.toImpedanceCutoff) == [1, 0.5])

        let closest = ClosestFacilityTask(url: service.appending(path: "ClosestFacility"))
        let places = try await closest.makeDefaultParameters()
        places.setIncidents([Incident(point: start)])
        places.setFacilities([
            Facility(point: end), Facility(point: Point(latitude: 51.0018, longitude: 13.003)),
        ])
        let ranked = try await closest.solveClosestFacility(using: places)
        #expect(ranked.rankedIndexesOfFacilities(forIncidentAtIndex: 0) == [1])
        #expect(ranked.route(toFacilityAtIndex: 1, fromIncidentAtIndex: 0) != nil)
    }
}
