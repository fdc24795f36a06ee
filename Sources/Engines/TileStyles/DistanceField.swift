// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Cairo

/// The distances of pixels from the border of a glyph, as MapLibre's glyphs have them.
///
/// A byte is 255 − 255 · (d / 8 + 0.25), at least 0 and at most 255, rounded: d is the distance of
/// the pixel's centre from the border in pixels, negative inside. The border is at 191.
struct DistanceField {
    /// Pixels over which the bytes go from 255 to 0.
    private static let radius = 8.0
    /// The part of the radius that is inside.
    private static let cutoff = 0.25
    /// From here on outside, bytes are 0.
    private static let reach = radius * (1 - cutoff)

    private struct Edge {
        var x, y, dx, dy: Double
        /// 1 / the length squared.
        var scale: Double

        init(_ from: GlyphCorner, _ to: GlyphCorner) {
            (x, y, dx, dy) = (from.x, from.y, to.x - from.x, to.y - from.y)
            scale = 1 / (dx * dx + dy * dy)
        }
    }

    /// Every edge, for what is inside.
    private let edges: [Edge]
    /// Those with the inside on one side only, for distances: contours may overlap.
    private let border: [Edge]

    init(_ contours: [[GlyphCorner]]) {
        let edges = contours.flatMap { contour in
            contour.indices.map { Edge(contour[$0], contour[($0 + 1) % contour.count]) }
        }
        self.edges = edges
        border = edges.flatMap(Self.pieces).filter { edge in
            // A little to either side of its middle.
            let length = (1 / edge.scale).squareRoot()
            let (x, y) = (edge.x + edge.dx / 2, edge.y + edge.dy / 2)
            let (aside, up) = (-edge.dy / length * 0.005, edge.dx / length * 0.005)
            return Self.isInside(x + aside, y + up, edges)
                != Self.isInside(x - aside, y - up, edges)
        }
    }

    /// Parts of an edge of at most a pixel: one that goes on inside of another contour is no border
    /// there.
    private static func pieces(of edge: Edge) -> [Edge] {
        let count = max(1, (1 / edge.scale).squareRoot().rounded(.up))
        return (0..<Int(count)).map { number in
            func corner(_ share: Double) -> GlyphCorner {
                GlyphCorner(x: edge.x + edge.dx * share, y: edge.y + edge.dy * share)
            }
            return Edge(corner(Double(number) / count), corner(Double(number + 1) / count))
        }
    }

    /// The bytes of pixels, row by row from the top.
    ///
    /// - Parameters:
    ///   - left, top: The upper left corner of the first pixel.
    func bytes(left: Int, top: Int, width: Int, height: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height)
        for row in 0..<height {
            let y = Double(top + row) + 0.5
            let near = border.filter {
                min($0.y, $0.y + $0.dy) <= y + Self.reach
                    && max($0.y, $0.y + $0.dy) >= y - Self.reach
            }
            for column in 0..<width {
                let x = Double(left + column) + 0.5
                var least = Double.infinity
                for edge in near {
                    let (px, py) = (x - edge.x, y - edge.y)
                    let share = min(1, max(0, (px * edge.dx + py * edge.dy) * edge.scale))
                    let (ex, ey) = (px - share * edge.dx, py - share * edge.dy)
                    least = min(least, ex * ex + ey * ey)
                }
                let distance = min(least.squareRoot(), Self.reach)
                bytes.append(Self.byte(Self.isInside(x, y, edges) ? -distance : distance))
            }
        }
        return bytes
    }

    private static func byte(_ distance: Double) -> UInt8 {
        UInt8(min(255, max(0, (255 - 255 * (distance / radius + cutoff)).rounded())))
    }

    /// Whether contours go around a place more often one way than the other.
    private static func isInside(_ x: Double, _ y: Double, _ edges: [Edge]) -> Bool {
        var winding = 0
        for edge in edges {
            let (first, last) = (edge.y, edge.y + edge.dy)
            guard (first <= y) != (last <= y) else { continue }
            guard edge.x + (y - first) / edge.dy * edge.dx > x else { continue }
            winding += first <= y ? 1 : -1
        }
        return winding != 0
    }
}
