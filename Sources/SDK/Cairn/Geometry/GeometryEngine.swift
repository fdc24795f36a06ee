// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Operations on geometries that need no server.
public enum GeometryEngine {
    /// Radius of the sphere of Web Mercator, metres.
    private static let radius = 6_378_137.0
    /// The latitude where Web Mercator is as high as wide.
    private static let latitudeLimit = 85.051_128_779_806_59

    /// The geometry in another reference; nil where it cannot be had in it without a server, and
    /// for a geometry without a reference.
    ///
    /// Between WGS 84 and Web Mercator by formula; from a reference into itself as it is. Latitudes
    /// beyond 85.0511° become 85.0511° in Web Mercator.
    public static func project<Shape: Geometry>(
        _ geometry: Shape, into spatialReference: SpatialReference
    ) -> Shape? {
        try? projected(geometry, into: spatialReference)
    }

    /// The geometry in another reference, where a geometry is expected that is not optional.
    ///
    /// Throws ``CairnError`` (`unsupported`) for references that a server is needed for,
    /// `invalidArgument` for a geometry without a reference.
    @_disfavoredOverload
    public static func project<Shape: Geometry>(
        _ geometry: Shape, into spatialReference: SpatialReference
    ) throws -> Shape {
        try projected(geometry, into: spatialReference)
    }

    static func projected<Shape: Geometry>(
        _ geometry: Shape, into spatialReference: SpatialReference
    ) throws -> Shape {
        guard let own = geometry.spatialReference else {
            throw CairnError(
                .invalidArgument, "a geometry without a spatial reference cannot be projected")
        }
        if own == spatialReference { return geometry }
        let change: (Place) -> Place
        switch (own.wkid?.rawValue, own.isWebMercator, spatialReference) {
        case (4326, _, let target) where target.isWebMercator: change = toMercator
        case (_, true, .wgs84): change = toDegrees
        default:
            throw CairnError(
                .unsupported,
                "\(own) cannot be projected into \(spatialReference) without a server: only 4326 "
                    + "and Web Mercator can")
        }
        guard let result = geometry.mapped(into: spatialReference, change) as? Shape else {
            throw CairnError(.unsupported, "\(geometry) cannot be projected")
        }
        return result
    }

    /// Around several geometries; nil for none, and for geometries of several references.
    public static func combineExtents(of geometries: [Geometry]) -> Envelope? {
        let extents = geometries.filter { !$0.isEmpty }.map(\.extent)
        guard let first = extents.first,
            extents.allSatisfy({ $0.spatialReference == first.spatialReference })
        else { return nil }
        return extents.dropFirst().reduce(first) { $0.union($1) }
    }

    /// The distance in the plane, in units of the reference, from a point to the nearest point of a
    /// geometry, 0 inside an area; nil for several references.
    public static func distance(from point: Point, to geometry: Geometry) -> Double? {
        guard point.spatialReference == geometry.spatialReference, !geometry.isEmpty else {
            return nil
        }
        return distance(from: point.place, to: geometry)
    }

    /// The geometry with longitudes from -180 to 180 degrees, or the same in Web Mercator: each
    /// vertex by itself.
    ///
    /// Nil for other references, and for a line or an area that crosses the meridian of 180
    /// degrees, which would have to be cut.
    public static func normalizeCentralMeridian(of geometry: Geometry) -> Geometry? {
        guard let reference = geometry.spatialReference else { return nil }
        let half: Double
        if reference.isWebMercator {
            half = .pi * radius
        } else if reference == .wgs84 {
            half = 180
        } else {
            return nil
        }
        let extent = geometry.extent
        func turns(_ x: Double) -> Double { ((x + half) / (2 * half)).rounded(.down) }
        if geometry is Multipart || geometry is Envelope {
            let (first, last) = (turns(extent.xMin), turns(extent.xMax))
            let ends = extent.xMax == -half + 2 * half * last
            guard first == last || ends && first == last - 1 else { return nil }
            let shift = first * 2 * half
            return shift == 0
                ? geometry
                : geometry.mapped(into: reference) { place in
                    Place(place.x - shift, place.y, z: place.z, m: place.m)
                }
        }
        return geometry.mapped(into: reference) { place in
            // The meridian itself stays on the side where it is.
            let number = abs(place.x) == half ? 0 : turns(place.x)
            return Place(place.x - number * 2 * half, place.y, z: place.z, m: place.m)
        }
    }

    private static func toMercator(_ place: Place) -> Place {
        let latitude = min(max(place.y, -latitudeLimit), latitudeLimit) * .pi / 180
        return Place(
            place.x * .pi / 180 * radius, log(tan(.pi / 4 + latitude / 2)) * radius, z: place.z,
            m: place.m)
    }

    private static func toDegrees(_ place: Place) -> Place {
        Place(
            place.x / radius * 180 / .pi,
            (2 * atan(exp(place.y / radius)) - .pi / 2) * 180 / .pi, z: place.z, m: place.m)
    }

    /// The distance in the plane of the reference from a place to the nearest point of a geometry;
    /// 0 inside an area.
    static func distance(from place: Place, to geometry: Geometry) -> Double {
        switch geometry {
        case let area as Polygon:
            return contains(area.lines, place) ? 0 : distance(place, area.lines)
        case let line as Polyline: return distance(place, line.lines)
        case let box as Envelope:
            let dx = max(box.xMin - place.x, 0, place.x - box.xMax)
            let dy = max(box.yMin - place.y, 0, place.y - box.yMax)
            return hypot(dx, dy)
        default:
            return geometry.places.map { hypot($0.x - place.x, $0.y - place.y) }.min() ?? .infinity
        }
    }

    private static func distance(_ place: Place, _ lines: [[Place]]) -> Double {
        var least = Double.infinity
        for line in lines {
            if line.count == 1 {
                least = min(least, hypot(line[0].x - place.x, line[0].y - place.y))
            }
            for (start, end) in zip(line, line.dropFirst()) {
                least = min(least, place.distance(to: start, end))
            }
        }
        return least
    }

    /// A place on the border may count as outside: the distance finds it.
    private static func contains(_ rings: [[Place]], _ place: Place) -> Bool {
        rings.reduce(false) { $0 != place.isInside(zip($1, $1.dropFirst())) }
    }
}
