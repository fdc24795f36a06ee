// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// SplitMix64: the same seed gives the same numbers on every machine, so a failing case can be
/// repeated from the seed that the test prints.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seed it began with.
    public let seed: UInt64
    private var state: UInt64

    /// Begins the sequence of that seed.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
