// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// A shape in Esri's JSON: `{"x","y"}`, `{"points"}`, `{"paths"}` or `{"rings"}`, each position an
/// array that begins with x and y.
public struct GeometryForm: Hashable, Sendable, Codable {
    /// A point's x.
    public var x: Double?
    /// A point's y.
    public var y: Double?
    /// A multipoint's positions.
    public var points: [[Double]]?
    /// A polyline's paths.
    public var paths: [[[Double]]]?
    /// A polygon's rings.
    public var rings: [[[Double]]]?

    /// The form of a shape; an envelope becomes the polygon of its corners.
    public init(_ shape: Shape) {
        func list(_ coordinates: [Coordinate]) -> [[Double]] { coordinates.map { [$0.x, $0.y] } }
        switch shape {
        case .point(let coordinate): (x, y) = (coordinate.x, coordinate.y)
        case .multipoint(let coordinates): points = list(coordinates)
        case .polyline(let parts): paths = parts.map(list)
        case .polygon(let parts): rings = parts.map(list)
        case .envelope(let box):
            rings = [
                [
                    [box.minX, box.minY], [box.maxX, box.minY], [box.maxX, box.maxY],
                    [box.minX, box.maxY], [box.minX, box.minY],
                ]
            ]
        }
    }

    /// The shape; nil where nothing, or a position of fewer than two ordinates, is given.
    public var shape: Shape? {
        func coordinate(_ ordinates: [Double]) -> Coordinate? {
            ordinates.count >= 2 ? Coordinate(x: ordinates[0], y: ordinates[1]) : nil
        }
        func list(_ positions: [[Double]]) -> [Coordinate]? {
            let coordinates = positions.compactMap(coordinate)
            return coordinates.count == positions.count ? coordinates : nil
        }
        func lists(_ parts: [[[Double]]]) -> [[Coordinate]]? {
            let lists = parts.compactMap(list)
            return lists.count == parts.count ? lists : nil
        }
        if let x, let y { return .point(Coordinate(x: x, y: y)) }
        if let points { return list(points).map { .multipoint($0) } }
        if let paths { return lists(paths).map { .polyline(paths: $0) } }
        return rings.flatMap(lists).map { .polygon(rings: $0) }
    }
}

extension Shape {
    /// What a feature of this shape is; an envelope counts as a polygon.
    public var geometryType: GeometryType {
        switch self {
        case .point: .point
        case .multipoint: .multipoint
        case .polyline: .polyline
        case .polygon, .envelope: .polygon
        }
    }
}
