// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A request for the changes of roads that stand on a network.
public struct RoadChangesRequest: Hashable, Sendable, Codable {
    /// The network's name.
    public var network: String
    /// The change of this number alone; nil for all.
    public var number: Int64?
    /// Changes of higher numbers alone; nil from the first.
    public var after: Int64?
    /// Most changes, 1…``largestCount``; nil for that.
    public var limit: Int?
    /// Whether the lines of the roads are wanted; nil for false.
    public var wantsLines: Bool?
    /// As of this sequence number; nil for the present.
    public var at: Int64?
    /// Waits until the worker knows the log up to here.
    public var minSequence: Int64?

    /// The most changes of one answer.
    public static let largestCount = 1_000
    /// Once an answer describes that many edges, the rest comes with the next request.
    public static let usualEdgeCount = 20_000

    /// A request for the first changes.
    public init(network: String) { self.network = network }
}

/// The changes of roads that stand on a network, ascending by number.
public struct RoadChangesAnswer: Hashable, Sendable, Codable {
    /// The network's published name.
    public var network: String
    /// The sequence number up to which changes are regarded.
    public var sequence: Int64
    /// Whether the log may have gone on unheard.
    public var isStale: Bool
    /// The changes.
    public var changes: [RoadChangeReport]
    /// Whether further changes stand, of higher numbers than the last.
    public var isExceeded: Bool

    /// States it.
    public init(
        network: String, sequence: Int64, isStale: Bool, changes: [RoadChangeReport],
        isExceeded: Bool
    ) {
        self.network = network
        self.sequence = sequence
        self.isStale = isStale
        self.changes = changes
        self.isExceeded = isExceeded
    }
}

/// A change that stands, with its roads in the network as it is.
public struct RoadChangeReport: Hashable, Sendable, Codable {
    /// Its number.
    public var number: Int64
    /// What becomes of the roads.
    public var effect: RoadChange.Effect
    /// When it was recorded.
    public var recordedAt: Timestamp
    /// Number of its edges in the network; a road that is open both ways is two.
    public var edgeCount: Int
    /// Number of the turns that a ban is about; absent otherwise.
    public var turnCount: Int?
    /// Number of the edges, or of a ban the turns, that the network does not have any more.
    public var missingCount: Int
    /// Whether roads were found again by the shape of the change in place of those missing.
    public var isFoundAgain: Bool
    /// Whether roads are missing, and none were found again.
    public var isUnresolved: Bool
    /// The names of the modes that it is about; absent for all.
    public var modes: [String]?
    /// When it begins; absent for at once.
    public var from: Timestamp?
    /// When it ends; absent for never.
    public var until: Timestamp?
    /// The hours of the week at which it holds; absent for always.
    public var hours: String?
    /// Why, for people.
    public var reason: String?
    /// The shape by which its roads were found, WGS 84 longitude and latitude.
    public var shape: Shape?
    /// The layer that its roads are kept in step with; absent for none.
    public var followed: FollowedLayer?
    /// The first ``RoadChangeAnswer/largestRoadCount`` edges.
    public var roads: [ChangedRoad]
    /// The lines of its roads, each once for both directions, WGS 84 longitude and latitude; absent
    /// where not asked.
    public var lines: Shape?

    /// A change without roads.
    public init(_ standing: StandingRoadChange) {
        let change = standing.change
        number = standing.number
        effect = change.effect
        recordedAt = standing.recordedAt
        edgeCount = 0
        turnCount = change.turns?.count
        missingCount = 0
        isFoundAgain = false
        isUnresolved = false
        modes = change.modes
        from = change.from
        until = change.until
        hours = change.hours
        reason = change.reason
        shape = change.shape
        followed = change.followed
        roads = []
    }
}
