// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a road is, apart from its class.
public struct RoadFlags: OptionSet, Hashable, Sendable {
    /// The stored bits.
    public let rawValue: UInt32
    /// Wraps bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A roundabout.
    public static let roundabout = RoadFlags(rawValue: 1)
    /// A road that joins others of a higher class: `motorway_link` and its like.
    public static let ramp = RoadFlags(rawValue: 2)
    /// A ferry, or a train that carries vehicles; no stop is on it.
    public static let ferry = RoadFlags(rawValue: 4)
    /// A toll is due.
    public static let toll = RoadFlags(rawValue: 8)
    /// A tunnel.
    public static let tunnel = RoadFlags(rawValue: 16)
    /// A bridge.
    public static let bridge = RoadFlags(rawValue: 32)
    /// Not paved.
    public static let unpaved = RoadFlags(rawValue: 64)
    /// Steps.
    public static let steps = RoadFlags(rawValue: 128)
    /// Traffic is on the left.
    public static let leftHandTraffic = RoadFlags(rawValue: 256)

    /// All bits of this build.
    static let known = RoadFlags(rawValue: 511)
}

/// Whether a mode may use an edge.
public enum RoadAccess: UInt8, Hashable, Sendable {
    /// Never.
    case closed = 0
    /// At the start and at the end of a route only, never to pass through.
    case endsOnly = 1
    /// Always.
    case open = 2
}
