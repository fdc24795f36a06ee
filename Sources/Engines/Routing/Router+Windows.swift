// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork
internal import RouteSearch

extension Router {
    /// Whether a stop of a request is open at certain times only.
    static func hasWindows(_ visits: [Visit]) -> Bool { visits.contains { $0.place.window != nil } }

    /// When each visit of a route begins and ends.
    ///
    /// - Parameter returns: Whether the last one is the first stop again, where nothing is waited
    ///   for.
    func times(_ route: FoundRoute, _ visits: [Visit], returns: Bool) -> [FoundRoute.StopTime] {
        var times: [FoundRoute.StopTime] = []
        var clock: Int64 = 0
        for (number, visit) in visits.enumerated() {
            if number > 0, route.legs.indices.contains(number - 1) {
                clock += Self.milliseconds(route.legs[number - 1].duration)
            }
            let isReturn = returns && number == visits.count - 1
            let own = isReturn ? WindowSequence.Stop() : stop(visit.place)
            let begin = max(clock, own.earliest)
            times.append(
                FoundRoute.StopTime(
                    arrival: Self.seconds(clock), wait: Self.seconds(begin - clock),
                    violation: own.latest < clock ? Self.seconds(clock - own.latest) : 0,
                    departure: Self.seconds(begin + own.service)))
            clock = begin + own.service
        }
        return times
    }

    /// Seconds as milliseconds, of a century at most.
    private static func milliseconds(_ seconds: Double) -> Int64 {
        Int64((min(max(seconds, -3e9), 3e9) * 1000).rounded())
    }

    private static func seconds(_ milliseconds: Int64) -> Double { Double(milliseconds) / 1000 }

    private func stop(_ place: RoutePlace) -> WindowSequence.Stop {
        func after(_ moment: Timestamp) -> Int64 {
            Self.milliseconds(
                (Double(moment.microseconds) - Double(time.microseconds)) / 1e6)
        }
        var stop = WindowSequence.Stop(service: Self.milliseconds(max(0, place.service ?? 0)))
        if let start = place.window?.start { stop.earliest = after(start) }
        if let end = place.window?.end { stop.latest = after(end) }
        return stop
    }

    /// The visits in the order with the least lateness, and of these the cheapest; nil where no
    /// order reaches all of them.
    func orderedByWindows(
        _ visits: [Visit], _ table: RouteTable, _ stops: [PlacedStop],
        _ terminals: StopSequence.Terminals
    ) throws(Failure) -> WindowSequence? {
        guard visits.count <= WindowSequence.largestCount else {
            throw Failure(
                .tooLarge,
                "the best order of \(visits.count) stops with time windows: expected at most "
                    + "\(WindowSequence.largestCount)")
        }
        var matrix = WindowSequence.Matrix(durations: [])
        if costs.minimises == .distance { matrix.costs = [] }
        for (row, from) in stops.enumerated() {
            for (column, to) in stops.enumerated() {
                let cost = row == column ? 0 : table[row, column]
                guard costs.minimises == .distance else {
                    matrix.durations.append(cost.map(Int64.init))
                    continue
                }
                var seconds: Double?
                if row == column {
                    seconds = 0
                } else if cost != nil {
                    let path = try network.search(in: metric) { searcher throws(Failure) in
                        try searcher.route(
                            from: from.departures.map(\.end), to: to.arrivals.map(\.end), metric)
                    }
                    seconds = path.map {
                        let way = RouteWay(
                            $0, from.departures[$0.start].way, to.arrivals[$0.end].way)
                        return measured(way).reduce(0) { $0 + $1.duration }
                    }
                }
                matrix.durations.append(seconds.map(Self.milliseconds))
                matrix.costs?.append(Int64(cost ?? 0))
            }
        }
        return try WindowSequence(visits.map { stop($0.place) }, matrix, terminals)
    }
}
