// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// The winding of rings in Esri JSON: exterior rings clockwise, holes counter-clockwise.
public enum RingOrder {
    /// The rings in their order, each with the winding of its nesting level.
    ///
    /// A ring inside an odd number of others is a hole. Costs as much as `RingNesting`.
    public static func esri(_ rings: [[Coordinate]]) -> [[Coordinate]] {
        zip(rings, reversals(rings)).map { $1 ? $0.reversed() : $0 }
    }

    /// Whether ``esri(_:)`` reverses each ring.
    public static func reversals(_ rings: [[Coordinate]]) -> [Bool] {
        let nesting = RingNesting(rings)
        return rings.indices.map { Ring.isClockwise(rings[$0]) == nesting.isHole($0) }
    }
}
