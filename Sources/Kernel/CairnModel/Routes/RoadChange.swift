// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A name of an edge that outlives rebuilds of its network: its way, the number of its first
/// segment in the way, and its direction.
public struct RoadEdge: Hashable, Sendable, Codable, Comparable {
    /// The source's id of the way.
    public var way: Int64
    /// The number of the edge's first segment in the way, counted along the way from 0.
    public var segment: UInt32
    /// Whether the edge runs against the way.
    public var isBackward: Bool

    /// Creates a name.
    public init(way: Int64, segment: UInt32, isBackward: Bool) {
        self.way = way
        self.segment = segment
        self.isBackward = isBackward
    }

    /// By way, segment, direction.
    public static func < (left: RoadEdge, right: RoadEdge) -> Bool {
        (left.way, left.segment, left.isBackward ? 1 : 0)
            < (right.way, right.segment, right.isBackward ? 1 : 0)
    }
}

/// What is so on some roads: closed, slower, a turn banned.
public struct RoadChange: Hashable, Sendable, Codable {
    /// The effect.
    public var effect: Effect
    /// The edges that it is about, ascending; of a banned turn the edges of ``turns``.
    public var edges: [RoadEdge]
    /// The turns that a ban is about; absent for other effects.
    public var turns: [Turn]?
    /// The names of the modes that it is about; absent for all.
    public var modes: [String]?
    /// When it begins; absent for at once.
    public var from: Timestamp?
    /// When it ends; absent for never.
    public var until: Timestamp?
    /// The hours of the week at which it holds, `Mo-Fr 07:00-09:00,16:00-18:00`, in the local mean
    /// time of the network's middle; absent for always.
    public var hours: String?
    /// Why, for people.
    public var reason: String?
    /// The shape by which the edges were found, WGS 84 longitude and latitude: what they are found
    /// by again in a network that was built anew; of a banned turn pairs of points, on the edge
    /// that is left and on the one that is entered.
    public var shape: Shape?
    /// The direction of travel that was wanted, for edges that are found again; absent for both.
    public var direction: RoadDirection?
    /// The layer whose features the edges are kept in step with; absent for none.
    public var followed: FollowedLayer?

    /// The most changes that stand on a network.
    public static let largestStandingCount = 100_000
    /// The most edges of one change.
    public static let largestEdgeCount = 10_000
    /// The most turns of one ban.
    public static let largestTurnCount = 2_000

    /// What becomes of the roads.
    public enum Effect: Hashable, Sendable, Codable {
        /// No route passes.
        case closed
        /// Kilometres per hour, above 0.
        case speed(Double)
        /// The time is multiplied by a factor, above 0.
        case factor(Double)
        /// Seconds are added to each passage, from 0.
        case delay(Double)
        /// The turns are forbidden.
        case bannedTurn
    }

    /// A turn from an edge into the next.
    public struct Turn: Hashable, Sendable, Codable {
        /// The edge that is left.
        public var from: RoadEdge
        /// The edge that is entered.
        public var to: RoadEdge

        /// Makes a turn.
        public init(from: RoadEdge, to: RoadEdge) {
            self.from = from
            self.to = to
        }
    }

    /// Makes a change that holds from now on, for all modes.
    public init(_ effect: Effect, edges: [RoadEdge], turns: [Turn]? = nil) {
        self.effect = effect
        self.edges = edges
        self.turns = turns
    }
}

/// A change of roads that stands, with its number.
public struct StandingRoadChange: Hashable, Sendable, Codable {
    /// The global position of its event.
    public var number: Int64
    /// The change.
    public var change: RoadChange
    /// When it was recorded.
    public var recordedAt: Timestamp

    /// States it.
    public init(number: Int64, change: RoadChange, recordedAt: Timestamp) {
        self.number = number
        self.change = change
        self.recordedAt = recordedAt
    }
}

extension RoadChange.Effect {
    /// The names that ``init(named:speed:factor:seconds:)`` reads.
    public static let followedNames = ["close", "slow", "delay"]

    /// `close`, `slow` with a speed in km/h or a factor, `delay` with seconds.
    ///
    /// Throws `Failure` (`invalidParameter`) for other names, a number that is missing and one that
    /// does not go with the name.
    public init(
        named name: String, speed: Double?, factor: Double?, seconds: Double?
    ) throws(Failure) {
        switch (name.lowercased(), speed, factor, seconds) {
        case ("close", nil, nil, nil): self = .closed
        case ("slow", let speed?, nil, nil): self = .speed(speed)
        case ("slow", nil, let factor?, nil): self = .factor(factor)
        case ("delay", nil, nil, let seconds?): self = .delay(seconds)
        default:
            throw Failure(
                .invalidParameter,
                "effect '\(name.prefix(40))': expected close, slow with a speed or a factor, or "
                    + "delay with seconds")
        }
    }
}
