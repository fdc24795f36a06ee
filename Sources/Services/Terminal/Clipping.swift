// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Geometry

/// Clips lines to a rectangle.
package enum Clipping {
    /// The part of a straight line inside a closed rectangle (Liang–Barsky); nil for no part, a
    /// non-finite end, or an empty rectangle.
    package static func clip(
        from start: Coordinate, to end: Coordinate, to bounds: Envelope
    ) -> (Coordinate, Coordinate)? {
        guard start.isFinite, end.isFinite, !bounds.isEmpty, bounds.width > 0, bounds.height > 0
        else { return nil }
        let (dx, dy) = (end.x - start.x, end.y - start.y)
        guard dx.isFinite, dy.isFinite else { return nil }
        var (enter, leave) = (0.0, 1.0)
        let edges = [
            (-dx, start.x - bounds.minX), (dx, bounds.maxX - start.x),
            (-dy, start.y - bounds.minY), (dy, bounds.maxY - start.y),
        ]
        for (slope, distance) in edges {
            if slope == 0 {
                if distance < 0 { return nil }
            } else if slope < 0 {
                enter = max(enter, distance / slope)
            } else {
                leave = min(leave, distance / slope)
            }
        }
        guard enter <= leave else { return nil }
        func at(_ t: Double) -> Coordinate {
            Coordinate(
                x: min(max(start.x + t * dx, bounds.minX), bounds.maxX),
                y: min(max(start.y + t * dy, bounds.minY), bounds.maxY))
        }
        return (at(enter), at(leave))
    }
}
