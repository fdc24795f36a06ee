// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Geometry

/// A drawing of dots in Unicode's braille characters: two by four dots in every character cell.
///
/// Dot (0, 0) is the top left; x grows to the right, y downwards. Every method clips: coordinates
/// may be anywhere, and those that are not finite draw nothing. A cell has one colour, that of its
/// last dot.
package struct Canvas: Hashable, Sendable {
    /// Width in character cells.
    package let columns: Int
    /// Height in character cells.
    package let rows: Int
    private var masks: [UInt8]
    private var colours: [UInt8]

    /// An empty canvas; sizes are clamped to 0…1,000.
    package init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 0), 1000)
        self.rows = min(max(rows, 0), 1000)
        masks = Array(repeating: 0, count: self.columns * self.rows)
        colours = masks
    }

    /// Width in dots.
    package var width: Int { columns * 2 }
    /// Height in dots.
    package var height: Int { rows * 4 }

    /// Bits of the braille block by place in the cell, column by column.
    private static let bits: [UInt8] = [0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80]

    /// Whether the dot is set; false outside.
    package func isSet(x: Int, y: Int) -> Bool {
        guard 0..<width ~= x, 0..<height ~= y else { return false }
        return masks[(y >> 2) * columns + (x >> 1)] & Self.bits[(x & 1) * 4 + (y & 3)] != 0
    }

    package mutating func dot(x: Int, y: Int, colour: UInt8) {
        guard 0..<width ~= x, 0..<height ~= y else { return }
        let cell = (y >> 2) * columns + (x >> 1)
        masks[cell] |= Self.bits[(x & 1) * 4 + (y & 3)]
        colours[cell] = colour
    }

    /// Sets the dot that contains the coordinate.
    package mutating func point(_ at: Coordinate, colour: UInt8) {
        guard at.isFinite, at.x >= 0, at.y >= 0, at.x < Double(width), at.y < Double(height) else {
            return
        }
        dot(x: Int(at.x), y: Int(at.y), colour: colour)
    }

    /// A straight line: Bresenham's line between the dots of its clipped ends.
    package mutating func line(from start: Coordinate, to end: Coordinate, colour: UInt8) {
        guard let (first, last) = Clipping.clip(from: start, to: end, to: bounds) else { return }
        var (x, y) = (dotIndex(first.x, width), dotIndex(first.y, height))
        let (endX, endY) = (dotIndex(last.x, width), dotIndex(last.y, height))
        let (dx, dy) = (abs(endX - x), -abs(endY - y))
        let (stepX, stepY) = (x < endX ? 1 : -1, y < endY ? 1 : -1)
        var error = dx + dy
        while true {
            dot(x: x, y: y, colour: colour)
            if x == endX, y == endY { return }
            let doubled = 2 * error
            if doubled >= dy {
                error += dy
                x += stepX
            }
            if doubled <= dx {
                error += dx
                y += stepY
            }
        }
    }

    /// A polyline; a single coordinate is a point.
    package mutating func path(_ coordinates: [Coordinate], colour: UInt8) {
        if coordinates.count == 1 { point(coordinates[0], colour: colour) }
        for (start, end) in zip(coordinates, coordinates.dropFirst()) {
            line(from: start, to: end, colour: colour)
        }
    }

    /// Fills the inside of closed rings, even-odd, at dot centres; with `isSparse` every second dot
    /// in every second row, so that layers below remain visible.
    package mutating func fill(_ rings: [[Coordinate]], colour: UInt8, isSparse: Bool = false) {
        let envelope = Shape.polygon(rings: rings).envelope
        guard envelope.isFinite, envelope.intersects(bounds) else { return }
        let top = max(0, Int(max(envelope.minY, 0)))
        let bottom = min(height - 1, Int(min(envelope.maxY, Double(height))))
        guard top <= bottom else { return }
        for y in top...bottom where !isSparse || y % 2 == 0 {
            let crossings = Self.crossings(of: rings, at: Double(y) + 0.5)
            for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
                fillRow(y, from: crossings[pair], to: crossings[pair + 1], colour, isSparse)
            }
        }
    }

    /// Intersections of the rings with the horizontal line at `y`, ascending.
    private static func crossings(of rings: [[Coordinate]], at y: Double) -> [Double] {
        var found: [Double] = []
        for ring in rings {
            for (start, end) in zip(ring, ring.dropFirst()) where (start.y > y) != (end.y > y) {
                found.append(start.x + (y - start.y) / (end.y - start.y) * (end.x - start.x))
            }
        }
        return found.sorted()
    }

    private mutating func fillRow(
        _ y: Int, from start: Double, to end: Double, _ colour: UInt8, _ isSparse: Bool
    ) {
        let first = Int(max(start - 0.5, -1).rounded(.up))
        let last = Int(min(end - 0.5, Double(width)).rounded(.down))
        guard max(first, 0) <= min(last, width - 1) else { return }
        for x in max(first, 0)...min(last, width - 1) where !isSparse || (x + y / 2) % 2 == 0 {
            dot(x: x, y: y, colour: colour)
        }
    }

    /// The rectangle of all dots.
    private var bounds: Envelope {
        Envelope(minX: 0, minY: 0, maxX: Double(width), maxY: Double(height))
    }

    private func dotIndex(_ value: Double, _ count: Int) -> Int { min(Int(value), count - 1) }

    /// The braille character of a cell and its colour; nil for a cell without a dot, or outside.
    package func cell(column: Int, row: Int) -> (character: Character, colour: UInt8)? {
        guard 0..<columns ~= column, 0..<rows ~= row else { return nil }
        let cell = row * columns + column
        guard masks[cell] != 0, let scalar = UnicodeScalar(0x2800 + UInt32(masks[cell])) else {
            return nil
        }
        return (Character(scalar), colours[cell])
    }
}
