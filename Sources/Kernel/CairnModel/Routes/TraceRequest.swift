// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A request for the roads on which recorded positions were travelled.
public struct TraceRequest: Hashable, Sendable, Codable {
    /// Network, travel mode, barriers, moment.
    public var terms: RouteTerms
    /// Two or more, up to ``largestPointCount``, in the order of travel.
    public var points: [TracePoint]
    /// Whether long pauses are bridged, nil for ending a matching at them.
    public var bridgesPauses: Bool?
    /// Whether positions that are hardly apart from the one before are left out; nil for none.
    public var tidies: Bool?
    /// Instructions; nil for none.
    public var directions: RouteRequest.Directions?
    /// Whether the matchings have shapes; nil for true.
    public var wantsShape: Bool?

    /// The most positions of one request.
    public static let largestPointCount = 5_000

    /// A request for the roads of positions.
    public init(_ terms: RouteTerms, points: [TracePoint]) {
        self.terms = terms
        self.points = points
    }
}

/// A recorded position.
public struct TracePoint: Hashable, Sendable, Codable {
    /// WGS 84 longitude and latitude.
    public var location: Coordinate
    /// When it was recorded; not before the one in front of it.
    public var time: Timestamp?
    /// Standard deviation of its position in metres, above 0, up to ``largestPrecision``; nil for
    /// ``usualPrecision``.
    public var precision: Double?
    /// Compass bearing of the travel there; nil for any.
    public var bearing: Double?
    /// Degrees to either side of ``bearing``; nil for 30.
    public var bearingTolerance: Double?

    /// Metres.
    public static let usualPrecision = 5.0
    /// Metres.
    public static let largestPrecision = 100.0

    /// Makes a position.
    public init(_ location: Coordinate, time: Timestamp? = nil) {
        self.location = location
        self.time = time
    }
}

/// The roads of recorded positions.
public struct TraceAnswer: Hashable, Sendable, Codable {
    /// What it was computed from.
    public var context: RouteContext
    /// The positions in the order of the request.
    public var points: [Point]
    /// The parts of the trace that join; empty where nothing was matched.
    public var matchings: [Matching]

    /// A recorded position on the roads.
    public struct Point: Hashable, Sendable, Codable {
        /// Where it was; not located for a position that no matching has.
        public var place: LocatedPlace
        /// Its matching; nil for none.
        public var matching: Int?
        /// Its place in the matching, from 0; nil for none.
        public var number: Int?
        /// Number of other roads on which it may well have been.
        public var otherCount: Int

        /// A position without a road.
        public init() {
            place = LocatedPlace(status: .notLocated)
            otherCount = 0
        }
    }

    /// A part of the trace, with a leg between every two of its positions.
    public struct Matching: Hashable, Sendable, Codable {
        /// The mean, over its positions, of the probability that each was on its road: 0…1.
        public var confidence: Double
        /// The edges in the order of travel.
        public var edges: [RoadEdge]
        /// Length, duration, legs and shape.
        public var route: FoundRoute

        /// States it.
        public init(confidence: Double, edges: [RoadEdge], route: FoundRoute) {
            self.confidence = confidence
            self.edges = edges
            self.route = route
        }
    }

    /// An answer without matchings.
    public init(context: RouteContext, points: [Point]) {
        self.context = context
        self.points = points
        matchings = []
    }
}
