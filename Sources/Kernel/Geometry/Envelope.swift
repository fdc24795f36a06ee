// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A closed axis-aligned rectangle in the units of its owner's spatial reference.
///
/// The empty envelope has `minX > maxX`; it is the identity of ``union(_:)`` and meets nothing.
public struct Envelope: Hashable, Sendable, Codable {
    /// The smallest x.
    public var minX: Double
    /// The smallest y.
    public var minY: Double
    /// The largest x.
    public var maxX: Double
    /// The largest y.
    public var maxY: Double

    /// Makes an envelope from its bounds as they are given (no reordering).
    @inlinable
    public init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
        self.minX = minX
        self.minY = minY
        self.maxX = maxX
        self.maxY = maxY
    }

    private enum CodingKeys: String, CodingKey {
        case minX = "xmin"
        case minY = "ymin"
        case maxX = "xmax"
        case maxY = "ymax"
    }

    /// The empty envelope.
    public static let empty = Envelope(
        minX: .infinity, minY: .infinity, maxX: -.infinity, maxY: -.infinity)

    /// Whether the rectangle is empty: a bound is out of order or NaN.
    @inlinable
    public var isEmpty: Bool { !(minX <= maxX && minY <= maxY) }

    /// Whether all four bounds are finite numbers.
    public var isFinite: Bool {
        minX.isFinite && minY.isFinite && maxX.isFinite && maxY.isFinite
    }

    /// `maxX - minX`; negative infinity when empty.
    public var width: Double { maxX - minX }

    /// `maxY - minY`; negative infinity when empty.
    public var height: Double { maxY - minY }

    /// The middle; not a number when empty.
    public var center: Coordinate { Coordinate(x: (minX + maxX) / 2, y: (minY + maxY) / 2) }

    /// Whether the two closed rectangles share at least one point.
    @inlinable
    public func intersects(_ other: Envelope) -> Bool {
        minX <= other.maxX && other.minX <= maxX && minY <= other.maxY && other.minY <= maxY
    }

    /// Whether the coordinate lies inside or on the border.
    @inlinable
    public func contains(_ coordinate: Coordinate) -> Bool {
        minX <= coordinate.x && coordinate.x <= maxX && minY <= coordinate.y
            && coordinate.y <= maxY
    }

    /// A rectangle with its bounds in order.
    public var ordered: Envelope {
        Envelope(
            minX: min(minX, maxX), minY: min(minY, maxY), maxX: max(minX, maxX),
            maxY: max(minY, maxY))
    }

    /// The smallest envelope that contains both.
    @inlinable
    public func union(_ other: Envelope) -> Envelope {
        Envelope(
            minX: min(minX, other.minX), minY: min(minY, other.minY),
            maxX: max(maxX, other.maxX), maxY: max(maxY, other.maxY))
    }

    /// Grows the envelope so that it contains the coordinate.
    public mutating func extend(to coordinate: Coordinate) {
        minX = min(minX, coordinate.x)
        minY = min(minY, coordinate.y)
        maxX = max(maxX, coordinate.x)
        maxY = max(maxY, coordinate.y)
    }

    /// The envelope with every side moved outwards by `distance` (same units).
    public func expanded(by distance: Double) -> Envelope {
        Envelope(
            minX: minX - distance, minY: minY - distance, maxX: maxX + distance,
            maxY: maxY + distance)
    }
}
