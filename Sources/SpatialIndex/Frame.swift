// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// How stored coordinates become those of the map: each axis by itself and keeping its order, as
/// between degrees and Web Mercator.
///
/// Edges are straight in the map. An edge stays inside its rectangle in both, so what the index says
/// of rectangles holds for both too.
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
    /// Where, in the map; distances are measured from here.
    let position: Coordinate
    /// Farther features do not count; map units.
    let limit: Double
    /// The square of a hair more than the limit, so that rounding hides nothing.
    let bound: Double
    /// Nil when coordinates are stored as the map has them.
    let frame: Frame?
    /// The position in stored coordinates; with a frame, rounded.
    let place: Coordinate
    /// How far, at most, the rounded place is from the true one.
    let slack: Coordinate
    /// What can be near enough meets this rectangle, in stored coordinates.
    let window: Envelope

    /// A position in the coordinates of the index; `window` holds all that is within `limit`.
    @inline(__always)
    public init(_ position: Coordinate, within limit: Double, window: Envelope) {
        self.position = position
        self.limit = limit
        let reach = limit * (1 + 0x1p-40)
        bound = reach * reach
        frame = nil
        place = position
        slack = Coordinate(x: 0, y: 0)
        self.window = window
    }

    /// A position in a map that sees the index through a frame.
    ///
    /// `place` is the position in stored coordinates, wrong by less than `slack` on each axis;
    /// `window` holds all that is within `limit`, in stored coordinates.
    public init(
        _ position: Coordinate, within limit: Double, window: Envelope, place: Coordinate,
        slack: Coordinate, frame: Frame
    ) {
        self.position = position
        self.limit = limit
        let reach = limit * (1 + 0x1p-40)
        bound = reach * reach
        self.frame = frame
        self.place = place
        self.slack = slack
        self.window = window
    }
}

extension PointProbe {
    /// Nothing is near it.
    public static let nowhere = PointProbe(Coordinate(x: 0, y: 0), within: 0, window: .empty)
}
