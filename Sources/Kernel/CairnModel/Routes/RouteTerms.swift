// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// What routes, tables and reaches have in common: the network, the way of moving, the moment.
public struct RouteTerms: Hashable, Sendable, Codable {
    /// The network's name.
    public var network: String
    /// A published travel mode by its name, or a mode by its name, letter case apart; nil for the
    /// network's first.
    public var travelMode: String?
    /// Where a route may turn back; nil for everywhere.
    public var uTurns: UTurnPolicy?
    /// What stands in the way of this request alone.
    public var barriers: [RouteBarrier]?
    /// Kinds of roads that are not used.
    public var avoiding: [AvoidedRoads]?
    /// When the travel begins: which changes of roads hold; nil for now.
    public var departure: Timestamp?
    /// Whether what the map says of certain times only is regarded; nil for where ``departure`` is
    /// stated.
    public var regardsTimes: Bool?
    /// As of this sequence number; nil for the present.
    public var at: Int64?
    /// Waits until the worker knows the log up to here.
    public var minSequence: Int64?

    /// Terms for a network's first travel mode.
    public init(network: String) { self.network = network }
}

/// Where a route may turn back along the road it came on.
public enum UTurnPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case everywhere
    case atDeadEndsAndIntersections
    case atDeadEnds
    case nowhere
}

/// Kinds of roads that a request leaves out.
public enum AvoidedRoads: String, Hashable, Sendable, Codable, CaseIterable {
    case toll
    case motorway
    case ferry
    case tunnel
    case unpaved
}

/// What stands in the way of one request.
public struct RouteBarrier: Hashable, Sendable, Codable {
    /// Point, line, polygon or rectangle, WGS 84 longitude and latitude; it is about the edge
    /// nearest to a point, those that a line crosses, those that an area touches.
    public var shape: Shape
    /// What becomes of the roads; a banned turn is refused.
    public var effect: RoadChange.Effect
    /// Its name in messages.
    public var name: String?
    /// True for a closure of roads where the shape is alone: a route may begin or end on either
    /// side of it; nil for whole edges.
    public var isPartial: Bool?
    /// On which side of the vehicles it stands that it is about, those of the other direction pass;
    /// of points alone, nil for both directions.
    public var side: LocatedPlace.Side?

    /// Makes a barrier.
    public init(shape: Shape, effect: RoadChange.Effect = .closed, name: String? = nil) {
        self.shape = shape
        self.effect = effect
        self.name = name
    }
}

/// A stop, an origin, a destination or a facility.
public struct RoutePlace: Hashable, Sendable, Codable {
    /// WGS 84 longitude and latitude.
    public var location: Coordinate
    /// Its name in directions.
    public var name: String?
    /// True for a place that is passed without a stop.
    public var isWaypoint: Bool?
    /// On which side of the vehicle it is on arrival; nil for either.
    public var approach: CurbApproach?
    /// Compass bearing of the travel there; nil for any.
    public var bearing: Double?
    /// Degrees to either side of ``bearing``; nil for 30.
    public var bearingTolerance: Double?
    /// Metres within which roads are looked for; nil for ``usualRadius``.
    public var radius: Double?
    /// Seconds that are spent there; they count where a stop of the route has a ``window``.
    public var service: Double?
    /// When the place can be visited; nil for always.
    public var window: VisitWindow?

    /// Metres.
    public static let usualRadius = 20_000.0

    /// Makes a place.
    public init(_ location: Coordinate, name: String? = nil) {
        self.location = location
        self.name = name
    }
}

/// When a place can be visited.
public struct VisitWindow: Hashable, Sendable, Codable {
    /// An arrival before waits until then; nil for no wait.
    public var start: Timestamp?
    /// An arrival after is late; nil for never.
    public var end: Timestamp?

    /// States it.
    public init(start: Timestamp? = nil, end: Timestamp? = nil) {
        self.start = start
        self.end = end
    }
}

/// How a stop is reached and left.
public enum CurbApproach: Int, Hashable, Sendable, Codable, CaseIterable {
    /// From either side, turning back included.
    case either = 0
    /// With the place on the right of the vehicle.
    case right = 1
    /// With the place on the left of the vehicle.
    case left = 2
    /// From either side, without turning back.
    case noUTurn = 3
}
