// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// A layer of a map whose features name the roads of a change, as people state it.
public struct RoadLayer: Hashable, Sendable, Codable {
    /// The map.
    public var map: MapName
    /// The layer's number or name.
    public var layer: String
    /// A WHERE clause that features have to fulfil, beside the layer's definition expression; nil
    /// for all.
    public var clause: String?

    /// Names a layer.
    public init(map: MapName, layer: String, clause: String? = nil) {
        self.map = map
        self.layer = layer
        self.clause = clause
    }

    /// What ``init(parsing:clause:)`` reads, for messages.
    public static let form = "MAP/LAYER"

    /// Reads `MAP/LAYER`, where the map's name may include a folder and the layer is a number or a
    /// name without a slash; nil for other text.
    public init?(parsing text: String, clause: String? = nil) {
        guard let slash = text.lastIndex(of: "/"),
            let map = MapName(rawValue: String(text[..<slash])), text.last != "/"
        else { return nil }
        self.init(map: map, layer: String(text[text.index(after: slash)...]), clause: clause)
    }
}

/// The layer that a standing change of roads follows, and the state of it that the roads reflect.
public struct FollowedLayer: Hashable, Sendable, Codable {
    /// The map, by its name.
    public var map: MapName
    /// The layer's number, which outlives its names.
    public var layer: LayerID
    /// The layer's name.
    public var name: String
    /// A WHERE clause that features have to fulfil; absent for all.
    public var clause: String?
    /// The sequence number of the map's state that the roads reflect; no later one has changed
    /// them, as far as is known.
    public var sequence: Int64
    /// Why the roads are not those that the features touch, and which they are instead; absent
    /// where they are.
    public var problem: String?

    /// States it.
    public init(
        map: MapName, layer: LayerID, name: String, clause: String? = nil, sequence: Int64,
        problem: String? = nil
    ) {
        self.map = map
        self.layer = layer
        self.name = name
        self.clause = clause
        self.sequence = sequence
        self.problem = problem
    }
}

extension RoadChange {
    /// Changes the edges to those that an event states; nothing where the change follows no layer.
    public mutating func follow(_ event: RoadsFollowed) {
        guard var layer = followed else { return }
        if !event.added.isEmpty || !event.removed.isEmpty {
            edges = Set(edges).subtracting(event.removed).union(event.added).sorted()
        }
        layer.name = event.layer
        layer.sequence = event.sequence
        layer.problem = event.problem
        followed = layer
    }

    /// The event that changes the edges to others, and what is known of the layer; nil where both
    /// are so already, or the change follows no layer.
    ///
    /// - Parameters:
    ///   - other: The edges, in any order.
    ///   - layer: The layer, with the state that they reflect.
    ///   - number: The change's number.
    ///   - network: The network's name.
    public func following(
        _ other: [RoadEdge], _ layer: FollowedLayer, number: Int64, network: String
    ) -> RoadsFollowed? {
        guard let followed else { return nil }
        let (old, new) = (Set(edges), Set(other))
        guard old != new || followed.name != layer.name || followed.problem != layer.problem
        else { return nil }
        return RoadsFollowed(
            name: network, change: number, added: new.subtracting(old).sorted(),
            removed: old.subtracting(new).sorted(), layer: layer.name, sequence: layer.sequence,
            problem: layer.problem)
    }
}
