// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A planar coordinate: `x` before `y` (easting before northing, longitude before latitude), in the
/// units of whatever spatial reference the owner states.
public struct Coordinate: Hashable, Sendable, BitwiseCopyable {
    /// Easting or longitude.
    public var x: Double
    /// Northing or latitude.
    public var y: Double

    /// Largest absolute value of an ordinate in input: imports, edits, requests.
    ///
    /// Squares, and products of squares, of ordinates within the bound are far from the range limit
    /// of a double.
    public static let bound = 1e12

    /// Makes a coordinate; values are taken as they are, NaN included.
    @inlinable
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Whether both ordinates are finite numbers.
    @inlinable
    public var isFinite: Bool { x.isFinite && y.isFinite }
}

extension Coordinate: Codable {
    /// Reads the two-element array `[x, y]`.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        x = try container.decode(Double.self)
        y = try container.decode(Double.self)
    }

    /// Writes the two-element array `[x, y]`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(x)
        try container.encode(y)
    }
}
