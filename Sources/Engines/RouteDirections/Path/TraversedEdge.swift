// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// What the signs at the beginning of an edge say.
public struct RoadSigns: Hashable, Sendable {
    /// Places (`destination`), the nearest first.
    public var destinations: [String]
    /// Road numbers (`destination:ref`).
    public var refs: [String]
    /// The number of the exit (`junction:ref`); empty for none.
    public var exit: String

    /// Makes what signs say; nothing by default.
    public init(destinations: [String] = [], refs: [String] = [], exit: String = "") {
        self.destinations = destinations
        self.refs = refs
        self.exit = exit
    }
}

/// An edge that leaves a junction of the path and is not part of it.
public struct Branch: Hashable, Sendable {
    /// Its first direction, degrees clockwise from north.
    public var bearing: Double
    /// The importance of the road.
    public var roadClass: RoadClass
    /// What else is known of it.
    public var traits: RoadTraits
    /// The street's name; empty for none.
    public var name: String
    /// Whether the path's mode of travel may take it from here.
    public var isUsable: Bool

    /// Makes a branch.
    public init(
        bearing: Double, roadClass: RoadClass, traits: RoadTraits = [], name: String = "",
        isUsable: Bool = true
    ) {
        self.bearing = bearing
        self.roadClass = roadClass
        self.traits = traits
        self.name = name
        self.isUsable = isUsable
    }
}

/// An edge of the path, or the part of it that is travelled, in the direction of travel.
public struct TraversedEdge: Hashable, Sendable {
    /// WGS 84 longitude (x) and latitude (y) in degrees; at least one position.
    public var shape: [Coordinate]
    /// Millimetres.
    public var length: Int64
    /// Milliseconds.
    public var duration: Int64
    /// The street's name; empty for none.
    public var name: String
    /// The road's numbers, separated by semicolons; empty for none.
    public var ref: String
    /// The importance of the road.
    public var roadClass: RoadClass
    /// What else is known of it.
    public var traits: RoadTraits
    /// What signs at its beginning say.
    public var signs: RoadSigns
    /// The other edges that leave the junction at its end.
    ///
    /// Neither the path's next edge nor the way back over this one is among them.
    public var branches: [Branch]

    /// Makes an edge.
    public init(
        shape: [Coordinate], length: Int64, duration: Int64, name: String = "", ref: String = "",
        roadClass: RoadClass, traits: RoadTraits = [], signs: RoadSigns = RoadSigns(),
        branches: [Branch] = []
    ) {
        self.shape = shape
        self.length = length
        self.duration = duration
        self.name = name
        self.ref = ref
        self.roadClass = roadClass
        self.traits = traits
        self.signs = signs
        self.branches = branches
    }

    var street: Street { Street(name: name, ref: ref) }

    /// A ramp onto, off or between motorways and trunk roads.
    var isRamp: Bool { traits.contains(.link) && roadClass.isHighway }

    var isRing: Bool { traits.contains(.roundabout) }
}
