// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
public import Geometry

/// How a path is travelled.
public enum TravelMeans: String, Hashable, Sendable, CaseIterable {
    case car, bicycle, foot
}

/// The side of a vehicle.
public enum VehicleSide: String, Hashable, Sendable {
    case left, right
}

/// A stop of a route.
public struct RouteStop: Hashable, Sendable {
    /// Its name; with an empty one the text has its number.
    public var name: String
    /// Where the path reaches it: WGS 84 longitude (x) and latitude (y) in degrees.
    public var location: Coordinate
    /// On which side of the arriving vehicle it is; nil where it is on the road.
    public var side: VehicleSide?

    /// Makes a stop.
    public init(name: String, location: Coordinate, side: VehicleSide? = nil) {
        self.name = name
        self.location = location
        self.side = side
    }
}

/// A path from stop to stop.
public struct RoutePath: Hashable, Sendable {
    /// At least two, in the order of travel.
    public var stops: [RouteStop]
    /// The edges between each two stops; empty where they are at one place.
    ///
    /// The first and the last edge of a leg may be parts of edges. Where the path only passes a
    /// position without a stop, both sides are of one leg.
    public var legs: [[TraversedEdge]]
    /// How it is travelled.
    public var means: TravelMeans

    /// Makes a path.
    public init(stops: [RouteStop], legs: [[TraversedEdge]], means: TravelMeans) {
        self.stops = stops
        self.legs = legs
        self.means = means
    }

    /// The largest length and duration of an edge, so that no sum overflows.
    static let costLimit: Int64 = 1 << 42
    static let edgeLimit = 1 << 20

    /// Throws `invalidParameter` for what has no directions: its place and the expectation.
    func check() throws(Failure) {
        guard stops.count >= 2, legs.count == stops.count - 1 else {
            throw Failure(
                .invalidParameter,
                "a path has \(stops.count) stops and \(legs.count) legs: expected two or more "
                    + "stops with a leg between each two")
        }
        for (place, stop) in stops.enumerated() {
            guard Self.isPosition(stop.location) else {
                throw Failure(
                    .invalidParameter, "stop \(place) of a path: its location is no position")
            }
        }
        guard legs.reduce(0, { $0 + $1.count }) <= Self.edgeLimit else {
            throw Failure(.tooLarge, "a path has more than \(Self.edgeLimit) edges")
        }
        for (leg, edges) in legs.enumerated() {
            for (place, edge) in edges.enumerated() {
                if let problem = Self.problem(of: edge) {
                    throw Failure(
                        .invalidParameter, "edge \(place) of leg \(leg) of a path: \(problem)")
                }
            }
        }
    }

    private static func problem(of edge: TraversedEdge) -> String? {
        if edge.shape.isEmpty { return "it has no positions" }
        if !edge.shape.allSatisfy(isPosition) { return "its shape has what is no position" }
        if !(0...costLimit ~= edge.length && 0...costLimit ~= edge.duration) {
            return "length \(edge.length) mm, duration \(edge.duration) ms: expected 0 to "
                + "\(costLimit)"
        }
        if !edge.branches.allSatisfy({ $0.bearing.isFinite }) { return "a branch has no bearing" }
        return nil
    }

    private static func isPosition(_ place: Coordinate) -> Bool {
        -90...90 ~= place.y && -540...540 ~= place.x
    }
}
