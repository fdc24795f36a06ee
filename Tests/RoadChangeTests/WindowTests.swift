// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import TestKit
import Testing

@testable import Routing

/// Stops that can be visited at certain times only.
@Suite struct WindowTests {
    private func after(_ seconds: Int64) -> Timestamp {
        Timestamp(microseconds: MadeNetwork.now.microseconds + seconds * 1_000_000)
    }

    private func route(
        _ made: MadeNetwork, _ stops: [RoutePlace], _ order: RouteRequest.StopOrder? = nil
    ) throws -> RouteAnswer {
        var terms = RouteTerms(network: "Grid")
        terms.departure = MadeNetwork.now
        var request = RouteRequest(terms, stops: stops)
        request.order = order
        return try made.router([], departure: MadeNetwork.now).route(request)
    }

    @Test func `waits, lateness and visits are part of the times`() throws {
        let made = try MadeNetwork(side: 5)
        var stops = [0.5, 1.5, 2.5].map { RoutePlace(MadeNetwork.place($0, 1)) }
        #expect(try route(made, stops).routes.first?.times == nil)
        stops[1].window = VisitWindow(start: after(100), end: after(200))
        stops[1].service = 50
        stops[2].window = VisitWindow(end: after(155))
        let found = try #require(try route(made, stops).routes.first)
        let times = try #require(found.times)
        #expect(times[0] == .init(arrival: 0, wait: 0, violation: 0, departure: 0))
        #expect(times[1].arrival == found.legs[0].duration && times[1].violation == 0)
        #expect(abs(times[1].wait - (100 - found.legs[0].duration)) < 1e-9)
        #expect(times[1].departure == 150)
        #expect(abs(times[2].arrival - 150 - found.legs[1].duration) < 1e-9)
        #expect(abs(times[2].violation - (times[2].arrival - 155)) < 1e-9)
        #expect(abs(found.duration - found.legs[0].duration - found.legs[1].duration) < 1e-9)
    }

    @Test func `the best order is the one that is in time`() throws {
        let made = try MadeNetwork(side: 5)
        var stops = [0.5, 1.5, 2.5, 3.5].map { RoutePlace(MadeNetwork.place($0, 1)) }
        let order = RouteRequest.StopOrder(keepsFirst: true, keepsLast: false)
        let free = try route(made, stops, order)
        #expect(free.stops.map(\.order) == [0, 1, 2, 3])
        stops[3].window = VisitWindow(end: after(40))
        stops[1].window = VisitWindow(start: after(300))
        stops[2].window = VisitWindow(start: after(100))
        let windows = try route(made, stops, order)
        #expect(windows.stops.map(\.order) == [0, 3, 2, 1])
        let times = try #require(windows.routes.first?.times)
        #expect(times.allSatisfy { $0.violation == 0 } && times[3].wait > 0)
    }
}
