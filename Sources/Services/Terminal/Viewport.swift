// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Geometry

/// The visible part of a map in a pane of dots; dots are square and y points downwards.
package struct Viewport: Hashable, Sendable {
    /// The map coordinate in the middle of the pane.
    package var center: Coordinate
    /// Map units per dot; always finite and > 0.
    package private(set) var unitsPerDot: Double

    private static let range = 1e-9...1e9

    /// Makes a viewport; the resolution is clamped to 1e-9…1e9.
    package init(center: Coordinate, unitsPerDot: Double) {
        self.center = center.isFinite ? center : Coordinate(x: 0, y: 0)
        self.unitsPerDot =
            unitsPerDot.isNaN
            ? 1 : min(max(unitsPerDot, Self.range.lowerBound), Self.range.upperBound)
    }

    /// The viewport that shows the whole extent in that many dots; a point is shown with a small
    /// surrounding.
    package init(showing extent: Envelope, width: Int, height: Int) {
        let dots = (Double(max(width, 1)), Double(max(height, 1)))
        let fit = max(extent.width / dots.0, extent.height / dots.1)
        let least = max(abs(extent.center.x), abs(extent.center.y), 1) * 1e-6
        self.init(center: extent.center, unitsPerDot: max(fit * 1.05, least))
    }

    /// The visible extent for that many dots.
    package func extent(width: Int, height: Int) -> Envelope {
        let (halfX, halfY) = (
            Double(width) / 2 * unitsPerDot, Double(height) / 2 * unitsPerDot
        )
        return Envelope(
            minX: center.x - halfX, minY: center.y - halfY, maxX: center.x + halfX,
            maxY: center.y + halfY)
    }

    /// Position of a map coordinate in dots from the top left.
    package func dot(of at: Coordinate, width: Int, height: Int) -> Coordinate {
        Coordinate(
            x: (at.x - center.x) / unitsPerDot + Double(width) / 2,
            y: (center.y - at.y) / unitsPerDot + Double(height) / 2)
    }

    /// Map coordinate of a position in dots from the top left.
    package func coordinate(of dot: Coordinate, width: Int, height: Int) -> Coordinate {
        Coordinate(
            x: center.x + (dot.x - Double(width) / 2) * unitsPerDot,
            y: center.y - (dot.y - Double(height) / 2) * unitsPerDot)
    }

    /// Scales the ground per dot by `factor` (below 1 zooms in) around `fixed`.
    package mutating func zoom(by factor: Double, keeping fixed: Coordinate) {
        let before = unitsPerDot
        self = Viewport(center: center, unitsPerDot: unitsPerDot * factor)
        let ratio = unitsPerDot / before
        center.x = fixed.x + (center.x - fixed.x) * ratio
        center.y = fixed.y + (center.y - fixed.y) * ratio
    }

    /// Moves by a number of dots, right and down.
    package mutating func pan(right: Int, down: Int) {
        center.x += Double(right) * unitsPerDot
        center.y -= Double(down) * unitsPerDot
    }
}
