// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
public import Geometry

/// A direction of travel on a road, seen along its way in the source.
public enum RoadDirection: String, Hashable, Sendable, Codable, CaseIterable {
    case forward
    case backward
}

/// What roads a change is about, as people name them.
public enum RoadTarget: Hashable, Sendable, Codable {
    /// Ways of the source or pieces of them.
    case pieces([RoadPiece])
    /// The roads of a name or number, letter case apart; those that touch an area where one is
    /// given, WGS 84 longitude and latitude.
    case street(String, within: Shape?)
    /// The road nearest to each point, the roads that a line crosses or an area touches; WGS 84
    /// longitude and latitude.
    case shape(Shape)
    /// Those that the features of a layer touch, kept in step with its edits.
    case layer(RoadLayer)
}

/// A way of the source, or a piece of it.
public struct RoadPiece: Hashable, Sendable, Codable {
    /// The source's id of the way.
    public var way: Int64
    /// The number of an edge's first segment in the way; nil for the whole way.
    public var segment: UInt32?
    /// Nil for both directions.
    public var direction: RoadDirection?

    /// Names a piece.
    public init(way: Int64, segment: UInt32? = nil, direction: RoadDirection? = nil) {
        self.way = way
        self.segment = segment
        self.direction = direction
    }

    /// What ``init(parsing:)`` reads, for messages.
    public static let form = "ID[:SEGMENT][:forward|back]"

    /// Reads a piece as people write it, ``form``; nil for other text.
    public init?(parsing text: String) {
        var words = text.split(separator: ":", omittingEmptySubsequences: false)
        var direction: RoadDirection?
        switch words.last {
        case "forward": direction = .forward
        case "back", "backward": direction = .backward
        default: break
        }
        if direction != nil { words.removeLast() }
        guard 1...2 ~= words.count, let way = Int64(words[0]) else { return nil }
        self.init(way: way, direction: direction)
        if words.count == 2 {
            guard let number = UInt32(words[1]) else { return nil }
            segment = number
        }
    }
}

/// A change of roads that is wanted.
public struct RoadChangeOrder: Hashable, Sendable, Codable {
    /// What becomes of the roads.
    public var effect: RoadChange.Effect
    /// The roads; of a banned turn those that are left.
    public var target: RoadTarget
    /// Of a banned turn, the roads that are entered; equal to ``target`` for turning back.
    public var onto: RoadTarget?
    /// Of a banned turn, the place whose nearest junction of the roads is meant; nil for all.
    public var via: Coordinate?
    /// Nil for both.
    public var direction: RoadDirection?
    /// Names of modes; nil for all.
    public var modes: [String]?
    /// When it begins; nil for at once.
    public var from: Timestamp?
    /// When it ends; nil for never.
    public var until: Timestamp?
    /// The hours of the week at which it holds, see ``WeeklyHours``; nil for always.
    public var hours: String?
    /// Why, for people.
    public var reason: String?

    /// A change that holds from now on, for all modes.
    public init(_ effect: RoadChange.Effect, _ target: RoadTarget) {
        self.effect = effect
        self.target = target
    }
}

/// A command about the roads of a network.
public struct RoadChangeRequest: Hashable, Sendable, Codable {
    /// Chosen by the caller, kept over retries: the same id is carried out once.
    public var id: UUID
    /// The network's name.
    public var network: String
    /// What to do.
    public var action: Action
    /// The requesting user.
    public var actor: String?

    /// What a command does.
    public enum Action: Hashable, Sendable, Codable {
        /// Makes a change.
        case change(RoadChangeOrder)
        /// Ends changes, by their numbers.
        case restore([Int64])
        /// Ends all changes that stand.
        case restoreAll
    }

    /// Makes a request.
    public init(id: UUID, network: String, _ action: Action, actor: String? = nil) {
        self.id = id
        self.network = network
        self.action = action
        self.actor = actor
    }
}

extension RoadChangeRequest {
    /// The id of a request that a user knows by an id of its own: the same in every process,
    /// another for every user and network.
    ///
    /// Throws `Failure` (`invalidParameter`) for a text that is not 1 to 64 letters of ASCII,
    /// digits, `-` and `_`.
    public static func id(
        clientID text: String, of actor: String, on network: String
    ) throws(Failure) -> UUID {
        try JobID(clientID: text, of: actor).rawValue.named("roads/" + network)
    }

    /// Whether an event may be what this request has made: it states the same effect and terms, or
    /// ends the same changes.
    public func mayHaveMade(_ event: NetworkEvent) -> Bool {
        switch (action, event) {
        case (.change(let order), .roadsChanged(let event)):
            let change = event.change
            return order.effect == change.effect && order.modes == change.modes
                && order.from == change.from && order.until == change.until
                && order.hours == change.hours && order.reason == change.reason
                && order.isAbout(change)
        case (.restore(let numbers), .roadsRestored(let event)):
            return Set(numbers) == Set(event.changes)
        case (.restoreAll, .roadsRestored): return true
        default: return false
        }
    }
}

extension RoadChangeOrder {
    /// Whether the roads may be those of a change, as far as its event says.
    fileprivate func isAbout(_ change: RoadChange) -> Bool {
        switch target {
        case .layer(let layer):
            layer.map == change.followed?.map && layer.clause == change.followed?.clause
        case .shape(let shape):
            change.followed == nil && direction == change.direction
                && (effect == .bannedTurn || shape == change.shape)
        case .pieces(let pieces):
            change.followed == nil && direction == change.direction
                && (effect == .bannedTurn
                    || Set(pieces.map(\.way)) == Set(change.edges.map(\.way)))
        case .street: change.followed == nil && direction == change.direction
        }
    }
}

/// The answer to a command about roads.
public struct RoadChangeAnswer: Hashable, Sendable, Codable {
    /// The number of the event: of a new change its number, and what is passed as `minSequence` to
    /// read one's own write.
    public var number: Int64
    /// The network's name.
    public var network: String
    /// The change; absent where changes ended.
    public var effect: RoadChange.Effect?
    /// Number of the edges that the change is about; a road that is open both ways is two.
    public var edgeCount: Int
    /// Number of the turns that a ban is about; absent otherwise.
    public var turnCount: Int?
    /// Metres of the edges.
    public var length: Double
    /// The first ``largestRoadCount`` edges.
    public var roads: [ChangedRoad]
    /// The numbers of the changes that have ended; absent where a change was made.
    public var restored: [Int64]?
    /// The layer that the change follows; absent for none.
    public var followed: FollowedLayer?

    /// Most edges that an answer lists.
    public static let largestRoadCount = 1_000

    /// States what was done.
    public init(
        number: Int64, network: String, effect: RoadChange.Effect? = nil, edgeCount: Int = 0,
        turnCount: Int? = nil, length: Double = 0, roads: [ChangedRoad] = [],
        restored: [Int64]? = nil
    ) {
        self.number = number
        self.network = network
        self.effect = effect
        self.edgeCount = edgeCount
        self.turnCount = turnCount
        self.length = length
        self.roads = roads
        self.restored = restored
    }
}

/// An edge that a change is about.
public struct ChangedRoad: Hashable, Sendable, Codable {
    /// Its name.
    public var edge: RoadEdge
    /// Name or number of its road; empty for none.
    public var street: String
    /// Metres.
    public var length: Double

    /// Describes an edge.
    public init(edge: RoadEdge, street: String, length: Double) {
        self.edge = edge
        self.street = street
        self.length = length
    }
}
