// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import RoadNetwork
import RouteDirections
import Routing
import TestKit
import Testing

/// Routes, tables and reaches of random networks beside Dijkstra's algorithm.
struct RouterTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a route costs what the slow search finds, whatever roads are private or one way`(
        seed: UInt64
    ) throws {
        let made = try RandomGrid(seed: seed)
        var random = SeededGenerator(seed: seed &* 77)
        var (found, none) = (0, 0)
        for _ in 0..<150 {
            let (from, to) = (made.place(&random), made.place(&random))
            for (mode, cost) in [("Driving Time", NetworkMode.Cost.time), ("Length", .distance)] {
                let router = try made.router(mode)
                let answer = try router.route(
                    RouteRequest(made.terms(mode), stops: [from, to]))
                let search = ReferenceSearch(
                    network: made.roads, mode: 0, cost: cost)
                let known = search.route(
                    from: try made.starts(from.location), to: try made.starts(to.location))
                guard let known else {
                    #expect(answer.routes.isEmpty)
                    #expect(answer.unreachedStop == 1)
                    none += 1
                    continue
                }
                let route = try #require(answer.routes.first)
                let value = cost == .time ? route.duration : route.length
                #expect(
                    abs(value * 1000 - Double(known.cost)) <= Double(known.edges.count + 2),
                    "\(from.location) to \(to.location), \(cost): \(value), \(known.cost)")
                let table = try router.table(
                    RouteTableRequest(made.terms(mode), origins: [from], destinations: [to]))
                let cell = try #require((table.durations ?? table.lengths)?[0])
                #expect(abs(cell * 1000 - Double(known.cost)) <= 2)
                found += 1
            }
        }
        #expect(found > 200, "\(found) routes, \(none) pairs without one")
    }

    @Test func `parts add up to the route, and instructions to both`() throws {
        let made = try RandomGrid(seed: 9)
        var random = SeededGenerator(seed: 4)
        var seen = 0
        for _ in 0..<60 {
            var request = RouteRequest(
                made.terms("Driving Time"),
                stops: [made.place(&random), made.place(&random), made.place(&random)])
            request.directions = RouteRequest.Directions(language: "de")
            let answer = try made.router("Driving Time").route(request)
            guard let route = answer.routes.first else { continue }
            seen += 1
            func whole(_ values: [Double]) -> Int {
                values.reduce(0) { $0 + Int(($1 * 1000).rounded()) }
            }
            let lines = try #require(route.lines)
            #expect(whole(route.legs.map(\.length)) == whole([route.length]))
            #expect(whole(route.legs.map(\.duration)) == whole([route.duration]))
            #expect(whole(lines.map(\.length)) == whole([route.length]))
            #expect(whole(lines.map(\.duration)) == whole([route.duration]))
            let shape = try EncodedPolyline.seven.decode(try #require(route.shape))
            #expect(
                lines.allSatisfy { $0.lastPoint < shape.count && $0.firstPoint <= $0.lastPoint })
            let first = try #require(answer.stops[0].position)
            #expect(abs(shape[0].x - first.x) < 1e-6 && abs(shape[0].y - first.y) < 1e-6)
            #expect(answer.stops.map(\.order) == [0, 1, 2])
        }
        #expect(seen > 20)
    }

    @Test func `where a stop is on a private road, others are still left without turning back`()
        throws
    {
        let made = try RandomGrid(seed: 9)
        var random = SeededGenerator(seed: 4)
        let router = try made.router("Driving Time")
        func duration(_ stops: [RoutePlace]) throws -> Double? {
            try router.route(RouteRequest(made.terms("Driving Time"), stops: stops))
                .routes.first?.duration
        }
        var (seen, turned) = (0, 0)
        while seen < 30 {
            let (from, end) = (made.place(&random), made.place(&random))
            var middle = made.place(&random)
            func edge(_ place: RoutePlace) throws -> RoadNetwork.Snap? {
                try made.roads.nearestEdges(to: place.location, radius: 1, count: 1).first
            }
            guard let start = try edge(from), let snap = try edge(middle), let goal = try edge(end),
                made.roads.access(of: start.edge, mode: 0) == .endsOnly,
                made.roads.access(of: snap.edge, mode: 0) == .open,
                made.roads.access(of: goal.edge, mode: 0) == .open
            else { continue }
            let free = try duration([from, middle, end])
            // Reached and left in one direction, then in the other.
            let ways = try [0.0, 180].compactMap { turn -> Double? in
                middle.bearing = (snap.heading + turn).truncatingRemainder(dividingBy: 360)
                guard let before = try duration([from, middle]),
                    let after = try duration([middle, end])
                else { return nil }
                return before + after
            }
            middle.bearing = nil
            middle.approach = .noUTurn
            let onward = try duration([from, middle, end])
            #expect((onward == nil) == ways.isEmpty)
            guard let least = ways.min(), let onward, let free else { continue }
            seen += 1
            #expect(abs(onward - least) < 0.03, "\(onward), expected \(least)")
            if onward > free + 0.1 { turned += 1 }
        }
        #expect(turned > 3)
    }

    @Test func `the best order is the cheapest of all orders`() throws {
        let made = try RandomGrid(seed: 5)
        var random = SeededGenerator(seed: 8)
        var seen = 0
        while seen < 10 {
            let stops = (0..<5).map { _ in made.place(&random) }
            let router = try made.router("Driving Time")
            let orders = [
                [1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1],
            ]
            let costs = try orders.compactMap { order in
                let request = RouteRequest(
                    made.terms("Driving Time"),
                    stops: [stops[0]] + order.map { stops[$0] } + [stops[4]])
                return try router.route(request).routes.first?.duration
            }
            guard costs.count == orders.count, let least = costs.min() else { continue }
            seen += 1
            var request = RouteRequest(made.terms("Driving Time"), stops: stops)
            request.order = RouteRequest.StopOrder()
            let answer = try router.route(request)
            let duration = try #require(answer.routes.first?.duration)
            #expect(abs(duration - least) < 0.03, "\(duration), expected \(least)")
            #expect(answer.stops[0].order == 0 && answer.stops[4].order == 4)
        }
    }

    @Test func `a closed road is left, and the route says what that cost`() throws {
        let made = try RandomGrid(seed: 3)
        var random = SeededGenerator(seed: 21)
        var (shaped, seen) = (0, 0)
        while seen < 20 {
            var request = RouteRequest(
                made.terms("Driving Time"), stops: [made.place(&random), made.place(&random)])
            let open = try made.router("Driving Time").route(request)
            guard let before = open.routes.first,
                let shape = before.shape.flatMap({ try? EncodedPolyline.seven.decode($0) }),
                shape.count > 4
            else { continue }
            seen += 1
            let middle = shape[shape.count / 2]
            request.explain = true
            request.terms.barriers = [
                RouteBarrier(
                    shape: .envelope(
                        Envelope(
                            minX: middle.x - 1e-5, minY: middle.y - 1e-5, maxX: middle.x + 1e-5,
                            maxY: middle.y + 1e-5)), name: "works")
            ]
            let answer = try Router(made.network, request.terms, at: made.moment).route(request)
            guard let after = answer.routes.first else { continue }
            #expect(after.duration >= before.duration - 0.02)
            guard after.duration > before.duration + 0.1 else { continue }
            shaped += 1
            let shaping = try #require(answer.shapedBy?.first)
            #expect(shaping.barrier == 0 && shaping.reason == "works")
            let without = try #require(shaping.costWithout)
            #expect(abs(without - before.duration) < 0.03)
        }
        #expect(shaped > 5)
    }

    @Test(arguments: [false, true])
    func `a barrier at a point is passed by none, and reached from either side`(
        hasSide: Bool
    ) throws {
        var (ended, other) = (0, 0)
        for seed in 1...12 as ClosedRange<UInt64> {
            let made = try RandomGrid(seed: seed)
            var random = SeededGenerator(seed: seed &* 31)
            var terms = made.terms("Driving Time")
            var search = ReferenceSearch(network: made.roads, mode: 0, cost: .time)
            for _ in 0..<6 {
                let at = made.place(&random).location
                var barrier = RouteBarrier(shape: .point(at))
                barrier.isPartial = true
                if hasSide { barrier.side = .right }
                terms.barriers = (terms.barriers ?? []) + [barrier]
                let snaps = try made.roads.nearestEdges(to: at, radius: 100, count: 4) {
                    made.roads.access(of: $0, mode: 0) != .closed
                }
                guard let nearest = snaps.first else { continue }
                let link = made.roads.link(of: nearest.edge).link
                search.barriers += snaps.filter {
                    made.roads.link(of: $0.edge).link == link
                        && (!hasSide || $0.side == .right || $0.side == .on)
                }
                .map { ReferenceSearch.Place(edge: $0.edge, offset: $0.offset) }
            }
            let router = try Router(made.network, terms, at: made.moment)
            let blocked = Set(search.barriers.map(\.edge))
            for _ in 0..<60 {
                // Many begin near a barrier, on its road.
                var from = made.place(&random)
                if random.next() % 2 == 0, case .point(let at)? = terms.barriers?[0].shape {
                    from.location.x = at.x + Double(random.next() % 9) * 1e-4 - 4e-4
                    from.location.y = at.y
                }
                let to = made.place(&random)
                let starts = try made.starts(from.location)
                let ends = try made.starts(to.location)
                let answer = try router.route(RouteRequest(terms, stops: [from, to]))
                let known = search.route(from: starts, to: ends)
                let isMoved = answer.stops.contains { $0.status == .moved }
                guard let known, !isMoved else {
                    #expect(answer.routes.isEmpty || isMoved)
                    other += 1
                    continue
                }
                let route = try #require(answer.routes.first, "\(from.location) \(to.location)")
                #expect(
                    abs(route.duration * 1000 - Double(known.cost))
                        <= Double(known.edges.count + 2))
                if blocked.contains(known.edges[0]) || blocked.contains(known.edges.last ?? -1) {
                    ended += 1
                }
            }
        }
        #expect(ended > 20, "\(ended) routes end on the road of a barrier, \(other) have none")
    }

    @Test func `a place whose nearest road is closed is moved, and every answer says so`() throws {
        let made = try RandomGrid(seed: 3)
        var random = SeededGenerator(seed: 8)
        let (place, other) = (made.place(&random), made.place(&random))
        var terms = made.terms("Driving Time")
        terms.barriers = [RouteBarrier(shape: .point(place.location))]
        let router = try Router(made.network, terms, at: made.moment)
        let route = try router.route(RouteRequest(terms, stops: [place, other]))
        let found = try #require(route.routes.first)
        var request = RouteRequest(terms, stops: [place, other])
        request.explain = true
        let shaping = try #require(try router.route(request).shapedBy?.first)
        let open = try #require(
            try made.router("Driving Time").route(
                RouteRequest(made.terms("Driving Time"), stops: [place, other])
            ).routes.first)
        #expect(abs(try #require(shaping.costWithout) - open.duration) < 0.03)
        #expect(abs(found.duration - open.duration) > 0.03)
        let moved = try #require(route.stops.first)
        #expect(moved.status == .moved && moved.distance ?? 0 > 1)
        #expect(
            route.context.messages.first(where: { $0.code == .moved })?.text
                == #"Location "Location 1" in "Stops" was moved: a nearer road is closed."#)
        let reach = try router.reach(ReachRequest(terms, facilities: [place], breaks: [60]))
        #expect(reach.facilities.map(\.status) == [.moved])
        let table = try router.table(
            RouteTableRequest(terms, origins: [other], destinations: [place]))
        #expect(table.destinations.map(\.status) == [.moved])
        let free = try made.router("Driving Time").route(
            RouteRequest(made.terms("Driving Time"), stops: [place, other]))
        #expect(free.stops.map(\.status) == [.ok, .ok])
    }

    @Test func `areas contain what is reached, and the larger ones the smaller`() throws {
        let made = try RandomGrid(seed: 6)
        var random = SeededGenerator(seed: 2)
        var seen = 0
        while seen < 8 {
            let place = made.place(&random)
            var request = ReachRequest(
                made.terms("Driving Time"), facilities: [place], breaks: [20, 40, 80])
            request.wantsLines = true
            request.areRings = false
            request.isTowards = seen % 2 == 1
            let answer = try made.router("Driving Time").reach(request)
            guard answer.areas.count == 3 else { continue }
            seen += 1
            #expect(answer.areas.map(\.to) == [80, 40, 20])
            for lines in answer.lines {
                guard case .polyline(let paths) = lines.shape else { continue }
                for area in answer.areas where area.to >= lines.to {
                    let prepared = PreparedShape(area.shape)
                    let isInside = paths.joined().allSatisfy { prepared.contains($0) }
                    #expect(isInside, "lines to \(lines.to) in the area of \(area.to)")
                }
            }
            for (larger, smaller) in zip(answer.areas, answer.areas.dropFirst()) {
                guard case .polygon(let rings) = smaller.shape else { continue }
                let prepared = PreparedShape(larger.shape)
                // Where both are bounded by the same road their edges are within a centimetre.
                let isInside = rings.joined().allSatisfy {
                    prepared.distance(to: PreparedShape(.point($0)), within: 1e-7) != nil
                }
                #expect(isInside, "the area of \(smaller.to) in that of \(larger.to)")
            }
            // What is reached within a cost is what a table says.
            let probe = made.place(&random)
            var terms = RouteTableRequest(
                made.terms("Driving Time"), origins: [place], destinations: [probe])
            if request.isTowards == true { swap(&terms.origins, &terms.destinations) }
            let cost = try made.router("Driving Time").table(terms).durations?[0]
            let largest = PreparedShape(answer.areas[0].shape)
            if let cost, cost < 79 { #expect(largest.contains(probe.location)) }
        }
    }

    @Test func `a request that cannot be meant is refused with what was expected`() throws {
        let made = try RandomGrid(seed: 1)
        var random = SeededGenerator(seed: 1)
        let place = made.place(&random)
        func refusal(_ body: () throws -> Void) -> String {
            do { try body() } catch { return (error as? Failure)?.message ?? "\(error)" }
            return ""
        }
        let router = try made.router("Driving Time")
        let one = RouteRequest(made.terms("Driving Time"), stops: [place])
        #expect(refusal { _ = try router.route(one) }.contains("1 stops: expected 2"))
        let world = RouteRequest(
            made.terms("Driving Time"), stops: [place, RoutePlace(Coordinate(x: 999, y: .nan))])
        #expect(refusal { _ = try router.route(world) }.contains("expected longitude"))
        #expect(
            refusal { _ = try made.router("Flying Time") }
                .contains("expected one of 'Driving Time', 'Length'"))
        let falling = ReachRequest(
            made.terms("Driving Time"), facilities: [place], breaks: [5, 5])
        #expect(refusal { _ = try router.reach(falling) }.contains("ascending costs"))
        var terms = made.terms("Driving Time")
        terms.barriers = [RouteBarrier(shape: .point(place.location), effect: .factor(-1))]
        #expect(
            refusal { _ = try Router(made.network, terms, at: made.moment) }
                .contains("barrier 1: a factor of -1.0"))
        let away = RouteRequest(
            made.terms("Driving Time"), stops: [place, RoutePlace(Coordinate(x: 90, y: 45))])
        let answer = try router.route(away)
        #expect(answer.routes.isEmpty)
        #expect(answer.stops[1].status == .notLocated)
        #expect(answer.context.messages.map(\.code) == [.unlocated])
    }

    @Test func `equal stops make legs of no length`() throws {
        let made = try RandomGrid(seed: 1)
        var random = SeededGenerator(seed: 1)
        let place = made.place(&random)
        let router = try made.router("Driving Time")
        var request = RouteRequest(made.terms("Driving Time"), stops: [place, place, place])
        request.directions = RouteRequest.Directions()
        let route = try #require(try router.route(request).routes.first)
        #expect(route.length == 0 && route.duration == 0 && route.legs.count == 2)
    }

    @Test func `a barrier over all roads leaves no route, and one of too many corners is refused`()
        throws
    {
        let made = try RandomGrid(seed: 1)
        var random = SeededGenerator(seed: 1)
        let stops = [made.place(&random), made.place(&random)]
        func answer(_ ring: [Coordinate]) throws -> RouteAnswer {
            var terms = made.terms("Driving Time")
            terms.barriers = [RouteBarrier(shape: .polygon(rings: [ring]))]
            let router = try Router(made.network, terms, at: made.moment)
            return try router.route(RouteRequest(terms, stops: stops))
        }
        let world = [(-180.0, -90.0), (-180, 90), (180, 90), (180, -90), (-180, -90)]
            .map { Coordinate(x: $0.0, y: $0.1) }
        #expect(try answer(world).routes.isEmpty)
        let count = 100_001
        var ring = (0..<count - 1).map { number in
            let angle = 2 * Double.pi * Double(number) / Double(count - 1)
            return Coordinate(x: cos(angle), y: sin(angle))
        }
        ring.append(ring[0])
        do {
            _ = try answer(ring)
            Issue.record("a barrier of \(count) corners was taken")
        } catch let error as Failure {
            #expect(error.code == .tooLarge && error.message.contains("\(count)"), "\(error)")
        }
    }
}

/// A grid whose streets are fast and slow, one way, private and closed, with restrictions.
final class RandomGrid {
    let built: BuiltNetwork
    let network: RoutableNetwork
    let moment = RouteMoment(
        changes: [], sequence: 1, now: Timestamp(microseconds: 1_800_000_000_000_000))
    var roads: RoadNetwork { network.roads }
    private let side = 9

    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var draft = Grid.draft(side: side, restrictions: Self.restrictions(&random))
        let plain = draft.traits[0]
        draft.traits = (0..<24).map { number in
            var traits = plain
            traits.name = "Street \(number)"
            let access: RoadAccess = number % 6 == 5 ? .endsOnly : .open
            traits.forward = [
                RoadDraft.Passage(access: access, speed: Double.random(in: 8...90, using: &random))
            ]
            traits.backward =
                number % 5 == 4
                ? [.closed]
                : [
                    RoadDraft.Passage(
                        access: access, speed: Double.random(in: 8...90, using: &random))
                ]
            return traits
        }
        // Ways of one segment each, so that every one has traits of its own.
        var ways: [RoadDraft.Way] = []
        var nodes: [UInt32] = []
        for way in draft.ways {
            for segment in 0..<way.count - 1 {
                ways.append(
                    RoadDraft.Way(
                        id: way.id, traits: UInt32.random(in: 0..<24, using: &random),
                        first: nodes.count, count: 2, segment: UInt32(segment)))
                nodes += draft.wayNodes[way.first + segment...way.first + segment + 1]
            }
        }
        draft.ways = ways
        draft.wayNodes = nodes
        let modes = [
            NetworkMode(
                name: "car", kind: .automobile,
                travelModes: [
                    NetworkMode.TravelMode(name: "Driving Time", minimises: .time),
                    NetworkMode.TravelMode(name: "Length", minimises: .distance),
                ], turns: Grid.mode.turns)
        ]
        var other = RoadDraft(modes: modes)
        other.nodes = draft.nodes
        other.traits = draft.traits
        other.ways = draft.ways
        other.wayNodes = draft.wayNodes
        other.restrictions = draft.restrictions
        built = try BuiltNetwork(other)
        let topology = try RoutableNetwork.writeTopology(of: built.network, in: built.directory)
        network = try RoutableNetwork(
            NetworkPublished(
                name: "Grid", network: built.built.id, topology: topology, modes: modes,
                edgeCount: built.network.edgeCount, extent: built.network.extent),
            in: built.directory)
    }

    private static func restrictions(
        _ random: inout SeededGenerator
    ) -> [RoadDraft.Restriction] {
        (0..<12).map { number in
            let (row, column) = (
                Int.random(in: 1..<8, using: &random), Int.random(in: 1..<8, using: &random)
            )
            return RoadDraft.Restriction(
                id: Int64(number), kind: number % 4 == 0 ? .only : .no, modes: 1,
                from: [Int64(row)], via: .node(Int64(100 * row + column)),
                to: [Int64(100 + column)])
        }
    }

    func terms(_ mode: String) -> RouteTerms {
        var terms = RouteTerms(network: "Grid")
        terms.travelMode = mode
        return terms
    }

    func router(_ mode: String) throws -> Router {
        try Router(network, terms(mode), at: moment)
    }

    /// A place on a random road.
    func place(_ random: inout SeededGenerator) -> RoutePlace {
        while true {
            let edge = Int.random(in: 0..<roads.edgeCount, using: &random)
            guard roads.access(of: edge, mode: 0) != .closed else { continue }
            let shape = roads.shape(of: edge)
            let share = Double.random(in: 0.02...0.98, using: &random)
            return RoutePlace(
                Coordinate(
                    x: shape[0].x + share * (shape[1].x - shape[0].x),
                    y: shape[0].y + share * (shape[1].y - shape[0].y)))
        }
    }

    /// The ways to begin at a location, as the slow search reads them.
    func starts(_ location: Coordinate) throws -> [ReferenceSearch.Place] {
        let snaps = try roads.nearestEdges(to: location, radius: 1000, count: 4) {
            roads.access(of: $0, mode: 0) != .closed
        }
        return snaps.filter { $0.distance <= (snaps.first?.distance ?? 0) + 0.001 }
            .map { ReferenceSearch.Place(edge: $0.edge, offset: $0.offset) }
    }
}
