// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What is to be done at one place of a path, and the stretch until the next.
public struct Maneuver: Hashable, Sendable {
    /// The kinds of maneuvers.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The beginning of a leg.
        case depart
        /// The end of a leg; no stretch follows.
        case arrive
        /// Onto another street.
        case turn
        /// Along the same street, where another way leads straighter on.
        case stay
        /// Straight on, the street's name changes.
        case newName
        /// Left or right where the street ends.
        case endOfRoad
        /// One of several ways ahead.
        case fork
        /// A ramp from an ordinary road onto a motorway or trunk road.
        case rampOn
        /// An exit of a motorway or trunk road.
        case rampOff
        /// From a ramp into the traffic of a motorway or trunk road.
        case merge
        /// Through a roundabout, out of it at an exit that is counted.
        case roundabout
        /// Through a roundabout so small that it is taken as a turn.
        case roundaboutTurn
        /// Into a roundabout in which the leg ends.
        case enterRoundabout
        /// Out of a roundabout in which the leg begins.
        case leaveRoundabout
        /// Onto a ferry, or off it.
        case boardFerry, leaveFerry
        /// Up or down stairs.
        case stairs
        /// Off a bicycle, which is pushed, or on it again.
        case dismount, mount
    }

    /// The kind.
    public var kind: Kind
    /// The direction; nil where it has none.
    public var modifier: TurnModifier?
    /// The leg of the path, from 0.
    public var leg: Int
    /// The length of the stretch after it: millimetres.
    public var length: Int64 = 0
    /// The duration of the stretch after it: milliseconds.
    public var duration: Int64 = 0
    /// Degrees clockwise from north on arrival here; 0 at the beginning of a leg.
    public var bearingBefore: Double
    /// Degrees clockwise from north on leaving; 0 at the end of a leg.
    public var bearingAfter: Double
    /// The edges of the stretch, counted over all legs.
    public var edges: Range<Int> = 0..<0
    /// The positions of the stretch in the shape of the directions, first and last included; one
    /// position at the end of a leg.
    public var points: Range<Int> = 0..<0
    /// The street of the stretch.
    public var street = Street()
    /// The importance of the road, nil at the end of a leg.
    public var roadClass: RoadClass?
    /// All that is true of some edge of the stretch.
    public var traits: RoadTraits = []
    /// What signs here say.
    public var signs = RoadSigns()
    /// Which exit of a roundabout, from 1.
    public var roundaboutExit: Int?
    /// The name of a roundabout that has its own; else empty.
    public var rotaryName = ""
    /// The first street that crosses the stretch at the beginning of a leg; else empty.
    public var crossStreet = ""
    /// Whether a bicycle is pushed from here (true) or ridden again (false); nil for no change.
    public var startsPushing: Bool?
    /// The stop at the beginning or end of a leg: its index in the path.
    public var stop: Int?
    /// On which side of the vehicle that stop is on arrival.
    public var side: VehicleSide?
    /// The street that leads here, kept through nameless stretches.
    var streetBefore = Street()
}

/// The direction of a maneuver; raw values are OSRM's.
public enum TurnModifier: String, Hashable, Sendable, CaseIterable {
    case sharpLeft = "sharp left"
    case left
    case slightLeft = "slight left"
    case straight
    case slightRight = "slight right"
    case right
    case sharpRight = "sharp right"
    case uturn

    /// The direction of a change of heading in degrees, to the right positive: straight below 20,
    /// slight below 60, sharp from 120, back from 165.
    public init(angle: Double) {
        let size = abs(angle)
        let isLeft = angle < 0
        self =
            switch size {
            case ..<20: .straight
            case ..<60: isLeft ? .slightLeft : .slightRight
            case ..<120: isLeft ? .left : .right
            case ..<165: isLeft ? .sharpLeft : .sharpRight
            default: .uturn
            }
    }

    /// The side; nil for straight and back.
    public var side: VehicleSide? {
        switch self {
        case .sharpLeft, .left, .slightLeft: .left
        case .sharpRight, .right, .slightRight: .right
        case .straight, .uturn: nil
        }
    }
}
