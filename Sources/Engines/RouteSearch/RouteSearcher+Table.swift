// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform

/// Costs from many origins to many destinations.
public struct RouteTable: Hashable, Sendable {
    /// Row by row, a row for each origin; ``RouteWeights/infinity`` where there is no route.
    public let costs: [UInt32]
    /// Number of destinations.
    public let columnCount: Int

    /// The cost from an origin to a destination; nil where there is no route.
    public subscript(origin: Int, destination: Int) -> UInt32? {
        let cost = costs[origin * columnCount + destination]
        return cost < RouteWeights.infinity ? cost : nil
    }
}

extension RouteSearcher {
    /// The most cells of a table.
    public static let largestTable = 1 << 24

    /// The cost of the cheapest route for every pair; each place is the ends of one stop.
    ///
    /// The search upwards of each origin, then one pass downwards over the ranks above the
    /// destinations alone, for eight origins at once (restricted PHAST: Delling, Goldberg,
    /// Werneck: Faster Batched Shortest Paths in Road Networks, ATMOS 2011). Throws
    /// `invalidParameter` as ``route(from:to:_:)`` does, `tooLarge` above ``largestTable`` cells.
    public mutating func table(
        from origins: [[RouteEnd]], to destinations: [[RouteEnd]], _ metric: RouteMetric
    ) throws(Failure) -> RouteTable {
        try check(metric)
        for ends in origins { try metric.check(ends) }
        for ends in destinations { try metric.check(ends) }
        let (size, isTooLarge) = origins.count.multipliedReportingOverflow(by: destinations.count)
        guard !isTooLarge, size <= Self.largestTable else {
            throw Failure(
                .tooLarge,
                "route table: \(origins.count) origins and \(destinations.count) destinations; at "
                    + "most \(Self.largestTable) pairs")
        }
        let last = destinations.map { Self.seeds(to: $0, metric) }
        collect(Array(last.joined()))
        let sweep = TableSweep(chain, metric)
        var costs = [UInt32](repeating: RouteWeights.infinity, count: size)
        for group in stride(from: 0, to: origins.count, by: TableSweep.width) {
            let group = group..<min(group + TableSweep.width, origins.count)
            var rows = sweep.rows
            for (lane, origin) in group.enumerated() {
                climb(Self.seeds(from: origins[origin], metric), metric)
                for rank in chain {
                    let place = sweep.places[Int(rank)]
                    if place != RouteTopology.none { rows[Int(place)][lane] = forward[Int(rank)] }
                }
                reset()
            }
            sweep.run(&rows)
            for (number, seeds) in last.enumerated() {
                for seed in seeds {
                    let row = rows[Int(sweep.places[seed.rank])]
                    for (lane, origin) in group.enumerated() {
                        let cell = origin * destinations.count + number
                        costs[cell] = min(costs[cell], row[lane] &+ seed.cost)
                    }
                }
            }
        }
        var endsByEdge: [UInt32: [(column: Int, end: RouteEnd)]] = [:]
        for (column, ends) in destinations.enumerated() {
            for end in ends { endsByEdge[end.edge, default: []].append((column, end)) }
        }
        for (row, starts) in origins.enumerated() {
            for start in starts {
                for (column, end) in endsByEdge[start.edge] ?? [] {
                    guard let cost = metric.direct(start, end) else { continue }
                    let cell = row * destinations.count + column
                    costs[cell] = min(costs[cell], cost)
                }
            }
        }
        return RouteTable(costs: costs, columnCount: destinations.count)
    }

    /// The closest destinations, the nearest first; of equal ones the first in the list.
    ///
    /// - Parameter bound: The highest cost.
    public mutating func closest(
        _ count: Int, of destinations: [[RouteEnd]], from origin: [RouteEnd],
        within bound: UInt32 = RouteWeights.infinity, _ metric: RouteMetric
    ) throws(Failure) -> [(destination: Int, cost: UInt32)] {
        let table = try table(from: [origin], to: destinations, metric)
        return Self.closest(count, table.costs, within: bound)
    }

    /// The origins from which a destination is closest, the nearest first; of equal ones the first
    /// in the list.
    public mutating func closest(
        _ count: Int, of origins: [[RouteEnd]], to destination: [RouteEnd],
        within bound: UInt32 = RouteWeights.infinity, _ metric: RouteMetric
    ) throws(Failure) -> [(origin: Int, cost: UInt32)] {
        let table = try table(from: origins, to: [destination], metric)
        return Self.closest(count, table.costs, within: bound).map { ($0, $1) }
    }

    private static func closest(
        _ count: Int, _ costs: [UInt32], within bound: UInt32
    ) -> [(destination: Int, cost: UInt32)] {
        costs.enumerated()
            .filter { $0.element <= bound && $0.element < RouteWeights.infinity }
            .sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
            .prefix(max(0, count)).map { ($0.offset, $0.element) }
    }

    /// Searches from the seeds to all ranks above them; into ``forward``, for ``chain``.
    mutating func climb(_ seeds: [Seed], _ metric: RouteMetric) {
        collect(seeds)
        enter(seeds, .forward)
        for rank in chain {
            let cost = forward[Int(rank)]
            guard cost < RouteWeights.infinity else { continue }
            for arc in topology.arcs(up: Int(rank)) {
                let head = Int(topology.heads[arc])
                forward[head] = min(forward[head], cost &+ metric.up[arc])
            }
        }
    }
}

/// The ranks above some destinations, highest first, and the arcs down between them.
private struct TableSweep {
    static let width = 8
    typealias Row = SIMD8<UInt32>

    /// Of each rank of the topology.
    var places: [UInt32]
    /// Start of each place's arcs, then the end.
    private var starts: [UInt32] = [0]
    private var heads: [UInt32] = []
    private var costs: [UInt32] = []

    /// - Parameter chain: Each rank before those above it.
    init(_ chain: [UInt32], _ metric: RouteMetric) {
        let topology = metric.topology
        places = [UInt32](repeating: RouteTopology.none, count: topology.edgeCount)
        starts.reserveCapacity(chain.count + 1)
        for (place, rank) in chain.reversed().enumerated() {
            places[Int(rank)] = UInt32(place)
            for arc in topology.arcs(up: Int(rank)) where metric.down[arc] < RouteWeights.infinity {
                heads.append(places[Int(topology.heads[arc])])
                costs.append(metric.down[arc])
            }
            starts.append(UInt32(heads.count))
        }
    }

    /// Of each place, without a cost.
    var rows: [Row] { [Row](repeating: Row(repeating: RouteWeights.infinity), count: starts.count) }

    /// Brings the costs of the highest ranks down to all.
    func run(_ rows: inout [Row]) {
        for place in 0..<starts.count - 1 {
            var row = rows[place]
            for arc in Int(starts[place])..<Int(starts[place + 1]) {
                let by = rows[Int(heads[arc])] &+ Row(repeating: costs[arc])
                row.replace(with: by, where: by .< row)
            }
            rows[place] = row
        }
    }
}
