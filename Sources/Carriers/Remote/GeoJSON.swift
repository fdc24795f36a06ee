// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import EsriForms
internal import Geometry
internal import Platform

/// Geometries of RFC 7946.
enum GeoJSON {
    /// The shape; nil for a malformed, empty or mixed geometry, or one beyond ``Coordinate/bound``.
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
            let parts = coordinates.elements.map { lists($0) }
            shape = parts.contains(nil) ? nil : .polygon(rings: parts.flatMap { $0 ?? [] })
        default: shape = nil
        }
        return shape.flatMap { $0.coordinateCount > 0 ? $0 : nil }
    }

    private static func position(_ tree: JSONTree) -> Coordinate? {
        let numbers = tree.elements
        return numbers.count < 2 ? nil : Coordinate(x: numbers[0], y: numbers[1])
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
