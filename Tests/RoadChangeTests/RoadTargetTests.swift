// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import RoadNetwork
import TestKit
import Testing

@testable import Routing

/// Which roads a command finds, and what it refuses.
@Suite struct RoadTargetTests {
    private let made: MadeNetwork

    init() throws { made = try MadeNetwork(side: 5) }

    private func edges(_ target: RoadTarget, _ direction: RoadDirection? = nil) throws -> [RoadEdge]
    {
        try made.change(.closed, target) { $0.direction = direction }.edges
    }

    private func code(
        _ effect: RoadChange.Effect, _ target: RoadTarget,
        _ adjust: (inout RoadChangeOrder) -> Void = { _ in }
    ) -> Failure.Code? {
        do {
            _ = try made.change(effect, target, adjust)
            return nil
        } catch { return (error as? Failure)?.code }
    }

    @Test func `a command that is sent again finds its roads, another street's does not`() throws {
        func order(
            _ effect: RoadChange.Effect, _ street: String, within area: Shape? = nil,
            onto: String? = nil
        ) -> RoadChangeRequest.Action {
            var order = RoadChangeOrder(effect, .street(street, within: area))
            order.onto = onto.map { .street($0, within: nil) }
            return .change(order)
        }
        func event(_ action: RoadChangeRequest.Action) throws -> NetworkEvent {
            guard case .changed(let event) = try made.network.decide(action, standing: []) else {
                throw Failure(.internal, "no change was made")
            }
            return .roadsChanged(event)
        }
        let area = Shape.envelope(Envelope(minX: 0.0005, minY: -1, maxX: 0.0015, maxY: 1))
        let ban = order(.bannedTurn, "Row 2", onto: "Column 2")
        let orders = [
            order(.closed, "Row 2"), order(.closed, "Row 3"),
            order(.closed, "Row 2", within: area), ban,
            order(.bannedTurn, "Row 2", onto: "Column 3"),
        ]
        for (place, own) in orders.enumerated() {
            let event = try event(own)
            for (number, other) in orders.enumerated() {
                #expect(made.network.finds(other, of: event) == (number == place))
            }
        }
        #expect(try !made.network.finds(order(.closed, "Nowhere"), of: event(orders[0])))
        #expect(try made.network.finds(.restoreAll, of: event(orders[0])))
    }

    @Test func `roads are found by way, piece and direction`() throws {
        let row = try edges(.pieces([RoadPiece(way: 3)]))
        #expect(row.count == 8 && Set(row.map(\.way)) == [3])
        #expect(row == row.sorted())
        let piece = try edges(.pieces([RoadPiece(way: 3, segment: 2)]))
        #expect(
            piece == [
                RoadEdge(way: 3, segment: 2, isBackward: false),
                RoadEdge(way: 3, segment: 2, isBackward: true),
            ])
        let one = RoadPiece(way: 3, segment: 2, direction: .backward)
        #expect(
            try edges(.pieces([one, one])) == [RoadEdge(way: 3, segment: 2, isBackward: true)])
        #expect(try edges(.pieces([RoadPiece(way: 3)]), .forward).allSatisfy { !$0.isBackward })
        #expect(code(.closed, .pieces([RoadPiece(way: 99)])) == .notFound)
        #expect(code(.closed, .pieces([RoadPiece(way: 3, segment: 9)])) == .notFound)
        #expect(code(.closed, .pieces([])) == .notFound)
    }

    @Test func `roads are found by name, number and area`() throws {
        #expect(
            try edges(.street("row 2", within: nil)) == edges(.pieces([RoadPiece(way: 3)])))
        #expect(
            try edges(.street("L 4", within: nil)) == edges(.pieces([RoadPiece(way: 105)])))
        let area = Shape.envelope(
            Envelope(minX: 0.0011, minY: 0.0019, maxX: 0.0018, maxY: 0.0021))
        #expect(
            try edges(.street("Row 2", within: area))
                == edges(.pieces([RoadPiece(way: 3, segment: 1)])))
        #expect(code(.closed, .street("", within: nil)) == .invalidParameter)
        let far = Shape.point(MadeNetwork.place(9, 9))
        #expect(code(.closed, .street("Row 2", within: far)) == .notFound)
        do {
            _ = try edges(.street("Row", within: nil))
            Issue.record("no road has that name")
        } catch {
            #expect((error as? Failure)?.message.contains("'Row 0', 'Row 1', 'Row 2'") == true)
        }
    }

    @Test func `roads are found by point, line and area`() throws {
        let piece = try edges(.pieces([RoadPiece(way: 3, segment: 1)]))
        #expect(try edges(.shape(.point(MadeNetwork.place(1.5, 2.05)))) == piece)
        #expect(
            try edges(
                .shape(
                    .polyline(paths: [
                        [MadeNetwork.place(1.5, 1.9), MadeNetwork.place(1.5, 2.1)]
                    ]))) == piece)
        let area = Shape.envelope(Envelope(minX: 0.0014, minY: 0.0009, maxX: 0.0016, maxY: 0.0021))
        #expect(Set(try edges(.shape(area)).map(\.way)) == [2, 3])
        #expect(code(.closed, .shape(.point(MadeNetwork.place(50, 50)))) == .notFound)
        #expect(code(.closed, .shape(.point(Coordinate(x: 200, y: 0)))) == .invalidParameter)
        #expect(code(.closed, .shape(.point(Coordinate(x: .nan, y: 0)))) == .invalidParameter)
        #expect(
            code(
                .closed,
                .shape(
                    .multipoint([Coordinate](repeating: MadeNetwork.place(1, 1), count: 10_001))))
                == .tooLarge)
    }

    @Test func `a turn is banned between two places, and routes take another`() throws {
        // From Row 2 eastward into Column 2 northward.
        let (from, to) = (MadeNetwork.place(1.5, 2), MadeNetwork.place(2, 2.5))
        let ban = try made.change(.bannedTurn, .shape(.point(from))) {
            $0.onto = .shape(.point(to))
        }
        #expect(
            ban.turns == [
                RoadChange.Turn(
                    from: RoadEdge(way: 3, segment: 1, isBackward: false),
                    to: RoadEdge(way: 103, segment: 2, isBackward: false))
            ])
        let free = try #require(try made.route([], from, to).routes.first)
        let banned = try #require(try made.route(made.standing([ban]), from, to).routes.first)
        #expect(banned.duration > free.duration + 5)
        let back = try made.route(made.standing([ban]), to, from).routes.first
        #expect(back == (try made.route([], to, from).routes.first))

        let all = try made.change(.bannedTurn, .street("Row 2", within: nil)) {
            $0.onto = .street("Column 2", within: nil)
        }
        #expect(all.turns?.count == 4)
        let onRow = try made.change(.bannedTurn, .street("Row 2", within: nil)) {
            $0.onto = .shape(.polyline(paths: [[from, MadeNetwork.place(1.5, 3)]]))
            $0.via = MadeNetwork.place(1.9, 2)
        }
        #expect(onRow.turns?.isEmpty == false)
        let uTurns = try made.change(.bannedTurn, .pieces([RoadPiece(way: 3, segment: 1)])) {
            $0.onto = .pieces([RoadPiece(way: 3, segment: 1)])
        }
        #expect(uTurns.turns?.count == 2)
        #expect(uTurns.turns?.allSatisfy { $0.from.isBackward != $0.to.isBackward } == true)
        #expect(code(.bannedTurn, .shape(.point(from))) == .invalidParameter)
        #expect(
            code(.bannedTurn, .street("Row 2", within: nil)) {
                $0.onto = .street("Row 4", within: nil)
            } == .notFound)
        #expect(
            code(.closed, .shape(.point(from))) { $0.onto = .shape(.point(to)) }
                == .invalidParameter)
    }

    @Test func `numbers, modes, hours and times out of range are refused`() {
        let target = RoadTarget.pieces([RoadPiece(way: 3)])
        for effect in [
            RoadChange.Effect.speed(0), .speed(-5), .speed(.nan), .speed(1e9), .factor(0),
            .factor(.infinity), .delay(-1), .delay(1e6),
        ] {
            #expect(code(effect, target) == .invalidParameter)
        }
        #expect(code(.closed, target) { $0.modes = ["boat"] } == .invalidParameter)
        #expect(code(.closed, target) { $0.modes = [] } == .invalidParameter)
        #expect(code(.closed, target) { $0.hours = "at noon" } == .invalidParameter)
        #expect(
            code(.closed, target) {
                $0.from = MadeNetwork.now
                $0.until = MadeNetwork.now
            } == .invalidParameter)
        #expect(code(.closed, target) { $0.modes = ["foot"] } == nil)
    }

    @Test func `changes end by number, and only those that stand`() throws {
        let change = try made.change(.closed, .pieces([RoadPiece(way: 3)]))
        let standing = made.standing([change, change, change])
        func code(_ action: RoadChangeRequest.Action, _ some: [StandingRoadChange]) -> Failure.Code?
        {
            do {
                _ = try made.network.decide(action, standing: some)
                return nil
            } catch { return error.code }
        }
        guard
            case .restored(let event) = try made.network.decide(
                .restore([3, 1, 3]), standing: standing)
        else { return }
        #expect(event.changes == [1, 3])
        #expect(code(.restore([4]), standing) == .notFound)
        #expect(code(.restore([]), standing) == .invalidParameter)
        #expect(code(.restoreAll, []) == .notFound)
        let most = [StandingRoadChange](
            repeating: standing[0], count: RoadChange.largestStandingCount)
        let order = RoadChangeOrder(.closed, .pieces([RoadPiece(way: 3)]))
        #expect(code(.change(order), most) == .tooLarge)
        #expect(code(.change(order), Array(most.dropLast())) == nil)
    }

    @Test func `a change holds in its hours and for its time alone`() throws {
        let monday = try #require(Timestamp(iso: "2026-11-30T08:00:00Z"))
        let sunday = try #require(Timestamp(iso: "2026-11-29T08:00:00Z"))
        let (from, to) = (MadeNetwork.place(0.5, 2), MadeNetwork.place(3.5, 2))
        let target = RoadTarget.street("Row 2", within: nil)
        let slow = made.standing([
            try made.change(.factor(3), target) { $0.hours = "Mo-Fr 07:00-09:00" }
        ])
        let free = try made.route([], from, to, departure: monday).routes
        #expect(try made.route(slow, from, to, departure: sunday).routes == free)
        #expect(try made.route(slow, from, to, departure: monday).routes != free)
        // Asked again in the other order, where the conditions are those that were kept.
        #expect(try made.route(slow, from, to, departure: monday).routes != free)
        #expect(try made.route(slow, from, to, departure: sunday).routes == free)
        let explained = try made.route(slow, from, to, explain: true, departure: monday)
        #expect(explained.shapedBy?.map(\.change) == [1])
        #expect(try made.route(slow, from, to, explain: true, departure: sunday).shapedBy == [])

        let later = made.standing([try made.change(.factor(3), target) { $0.from = monday }])
        #expect(try made.route(later, from, to, departure: sunday).routes == free)
        #expect(try made.route(later, from, to, departure: monday).routes != free)
        let until = made.standing([try made.change(.factor(3), target) { $0.until = monday }])
        #expect(try made.route(until, from, to, departure: sunday).routes != free)
        #expect(try made.route(until, from, to, departure: monday).routes == free)
    }

    @Test func `metrics are made ready before the next request`() throws {
        let change = try made.change(.closed, .street("Row 2", within: nil))
        let standing = made.standing([change])
        let router = try made.router([])
        try made.network.prepare(for: standing, at: MadeNetwork.now)
        let kept = try made.network.metrics.metric(
            router.costs, made.network.conditions(standing, mode: 0, at: MadeNetwork.now),
            isPresent: false, of: made.network)
        #expect(kept == (try made.router(standing).metric))
        #expect(kept != router.metric)
    }

    @Test func `in a network that was built anew roads are found again by their shape`() throws {
        let other = try MadeNetwork(side: 5, firstWay: 1_001)
        let orders: [(RoadChange, String)] = [
            (try made.change(.closed, .street("Row 2", within: nil)), "row"),
            (try made.change(.closed, .shape(.point(MadeNetwork.place(1.5, 2)))), "point"),
            (
                try made.change(.closed, .pieces([RoadPiece(way: 3, segment: 1)])) {
                    $0.direction = .backward
                }, "direction"
            ),
            (
                try made.change(.bannedTurn, .shape(.point(MadeNetwork.place(1.5, 2)))) {
                    $0.onto = .shape(.point(MadeNetwork.place(2, 2.5)))
                }, "ban"
            ),
        ]
        for (change, name) in orders {
            let here = made.network.roads(of: change)
            #expect(here.missingCount == 0 && !here.isFoundAgain && !here.isUnresolved)
            let there = other.network.roads(of: change)
            #expect(there.missingCount == change.turns?.count ?? change.edges.count, "\(name)")
            #expect(there.isFoundAgain && !there.isUnresolved, "\(name)")
            #expect(
                there.edges.map { other.roads.shape(of: $0) }
                    == here.edges.map { made.roads.shape(of: $0) }, "\(name)")
            #expect(there.turns.count == here.turns.count, "\(name)")
        }
        var lost = orders[0].0
        lost.shape = nil
        #expect(other.network.roads(of: lost).isUnresolved)
        let (from, to) = (MadeNetwork.place(0.5, 2), MadeNetwork.place(3.5, 2))
        let free = try other.route([], from, to).routes
        #expect(try other.route(other.standing([lost]), from, to).routes == free)
        let slow = try made.change(.factor(3), .street("Row 2", within: nil))
        #expect(try other.route(other.standing([slow]), from, to).routes != free)
    }

    @Test func `a barrier's point is about the nearest road that the mode may use`() throws {
        let made = try MadeNetwork(side: 3, footway: 1)
        let point = Shape.point(MadeNetwork.place(0.3, 1.05))
        func ways(_ mode: String) throws -> Set<Int64> {
            let costs = try made.router([], mode: mode).costs
            let barrier = RouteBarrier(shape: point, effect: .closed)
            let edges = try made.network.placed(barrier, 0, costs).edges
            #expect(edges.count == 2)
            return Set(edges.map { made.roads.name(of: $0).way })
        }
        // The footway, row 1, is nearer than column 0.
        #expect(try ways("foot") == [2])
        #expect(try ways("car") == [101])
        #expect(
            try made.network.edges(touching: point).map { made.roads.name(of: $0).way } == [2, 2])
        var terms = RouteTerms(network: "Grid")
        terms.barriers = [RouteBarrier(shape: point, effect: .closed)]
        let router = try Router(
            made.network, terms,
            at: RouteMoment(changes: [], sequence: 1, isPresent: true, now: MadeNetwork.now))
        let stops = [MadeNetwork.place(0.2, 2), MadeNetwork.place(0, 0.5)].map { RoutePlace($0) }
        let answer = try router.route(RouteRequest(terms, stops: stops))
        let free = try made.route([], stops[0].location, stops[1].location)
        let (around, direct) = (try #require(answer.routes.first), try #require(free.routes.first))
        #expect(direct.length < 200 && around.length > 300)
    }
}
