// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import RoadNetwork
internal import RouteSearch

extension Router {
    /// Finds the roads on which recorded positions were travelled.
    ///
    /// The most probable sequence of ``TraceModel``; ways between positions are the shortest ones
    /// that the travel mode may take, whatever it minimises. A position without a road near by is
    /// left out, as are up to ``TraceModel/outlierLimit`` in a row that cannot be reached; beyond
    /// that a new matching begins. Throws `Failure`: `invalidParameter`, `tooLarge`, `cancelled`.
    public func match(
        _ request: TraceRequest, isCancelled: () -> Bool = { false }
    ) throws(Failure) -> TraceAnswer {
        try Self.check(request)
        let search = try TraceSearch(self)
        var answer = TraceAnswer(
            context: context, points: request.points.map { _ in TraceAnswer.Point() })
        let pause = request.bridgesPauses == true ? nil : Self.longestPause(request.points)
        var located: [[TraceCandidate]] = []
        for (number, isKept) in Self.kept(request).enumerated() {
            if isCancelled() { throw Failure(.cancelled, "the matching was cancelled") }
            located.append(
                isKept ? try search.candidates(of: request.points[number], number) : [])
        }
        for chain in try Self.chains(request.points, located, pause, search, isCancelled)
        where chain.steps.count > 1 {
            try add(chain, request, search, to: &answer)
        }
        return answer
    }

    private static func check(_ request: TraceRequest) throws(Failure) {
        let points = request.points
        guard 2...TraceRequest.largestPointCount ~= points.count else {
            throw Failure(
                points.count < 2 ? .invalidParameter : .tooLarge,
                "a trace of \(points.count) positions: expected 2 to "
                    + "\(TraceRequest.largestPointCount)")
        }
        var last: Timestamp?
        for (number, point) in points.enumerated() {
            let (x, y) = (point.location.x, point.location.y)
            guard abs(x) <= 180, abs(y) <= 90 else {
                throw Failure(
                    .invalidParameter,
                    "position \(number + 1) of the trace, \(x), \(y): expected longitude and "
                        + "latitude")
            }
            let precision = point.precision ?? TracePoint.usualPrecision
            guard precision > 0, precision <= TracePoint.largestPrecision else {
                throw Failure(
                    .invalidParameter,
                    "position \(number + 1) of the trace: precision \(precision) m, expected above "
                        + "0, up to \(TracePoint.largestPrecision)")
            }
            guard let time = point.time else { continue }
            if let last, time < last {
                throw Failure(
                    .invalidParameter,
                    "position \(number + 1) of the trace: its time is before that of an earlier "
                        + "one; expected ascending times")
            }
            last = time
        }
    }

    /// Seconds of a pause that ends a matching; nil without times.
    private static func longestPause(_ points: [TracePoint]) -> Double? {
        let intervals = zip(points, points.dropFirst()).compactMap(seconds).sorted()
        guard !intervals.isEmpty else { return nil }
        return max(
            TraceModel.shortestPause, TraceModel.pauseFactor * intervals[intervals.count / 2])
    }

    private static func seconds(_ first: TracePoint, _ second: TracePoint) -> Double? {
        guard let from = first.time, let to = second.time else { return nil }
        return (Double(to.microseconds) - Double(from.microseconds)) / 1e6
    }

    /// The positions that are matched: all, or of a tidy trace those that are apart from the one
    /// before that is matched.
    private static func kept(_ request: TraceRequest) -> [Bool] {
        guard request.tidies == true else { return request.points.map { _ in true } }
        var last: TracePoint?
        return request.points.map { point in
            let precision = point.precision ?? TracePoint.usualPrecision
            if let last, TraceSearch.straight(last, point) < TraceModel.tidy * precision {
                return false
            }
            last = point
            return true
        }
    }

    /// The parts of a trace that join.
    private static func chains(
        _ points: [TracePoint], _ located: [[TraceCandidate]], _ pause: Double?,
        _ search: TraceSearch, _ isCancelled: () -> Bool
    ) throws(Failure) -> [TraceChain] {
        var chains: [TraceChain] = []
        var chain: TraceChain?
        // The positions behind the chain that it does not reach.
        var outliers: [Int] = []
        var number = 0
        while number < points.count || chain != nil {
            if isCancelled() { throw Failure(.cancelled, "the matching was cancelled") }
            if number < points.count {
                guard !located[number].isEmpty else {
                    number += 1
                    continue
                }
                guard var known = chain else {
                    chain = TraceChain(number, located[number])
                    number += 1
                    continue
                }
                let (before, point) = (points[known.last.point], points[number])
                let wait = seconds(before, point) ?? 0
                if pause.map({ wait <= $0 }) ?? true {
                    let transitions = try search.transitions(
                        known.last.candidates, before, located[number], point)
                    if known.join(number, located[number], transitions) {
                        chain = known
                        outliers = []
                    } else {
                        outliers.append(number)
                    }
                    if outliers.count <= TraceModel.outlierLimit {
                        number += 1
                        continue
                    }
                }
            }
            // What the chain did not reach may join by itself.
            if let chain { chains.append(chain) }
            chain = nil
            number = outliers.first ?? number
            outliers = []
        }
        return chains
    }

    private func add(
        _ chain: TraceChain, _ request: TraceRequest, _ search: TraceSearch,
        to answer: inout TraceAnswer
    ) throws(Failure) {
        let (choices, probabilities) = (chain.best, chain.probabilities)
        var visits: [Visit] = []
        var sum = 0.0
        for (number, step) in chain.steps.enumerated() {
            let snap = step.candidates[choices[number]].snap
            var links: [Int: Double] = [:]
            for (candidate, share) in zip(step.candidates, probabilities[number]) {
                links[network.roads.link(of: candidate.snap.edge).link, default: 0] += share
            }
            let own = network.roads.link(of: snap.edge).link
            sum += links[own] ?? 0
            visits.append(
                Visit(
                    number: step.point, place: RoutePlace(request.points[step.point].location),
                    snaps: [snap]))
            answer.points[step.point].place = located([snap])
            answer.points[step.point].place.order = step.point
            answer.points[step.point].matching = answer.matchings.count
            answer.points[step.point].number = number
            answer.points[step.point].otherCount = links.count { link, share in
                link != own && share >= TraceModel.likely
            }
        }
        let ways = try search.ways(along: chain, choices, request.points)
        var plain = RouteRequest(request.terms, stops: [])
        plain.directions = request.directions
        plain.wantsShape = request.wantsShape
        answer.matchings.append(
            TraceAnswer.Matching(
                confidence: (sum / Double(chain.steps.count) * 1e6).rounded() / 1e6,
                edges: search.edges(of: ways).map(network.roads.name(of:)),
                route: try described(ways, visits, plain)))
    }
}

/// Searches the shortest ways between the positions of a trace.
struct TraceSearch {
    private let network: RoutableNetwork
    private let costs: RouteCosts
    private let conditions: RoadConditions
    private let metric: RouteMetric

    init(_ router: Router) throws(Failure) {
        network = router.network
        var costs = router.costs
        costs.minimises = .distance
        self.costs = costs
        // What makes roads slower does not make them longer.
        conditions = router.conditions.closures
        metric = try network.metrics.metric(
            costs, conditions,
            isPresent: router.moment.isPresent && router.barriers.isEmpty
                && conditions == router.conditions,
            of: network)
    }

    /// Metres between two positions.
    static func straight(_ first: TracePoint, _ second: TracePoint) -> Double {
        let (from, to) = (first.location, second.location)
        return Sphere.distance(
            LineCut.unit(from.x), LineCut.unit(from.y), LineCut.unit(to.x), LineCut.unit(to.y))
    }

    /// The edges on which a position may have been, the nearest first.
    func candidates(
        of point: TracePoint, _ number: Int
    ) throws(Failure) -> [TraceCandidate] {
        let precision = point.precision ?? TracePoint.usualPrecision
        let heading = point.bearing.map {
            RoadNetwork.HeadingRange(heading: $0, tolerance: point.bearingTolerance ?? 30)
        }
        let snaps = try network.roads.nearestEdges(
            to: point.location, radius: TraceModel.reach * precision,
            count: TraceModel.candidateLimit, heading: heading, mode: costs.mode
        ) { network.cost(ofEdge: $0, costs, conditions) < RouteWeights.infinity }
        let place = RoutePlace(point.location)
        return snaps.map { snap in
            TraceCandidate(
                snap: snap, stop: network.placed(place, [snap], number: number, costs, conditions),
                emission: TraceModel.emission(snap.distance, precision: precision))
        }
    }

    /// The logarithms of the probabilities of the ways between the candidates of two positions.
    func transitions(
        _ starts: [TraceCandidate], _ first: TracePoint, _ ends: [TraceCandidate],
        _ second: TracePoint
    ) throws(Failure) -> [[Double]] {
        let straight = Self.straight(first, second)
        let table = try network.search(in: metric) { searcher throws(Failure) in
            try searcher.table(
                from: starts.map { $0.stop.departures.map(\.end) },
                to: ends.map { $0.stop.arrivals.map(\.end) }, metric)
        }
        let precision = Self.precision(first, second)
        return starts.enumerated().map { row, start in
            ends.enumerated().map { column, end in
                var cost = table[row, column]
                if stands(start, end, precision) {
                    cost = 0
                } else if let way = enclosed(start, end) {
                    cost = min(cost ?? way.cost, way.cost)
                }
                let metres = cost.map { Double($0) / network.unitsPerMetre }
                return metres.flatMap { TraceModel.transition($0, straight: straight) }
                    ?? -.infinity
            }
        }
    }

    /// Whether a candidate lies behind the one before because positions scatter.
    private func stands(
        _ start: TraceCandidate, _ end: TraceCandidate, _ precision: Double
    ) -> Bool {
        guard start.snap.edge == end.snap.edge, end.snap.offset < start.snap.offset else {
            return false
        }
        return Double(start.snap.offset - end.snap.offset) / 1000
            <= TraceModel.standing * precision
    }

    private func enclosed(_ start: TraceCandidate, _ end: TraceCandidate) -> RouteWay? {
        let access = { (candidate: TraceCandidate) in
            network.access(of: candidate.snap.edge, mode: costs.mode, conditions)
        }
        guard access(start) != .open, access(end) != .open,
            let found = network.enclosedWay(from: start.snap, to: end.snap, costs, conditions)
        else { return nil }
        return RouteWay(parts: found.way, cost: found.cost)
    }

    private func fraction(_ candidate: TraceCandidate) -> Double {
        let length = Double(network.roads.length(of: candidate.snap.edge))
        return length > 0 ? Double(candidate.snap.offset) / length : 0
    }

    /// The ways between the chosen candidates of a chain.
    func ways(
        along chain: TraceChain, _ choices: [Int], _ points: [TracePoint]
    ) throws(Failure) -> [RouteWay] {
        let chosen = zip(chain.steps, choices).map { $0.candidates[$1] }
        var ways: [RouteWay] = []
        // How far the vehicle has been on the edge of the last candidate.
        var reached = fraction(chosen[0])
        for number in 1..<chosen.count {
            let (start, end) = (chosen[number - 1], chosen[number])
            let precision = Self.precision(
                points[chain.steps[number - 1].point], points[chain.steps[number].point])
            let isBehind = start.snap.edge == end.snap.edge && fraction(end) < reached
            if isBehind, end.snap.offset >= start.snap.offset || stands(start, end, precision) {
                let here = TravelledPart(
                    arc: UInt32(end.snap.edge), from: reached, to: reached)
                ways.append(RouteWay(parts: [here], cost: 0))
                continue
            }
            var way = try way(from: start, to: end)
            way.parts[0].from = max(way.parts[0].from, reached)
            reached = fraction(end)
            ways.append(way)
        }
        return ways
    }

    private func way(
        from start: TraceCandidate, to end: TraceCandidate
    ) throws(Failure) -> RouteWay {
        let path = try network.search(in: metric) { searcher throws(Failure) in
            try searcher.route(
                from: start.stop.departures.map(\.end), to: end.stop.arrivals.map(\.end), metric)
        }
        let open = path.map {
            RouteWay($0, start.stop.departures[$0.start].way, end.stop.arrivals[$0.end].way)
        }
        let ways = [enclosed(start, end), open].compactMap { $0 }
        guard let best = ways.min(by: { $0.cost < $1.cost }) else {
            throw Failure(.internal, "a way between two positions is not found again")
        }
        return best
    }

    /// The edges of ways that follow each other, each once for each passage.
    func edges(of ways: [RouteWay]) -> [Int] {
        var edges: [Int] = []
        var end = (edge: -1, fraction: 0.0)
        for way in ways {
            for part in way.parts {
                let edge = Int(network.arcEdges[Int(part.arc)])
                let goesOn = edge == end.edge && part.from >= end.fraction
                if !goesOn, part.to > part.from {
                    edges.append(edge)
                }
                if goesOn || part.to > part.from { end = (edge, part.to) }
            }
        }
        return edges
    }

    private static func precision(_ first: TracePoint, _ second: TracePoint) -> Double {
        max(
            first.precision ?? TracePoint.usualPrecision,
            second.precision ?? TracePoint.usualPrecision)
    }
}
