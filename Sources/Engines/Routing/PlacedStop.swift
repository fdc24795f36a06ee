// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform
internal import RoadNetwork
internal import RouteSearch

/// A place on the roads where routes begin and end.
struct PlacedStop: Sendable {
    /// The nearest point of the roads, with each direction in which it can be passed.
    var snaps: [RoadNetwork.Snap]
    /// Where routes from here begin, with the roads to there.
    var departures: [Portal]
    /// Where routes to here end, with the roads from there.
    var arrivals: [Portal]
    /// Whether a route may turn back here.
    var allowsTurning: Bool

    /// An end of a search, and the way between it and the place over roads that are open to the
    /// ends of a route only; empty where the place is on the end's edge.
    struct Portal: Sendable {
        var end: RouteEnd
        var way: [TravelledPart]
    }

    /// Whether it is on a road that is open to the ends of a route only.
    var isEnclosed: Bool { (departures + arrivals).contains { !$0.way.isEmpty } }
}

/// A part of an edge that is travelled.
struct TravelledPart: Hashable, Sendable {
    var arc: UInt32
    /// Where on the edge it begins, 0…1.
    var from: Double
    /// Where it ends, from `from` to 1.
    var to: Double
}

extension RoutePlace {
    /// The directions of travel that roads must have; nil for all.
    var headings: RoadNetwork.HeadingRange? {
        bearing.map {
            RoadNetwork.HeadingRange(heading: $0, tolerance: bearingTolerance ?? 30)
        }
    }
}

extension RoutableNetwork {
    /// Most edges that are equally near to a place.
    private static let candidateLimit = 16
    /// Metres within which roads are equally near.
    static let equalDistance = 0.001
    /// Most edges of an enclosed area that are looked at.
    private static let enclosedLimit = 20_000

    /// The nearest road of a place, in each direction, with those equally near; nil for none.
    ///
    /// Where that is in a part of a road that a barrier covers, the nearest road of which it covers
    /// no part.
    ///
    /// Throws `invalidParameter` for a location outside the world or a radius out of range.
    func candidates(
        _ place: RoutePlace, _ costs: RouteCosts, _ conditions: RoadConditions
    ) throws(Failure) -> [RoadNetwork.Snap]? {
        func nearest(_ isOpen: (Int) -> Bool) throws(Failure) -> [RoadNetwork.Snap] {
            try roads.nearestEdges(
                to: place.location, radius: place.radius ?? RoutePlace.usualRadius,
                count: Self.candidateLimit, within: Self.equalDistance, heading: place.headings,
                mode: costs.mode
            ) { cost(ofEdge: $0, costs, conditions) < RouteWeights.infinity && isOpen($0) }
        }
        var found = try nearest { _ in true }
        if let first = found.first, conditions.edges[first.edge]?.isCovered == true,
            isBlocked(first, conditions)
        {
            found = try nearest { conditions.edges[$0]?.isCovered != true }
        }
        return found.isEmpty ? nil : found
    }

    /// Whether a barrier stands where a place was found.
    private func isBlocked(_ snap: RoadNetwork.Snap, _ conditions: RoadConditions) -> Bool {
        let length = Double(roads.length(of: snap.edge))
        let share = length > 0 ? Double(snap.offset) / length : 0
        return conditions.isBlocked(snap.edge, from: share, to: share)
    }

    /// Whether a road that is closed under the conditions, else open to the mode, is nearer to a
    /// place than those that it was found at.
    func isClosedNearer(
        _ place: RoutePlace, _ snaps: [RoadNetwork.Snap], _ costs: RouteCosts,
        _ conditions: RoadConditions
    ) throws(Failure) -> Bool {
        guard !conditions.edges.isEmpty, let distance = snaps.first?.distance,
            distance > Self.equalDistance
        else { return false }
        let nearer = try roads.nearestEdges(
            to: place.location, radius: distance - Self.equalDistance, count: 1,
            heading: place.headings, mode: costs.mode
        ) { edge in
            guard let condition = conditions.edges[edge] else { return false }
            let isClosed = cost(ofEdge: edge, costs, conditions) == RouteWeights.infinity
            return (isClosed || condition.isCovered)
                && cost(ofEdge: edge, costs, .none) < RouteWeights.infinity
        }
        return !nearer.isEmpty
    }

    /// Where routes begin and end for a place that was found at a road.
    func placed(
        _ place: RoutePlace, _ snaps: [RoadNetwork.Snap], number: Int, _ costs: RouteCosts,
        _ conditions: RoadConditions
    ) -> PlacedStop {
        var stop = PlacedStop(
            snaps: snaps, departures: [], arrivals: [],
            allowsTurning: place.approach != .noUTurn && place.isWaypoint != true)
        for snap in approaching(place, snaps) {
            let length = Double(roads.length(of: snap.edge))
            let fraction = length > 0 ? Double(snap.offset) / length : 0
            if access(of: snap.edge, mode: costs.mode, conditions) == .open {
                let end = RouteEnd(UInt32(snap.edge), at: fraction, place: number)
                stop.departures.append(PlacedStop.Portal(end: end, way: []))
                for arc in arcs(of: snap.edge) {
                    let end = RouteEnd(arc, at: fraction, place: number)
                    stop.arrivals.append(PlacedStop.Portal(end: end, way: []))
                }
            } else {
                let start = TravelledPart(arc: UInt32(snap.edge), from: fraction, to: 1)
                stop.departures += exits(from: start, number, costs, conditions)
                let last = TravelledPart(arc: UInt32(snap.edge), from: 0, to: fraction)
                stop.arrivals += entrances(to: last, number, costs, conditions)
            }
        }
        return stop
    }

    /// The directions in which a place may be reached; all where none has it on the wanted side.
    private func approaching(
        _ place: RoutePlace, _ snaps: [RoadNetwork.Snap]
    ) -> [RoadNetwork.Snap] {
        let side: RoadNetwork.Side
        switch place.approach {
        case .right: side = .right
        case .left: side = .left
        default: return snaps
        }
        let fitting = snaps.filter { $0.side == side || $0.side == .on }
        return fitting.isEmpty ? snaps : fitting
    }

    private func share(_ cost: UInt32, _ part: TravelledPart) -> UInt32 {
        UInt32((Double(cost) * (part.to - part.from)).rounded())
    }

    /// Whether a barrier stands on a part of an edge.
    private func isBlocked(_ part: TravelledPart, _ conditions: RoadConditions) -> Bool {
        conditions.isBlocked(Int(arcEdges[Int(part.arc)]), from: part.from, to: part.to)
    }

    /// Whether an enclosed road may be passed on the way from or to a place on another.
    ///
    /// Not one on which a barrier stands, and none for a place on a road that is enclosed by a
    /// barrier alone: roads that are open to the ends of a route only are not passed from there.
    private func isPassable(
        _ arc: UInt32, around place: UInt32, _ costs: RouteCosts, _ conditions: RoadConditions
    ) -> Bool {
        !conditions.isBlocked(Int(arcEdges[Int(arc)]))
            && accessWithoutBarriers(
                of: Int(arcEdges[Int(place)]), mode: costs.mode, conditions) == .endsOnly
    }

    /// The open roads that an enclosed one leads out to.
    private func exits(
        from start: TravelledPart, _ number: Int, _ costs: RouteCosts, _ conditions: RoadConditions
    ) -> [PlacedStop.Portal] {
        guard !isBlocked(start, conditions) else { return [] }
        var search = EnclosedSearch(
            start.arc, cost: share(cost(start.arc, costs, conditions), start))
        var portals: [PlacedStop.Portal] = []
        while let (arc, cost) = search.next(), search.settledCount < Self.enclosedLimit {
            for turn in Int(turnStarts[Int(arc)])..<Int(turnStarts[Int(arc) + 1]) {
                let turning = self.cost(ofTurn: turn, from: Int(arc), costs, conditions)
                let target = turnTargets[turn]
                let own = self.cost(target, costs, conditions)
                guard turning < RouteWeights.infinity, own < RouteWeights.infinity else { continue }
                let there = RouteWeights.sum(cost, turning)
                if isOpen(target, costs, conditions) {
                    var way = search.way(to: arc)
                    way[0].from = start.from
                    portals.append(
                        PlacedStop.Portal(
                            end: RouteEnd(target, at: 0, cost: there, place: number), way: way))
                } else if isPassable(target, around: start.arc, costs, conditions) {
                    search.reach(target, from: arc, RouteWeights.sum(there, own))
                }
            }
        }
        return Self.cheapest(portals)
    }

    /// The open roads from which an enclosed one is reached.
    private func entrances(
        to last: TravelledPart, _ number: Int, _ costs: RouteCosts, _ conditions: RoadConditions
    ) -> [PlacedStop.Portal] {
        guard !isBlocked(last, conditions) else { return [] }
        var portals: [PlacedStop.Portal] = []
        for arc in arcs(of: Int(last.arc)) {
            var search = EnclosedSearch(arc, cost: share(cost(arc, costs, conditions), last))
            while let (arc, cost) = search.next(), search.settledCount < Self.enclosedLimit {
                for (turn, source) in turns(into: Int(arc)) {
                    let turning = self.cost(ofTurn: turn, from: source, costs, conditions)
                    let own = self.cost(UInt32(source), costs, conditions)
                    guard turning < RouteWeights.infinity, own < RouteWeights.infinity else {
                        continue
                    }
                    let there = RouteWeights.sum(cost, turning)
                    if isOpen(UInt32(source), costs, conditions) {
                        var way = Array(search.way(to: arc).reversed())
                        way[way.count - 1].to = last.to
                        portals.append(
                            PlacedStop.Portal(
                                end: RouteEnd(UInt32(source), at: 1, cost: there, place: number),
                                way: way))
                    } else if isPassable(UInt32(source), around: last.arc, costs, conditions) {
                        search.reach(UInt32(source), from: arc, RouteWeights.sum(there, own))
                    }
                }
            }
        }
        return Self.cheapest(portals)
    }

    /// The cheapest way to each open road, by road.
    private static func cheapest(_ portals: [PlacedStop.Portal]) -> [PlacedStop.Portal] {
        var best: [UInt32: PlacedStop.Portal] = [:]
        for portal in portals where portal.end.cost < best[portal.end.edge]?.end.cost ?? .max {
            best[portal.end.edge] = portal
        }
        return best.values.sorted { $0.end.edge < $1.end.edge }
    }

    /// The cheapest way between two places that stays on enclosed roads; nil for none.
    func enclosedWay(
        from start: RoadNetwork.Snap, to end: RoadNetwork.Snap, _ costs: RouteCosts,
        _ conditions: RoadConditions
    ) -> (way: [TravelledPart], cost: UInt32)? {
        func part(_ snap: RoadNetwork.Snap) -> Double {
            let length = Double(roads.length(of: snap.edge))
            return length > 0 ? Double(snap.offset) / length : 0
        }
        let (first, last) = (part(start), part(end))
        let own = cost(UInt32(start.edge), costs, conditions)
        if start.edge == end.edge, first <= last {
            let whole = TravelledPart(arc: UInt32(start.edge), from: first, to: last)
            if !isBlocked(whole, conditions) { return ([whole], share(own, whole)) }
        }
        let rest = TravelledPart(arc: UInt32(start.edge), from: first, to: 1)
        guard !isBlocked(rest, conditions) else { return nil }
        var search = EnclosedSearch(UInt32(start.edge), cost: share(own, rest))
        let targets = Set(arcs(of: end.edge))
        var best: (way: [TravelledPart], cost: UInt32)?
        while let (arc, cost) = search.next(), search.settledCount < Self.enclosedLimit {
            for turn in Int(turnStarts[Int(arc)])..<Int(turnStarts[Int(arc) + 1]) {
                let turning = self.cost(ofTurn: turn, from: Int(arc), costs, conditions)
                let target = turnTargets[turn]
                let whole = self.cost(target, costs, conditions)
                guard turning < RouteWeights.infinity, whole < RouteWeights.infinity,
                    !isOpen(target, costs, conditions)
                else { continue }
                let there = RouteWeights.sum(cost, turning)
                let piece = TravelledPart(arc: target, from: 0, to: last)
                if targets.contains(target), !isBlocked(piece, conditions) {
                    let total = RouteWeights.sum(there, share(whole, piece))
                    if total < best?.cost ?? RouteWeights.infinity {
                        var way = search.way(to: arc)
                        way[0].from = first
                        best = (way + [piece], total)
                    }
                }
                if isPassable(target, around: UInt32(start.edge), costs, conditions)
                    || isPassable(target, around: UInt32(end.edge), costs, conditions)
                {
                    search.reach(target, from: arc, RouteWeights.sum(there, whole))
                }
            }
        }
        return best
    }

    private func cost(
        _ arc: UInt32, _ costs: RouteCosts, _ conditions: RoadConditions
    ) -> UInt32 { cost(ofEdge: Int(arcEdges[Int(arc)]), costs, conditions) }

    private func isOpen(
        _ arc: UInt32, _ costs: RouteCosts, _ conditions: RoadConditions
    ) -> Bool {
        access(of: Int(arcEdges[Int(arc)]), mode: costs.mode, conditions) == .open
    }
}

/// Dijkstra's search over enclosed arcs; the cost of an arc is that of its far end.
private struct EnclosedSearch {
    /// A binary heap, the next arc first.
    private var open: [Item]
    private var costs: [UInt32: UInt32]
    private var before: [UInt32: UInt32] = [:]
    private var settled: Set<UInt32> = []

    var settledCount: Int { settled.count }

    init(_ arc: UInt32, cost: UInt32) {
        open = [Item(cost: cost, arc: arc)]
        costs = [arc: cost]
    }

    /// The next arc by cost, then by number.
    mutating func next() -> (arc: UInt32, cost: UInt32)? {
        while let item = pop() {
            if settled.insert(item.arc).inserted { return (item.arc, item.cost) }
        }
        return nil
    }

    mutating func reach(_ arc: UInt32, from source: UInt32, _ cost: UInt32) {
        guard cost < costs[arc] ?? RouteWeights.infinity else { return }
        costs[arc] = cost
        before[arc] = source
        push(Item(cost: cost, arc: arc))
    }

    private struct Item: Comparable {
        var cost: UInt32
        var arc: UInt32

        static func < (left: Item, right: Item) -> Bool {
            (left.cost, left.arc) < (right.cost, right.arc)
        }
    }

    private mutating func push(_ item: Item) {
        open.append(item)
        var child = open.count - 1
        while child > 0, open[child] < open[(child - 1) / 2] {
            open.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() -> Item? {
        guard let first = open.first else { return nil }
        let last = open.removeLast()
        guard !open.isEmpty else { return first }
        open[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < open.count && open[child] < open[least] { least = child }
            guard least != parent else { return first }
            open.swapAt(parent, least)
            parent = least
        }
    }

    /// The arcs from the first to one, whole.
    func way(to arc: UInt32) -> [TravelledPart] {
        var way: [TravelledPart] = []
        var next: UInt32? = arc
        while let arc = next {
            way.append(TravelledPart(arc: arc, from: 0, to: 1))
            next = before[arc]
        }
        return way.reversed()
    }
}
