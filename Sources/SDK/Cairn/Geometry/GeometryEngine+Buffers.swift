// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

extension GeometryEngine {
    /// All places within a distance of a geometry in the plane, in units of its reference.
    ///
    /// Below 0, the places of an area that are farther than that from its border; of lines and
    /// positions nothing. Corners are round: their vertices are at the distance, a whole circle has
    /// 96, so chords are within 0.054 % of the distance from the circle. Nil for a distance or
    /// coordinates that are not finite, and for what is beyond the bounds of an overlay.
    public static func buffer(around geometry: Geometry, distance: Double) -> Polygon? {
        try? buffered(geometry, distance)
    }

    /// All places within a distance of a geometry, where failure is to say why.
    @_disfavoredOverload
    public static func buffer(around geometry: Geometry, distance: Double) throws -> Polygon {
        try buffered(geometry, distance)
    }

    /// All places within a distance of each geometry, or of any of them.
    ///
    /// - Parameters:
    ///   - geometries: In one reference, or in ones that can be had in the first's.
    ///   - distances: One for each geometry, or one for all the rest of them at the end.
    ///   - shouldUnion: Whether to make one area of all.
    /// - Returns: In the order of the geometries; empty where one fails, and without distances.
    public static func buffer(
        around geometries: [Geometry], distances: [Double], shouldUnion: Bool
    ) -> [Polygon] {
        guard !distances.isEmpty, let shapes = try? PlanarOverlay(geometries) else { return [] }
        let areas = try? shapes.geometries.enumerated().map { index, geometry in
            try buffered(geometry, distances[min(index, distances.count - 1)])
        }
        guard let areas else { return [] }
        guard shouldUnion, !areas.isEmpty else { return areas }
        guard let union = try? PlanarOverlay(areas).union() as? Polygon else { return [] }
        return [union]
    }

    private static func buffered(_ geometry: Geometry, _ distance: Double) throws -> Polygon {
        guard distance.isFinite else {
            throw CairnError(
                .invalidArgument, "the distance of a buffer is \(distance), expected a number")
        }
        let shapes = try PlanarOverlay([geometry])
        let parts = try PlanarOverlay.engine { () throws(OverlayFailure) in
            try Buffering.area(around: PlanarOverlay.input(shapes.geometries), distance: distance)
        }
        return shapes.polygon(parts)
    }

    /// The smallest convex geometry around another: an area, a line for places in one line, a
    /// point for one place; nil for an empty geometry and coordinates that are not finite.
    public static func convexHull(for geometry: Geometry) -> Geometry? {
        convexHull(for: [geometry], shouldMerge: true).first
    }

    /// The smallest convex geometry around each of several, or around all of them; those of empty
    /// geometries are left out, and there are none where a coordinate is not finite or a reference
    /// cannot be had in the first's.
    public static func convexHull(for geometries: [Geometry], shouldMerge: Bool) -> [Geometry] {
        guard let shapes = try? PlanarOverlay(geometries) else { return [] }
        let lists = shapes.geometries.map(\.places)
        guard lists.joined().allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return [] }
        return (shouldMerge ? [Array(lists.joined())] : lists).compactMap { places in
            let corners = ConvexHull.corners(of: PlanarOverlay.coordinates(places))
            switch corners.count {
            case 0: return nil
            case 1:
                return Point(x: corners[0].x, y: corners[0].y, spatialReference: shapes.reference)
            case 2: return shapes.polyline([corners])
            default: return shapes.polygon([corners.reversed() + [corners[corners.count - 1]]])
            }
        }
    }

    /// A place inside an area, far from its border, for its label; nil for an area without size.
    public static func labelPoint(for polygon: Polygon) -> Point? {
        guard polygon.places.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return nil }
        let extent = polygon.extent
        let inner = InnerPlace(
            polygon.lines.map(PlanarOverlay.coordinates),
            precision: max(extent.width, extent.height) / 1_000)
        return inner.map {
            Point(x: $0.place.x, y: $0.place.y, spatialReference: polygon.spatialReference)
        }
    }

    /// Around two geometries; nil where one is in another reference or both are empty.
    public static func combineExtents(_ geometry1: Geometry, _ geometry2: Geometry) -> Envelope? {
        combineExtents(of: [geometry1, geometry2])
    }
}
