// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// A projection of stored coordinates to the map: per axis and monotonic, as between degrees and
/// Web Mercator.
///
/// Edges are straight in the map. An edge stays inside its rectangle in both, so rectangle tests
/// hold for both too.
public struct Frame: Sendable {
    /// A stored coordinate in the map.
    let project: @Sendable (Coordinate) -> Coordinate

    /// Made of the function that takes a stored coordinate to the map.
    public init(_ project: @escaping @Sendable (Coordinate) -> Coordinate) {
        self.project = project
    }
}

/// A position that features are looked for around, and how far.
public struct PointProbe: Sendable {
    /// The position in the map, from which distances are measured.
    let position: Coordinate
    /// Farther features do not count; map units.
    let limit: Double
    /// The square of slightly more than the limit, to allow for rounding.
    let bound: Double
    /// Holds the position in stored coordinates; a point, unless projecting has rounded it.
    let nearby: Envelope
    /// The search rectangle in stored coordinates: every feature in reach intersects it.
    let window: Envelope

    /// A position in the coordinates of the index; `window` holds everything within `limit`.
    @inline(__always)
    public init(_ position: Coordinate, within limit: Double, window: Envelope) {
        self.init(
            position, within: limit, window: window,
            nearby: Envelope(
                minX: position.x, minY: position.y, maxX: position.x, maxY: position.y))
    }

    /// A position in a map that sees the index through a ``Frame``.
    ///
    /// `nearby` holds the position in stored coordinates; `window` everything within `limit`, in
    /// stored coordinates too.
    @inline(__always)
    public init(
        _ position: Coordinate, within limit: Double, window: Envelope, nearby: Envelope
    ) {
        self.position = position
        self.limit = limit
        let reach = limit * (1 + 0x1p-40)
        bound = reach * reach
        self.nearby = nearby
        self.window = window
    }
}

extension PointProbe {
    /// A probe without results.
    public static let nowhere = PointProbe(Coordinate(x: 0, y: 0), within: 0, window: .empty)
}
