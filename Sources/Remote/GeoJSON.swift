// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import EsriForms
internal import Geometry

/// Geometries of RFC 7946.
enum GeoJSON {
    /// The shape; nil for what is none, is empty, or mixes kinds.
    static func shape(_ tree: JSONTree) -> Shape? {
        guard let coordinates = tree["coordinates"] else { return nil }
        let shape: Shape?
        switch tree["type"]?.text {
        case "Point": shape = position(coordinates).map { .point($0) }
        case "MultiPoint": shape = positions(coordinates).map { .multipoint($0) }
        case "LineString": shape = positions(coordinates).map { .polyline(paths: [$0]) }
        case "MultiLineString": shape = lists(coordinates).map { .polyline(paths: $0) }
        case "Polygon": shape = lists(coordinates).map { .polygon(rings: $0) }
        case "MultiPolygon":
            let parts = coordinates.elements.compactMap { lists($0) }
            shape = .polygon(rings: parts.flatMap { $0 })
        default: shape = nil
        }
        return shape.flatMap { $0.coordinateCount > 0 ? $0 : nil }
    }

    private static func position(_ tree: JSONTree) -> Coordinate? {
        let numbers = tree.elements
        guard numbers.count >= 2, let x = numbers[0].number, let y = numbers[1].number else {
            return nil
        }
        return Coordinate(x: x, y: y)
    }

    private static func positions(_ tree: JSONTree) -> [Coordinate]? {
        let positions = tree.elements.compactMap { position($0) }
        return positions.count == tree.elements.count ? positions : nil
    }

    private static func lists(_ tree: JSONTree) -> [[Coordinate]]? {
        let lists = tree.elements.compactMap { positions($0) }
        return lists.count == tree.elements.count ? lists : nil
    }
}
