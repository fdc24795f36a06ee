// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import GEOS
internal import Geometry
internal import Platform
internal import RoadNetwork
internal import RouteSearch

extension Router {
    /// Most reached edges of one area.
    private static let reachLimit = 500_000

    /// What is reached from each facility, or reaches it, within each break.
    ///
    /// A break's area is all that lies within ``ReachRequest/trim`` of the roads reached within it,
    /// so that the area of a higher break contains it. Throws `Failure`: `invalidParameter`,
    /// `tooLarge`.
    public func reach(
        _ request: ReachRequest, isCancelled: () -> Bool = { false }
    ) throws(Failure) -> ReachAnswer {
        try check(request)
        var answer = ReachAnswer(context: context, facilities: [])
        for (number, place) in request.facilities.enumerated() {
            if isCancelled() { throw Failure(.cancelled, "the search was cancelled") }
            let snaps = try network.candidates(place, costs, conditions)
            answer.facilities.append(
                try located(place, number, "Facilities", snaps, &answer.context))
            guard let snaps else { continue }
            let stop = network.placed(place, snaps, number: number, costs, conditions)
            let reached = try reached(stop, request)
            if request.wantsLines == true {
                answer.lines += lines(reached, request.breaks, facility: number)
            }
            if request.wantsAreas != false {
                do throws(GEOSError) {
                    answer.areas += try areas(
                        reached, request, around: place.location, facility: number, isCancelled)
                } catch {
                    throw Self.failure(error)
                }
            }
        }
        return answer
    }

    private func check(_ request: ReachRequest) throws(Failure) {
        guard 1...ReachRequest.largestFacilityCount ~= request.facilities.count else {
            throw Failure(
                request.facilities.isEmpty ? .invalidParameter : .tooLarge,
                "\(request.facilities.count) facilities: expected 1 to "
                    + "\(ReachRequest.largestFacilityCount)")
        }
        let breaks = request.breaks
        guard 1...ReachRequest.largestBreakCount ~= breaks.count,
            breaks.allSatisfy({ $0 > 0 && $0 <= 1e7 }),
            zip(breaks, breaks.dropFirst()).allSatisfy(<)
        else {
            throw Failure(
                .invalidParameter,
                "breaks \(breaks.prefix(30)): expected 1 to \(ReachRequest.largestBreakCount) "
                    + "ascending costs above 0")
        }
        guard 1...10_000 ~= request.trim ?? ReachRequest.usualTrim else {
            throw Failure(
                .invalidParameter, "a trim of \(request.trim ?? 0) m: expected 1 to 10000")
        }
    }

    /// A reached part of an edge with the cost at each of its ends.
    private struct Reached {
        var edge: Int
        var from: Double
        var to: Double
        var costAtFrom: Double
        var costAtTo: Double

        /// The part that is reached at no more than a cost; nil for none.
        func part(within cost: Double) -> (from: Double, to: Double)? {
            let (low, high) = (min(costAtFrom, costAtTo), max(costAtFrom, costAtTo))
            guard low <= cost else { return nil }
            guard high > cost else { return (from, to) }
            let share = (cost - low) / (high - low)
            return costAtFrom <= costAtTo
                ? (from, from + share * (to - from)) : (to - share * (to - from), to)
        }
    }

    private func reached(
        _ stop: PlacedStop, _ request: ReachRequest
    ) throws(Failure) -> [Reached] {
        let units = network.units(costs.minimises)
        let most = (request.breaks.last ?? 0) * units
        let bound = UInt32(min(most.rounded(), Double(RouteWeights.infinity - 1)))
        let isTowards = request.isTowards == true
        let parts = try network.search(in: metric) { searcher throws(Failure) in
            isTowards
                ? try searcher.reach(to: stop.arrivals.map(\.end), within: bound, metric)
                : try searcher.reach(from: stop.departures.map(\.end), within: bound, metric)
        }
        guard parts.count <= Self.reachLimit else {
            throw Failure(
                .tooLarge,
                "\(parts.count) roads are reached: expected at most \(Self.reachLimit)")
        }
        var reached = parts.map { part in
            Reached(
                edge: Int(network.arcEdges[Int(part.edge)]), from: part.from, to: part.to,
                costAtFrom: Double(part.costAtFrom) / units,
                costAtTo: Double(part.costAtTo) / units)
        }
        // The roads that are open to ends only, between the facility and the others.
        for portal in isTowards ? stop.arrivals : stop.departures {
            var cost = 0.0
            for part in isTowards ? portal.way.reversed() : portal.way {
                let edge = Int(network.arcEdges[Int(part.arc)])
                let whole = Double(network.cost(ofEdge: edge, costs, conditions)) / units
                let next = cost + whole * (part.to - part.from)
                reached.append(
                    Reached(
                        edge: edge, from: part.from, to: part.to,
                        costAtFrom: isTowards ? next : cost, costAtTo: isTowards ? cost : next))
                cost = next
            }
        }
        return reached
    }

    /// The lines of what is reached above a cost and up to another, roads that are reached whole in
    /// both directions once.
    ///
    /// A road that the lower cost reaches in part is among them as a whole.
    private func shapes(
        _ reached: [Reached], above lower: Double, to upper: Double
    ) -> [[Coordinate]] {
        var whole: Set<Int> = []
        return reached.compactMap { reached in
            guard lower == 0 || max(reached.costAtFrom, reached.costAtTo) > lower,
                let part = reached.part(within: upper), part.to > part.from
            else { return nil }
            let shape = network.roads.shape(of: reached.edge)
            guard part.from <= 0, part.to >= 1 else {
                return LineCut(shape).part(part.from, part.to)
            }
            return whole.insert(network.roads.link(of: reached.edge).link).inserted ? shape : nil
        }
    }

    private func lines(
        _ reached: [Reached], _ breaks: [Double], facility: Int
    ) -> [ReachAnswer.Part] {
        zip([0] + breaks, breaks).compactMap { lower, upper in
            let paths = reached.compactMap { part -> [Coordinate]? in
                guard var piece = part.part(within: upper) else { return nil }
                if let inner = part.part(within: lower), lower > 0 {
                    if part.costAtFrom <= part.costAtTo {
                        piece.from = inner.to
                    } else {
                        piece.to = inner.from
                    }
                }
                guard piece.to > piece.from else { return nil }
                return LineCut(network.roads.shape(of: part.edge)).part(piece.from, piece.to)
            }
            guard !paths.isEmpty else { return nil }
            return ReachAnswer.Part(
                facility: facility, from: lower, to: upper, shape: .polyline(paths: paths))
        }
    }

    /// The areas of a facility, the largest break first.
    private func areas(
        _ reached: [Reached], _ request: ReachRequest, around centre: Coordinate, facility: Int,
        _ isCancelled: () -> Bool
    ) throws(GEOSError) -> [ReachAnswer.Part] {
        let plane = LocalPlane(centre)
        var areas: [ReachAnswer.Part] = []
        var inner: GEOSGeometry?
        var lower = 0.0
        for upper in request.breaks {
            // What the lower break reaches whole is in its area already.
            let lines = shapes(reached, above: lower, to: upper)
            let added = try GEOSGeometry(
                within: request.trim ?? ReachRequest.usualTrim, of: lines.map(plane.metres),
                quarterSides: 4, isCancelled: isCancelled)
            let rings: [[Double]]
            if let known = inner.take() {
                let area = try added.joined(with: known)
                rings = try request.areRings == false ? area.chains() : area.minus(known).chains()
                inner = consume area
            } else {
                rings = try added.chains()
                inner = consume added
            }
            if !rings.isEmpty {
                areas.append(
                    ReachAnswer.Part(
                        facility: facility, from: request.areRings == false ? 0 : lower, to: upper,
                        shape: .polygon(rings: rings.map(plane.degrees))))
            }
            lower = upper
        }
        return areas.reversed()
    }

    private static func failure(_ error: GEOSError) -> Failure {
        switch error.cause {
        case .cancelled: Failure(.cancelled, "the search was cancelled")
        case .memory: Failure(.tooLarge, "the areas take more than 1 GiB: expected lower breaks")
        case .refused, .interrupted:
            Failure(.internal, "\(error.operation), on roads that are reached: \(error.message)")
        }
    }
}

/// The plane of equal degrees, scaled to metres at one latitude.
private struct LocalPlane {
    private let centre: Coordinate
    private let east: Double
    private let north = Sphere.metersPerDegree

    init(_ centre: Coordinate) {
        self.centre = centre
        east = Sphere.metersPerDegreeEast(latitude: centre.y)
    }

    func metres(_ line: [Coordinate]) -> [Double] {
        line.flatMap { [($0.x - centre.x) * east, ($0.y - centre.y) * north] }
    }

    func degrees(_ ring: [Double]) -> [Coordinate] {
        stride(from: 0, to: ring.count - 1, by: 2).map { place in
            Coordinate(
                x: centre.x + ring[place] / east, y: centre.y + ring[place + 1] / north)
        }
    }
}
