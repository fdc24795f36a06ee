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

    /// The edges of a barrier of a request; throws `invalidParameter` with its place.
    func edges(
        of barrier: RouteBarrier, _ place: Int, _ costs: RouteCosts
    ) throws(Failure) -> [Int] {
        if let problem = barrier.effect.problem {
            throw Failure(.invalidParameter, "barrier \(place + 1): \(problem)")
        }
        guard barrier.effect != .bannedTurn else {
            throw Failure(
                .invalidParameter,
                "barrier \(place + 1) bans turns: expected a closure, a factor or a delay")
        }
        do throws(Failure) {
            return try edges(touching: barrier.shape, mode: costs.mode)
        } catch {
            throw Failure(error.code, "barrier \(place + 1): \(error.message)")
        }
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
