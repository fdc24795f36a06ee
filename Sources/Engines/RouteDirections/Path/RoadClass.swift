// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The importance of a road, by OpenStreetMap's `highway` values.
public enum RoadClass: UInt8, Hashable, Sendable, CaseIterable {
    case motorway, trunk, primary, secondary, tertiary, unclassified, residential, livingStreet
    case service, track, cycleway, footway, path

    /// The place among the classes, 0 the most important; classes of one place compete alike.
    var rank: Int {
        switch self {
        case .motorway: 0
        case .trunk: 1
        case .primary: 2
        case .secondary: 3
        case .tertiary: 4
        case .unclassified, .residential: 5
        case .livingStreet: 6
        case .service: 8
        case .track: 9
        case .cycleway, .footway, .path: 10
        }
    }

    /// Whether it is made for through traffic with ramps: motorway or trunk.
    var isHighway: Bool { rank <= 1 }
}

/// What else is known of an edge.
public struct RoadTraits: OptionSet, Hashable, Sendable {
    /// One bit for each trait.
    public let rawValue: UInt16

    /// Makes a set of traits of its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Part of a roundabout's ring.
    public static let roundabout = RoadTraits(rawValue: 1)
    /// A ramp or slip road (`…_link`); the class is that of the road it serves.
    public static let link = RoadTraits(rawValue: 2)
    /// A ferry or shuttle train.
    public static let ferry = RoadTraits(rawValue: 4)
    /// In a tunnel.
    public static let tunnel = RoadTraits(rawValue: 8)
    /// Subject to a toll.
    public static let toll = RoadTraits(rawValue: 16)
    /// Stairs.
    public static let stairs = RoadTraits(rawValue: 32)
    /// A stretch on which a bicycle is pushed.
    public static let pushed = RoadTraits(rawValue: 64)
    /// Traffic keeps to the left.
    public static let leftHand = RoadTraits(rawValue: 128)
}
