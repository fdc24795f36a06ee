// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// The Z and M of a shape's coordinates.
public struct FurtherOrdinates: Hashable, Sendable {
    /// One for each coordinate in the shape's order, nil where it has none; nil as a whole where
    /// none has any.
    public var z: [Double?]?
    /// M of each position, as ``z``.
    public var m: [Double?]?

    /// Creates them; an array of nils alone becomes nil as a whole.
    public init(z: [Double?]? = nil, m: [Double?]? = nil) {
        func some(_ values: [Double?]?) -> [Double?]? {
            values?.contains { $0 != nil } == true ? values : nil
        }
        self.z = some(z)
        self.m = some(m)
    }

    /// Whether no coordinate has any.
    public var isNothing: Bool { z == nil && m == nil }
}

/// A shape in Esri's JSON: `{"x","y"}`, `{"points"}`, `{"paths"}` or `{"rings"}`, each position an
/// array that begins with x and y.
///
/// With `hasZ` the third ordinate of a position is its Z; with `hasM` the last one is its M. Null
/// stands for a missing ordinate.
public struct GeometryForm: Hashable, Sendable, Codable {
    /// A point's x.
    public var x: Double?
    /// A point's y.
    public var y: Double?
    /// A point's Z.
    public var z: Double?
    /// A point's M.
    public var m: Double?
    /// Whether positions have a Z; nil is false.
    public var hasZ: Bool?
    /// Whether positions have an M; nil is false.
    public var hasM: Bool?
    /// A multipoint's positions.
    public var points: [[Double?]]?
    /// A polyline's paths.
    public var paths: [[[Double?]]]?
    /// A polygon's rings.
    public var rings: [[[Double?]]]?

    /// The form of a shape; an envelope becomes the polygon of its corners, without Z and M.
    public init(_ shape: Shape, _ ordinates: FurtherOrdinates = FurtherOrdinates()) {
        if case .point(let coordinate) = shape {
            (x, y) = (coordinate.x, coordinate.y)
            (z, m) = (ordinates.z?.first ?? nil, ordinates.m?.first ?? nil)
            return
        }
        let further = [ordinates.z, ordinates.m].compactMap(\.self)
        var place = 0
        func list(_ coordinates: [Coordinate]) -> [[Double?]] {
            coordinates.map { coordinate in
                defer { place += 1 }
                return [coordinate.x, coordinate.y]
                    + further.map { place < $0.count ? $0[place] : nil }
            }
        }
        hasZ = ordinates.z == nil ? nil : true
        hasM = ordinates.m == nil ? nil : true
        switch shape {
        case .point: break
        case .multipoint(let coordinates): points = list(coordinates)
        case .polyline(let parts): paths = parts.map(list)
        case .polygon(let parts): rings = parts.map(list)
        case .envelope(let box):
            (hasZ, hasM) = (nil, nil)
            rings = [
                [
                    [box.minX, box.minY], [box.maxX, box.minY], [box.maxX, box.maxY],
                    [box.minX, box.maxY], [box.minX, box.minY],
                ]
            ]
        }
    }

    /// The shape; nil for an empty form, or a position of fewer than two ordinates.
    public var shape: Shape? {
        func coordinate(_ ordinates: [Double?]) -> Coordinate? {
            guard ordinates.count >= 2, let x = ordinates[0], let y = ordinates[1] else {
                return nil
            }
            return Coordinate(x: x, y: y)
        }
        func list(_ positions: [[Double?]]) -> [Coordinate]? {
            let coordinates = positions.compactMap(coordinate)
            return coordinates.count == positions.count ? coordinates : nil
        }
        func lists(_ parts: [[[Double?]]]) -> [[Coordinate]]? {
            let lists = parts.compactMap(list)
            return lists.count == parts.count ? lists : nil
        }
        if let x, let y { return .point(Coordinate(x: x, y: y)) }
        if let points { return list(points).map { .multipoint($0) } }
        if let paths { return lists(paths).map { .polyline(paths: $0) } }
        return rings.flatMap(lists).map { .polygon(rings: $0) }
    }

    /// The Z and M of the coordinates of ``shape``.
    public var ordinates: FurtherOrdinates {
        if x != nil { return FurtherOrdinates(z: [z], m: [m]) }
        let positions = points ?? (paths ?? rings ?? []).flatMap(\.self)
        func all(_ place: Int) -> [Double?] {
            positions.map { place < $0.count ? $0[place] : nil }
        }
        return FurtherOrdinates(
            z: hasZ == true ? all(2) : nil, m: hasM == true ? all(hasZ == true ? 3 : 2) : nil)
    }
}

extension Shape {
    /// The geometry type of a feature with this shape; an envelope counts as a polygon.
    public var geometryType: GeometryType {
        switch self {
        case .point: .point
        case .multipoint: .multipoint
        case .polyline: .polyline
        case .polygon, .envelope: .polygon
        }
    }
}
