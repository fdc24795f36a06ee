// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import MapState
import Testing

/// When a followed route is asked for again without an event, and which answers are the same.
@Suite struct LiveRouteTests {
    private static let id = ContentID(rawValue: String(repeating: "a", count: 64))
    /// Monday, 16 November 2026, noon.
    private static let noon = Timestamp(iso: "2026-11-16T12:00:00Z")

    private func network(_ changes: [RoadChange]) throws -> NetworksState.Network {
        let id = try #require(Self.id)
        var state = NetworksState()
        var position: Int64 = 0
        func apply(_ payload: some EventPayload) throws {
            position += 1
            try state.apply(
                RecordedEvent(
                    globalPosition: position, stream: .network("City"),
                    streamPosition: position - 1, recordedAt: Timestamp(microseconds: 0),
                    event: try payload.newEvent(id: UUID(), metadata: EventMetadata())))
        }
        try apply(
            NetworkPublished(
                name: "City", network: id, topology: id, modes: [], edgeCount: 2,
                extent: Envelope(minX: -1, minY: 0, maxX: 1, maxY: 1)))
        for change in changes { try apply(RoadsChanged(name: "City", change: change)) }
        return try #require(state.network(named: "City"))
    }

    private func change(_ adjust: (inout RoadChange) -> Void) -> RoadChange {
        var change = RoadChange(.closed, edges: [])
        adjust(&change)
        return change
    }

    @Test func `the next turn is the first begin, end or change of hours`() throws {
        let noon = try #require(Self.noon)
        func turn(_ changes: [RoadChange]) throws -> Timestamp? {
            try network(changes).nextTurn(after: noon)
        }
        func time(_ text: String) throws -> Timestamp { try #require(Timestamp(iso: text)) }
        let (past, soon, later) = (
            try time("2026-11-16T11:00:00Z"), try time("2026-11-16T13:00:00Z"),
            try time("2026-12-01T00:00:00Z")
        )
        #expect(try turn([]) == nil && turn([change { _ in }]) == nil)
        #expect(try turn([change { $0.from = past }]) == nil)
        #expect(try turn([change { $0.until = noon }]) == nil)
        #expect(try turn([change { ($0.from, $0.until) = (soon, later) }]) == soon)
        #expect(try turn([change { ($0.from, $0.until) = (past, later) }]) == later)
        #expect(try turn([change { $0.until = later }, change { $0.until = soon }]) == soon)
        // The middle of the network is at longitude 0: its clock is UTC.
        #expect(
            try turn([change { $0.hours = "Mo-Fr 07:00-09:00,16:00-18:00" }])
                == time("2026-11-16T16:00:00Z"))
        #expect(
            try turn([change { $0.hours = "Mo 10:00-14:00" }]) == time("2026-11-16T14:00:00Z"))
        #expect(try turn([change { $0.hours = "not hours" }]) == nil)
    }

    @Test func `answers are the same where routes and stops are, whatever is known`() throws {
        let id = try #require(Self.id)
        var answer = RouteAnswer(
            context: RouteContext(
                network: "City", file: id, sequence: 7, isStale: false, mode: "car",
                travelMode: .init(name: "Driving Time", minimises: .time)),
            stops: [LocatedPlace(status: .ok)])
        answer.routes = [FoundRoute(length: 5, duration: 1, legs: [])]
        var other = answer
        other.context.sequence = 9
        #expect(answer.hasRoutes(of: other))
        other.routes[0].duration = 2
        #expect(!answer.hasRoutes(of: other))
        other = answer
        other.stops[0].street = "Main St"
        #expect(!answer.hasRoutes(of: other))
        other = answer
        other.unreachedStop = 1
        #expect(!answer.hasRoutes(of: other))
    }
}
