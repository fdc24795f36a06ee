// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import RoadNetwork
internal import RouteSearch

extension Router {
    /// A stop of the request with its place on the roads.
    struct Visit {
        /// Its place in the request.
        var number: Int
        var place: RoutePlace
        var snaps: [RoadNetwork.Snap]
    }

    /// Finds the route of a request.
    ///
    /// An answer without routes says why: a stop that is not located, or one that cannot be reached
    /// from the one before. Throws `Failure`: `invalidParameter`, `tooLarge` for what cannot be
    /// asked.
    public func route(_ request: RouteRequest) throws(Failure) -> RouteAnswer {
        guard 2...RouteRequest.largestStopCount ~= request.stops.count else {
            throw Failure(
                request.stops.count < 2 ? .invalidParameter : .tooLarge,
                "a route over \(request.stops.count) stops: expected 2 to "
                    + "\(RouteRequest.largestStopCount)")
        }
        guard 0...5 ~= request.alternatives ?? 0 else {
            throw Failure(
                .invalidParameter,
                "\(request.alternatives ?? 0) alternatives: expected 0 to 5")
        }
        var answer = RouteAnswer(context: context, stops: [])
        var visits: [Visit] = []
        for (number, place) in request.stops.enumerated() {
            let snaps = try network.candidates(place, costs, conditions)
            answer.stops.append(try located(place, number, "Stops", snaps, &answer.context))
            if let snaps { visits.append(Visit(number: number, place: place, snaps: snaps)) }
        }
        guard visits.count >= 2,
            visits.count == request.stops.count || request.skipsUnlocated == true
        else { return answer }
        if let order = request.order {
            guard let ordered = try ordered(visits, order, &answer) else { return answer }
            visits = ordered
        }
        for (place, visit) in visits.enumerated() where answer.stops[visit.number].order == nil {
            answer.stops[visit.number].order = place
        }
        let found = try ways(over: &visits, alternatives: request.alternatives ?? 0, &answer)
        answer.routes = try found.map { legs throws(Failure) in
            var route = try described(legs, visits, request)
            if Self.hasWindows(visits) {
                route.times = times(route, visits, returns: request.order?.returns == true)
            }
            return route
        }
        if let best = found.first { answer.context.messages += conditionalMessages(best) }
        if request.explain == true, found.count > 0 {
            answer.shapedBy = try shaping(visits, best: found[0])
        }
        return answer
    }

    func name(of place: RoutePlace, _ number: Int) -> String {
        place.name.flatMap { $0.isEmpty ? nil : $0 } ?? "Location \(number + 1)"
    }

    /// The visits in the best order; nil, with the answer saying which stop is not reached, where
    /// there is none.
    private func ordered(
        _ visits: [Visit], _ order: RouteRequest.StopOrder, _ answer: inout RouteAnswer
    ) throws(Failure) -> [Visit]? {
        let stops = visits.enumerated().map { place, visit in
            network.placed(visit.place, visit.snaps, number: place, costs, conditions)
        }
        let table = try network.search(in: metric) { searcher throws(Failure) in
            try searcher.table(
                from: stops.map { $0.departures.map(\.end) },
                to: stops.map { $0.arrivals.map(\.end) }, metric)
        }
        let terminals: StopSequence.Terminals =
            order.returns ? .round : .kept(first: order.keepsFirst, last: order.keepsLast)
        let found: (order: [Int], isExact: Bool)?
        if Self.hasWindows(visits) {
            found = try orderedByWindows(visits, table, stops, terminals).map {
                ($0.order, $0.isExact)
            }
        } else {
            found = try StopSequence(table, terminals).map { ($0.order, $0.isExact) }
        }
        guard let sequence = found else {
            let alone = visits.indices.first { column in
                visits.indices.allSatisfy { $0 == column || table[$0, column] == nil }
            }
            answer.unreachedStop = visits[alone ?? visits.count - 1].number
            return nil
        }
        if !sequence.isExact {
            answer.context.messages.append(
                RouteMessage(
                    .heuristicOrder,
                    "The order of \(visits.count) stops was improved, not proven to be best."))
        }
        var ordered = sequence.order.map { visits[$0] }
        if order.returns { ordered.append(ordered[0]) }
        return ordered
    }

    /// The ways between the visits, the best first; empty, with the answer saying which stop is not
    /// reached, for none.
    ///
    /// A visit that is unreachable at its nearest road is moved.
    func ways(
        over visits: inout [Visit], alternatives: Int, _ answer: inout RouteAnswer
    ) throws(Failure) -> [[RouteWay]] {
        let first = try search(visits, alternatives: alternatives)
        guard case .failure(let unreached) = first else { return first.get(or: []) }
        if let moved = try moved(visits) {
            let second = try search(moved, alternatives: alternatives)
            if case .success(let ways) = second {
                for (old, new) in zip(visits, moved) where old.snaps != new.snaps {
                    answer.stops[new.number] = located(new.snaps, status: .moved)
                    answer.stops[new.number].order = visits.firstIndex { $0.number == new.number }
                    answer.context.messages.append(
                        RouteMessage(
                            .moved,
                            "Location \"\(name(of: new.place, new.number))\" in \"Stops\" was "
                                + "moved to a road from which the others are reached."))
                }
                visits = moved
                return ways
            }
        }
        answer.unreachedStop = visits[unreached.stop].number
        answer.stops[visits[unreached.stop].number].status = .notReached
        return []
    }

    /// A place so near to a road is on it, and stays there: metres.
    private static let onRoad = 1.0

    /// The visits at roads of one component: the one with the least sum of distances; nil where no
    /// component is near all.
    ///
    /// Places on a road are not moved.
    private func moved(_ visits: [Visit]) throws(Failure) -> [Visit]? {
        var places = try visits.map { visit throws(Failure) in
            try NearbyComponents(
                visit.place, isFixed: visit.snaps[0].distance <= Self.onRoad,
                mode: costs.mode, network)
        }
        var best: NearbyComponents.Best?
        for count in NearbyComponents.edgeCounts where best?.isCertain != true {
            let nearest = places.map(\.nearest)
            let sum = nearest.reduce(0, +)
            for number in places.indices {
                if let best,
                    places[number].isDone(best, nearestOfOthers: sum - nearest[number])
                {
                    continue
                }
                places[number].look(at: count, network, costs, conditions)
            }
            best = NearbyComponents.best(of: places)
        }
        guard let best else { return nil }
        return zip(visits, places).map { visit, place in
            var moved = visit
            moved.snaps = place.snaps[best.component] ?? visit.snaps
            return moved
        }
    }

    private func search(
        _ visits: [Visit], alternatives: Int
    ) throws(Failure) -> Result<[[RouteWay]], UnreachedStop> {
        try search(visits, alternatives: alternatives, metric, conditions)
    }

    /// The ways under a metric.
    func search(
        _ visits: [Visit], alternatives: Int, _ metric: RouteMetric, _ conditions: RoadConditions
    ) throws(Failure) -> Result<[[RouteWay]], UnreachedStop> {
        let stops = visits.enumerated().map { place, visit in
            network.placed(visit.place, visit.snaps, number: place, costs, conditions)
        }
        return try network.search(in: metric) { searcher throws(Failure) in
            if stops.count == 2 {
                let found = try legs(
                    stops[0], stops[1], &searcher, metric, conditions, alternatives: alternatives)
                return found.isEmpty
                    ? .failure(UnreachedStop(stop: 1)) : .success(found.map { [$0] })
            }
            // A stop on a road that is open to the ends of a route only may always be left the way
            // it was reached, so that what is before it and what is after it are independent.
            var ways: [RouteWay] = []
            var first = 0
            for last in stops.indices.dropFirst()
            where last == stops.count - 1 || stops[last].isEnclosed {
                if last == first + 1 {
                    let found = try legs(
                        stops[first], stops[last], &searcher, metric, conditions, alternatives: 0)
                    guard let best = found.first else {
                        return .failure(UnreachedStop(stop: last))
                    }
                    ways.append(best)
                } else {
                    switch try tour(over: stops[first...last], &searcher, metric) {
                    case .failure(let unreached):
                        return .failure(UnreachedStop(stop: first + unreached.stop))
                    case .success(let found): ways += found
                    }
                }
                first = last
            }
            return .success([ways])
        }
    }

    /// The ways over stops of which only the first and the last may be enclosed.
    private func tour(
        over stops: ArraySlice<PlacedStop>, _ searcher: inout RouteSearcher, _ metric: RouteMetric
    ) throws(Failure) -> Result<[RouteWay], UnreachedStop> {
        let over = stops.enumerated().map { place, stop in
            RouteSearch.RouteStop(
                place == 0 && stop.isEnclosed
                    ? stop.departures.map(\.end) : stop.arrivals.map(\.end),
                allowsTurning: stop.allowsTurning)
        }
        switch try searcher.route(over: over, metric) {
        case .failure(let unreached): return .failure(unreached)
        case .success(let tour):
            guard let first = stops.first, let last = stops.last else { return .success([]) }
            return .success(
                tour.legs.enumerated().map { place, path in
                    let before =
                        place == 0 && first.isEnclosed ? first.departures[path.start].way : []
                    let after =
                        place == tour.legs.count - 1 ? last.arrivals[path.end].way : []
                    return RouteWay(path, before, after)
                })
        }
    }

    /// The best way between two stops, then alternatives; empty for none.
    private func legs(
        _ start: PlacedStop, _ end: PlacedStop, _ searcher: inout RouteSearcher,
        _ metric: RouteMetric, _ conditions: RoadConditions, alternatives: Int
    ) throws(Failure) -> [RouteWay] {
        let (starts, ends) = (start.departures.map(\.end), end.arrivals.map(\.end))
        let paths =
            alternatives > 0
            ? try searcher.routes(
                from: starts, to: ends, AlternativeRules(count: alternatives), metric)
            : [try searcher.route(from: starts, to: ends, metric)].compactMap { $0 }
        var ways = paths.map { path in
            RouteWay(path, start.departures[path.start].way, end.arrivals[path.end].way)
        }
        if let direct = enclosedWay(from: start, to: end, conditions),
            direct.cost < ways.first?.cost ?? RouteWeights.infinity
        {
            ways.insert(direct, at: 0)
        }
        return Array(ways.prefix(1 + alternatives))
    }

    /// The cheapest way between two stops that stays on enclosed roads; nil for none.
    func enclosedWay(
        from start: PlacedStop, to end: PlacedStop, _ conditions: RoadConditions
    ) -> RouteWay? {
        var best: RouteWay?
        for from in start.snaps where isEnclosed(from, conditions) {
            for to in end.snaps where isEnclosed(to, conditions) {
                guard let direct = network.enclosedWay(from: from, to: to, costs, conditions),
                    direct.cost < best?.cost ?? RouteWeights.infinity
                else { continue }
                best = RouteWay(parts: direct.way, cost: direct.cost)
            }
        }
        return best
    }

    private func isEnclosed(
        _ snap: RoadNetwork.Snap, _ conditions: RoadConditions
    ) -> Bool {
        network.access(of: snap.edge, mode: costs.mode, conditions) != .open
    }
}

extension Result where Failure == UnreachedStop {
    fileprivate func get(or other: Success) -> Success {
        if case .success(let value) = self { value } else { other }
    }
}

/// A way between two stops.
struct RouteWay: Sendable {
    /// The parts of edges in order.
    var parts: [TravelledPart]
    /// In the metric's unit.
    var cost: UInt32

    init(parts: [TravelledPart], cost: UInt32) {
        self.parts = parts
        self.cost = cost
    }

    /// The way of a search, between the ways to its start and from its end.
    init(
        _ path: RouteSearch.RoutePath, _ before: [TravelledPart], _ after: [TravelledPart]
    ) {
        cost = path.cost
        parts = path.edges.map { TravelledPart(arc: $0, from: 0, to: 1) }
        parts[0].from = path.startFraction
        parts[parts.count - 1].to = path.endFraction
        // A search that begins or ends at the end of an edge has nothing of it.
        parts = before + parts + after
    }
}
