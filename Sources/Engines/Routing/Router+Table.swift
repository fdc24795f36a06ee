// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import RoadNetwork
internal import RouteSearch

extension Router {
    /// The costs between places.
    ///
    /// Where one cost is wanted it is the sum of the edges' whole milliseconds or millimetres;
    /// where both are, those of the routes, as ``route(_:)`` gives them. Throws `Failure`:
    /// `tooLarge` for too many cells, `invalidParameter`.
    public func table(
        _ request: RouteTableRequest, isCancelled: () -> Bool = { false }
    ) throws(Failure) -> RouteTableAnswer {
        let (rows, columns) = (request.origins.count, request.destinations.count)
        let limit =
            request.wantsBoth == true
            ? RouteTableRequest.largestPathCount : RouteTableRequest.largestCellCount
        guard rows > 0, columns > 0 else {
            throw Failure(
                .invalidParameter,
                "a table of \(rows) origins and \(columns) destinations: expected one of each")
        }
        let (count, isTooLarge) = rows.multipliedReportingOverflow(by: columns)
        guard !isTooLarge, count <= limit else {
            throw Failure(
                .tooLarge,
                "a table of \(rows) origins and \(columns) destinations: expected at most "
                    + "\(limit) cells")
        }
        var answer = RouteTableAnswer(context: context, origins: [], destinations: [])
        var shelf: [RoutePlace: PlacedStop] = [:]
        let origins = try placed(
            request.origins, &answer.origins, &answer.context, "Origins", &shelf)
        let destinations = try placed(
            request.destinations, &answer.destinations, &answer.context, "Destinations", &shelf)
        let table = try network.search(in: metric) { searcher throws(Failure) in
            try searcher.table(
                from: origins.map { $0?.departures.map(\.end) ?? [] },
                to: destinations.map { $0?.arrivals.map(\.end) ?? [] }, metric)
        }
        let units = network.units(costs.minimises)
        var values = table.costs.map { cost in
            cost < RouteWeights.infinity ? Double(cost) / units : nil
        }
        try addEnclosed(origins, destinations, &values)
        keepClosest(request, columns, &values)
        guard request.wantsBoth == true else {
            if costs.minimises == .time {
                answer.durations = values
            } else {
                answer.lengths = values
            }
            return answer
        }
        var (durations, lengths) = (values, values)
        for row in 0..<rows {
            if isCancelled() { throw Failure(.cancelled, "the table was cancelled") }
            for column in 0..<columns where values[row * columns + column] != nil {
                guard let from = origins[row], let to = destinations[column] else { continue }
                let way = try network.search(in: metric) { searcher throws(Failure) in
                    try searcher.route(
                        from: from.departures.map(\.end), to: to.arrivals.map(\.end), metric)
                }
                var whole = way.map {
                    RouteWay($0, from.departures[$0.start].way, to.arrivals[$0.end].way)
                }
                if let direct = enclosedWay(from: from, to: to, conditions),
                    direct.cost < whole?.cost ?? RouteWeights.infinity
                {
                    whole = direct
                }
                guard let whole else { continue }
                let parts = measured(whole)
                durations[row * columns + column] = Self.rounded(parts.map(\.duration))
                lengths[row * columns + column] = Self.rounded(parts.map(\.length))
            }
        }
        answer.durations = durations
        answer.lengths = lengths
        return answer
    }

    /// Lowers costs between places on the same enclosed roads.
    private func addEnclosed(
        _ origins: [PlacedStop?], _ destinations: [PlacedStop?], _ values: inout [Double?]
    ) throws(Failure) {
        let columns = destinations.count
        for (row, from) in origins.enumerated() {
            guard let from, from.isEnclosed else { continue }
            for (column, to) in destinations.enumerated() {
                guard let to, to.isEnclosed,
                    let direct = enclosedWay(from: from, to: to, conditions)
                else {
                    continue
                }
                let cell = row * columns + column
                values[cell] = min(values[cell] ?? .infinity, value(direct.cost))
            }
        }
    }

    private static func rounded(_ parts: [Double]) -> Double {
        (parts.reduce(0, +) * 1000).rounded() / 1000
    }

    /// The stops of places, nil for those without a road near by; a place that occurs again is on
    /// the shelf.
    private func placed(
        _ places: [RoutePlace], _ located: inout [LocatedPlace], _ context: inout RouteContext,
        _ list: String, _ shelf: inout [RoutePlace: PlacedStop]
    ) throws(Failure) -> [PlacedStop?] {
        var stops: [PlacedStop?] = []
        for (number, place) in places.enumerated() {
            let known = shelf[place]
            var snaps = known?.snaps
            if snaps == nil { snaps = try network.candidates(place, costs, conditions) }
            located.append(try self.located(place, number, list, snaps, &context))
            guard let snaps else {
                stops.append(nil)
                continue
            }
            let stop =
                known ?? network.placed(place, snaps, number: number, costs, conditions)
            shelf[place] = stop
            stops.append(stop)
        }
        return stops
    }

    /// Removes the costs beyond the cutoff, and all but the lowest of each row.
    private func keepClosest(
        _ request: RouteTableRequest, _ columns: Int, _ values: inout [Double?]
    ) {
        if let cutoff = request.cutoff {
            for cell in values.indices where values[cell].map({ $0 > cutoff }) ?? false {
                values[cell] = nil
            }
        }
        guard let closest = request.closest, closest < columns else { return }
        for row in request.origins.indices {
            let cells = row * columns..<(row + 1) * columns
            let best = cells.filter { values[$0] != nil }.sorted {
                (values[$0] ?? 0, $0) < (values[$1] ?? 0, $1)
            }
            for cell in best.dropFirst(max(0, closest)) { values[cell] = nil }
        }
    }
}
