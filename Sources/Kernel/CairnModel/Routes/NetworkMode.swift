// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A way of moving over a network: what it is called, which costs it publishes, and what its turns
/// cost.
///
/// Which roads are open to it, and how fast, is in the network's tables.
public struct NetworkMode: Hashable, Sendable, Codable {
    /// Its stable name, `car`.
    public var name: String
    /// Its kind, as clients distinguish them.
    public var kind: Kind
    /// The travel modes that clients see, at least one.
    public var travelModes: [TravelMode]
    /// The costs of turns.
    public var turns: TurnCosts

    /// The kind of a mode.
    public enum Kind: String, Hashable, Sendable, Codable {
        case automobile, truck, bicycle, walk, other
    }

    /// A published travel mode: one of the costs of a mode, minimised.
    public struct TravelMode: Hashable, Sendable, Codable {
        /// Its name, `Driving Time`.
        public var name: String
        /// What is minimised.
        public var minimises: Cost
        /// The name of the time's attribute, `TravelTime`; nil when none is published.
        public var timeAttribute: String?
        /// The unit of the time's attribute.
        public var timeUnit: TimeUnit?
        /// The name of the distance's attribute, `Kilometers`; nil when none is published.
        public var distanceAttribute: String?
        /// The unit of the distance's attribute.
        public var distanceUnit: DistanceUnit?

        /// Creates a travel mode.
        public init(
            name: String, minimises: Cost, timeAttribute: String? = nil, timeUnit: TimeUnit? = nil,
            distanceAttribute: String? = nil, distanceUnit: DistanceUnit? = nil
        ) {
            self.name = name
            self.minimises = minimises
            self.timeAttribute = timeAttribute
            self.timeUnit = timeUnit
            self.distanceAttribute = distanceAttribute
            self.distanceUnit = distanceUnit
        }
    }

    /// A cost of an edge.
    public enum Cost: String, Hashable, Sendable, Codable { case time, distance }
    /// A unit of time.
    public enum TimeUnit: String, Hashable, Sendable, Codable { case seconds, minutes }
    /// A unit of distance.
    public enum DistanceUnit: String, Hashable, Sendable, Codable {
        case meters, kilometers, miles
    }

    /// Creates a mode.
    public init(name: String, kind: Kind, travelModes: [TravelMode], turns: TurnCosts) {
        self.name = name
        self.kind = kind
        self.travelModes = travelModes
        self.turns = turns
    }
}

/// What a mode's turns cost, in seconds.
public struct TurnCosts: Hashable, Sendable, Codable {
    /// Whether turn restrictions apply to the mode.
    public var obeysRestrictions: Bool
    /// Pairs of angle (degrees off straight on, 0…180, ascending) and seconds, for turns to the
    /// right.
    ///
    /// Between them the cost is linear; empty for none.
    public var right: [[Double]]
    /// Those for turns to the left.
    public var left: [[Double]]
    /// Seconds of a turn back on the same road, anywhere.
    public var back: Double
    /// Seconds of passing traffic signals.
    public var signals: Double

    /// Free turns.
    public static let free = TurnCosts(obeysRestrictions: false)

    /// Creates costs.
    public init(
        obeysRestrictions: Bool, right: [[Double]] = [], left: [[Double]] = [], back: Double = 0,
        signals: Double = 0
    ) {
        self.obeysRestrictions = obeysRestrictions
        self.right = right
        self.left = left
        self.back = back
        self.signals = signals
    }

    /// The first fault, as a part of a sentence; nil for sound costs.
    public var fault: String? {
        for (name, table) in [("right", right), ("left", left)] {
            for pair in table {
                guard pair.count == 2, 0...180 ~= pair[0], 0...3600 ~= pair[1] else {
                    return "'turns.\(name)': expected pairs of an angle (0 to 180) and seconds"
                        + " (0 to 3600)"
                }
            }
            for (low, high) in zip(table, table.dropFirst()) where low[0] >= high[0] {
                return "'turns.\(name)': expected ascending angles, found \(high[0]) after"
                    + " \(low[0])"
            }
        }
        guard 0...3600 ~= back, 0...3600 ~= signals else {
            return "'turns': expected 0 to 3600 seconds for 'back' and 'signals'"
        }
        return nil
    }
}
