// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a turn is, apart from its angle.
public struct TurnFlags: OptionSet, Hashable, Sendable {
    /// The stored bits.
    public let rawValue: UInt8
    /// Wraps bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A turn back on the same link.
    public static let back = TurnFlags(rawValue: 1)
    /// A turn back where no other edge leads on.
    public static let deadEnd = TurnFlags(rawValue: 2)
    /// It passes traffic signals.
    public static let signals = TurnFlags(rawValue: 4)
    /// It passes a barrier that delays or stops a mode.
    public static let barrier = TurnFlags(rawValue: 8)
    /// A restriction that holds always forbids it to a mode.
    public static let restricted = TurnFlags(rawValue: 16)

    static let known = TurnFlags(rawValue: 31)
}
