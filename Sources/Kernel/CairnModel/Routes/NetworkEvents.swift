// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A road network has been built and is found under a name from now on, as recorded in the stream
/// `network-NAME`; a later publication of the same name replaces it.
public struct NetworkPublished: EventPayload {
    /// The stable type name.
    public static let eventType = "network.published"
    /// The network's name in URLs.
    public var name: String
    /// The SHA-256 of the network's file.
    public var network: ContentID
    /// The SHA-256 of the file with the orders of its edges, on which equally short routes depend.
    public var topology: ContentID
    /// The modes of movement, the usual one first.
    public var modes: [NetworkMode]
    /// Number of edges; a road that is open both ways is two.
    public var edgeCount: Int
    /// The rectangle of its vertices, longitude (x) and latitude (y) in degrees.
    public var extent: Envelope
    /// Attributions and licences of its sources, each once; absent for none.
    public var attributions: [String]?

    /// Makes the event.
    public init(
        name: String, network: ContentID, topology: ContentID, modes: [NetworkMode],
        edgeCount: Int, extent: Envelope, attributions: [String]? = nil
    ) {
        self.name = name
        self.network = network
        self.topology = topology
        self.modes = modes
        self.edgeCount = edgeCount
        self.extent = extent
        self.attributions = attributions
    }

    /// The published travel modes in their order, each with the index of its mode; the first is the
    /// usual one.
    public var travelModes: [(mode: Int, travelMode: NetworkMode.TravelMode)] {
        modes.enumerated().flatMap { number, mode in mode.travelModes.map { (number, $0) } }
    }

    /// A travel mode by its name, or the first of a mode by the mode's name, letter case apart; the
    /// network's first for no name.
    ///
    /// Throws `Failure` (`invalidParameter`) with the names that there are.
    public func travelMode(
        named text: String?
    ) throws(Failure) -> (mode: Int, travelMode: NetworkMode.TravelMode) {
        let all = travelModes
        guard let wanted = text?.lowercased(), !wanted.isEmpty else {
            guard let first = all.first else {
                throw Failure(.corrupt, "network '\(name)' publishes no travel mode")
            }
            return first
        }
        let byName = all.first { $0.travelMode.name.lowercased() == wanted }
        let byMode = all.first { modes[$0.mode].name.lowercased() == wanted }
        guard let found = byName ?? byMode else {
            throw Failure(
                .invalidParameter,
                "network '\(name)' has no travel mode '\(wanted.prefix(64))'; expected one of "
                    + all.map { "'\($0.travelMode.name)'" }.joined(separator: ", "))
        }
        return found
    }
}

/// A road network is not found under its name any more; its files stay for the past.
public struct NetworkDeleted: EventPayload {
    /// The stable type name.
    public static let eventType = "network.deleted"
    /// Its name.
    public var name: String

    /// Makes the event.
    public init(name: String) { self.name = name }
}

/// Something has changed on some roads of a network, as recorded in the stream `network-NAME`.
///
/// The number of the change is the global position of its event.
public struct RoadsChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "network.roads.changed"
    /// The network's name.
    public var name: String
    /// What is so from now on.
    public var change: RoadChange

    /// Makes the event.
    public init(name: String, change: RoadChange) {
        self.name = name
        self.change = change
    }
}

/// Changes of roads have ended: the roads are as they would be without them.
public struct RoadsRestored: EventPayload {
    /// The stable type name.
    public static let eventType = "network.roads.restored"
    /// The network's name.
    public var name: String
    /// The numbers of the changes.
    public var changes: [Int64]

    /// Makes the event.
    public init(name: String, changes: [Int64]) {
        self.name = name
        self.changes = changes
    }
}

/// A change that follows a layer is about other roads from now on, because the layer's features or
/// the network are others.
public struct RoadsFollowed: EventPayload {
    /// The stable type name.
    public static let eventType = "network.roads.followed"
    /// The network's name.
    public var name: String
    /// The change's number.
    public var change: Int64
    /// The edges that it is about in addition, ascending.
    public var added: [RoadEdge]
    /// The edges that it is not about any more, ascending.
    public var removed: [RoadEdge]
    /// The layer's name.
    public var layer: String
    /// The sequence number of the map's state that the edges reflect.
    public var sequence: Int64
    /// Why the edges are not those that the features touch; absent where they are.
    public var problem: String?

    /// Makes the event.
    public init(
        name: String, change: Int64, added: [RoadEdge], removed: [RoadEdge], layer: String,
        sequence: Int64, problem: String? = nil
    ) {
        self.name = name
        self.change = change
        self.added = added
        self.removed = removed
        self.layer = layer
        self.sequence = sequence
        self.problem = problem
    }
}
