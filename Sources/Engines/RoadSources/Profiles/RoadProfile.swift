// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import RoadNetwork

/// The rules by which a mode uses roads: which are open to it, in which directions, how fast.
///
/// A profile is a JSON file; `RoadProfile+Reading` reads and checks it. Distances of dimensions are
/// in metres, weights in tonnes, speeds in km/h, delays in seconds.
public struct RoadProfile: Hashable, Sendable, Codable {
    /// Its stable name, that of the mode.
    public var name: String
    /// The kind of the mode.
    public var kind: NetworkMode.Kind
    /// The travel modes that clients see.
    public var travelModes: [NetworkMode.TravelMode]
    /// The costs of turns.
    public var turns: TurnCosts
    /// The speed on each class of road; classes that are not listed are closed.
    public var speeds: [String: Double]
    /// The speed on classes whose tags open them to the mode; they come before ``speeds``.
    public var taggedSpeeds: [String: Double]?
    /// Which tags open and close roads.
    public var access: Access
    /// Directions of travel.
    public var oneway: Oneway?
    /// Barriers on nodes; nil where they do not count.
    public var barriers: Barriers?
    /// Speed limits; nil where they do not count.
    public var limits: Limits?
    /// The highest speed by key and value; 0 closes the road.
    public var caps: [String: [String: Double]]?
    /// The factor of the speed on `service` roads, by their value of `service`; 0 closes the road.
    public var services: [String: Double]?
    /// Restrictions of turns; nil where they do not count.
    public var restrictions: Restrictions?
    /// The vehicle, by the key of the tag that limits it: a lower limit closes the road.
    public var dimensions: [String: Double]?
    /// Whether hazardous goods are carried, so that `hazmat=no` closes the road.
    public var carriesHazardousGoods: Bool?
    /// Whether the outlines of areas (`area=yes`) are roads.
    public var usesAreas: Bool?
    /// Ferries; nil where they are not used.
    public var ferries: Ferries?

    /// The mode in a network.
    public var mode: NetworkMode {
        NetworkMode(name: name, kind: kind, travelModes: travelModes, turns: turns)
    }

    /// Which tags open and close roads.
    public struct Access: Hashable, Sendable, Codable {
        /// The keys, the most specific first.
        public var keys: [String]
        /// How the keys decide.
        public var rule: Rule
        /// Values that open the road.
        public var open: [String]
        /// Values that open it to those that begin or end there.
        public var endsOnly: [String]
        /// Values that close it.
        public var closed: [String]
        /// What any other value means.
        public var otherwise: Otherwise

        /// How keys decide.
        public enum Rule: String, Hashable, Sendable, Codable {
            /// The first key with a value.
            case first
            /// Any key with a value that closes.
            case any
        }
    }

    /// What is not listed.
    public enum Otherwise: String, Hashable, Sendable, Codable {
        case open, endsOnly, closed

        var access: RoadAccess {
            switch self {
            case .open: .open
            case .endsOnly: .endsOnly
            case .closed: .closed
            }
        }
    }

    /// Directions of travel.
    public struct Oneway: Hashable, Sendable, Codable {
        /// The keys, the most specific first: the first with a value decides.
        public var keys: [String]
        /// Tags that imply one way, along the road, where no key has a value.
        public var impliedBy: [String: [String]]
        /// Tags that open the other direction all the same.
        public var contraflow: [String: [String]]?
    }

    /// Barriers on nodes.
    public struct Barriers: Hashable, Sendable, Codable {
        /// Seconds of passing, by the value of `barrier`, or by `key=value`.
        public var pass: [String: Double]
        /// Values of `barrier` that cannot be passed.
        public var closed: [String]
        /// What any other value means.
        public var otherwise: Otherwise
    }

    /// Speed limits.
    public struct Limits: Hashable, Sendable, Codable {
        /// The keys, the most specific first.
        public var keys: [String]
        /// Whether a limit takes the place of the class's speed, or only lowers it.
        public var use: Use
        /// The share of a limit that is driven.
        public var factor: Double
        /// The highest speed, also where there is no limit.
        public var most: Double

        /// How limits are used.
        public enum Use: String, Hashable, Sendable, Codable { case replace, lower }
    }

    /// Restrictions of turns.
    public struct Restrictions: Hashable, Sendable, Codable {
        /// The keys, the most specific first: the first with a value decides.
        public var keys: [String]
        /// Values of `except` that free the mode.
        public var exceptions: [String]
    }

    /// Ferries.
    public struct Ferries: Hashable, Sendable, Codable {
        /// Values of `route` that the mode uses.
        public var routes: [String]
        /// Whether it may where no tag decides.
        public var otherwise: Otherwise
    }
}
