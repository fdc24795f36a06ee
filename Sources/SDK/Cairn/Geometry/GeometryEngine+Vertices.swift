// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Geometry

extension GeometryEngine {
    /// The most vertices that a geometry is given.
    private static let vertexLimit = Overlay.vertexLimit

    /// The geometry with vertices added along its segments, so that none is longer than a length in
    /// the plane, in units of its reference; z and m are interpolated.
    ///
    /// Positions stay as they are. Nil for a length that is not above 0, coordinates that are not
    /// finite, and more than 4 million vertices.
    public static func densify(_ geometry: Geometry, maxSegmentLength: Double) -> Geometry? {
        try? densified(geometry, maxSegmentLength)
    }

    /// The geometry with vertices added along its segments, where failure is to say why.
    @_disfavoredOverload
    public static func densify(_ geometry: Geometry, maxSegmentLength: Double) throws -> Geometry {
        try densified(geometry, maxSegmentLength)
    }

    private static func densified(_ geometry: Geometry, _ most: Double) throws -> Geometry {
        try withSegments(of: geometry, most) { start, end, room in
            let length = hypot(end.x - start.x, end.y - start.y)
            let count = (length / most).rounded(.up)
            guard count <= Double(room) else { throw tooMany(count, vertexLimit) }
            guard count > 1 else { return [start, end] }
            let inner = (1..<Int(count)).map { index in
                let share = Double(index) / count
                return Place(
                    start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share,
                    z: start.blend(end, share, \.z), m: start.blend(end, share, \.m))
            }
            return [start] + inner + [end]
        }
    }

    /// The geometry with vertices added along the shortest line on the ellipsoid of WGS 84 between
    /// each two, so that none is farther than a length from the next; z and m are interpolated.
    ///
    /// For WGS 84 and Web Mercator; longitudes go on beyond 180 degrees where a line does. Nil for
    /// other references, for vertices nearly opposite each other on the earth, and for what
    /// ``densify(_:maxSegmentLength:)->Geometry?`` is nil for.
    public static func geodeticDensify(
        _ geometry: Geometry, maxSegmentLength: Double, lengthUnit: UnitLength? = nil,
        curveType: GeodeticCurveType = .geodesic
    ) -> Geometry? { try? geodeticDensified(geometry, maxSegmentLength, lengthUnit) }

    /// The geometry with vertices added along the shortest lines, where failure is to say why.
    @_disfavoredOverload
    public static func geodeticDensify(
        _ geometry: Geometry, maxSegmentLength: Double, lengthUnit: UnitLength? = nil,
        curveType: GeodeticCurveType = .geodesic
    ) throws -> Geometry { try geodeticDensified(geometry, maxSegmentLength, lengthUnit) }

    private static func geodeticDensified(
        _ geometry: Geometry, _ length: Double, _ unit: UnitLength?
    ) throws -> Geometry {
        let meters = Measurement(value: length, unit: unit ?? .meters).converted(to: .meters).value
        let degrees = try projected(geometry.parted, into: .wgs84)
        let result = try withSegments(of: degrees, meters) { start, end, room in
            try geodesic(from: start, to: end, atMost: meters, limit: room)
        }
        return try projected(result, into: geometry.spatialReference ?? .wgs84)
    }

    /// The geometry with other vertices between each two; a path goes on where its segment ended.
    private static func withSegments(
        of geometry: Geometry, _ length: Double,
        _ between: (_ start: Place, _ end: Place, _ room: Int) throws -> [Place]
    ) throws -> Geometry {
        guard length > 0, length.isFinite else {
            throw CairnError(
                .invalidArgument, "the length of segments is \(length), expected one above 0")
        }
        guard let shape = geometry.parted as? Multipart else { return geometry }
        var room = vertexLimit
        let lines = try shape.lines.map { line in
            var path: [Place] = Array(line.prefix(1))
            for end in line.dropFirst() {
                guard let start = path.last, start.x.isFinite, start.y.isFinite, end.x.isFinite,
                    end.y.isFinite
                else {
                    throw CairnError(
                        .invalidArgument, "the coordinate (\(end.x), \(end.y)) is not finite")
                }
                let places = try between(start, end, room).dropFirst()
                room -= places.count
                path += places
            }
            return path
        }
        return shape is Polygon
            ? Polygon(places: lines, spatialReference: shape.spatialReference)
            : Polyline(places: lines, spatialReference: shape.spatialReference)
    }

    /// The geometry with fewer vertices, none of those left out farther than a distance in the
    /// plane from the line in its place (Douglas and Peucker, 1973).
    ///
    /// Ends of lines stay. Rings keep three corners, unless all of a ring is within the distance of
    /// its longest way through and `removeDegenerateParts` takes such parts out, and lines shorter
    /// than the distance. Positions and envelopes stay as they are. Parts may touch or cross
    /// afterwards: ``simplify(_:)->Geometry?`` takes that away. Nil for a distance that is not a
    /// number from 0.
    public static func generalize(
        _ geometry: Geometry, maxDeviation: Double, removeDegenerateParts: Bool
    ) -> Geometry? {
        guard maxDeviation >= 0, maxDeviation.isFinite else { return nil }
        guard let shape = geometry as? Multipart else { return geometry }
        let isArea = shape is Polygon
        var lines = shape.lines
        let paths = lines.map(PlanarOverlay.coordinates)
        let outline: Shape = isArea ? .polygon(rings: paths) : .polyline(paths: paths)
        if let isKept = outline.generalization(maxAllowableOffset: maxDeviation) {
            lines = zip(lines, isKept).map { line, isKept in
                zip(line, isKept).filter { $0.1 }.map { $0.0 }
            }
        }
        if removeDegenerateParts {
            lines.removeAll { isDegenerate($0, isArea: isArea, maxDeviation) }
        }
        return isArea
            ? Polygon(places: lines, spatialReference: shape.spatialReference)
            : Polyline(places: lines, spatialReference: shape.spatialReference)
    }

    /// Whether a generalised part has shrunk to less than the deviation.
    private static func isDegenerate(
        _ line: [Place], isArea: Bool, _ deviation: Double
    ) -> Bool {
        guard let first = line.first, line.count > 1 else { return true }
        guard isArea else {
            return line.allSatisfy { hypot($0.x - first.x, $0.y - first.y) <= deviation }
        }
        guard line.count > 3 else { return true }
        // Of a triangle the height, of more corners some are farther than the deviation.
        let sides = zip(line, line.dropFirst())
        let longest = sides.max { one, other in
            hypot(one.1.x - one.0.x, one.1.y - one.0.y)
                < hypot(other.1.x - other.0.x, other.1.y - other.0.y)
        }
        guard let longest else { return true }
        return line.count == 4
            && line.allSatisfy { $0.distance(to: longest.0, longest.1) <= deviation }
    }
}
