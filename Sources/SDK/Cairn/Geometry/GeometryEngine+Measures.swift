// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// The place of a geometry that is nearest to a point.
public struct ProximityResult: Sendable, Hashable {
    /// The place, in the geometry's reference.
    public let coordinate: Point
    /// The distance in the plane, in units of the reference.
    public let distance: Double
    /// Which part of the geometry it is in, from 0.
    public let partIndex: Int
    /// Which vertex of the part it is, or the one before it, from 0.
    public let pointIndex: Int
}

extension GeometryEngine {
    /// By the name that Esri's SDK has for it.
    public typealias GeodeticCurveType = Cairn.GeodeticCurveType

    /// The length in the plane, in units of the reference: of an area that of its rings, of
    /// positions 0.
    public static func length(of geometry: Geometry) -> Double {
        let shape = geometry.parted
        return ((shape as? Multipart)?.lines ?? []).reduce(0) { sum, line in
            zip(line, line.dropFirst()).reduce(sum) {
                $0 + hypot($1.1.x - $1.0.x, $1.1.y - $1.0.y)
            }
        }
    }

    /// The area in the plane, in squares of units of the reference; 0 of what is no area.
    ///
    /// Rings that run counterclockwise are holes, as the REST has them; where the first ring runs
    /// so, the clockwise ones are.
    public static func area(of geometry: Geometry) -> Double {
        guard let area = geometry.parted as? Polygon, let origin = area.lines.first?.first else {
            return 0
        }
        let sum = area.lines.reduce(0.0) { sum, ring in
            zip(ring, ring.dropFirst()).reduce(sum) { sum, side in
                let (start, end) = side
                return sum + (start.x - origin.x) * (end.y - origin.y)
                    - (end.x - origin.x) * (start.y - origin.y)
            }
        }
        return abs(sum) / 2
    }

    /// The length on the ellipsoid of WGS 84: of an area that of its rings, of positions 0.
    ///
    /// Not a number for references other than WGS 84 and Web Mercator, and for a segment whose ends
    /// are nearly opposite each other on the earth.
    public static func geodeticLength(
        of geometry: Geometry, lengthUnit: UnitLength = .meters,
        curveType: GeodeticCurveType = .geodesic
    ) -> Double {
        let shape = geometry.parted
        guard let own = try? projected(shape, into: .wgs84) else { return .nan }
        let meters = ((own as? Multipart)?.lines ?? []).reduce(0) { sum, line in
            zip(line, line.dropFirst()).reduce(sum) { sum, side in
                let found = geodeticDistance(from: Point(side.0, .wgs84), to: Point(side.1, .wgs84))
                return sum + (found?.distance.value ?? .nan)
            }
        }
        return Measurement(value: meters, unit: UnitLength.meters).converted(to: lengthUnit).value
    }

    /// The place of a geometry, of an area that of its border, that is nearest to a point; nil for
    /// an empty geometry and for several references.
    public static func nearestCoordinate(in geometry: Geometry, to point: Point) -> ProximityResult?
    {
        nearest(in: geometry, to: point, isVertex: false)
    }

    /// The vertex of a geometry that is nearest to a point; nil for an empty geometry and for
    /// several references.
    public static func nearestVertex(in geometry: Geometry, to point: Point) -> ProximityResult? {
        nearest(in: geometry, to: point, isVertex: true)
    }

    private static func nearest(
        in geometry: Geometry, to point: Point, isVertex: Bool
    ) -> ProximityResult? {
        let reference = geometry.spatialReference
        guard reference == point.spatialReference else { return nil }
        let shape = geometry.parted
        let lines = (shape as? Multipart)?.lines
        var best: ProximityResult?
        func offer(_ place: Place, _ part: Int, _ index: Int) {
            let distance = hypot(place.x - point.x, place.y - point.y)
            guard distance < best?.distance ?? .infinity else { return }
            best = ProximityResult(
                coordinate: Point(place, reference), distance: distance, partIndex: part,
                pointIndex: index)
        }
        for (part, line) in (lines ?? [shape.places]).enumerated() {
            for (index, place) in line.enumerated() { offer(place, part, index) }
            guard !isVertex, lines != nil else { continue }
            for (index, (start, end)) in zip(line, line.dropFirst()).enumerated() {
                let (dx, dy) = (end.x - start.x, end.y - start.y)
                let square = dx * dx + dy * dy
                guard square > 0 else { continue }
                let share = ((point.x - start.x) * dx + (point.y - start.y) * dy) / square
                guard 0...1 ~= share else { continue }
                offer(Place(start.x + share * dx, start.y + share * dy), part, index)
            }
        }
        return best
    }
}
