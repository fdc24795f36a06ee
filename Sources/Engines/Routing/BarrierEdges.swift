// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import RoadNetwork
internal import RouteSearch

extension RoutableNetwork {
    /// Metres within which a barrier's point blocks a road.
    public static let barrierRadius = 100.0

    /// The edges that a shape is about, ascending: the roads nearest to a point, both directions;
    /// the roads that a line crosses or an area touches.
    ///
    /// Of the roads near a point one that `mode`, an index of the network's modes, may use is
    /// taken before those that it may not use; of any mode for nil.
    ///
    /// Throws `Failure`: `invalidParameter` for a point outside the world, `tooLarge` for a shape
    /// of more than ``RoadNetwork/RoadNetwork/shapeLimit`` positions.
    public func edges(touching shape: Shape, mode: Int? = nil) throws(Failure) -> [Int] {
        switch shape {
        case .point(let position): return try edges(nearest: [position], mode)
        case .multipoint(let positions): return try edges(nearest: positions, mode)
        default: return try roads.edges(touching: shape)
        }
    }

    private func edges(
        nearest positions: [Coordinate], _ mode: Int?
    ) throws(Failure) -> [Int] {
        guard positions.count <= RoadNetwork.shapeLimit else {
            throw Failure(
                .tooLarge,
                "\(positions.count) points: expected at most \(RoadNetwork.shapeLimit)")
        }
        var found: Set<Int> = []
        for position in positions {
            var nearest: [Int] = []
            if let mode { nearest = try edges(nearest: position, [mode]) }
            if nearest.isEmpty {
                nearest = try edges(nearest: position, Array(roads.modes.indices))
            }
            found.formUnion(nearest)
        }
        return found.sorted()
    }

    /// A barrier of a request on the roads; throws `invalidParameter` with its number.
    func placed(
        _ barrier: RouteBarrier, _ place: Int, _ costs: RouteCosts
    ) throws(Failure) -> PlacedBarrier {
        if let problem = barrier.effect.problem {
            throw Failure(.invalidParameter, "barrier \(place + 1): \(problem)")
        }
        guard barrier.effect != .bannedTurn else {
            throw Failure(
                .invalidParameter,
                "barrier \(place + 1) bans turns: expected a closure, a factor or a delay")
        }
        do throws(Failure) {
            var placed = PlacedBarrier(
                barrier: barrier, edges: try edges(touching: barrier.shape, mode: costs.mode))
            let isPartial = barrier.isPartial == true && barrier.effect == .closed
            let positions: [Coordinate]
            switch barrier.shape {
            case .point(let position): positions = [position]
            case .multipoint(let all): positions = all
            default:
                if isPartial { placed.parts = parts(in: barrier.shape, of: placed.edges) }
                return placed
            }
            guard isPartial || barrier.side != nil else { return placed }
            let parts = try parts(at: positions, of: Set(placed.edges), side: barrier.side)
            placed.edges = Set(parts.map(\.edge)).sorted()
            if isPartial { placed.parts = parts }
            return placed
        } catch {
            throw Failure(error.code, "barrier \(place + 1): \(error.message)")
        }
    }

    /// Where the positions of a barrier stand on the edges that it is about, in the directions of
    /// travel that have them on a side.
    private func parts(
        at positions: [Coordinate], of edges: Set<Int>, side: LocatedPlace.Side?
    ) throws(Failure) -> [PlacedBarrier.Part] {
        var parts: Set<PlacedBarrier.Part> = []
        for position in positions {
            let snaps = try roads.nearestEdges(
                to: position, radius: Self.barrierRadius, count: 2, within: Self.equalDistance,
                accepts: edges.contains)
            for snap in snaps {
                switch (side, snap.side) {
                case (.right, .left), (.left, .right): continue
                default: break
                }
                let length = Double(roads.length(of: snap.edge))
                let place = length > 0 ? Double(snap.offset) / length : 0
                parts.insert(PlacedBarrier.Part(edge: snap.edge, range: place...place))
            }
        }
        return parts.sorted {
            ($0.edge, $0.range.lowerBound) < ($1.edge, $1.range.lowerBound)
        }
    }

    /// The parts of edges that a line or an area covers; empty, for whole edges, where finding them
    /// takes more than ``RoadNetwork/CoveredParts/comparisonLimit`` comparisons.
    private func parts(in shape: Shape, of edges: [Int]) -> [PlacedBarrier.Part] {
        guard let covered = RoadNetwork.CoveredParts(shape, of: roads),
            covered.comparisonCount(edges) <= RoadNetwork.CoveredParts.comparisonLimit
        else { return [] }
        return edges.flatMap { edge in
            covered[edge].map { PlacedBarrier.Part(edge: edge, range: $0) }
        }
    }
}

/// A barrier of a request with the roads it is about.
struct PlacedBarrier: Sendable {
    var barrier: RouteBarrier
    /// Ascending.
    var edges: [Int]
    /// Where it is on them, if it closes them there alone; empty for whole edges.
    var parts: [Part] = []

    /// A part of an edge: shares of its length, from its tail.
    struct Part: Hashable, Sendable {
        var edge: Int
        var range: ClosedRange<Double>
    }
}

extension RoadChange.Effect {
    /// What is wrong with its number, as a part of a sentence; nil for nothing.
    public var problem: String? {
        switch self {
        case .closed, .bannedTurn: nil
        case .speed(let speed):
            0.1...1000 ~= speed ? nil : "a speed of \(speed) km/h: expected 0.1 to 1000"
        case .factor(let factor):
            0.001...1000 ~= factor ? nil : "a factor of \(factor): expected 0.001 to 1000"
        case .delay(let seconds):
            0...86_400 ~= seconds ? nil : "a delay of \(seconds) s: expected 0 to 86400"
        }
    }
}
