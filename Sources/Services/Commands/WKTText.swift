// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Writes shapes as well-known text.
enum WKTText {
    /// The text; the rings of a polygon are written in the order they have, as one POLYGON.
    static func text(of shape: Shape) -> String {
        switch shape {
        case .point(let at): "POINT (\(position(at)))"
        case .multipoint(let all): "MULTIPOINT (\(all.map(position).joined(separator: ", ")))"
        case .polyline(let paths):
            paths.count == 1
                ? "LINESTRING \(list(paths[0]))" : "MULTILINESTRING \(lists(paths))"
        case .polygon(let rings): "POLYGON \(lists(rings))"
        case .envelope(let box):
            "ENVELOPE (\(box.minX), \(box.maxX), \(box.minY), \(box.maxY))"
        }
    }

    private static func position(_ at: Coordinate) -> String { "\(at.x) \(at.y)" }

    private static func list(_ all: [Coordinate]) -> String {
        "(\(all.map(position).joined(separator: ", ")))"
    }

    private static func lists(_ parts: [[Coordinate]]) -> String {
        "(\(parts.map(list).joined(separator: ", ")))"
    }
}
