// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A geometry of parts that are lines of vertices.
public class Multipart: Geometry, @unchecked Sendable {
    private let stored: Lines

    /// The vertices of each part; made anew each time.
    var lines: [[Place]] { stored.places }

    init(_ lines: Lines, spatialReference: SpatialReference?) {
        stored = lines
        super.init(spatialReference: spatialReference)
    }

    convenience init(places: [[Place]], spatialReference: SpatialReference?) {
        self.init(.places(places), spatialReference: spatialReference)
    }

    override var places: [Place] { Array(lines.joined()) }
    override var partCounts: [Int] { lines.map(\.count) }

    /// Its parts, each the points of a line; of an area the rings, closed.
    public var pathPoints: [[Point]] {
        lines.map { line in line.map { Point($0, spatialReference) } }
    }

    func json(_ name: String) -> JSON {
        let lines = lines
        let hasZ = lines.contains { $0.contains { $0.z != nil } }
        return .object(
            (hasZ ? [(name: "hasZ", value: .bool(true))] : [])
                + [
                    (
                        name: name,
                        value: .array(lines.map { .array($0.map { $0.json(hasZ: hasZ) }) })
                    )
                ]
                + (spatialReference.map { [(name: "spatialReference", value: $0.json)] } ?? []))
    }
}

/// One line or several.
public final class Polyline: Multipart, @unchecked Sendable {
    /// A line; in the reference given, else in that of its first point.
    public convenience init(points: [Point], spatialReference: SpatialReference? = nil) {
        self.init(paths: [points], spatialReference: spatialReference)
    }

    /// Lines.
    public convenience init(paths: [[Point]], spatialReference: SpatialReference? = nil) {
        self.init(
            places: paths.map { $0.map(\.place) },
            spatialReference: spatialReference ?? paths.first?.first?.spatialReference)
    }

    override var typeName: String { "esriGeometryPolyline" }
    override var json: JSON { json("paths") }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry {
        Polyline(places: lines.map { $0.map(change) }, spatialReference: spatialReference)
    }
}

/// An area of one ring or several; holes are rings inside others.
public final class Polygon: Multipart, @unchecked Sendable {
    /// An area in a ring, which is closed where it is not; in the reference given, else in that of
    /// its first point.
    public convenience init(points: [Point], spatialReference: SpatialReference? = nil) {
        self.init(rings: [points], spatialReference: spatialReference)
    }

    /// An area in rings.
    public convenience init(rings: [[Point]], spatialReference: SpatialReference? = nil) {
        self.init(
            places: rings.map { $0.map(\.place) },
            spatialReference: spatialReference ?? rings.first?.first?.spatialReference)
    }

    override init(_ lines: Lines, spatialReference: SpatialReference?) {
        super.init(lines.closed, spatialReference: spatialReference)
    }

    override var typeName: String { "esriGeometryPolygon" }
    override var json: JSON { json("rings") }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry {
        Polygon(places: lines.map { $0.map(change) }, spatialReference: spatialReference)
    }
}
