// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// A stop of a route over several.
public struct RouteStop: Hashable, Sendable {
    /// Where it can be reached and left.
    public var ends: [RouteEnd]
    /// Whether the route may be taken up again from another end at the same ``RouteEnd/place``,
    /// which is to turn back; else it goes on from the end where it arrived.
    public var allowsTurning: Bool

    /// A stop.
    public init(_ ends: [RouteEnd], allowsTurning: Bool = true) {
        self.ends = ends
        self.allowsTurning = allowsTurning
    }
}

/// A route over several stops.
public struct RouteTour: Hashable, Sendable {
    /// From each stop to the next.
    ///
    /// The cost of an end is paid by the leg that arrives there, at the
    /// first stop by the one that leaves.
    public var legs: [RoutePath]
    /// The sum of the legs' costs.
    public var cost: UInt64
}

/// Why a route over several stops does not exist.
public struct UnreachedStop: Error, Hashable {
    /// The first stop that cannot be reached from the one before, by any route to that one.
    public var stop: Int

    /// States it.
    public init(stop: Int) { self.stop = stop }
}

extension RouteSearcher {
    /// The most stops of a route, and the most ends of one.
    public static let mostStops = 10_000

    /// The cheapest route over stops in their order.
    ///
    /// A dynamic programme over the ends at which each stop is reached: where a route may not turn
    /// back at a stop, the cheapest legs need not make the cheapest whole. One search for each end
    /// of an inner stop. Throws `invalidParameter` as ``route(from:to:_:)`` does, and for fewer
    /// than two stops; `tooLarge` above ``mostStops``.
    public mutating func route(
        over stops: [RouteStop], _ metric: RouteMetric
    ) throws(Failure) -> Result<RouteTour, UnreachedStop> {
        guard stops.count >= 2 else {
            throw Failure(.invalidParameter, "route: \(stops.count) stops; expected at least 2")
        }
        guard stops.count <= Self.mostStops,
            stops.allSatisfy({ $0.ends.count <= Self.mostStops })
        else {
            throw Failure(
                .tooLarge,
                "route: \(stops.count) stops; at most \(Self.mostStops), each of as many ends")
        }
        // How each end of each stop was reached, the first stop's at no cost.
        var arrivals: [[Arrival?]] = [
            stops[0].ends.map { _ in Arrival(cost: 0, departure: 0, before: 0, path: nil) }
        ]
        for number in 1..<stops.count {
            let departures = Self.departures(
                from: stops[number - 1], arrivals[number - 1], isFirst: number == 1)
            var reached = [Arrival?](repeating: nil, count: stops[number].ends.count)
            let base = departures.map(\.cost).min() ?? 0
            let starts = departures.map { departure in
                var end = stops[number - 1].ends[departure.end]
                end.cost = UInt32(clamping: departure.cost - base)
                end.cost = min(end.cost, RouteWeights.infinity)
                return end
            }
            for (place, end) in stops[number].ends.enumerated() {
                guard var path = try route(from: starts, to: [end], metric) else { continue }
                let departure = departures[path.start]
                let total = base + UInt64(path.cost)
                // The first stop's own cost belongs to its leg.
                let paid = number == 1 ? 0 : departure.cost
                path.cost = UInt32(clamping: total - paid)
                path.start = departure.end
                path.end = place
                reached[place] = Arrival(
                    cost: total, departure: departure.end, before: departure.arrival, path: path)
            }
            guard reached.contains(where: { $0 != nil }) else {
                return .failure(UnreachedStop(stop: number))
            }
            arrivals.append(reached)
        }
        return .success(Self.tour(arrivals))
    }

    private struct Arrival {
        var cost: UInt64
        /// The end of the stop before from which the leg leaves.
        var departure: Int
        /// The end of the stop before where the route had arrived.
        var before: Int
        var path: RoutePath?
    }

    /// The ends from which a stop can be left, with the cheapest arrival that allows it.
    private static func departures(
        from stop: RouteStop, _ arrivals: [Arrival?], isFirst: Bool
    ) -> [(end: Int, arrival: Int, cost: UInt64)] {
        stop.ends.indices.compactMap { end in
            if isFirst { return (end, end, UInt64(stop.ends[end].cost)) }
            var best: (end: Int, arrival: Int, cost: UInt64)?
            for (arrival, reached) in arrivals.enumerated() {
                let isThere =
                    arrival == end
                    || stop.allowsTurning && stop.ends[arrival].place == stop.ends[end].place
                guard isThere, let reached, reached.cost < best?.cost ?? .max else { continue }
                best = (end, arrival, reached.cost)
            }
            return best
        }
    }

    private static func tour(_ arrivals: [[Arrival?]]) -> RouteTour {
        var legs: [RoutePath] = []
        let last = arrivals[arrivals.count - 1]
        var end = 0
        for place in last.indices where (last[place]?.cost ?? .max) < (last[end]?.cost ?? .max) {
            end = place
        }
        let cost = last[end]?.cost ?? 0
        for reached in arrivals.dropFirst().reversed() {
            guard let arrival = reached[end], let path = arrival.path else { break }
            legs.append(path)
            end = arrival.before
        }
        return RouteTour(legs: legs.reversed(), cost: cost)
    }
}
