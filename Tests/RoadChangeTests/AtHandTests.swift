// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

@testable import Routing

/// What a request finds made, and what has to be made first.
@Suite struct AtHandTests {
    private func moment(
        _ changes: [StandingRoadChange], isPresent: Bool = true
    ) -> RouteMoment {
        RouteMoment(
            changes: changes, sequence: 1, isPresent: isPresent, now: MadeNetwork.now)
    }

    @Test func `a metric is at hand once it was made, for its changes alone`() throws {
        let made = try MadeNetwork(side: 6)
        let terms = RouteTerms(network: "Grid")
        #expect(!made.network.isAtHand(terms, at: moment([])))
        _ = try made.router([])
        #expect(made.network.isAtHand(terms, at: moment([])))
        #expect(!made.network.isAtHand(terms, at: moment([], isPresent: false)))

        let changes = made.standing([
            try made.change(.closed, .shape(.point(MadeNetwork.place(1.5, 2))))
        ])
        #expect(!made.network.isAtHand(terms, at: moment(changes)))
        try made.network.prepare(for: changes, at: MadeNetwork.now)
        #expect(made.network.isAtHand(terms, at: moment(changes)))
        // Both the old and the new roads are kept, and not others.
        #expect(made.network.isAtHand(terms, at: moment([])))
        let more = made.standing([
            try made.change(.closed, .shape(.point(MadeNetwork.place(1.5, 2)))),
            try made.change(.speed(5), .shape(.point(MadeNetwork.place(3.5, 2)))),
        ])
        #expect(!made.network.isAtHand(terms, at: moment(more)))
    }

    @Test func `what is made for one request is never at hand`() throws {
        let made = try MadeNetwork(side: 6)
        _ = try made.router([])
        func isAtHand(_ adjust: (inout RouteTerms) -> Void) -> Bool {
            var terms = RouteTerms(network: "Grid")
            adjust(&terms)
            return made.network.isAtHand(terms, at: moment([]))
        }
        #expect(isAtHand { $0.travelMode = "Driving Time" })
        #expect(!isAtHand { $0.travelMode = "Walking Time" })
        #expect(!isAtHand { $0.travelMode = "Flying Time" })
        #expect(!isAtHand { $0.avoiding = [.toll] })
        #expect(!isAtHand { $0.uTurns = .nowhere })
        #expect(!isAtHand { $0.departure = MadeNetwork.now })
        #expect(!isAtHand { $0.regardsTimes = true })
        #expect(
            !isAtHand { $0.barriers = [RouteBarrier(shape: .point(MadeNetwork.place(1.5, 2)))] })
    }
}
