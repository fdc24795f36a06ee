// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Geometry

extension GeometryEngine {
    /// All places within a distance of a geometry on the ellipsoid of WGS 84; below 0, the places
    /// of an area that are farther than that from its border.
    ///
    /// For WGS 84 and Web Mercator; segments are shortest lines on the ellipsoid. The result has
    /// longitudes from -180 to 180 degrees: what goes beyond is cut there and continued on the
    /// other side. Nil for other references, for a distance of more than 10,000 km, for lines and
    /// areas that are within the distance of a pole, and for what is not finite.
    ///
    /// - Parameters:
    ///   - geometry: What is surrounded.
    ///   - distance: In the unit.
    ///   - distanceUnit: Metres if not given.
    ///   - maxDeviation: How far chords may be from arcs, in the unit; not a number for circles of
    ///     96 vertices.
    ///   - curveType: How vertices are joined.
    public static func geodeticBuffer(
        around geometry: Geometry, distance: Double, distanceUnit: UnitLength? = nil,
        maxDeviation: Double = .nan, curveType: GeodeticCurveType = .geodesic
    ) -> Polygon? {
        try? geodeticBuffered(geometry, distance, distanceUnit ?? .meters, maxDeviation)
    }

    /// All places within a distance of a geometry on the ellipsoid, where failure is to say why.
    @_disfavoredOverload
    public static func geodeticBuffer(
        around geometry: Geometry, distance: Double, distanceUnit: UnitLength? = nil,
        maxDeviation: Double = .nan, curveType: GeodeticCurveType = .geodesic
    ) throws -> Polygon {
        try geodeticBuffered(geometry, distance, distanceUnit ?? .meters, maxDeviation)
    }

    /// All places within a distance of each geometry on the ellipsoid, or of any of them; empty
    /// where one of them has none.
    ///
    /// - Parameters:
    ///   - geometries: What is surrounded.
    ///   - distances: One for each geometry, or one for all the rest of them at the end.
    ///   - distanceUnit: Metres if not given.
    ///   - maxDeviation: As for one geometry.
    ///   - curveType: How vertices are joined.
    ///   - shouldUnion: Whether to make one area of all.
    public static func geodeticBuffer(
        around geometries: [Geometry], distances: [Double], distanceUnit: UnitLength? = nil,
        maxDeviation: Double = .nan, curveType: GeodeticCurveType = .geodesic, shouldUnion: Bool
    ) -> [Polygon] {
        guard !distances.isEmpty else { return [] }
        let areas = try? geometries.enumerated().map { index, geometry in
            try geodeticBuffered(
                geometry, distances[min(index, distances.count - 1)], distanceUnit ?? .meters,
                maxDeviation)
        }
        guard let areas else { return [] }
        guard shouldUnion, !areas.isEmpty else { return areas }
        guard let union = try? PlanarOverlay(areas).union() as? Polygon else { return [] }
        return [union]
    }

    private static func geodeticBuffered(
        _ geometry: Geometry, _ distance: Double, _ unit: UnitLength, _ maxDeviation: Double
    ) throws -> Polygon {
        func meters(_ value: Double) -> Double {
            Measurement(value: value, unit: unit).converted(to: .meters).value
        }
        let reach = meters(distance)
        guard abs(reach) <= 10_000_000 else {
            throw CairnError(
                .invalidArgument,
                "the distance of a buffer is \(reach) m, expected at most 10,000 km")
        }
        let degrees = try projected(geometry.parted, into: .wgs84)
        guard degrees.places.allSatisfy({ $0.x.isFinite && abs($0.y) <= 90 }) else {
            throw CairnError(
                .invalidArgument, "the geometry has a place that is none on the earth")
        }
        let surroundings = GeodeticSurroundings(
            distance: abs(reach), maxDeviation: meters(maxDeviation))
        let shapes = try PlanarOverlay([degrees])
        let area = try surroundings.area(around: degrees, isInner: reach < 0)
        let polygon = shapes.polygon(try withinTurn(area))
        return try projected(polygon, into: geometry.spatialReference ?? .wgs84)
    }

    /// An area in degrees, cut where it goes beyond 180 degrees and continued on the other side.
    private static func withinTurn(_ parts: [[[Coordinate]]]) throws -> [[[Coordinate]]] {
        let rings = parts.flatMap { $0 }
        let longitudes = rings.joined().map(\.x)
        guard let west = longitudes.min(), let east = longitudes.max(), west < -180 || east > 180
        else { return parts }
        let turns = ((west + 180) / 360).rounded(.down)...((east + 180) / 360).rounded(.down)
        var all: [[[Coordinate]]] = []
        for turn in stride(from: turns.lowerBound, through: turns.upperBound, by: 1) {
            let (left, right) = (turn * 360 - 180, turn * 360 + 180)
            let band = [(left, -91.0), (right, -91), (right, 91), (left, 91)].map {
                Coordinate(x: $0.0, y: $0.1)
            }
            let inside = try PlanarOverlay.lay(
                OverlayInput(rings: rings), OverlayInput(rings: [band])
            ).area { $0 && $1 }
            all.append(
                inside.joined().map { ring in
                    ring.map { Coordinate(x: $0.x - turn * 360, y: $0.y) }
                })
        }
        return try PlanarOverlay.engine { () throws(OverlayFailure) in
            try Buffering.union(of: all, reach: 360)
        }
    }
}

/// Rings around geometries on the ellipsoid, in degrees, whose windings count how often a place is
/// within a distance, as ``OffsetRings`` are in the plane.
struct GeodeticSurroundings {
    /// Metres.
    let distance: Double
    /// Of a circle.
    private let vertexCount: Int

    /// - Parameters:
    ///   - distance: Metres.
    ///   - maxDeviation: Of chords from arcs, in metres; not a number for the usual count.
    init(distance: Double, maxDeviation: Double) {
        self.distance = distance
        let share = maxDeviation / max(distance, .leastNormalMagnitude)
        guard share > 0 else {
            vertexCount = OffsetRings.circleVertices
            return
        }
        let angle = 2 * acos(max(1 - share, 0))
        vertexCount = Int(min(max((2 * .pi / angle).rounded(.up), 12), 10_000))
    }

    /// The area around a geometry in degrees, or inside its border.
    func area(around geometry: Geometry, isInner: Bool) throws -> [[[Coordinate]]] {
        guard let shape = geometry as? Multipart else {
            if isInner { return [] }
            return try united(geometry.places.flatMap(circle))
        }
        let limit = Overlay.vertexLimit
        // The chord of a segment of this length is within a thousandth of it from the shortest line
        // up to 80 degrees of latitude.
        let most = min(max(distance / 4, 100), 20_000)
        var lines = try shape.lines.map { line in
            var path = Array(line.prefix(1))
            for end in line.dropFirst() {
                path += try GeometryEngine.geodesic(
                    from: path[path.count - 1], to: end, atMost: most, limit: limit
                ).dropFirst()
                guard path.count <= limit else {
                    throw GeometryEngine.tooMany(Double(path.count), limit)
                }
            }
            return path
        }
        for place in lines.joined() {
            let pole = Place(place.x, place.y < 0 ? -90 : 90)
            guard let found = GeometryEngine.inverse(place.x, place.y, pole.x, pole.y),
                found.meters > distance
            else {
                throw CairnError(
                    .invalidArgument,
                    "a line or an area is within \(distance) m of a pole, expected farther ones")
            }
        }
        guard shape is Polygon else {
            return isInner ? [] : try surroundings(of: lines)
        }
        let rings = lines.map(PlanarOverlay.coordinates)
        let parts = try PlanarOverlay.lay(OverlayInput(rings: rings)).area { first, _ in first }
        if distance == 0 { return parts }
        lines = parts.joined().map(PlanarOverlay.places)
        let band = try surroundings(of: lines).flatMap { $0 }
        let overlay = try PlanarOverlay.lay(
            OverlayInput(rings: parts.flatMap { $0 }), OverlayInput(rings: band))
        return isInner ? overlay.area { $0 && !$1 } : overlay.area { $0 || $1 }
    }

    /// All around lines: together, or where many pieces would overlap, run by run.
    private func surroundings(of lines: [[Place]]) throws -> [[[Coordinate]]] {
        // In degrees of latitude.
        let reach = distance / 111_320
        let runs = lines.flatMap { line in
            Buffering.runs(of: PlanarOverlay.coordinates(line), distance: reach)
                .map { Array(line[$0]) }
        }
        guard runs.count > lines.count else { return try united(lines.flatMap(around)) }
        let pieces = runs.map(around)
        return try PlanarOverlay.engine { () throws(OverlayFailure) in
            try Buffering.union(ofPieces: pieces, reach: 360)
        }
    }

    private func united(_ rings: [[Coordinate]]) throws -> [[[Coordinate]]] {
        guard distance > 0 else { return [] }
        return try PlanarOverlay.lay(OverlayInput(rings: rings, rule: .positive))
            .area { first, _ in first }
    }

    private func at(_ place: Place, _ azimuth: Double) -> Coordinate {
        let found = GeometryEngine.place(from: place, meters: distance, azimuth: azimuth)
        return Coordinate(x: found.x, y: found.y)
    }

    /// Counterclockwise.
    private func circle(_ place: Place) -> [[Coordinate]] {
        guard distance > 0 else { return [] }
        let step = 2 * Double.pi / Double(vertexCount)
        let pole = [90.0, -90].first { pole in
            let found = GeometryEngine.inverse(place.x, place.y, place.x, pole)
            return (found?.meters ?? 0) < distance
        }
        guard let pole else {
            return [(0..<vertexCount).map { at(place, -Double($0) * step) }]
        }
        // Around a pole the circle is a line from one side of the map to the other, closed along
        // the pole. It is beyond the pole where it goes towards it.
        let start = pole > 0 ? 0 : Double.pi
        var ring = (1..<vertexCount).map { at(place, start - Double($0) * step) }
        let end = at(place, start)
        let (first, last) = pole > 0 ? (-180.0, 180.0) : (180.0, -180.0)
        ring.insert(Coordinate(x: place.x + first, y: end.y), at: 0)
        ring.append(Coordinate(x: place.x + last, y: end.y))
        ring.append(Coordinate(x: place.x + last, y: pole))
        ring.append(Coordinate(x: place.x + first, y: pole))
        return [ring]
    }

    /// All around a line, as ``OffsetRings/add(along:)`` has it.
    private func around(_ line: [Place]) -> [[Coordinate]] {
        var path: [Place] = []
        for place in line where path.last.map({ $0.x != place.x || $0.y != place.y }) ?? true {
            path.append(place)
        }
        guard path.count > 1 else { return path.flatMap(circle) }
        let way = path + path.dropFirst().dropLast().reversed()
        // At the start and at the end of each segment, both in its direction.
        let directions = way.indices.map { index in
            let (a, b) = (way[index], way[(index + 1) % way.count])
            let found = GeometryEngine.inverse(a.x, a.y, b.x, b.y)
            return (start: found?.there ?? 0, end: (found?.back ?? 0) + .pi)
        }
        let step = 2 * Double.pi / Double(vertexCount)
        var ring: [Coordinate] = []
        for (index, place) in way.enumerated() {
            let before = directions[(index + way.count - 1) % way.count].end
            let after = directions[index].start
            let turn = (after - before).remainder(dividingBy: 2 * .pi)
            ring.append(at(place, before - .pi / 2))
            if turn < 0, turn > -.pi + 1e-9 {
                ring.append(Coordinate(x: place.x, y: place.y))
            } else {
                let angle = turn < 0 ? turn + 2 * .pi : turn
                let count = Int((angle / step).rounded(.up))
                for number in 1..<max(count, 1) {
                    ring.append(
                        at(place, before - .pi / 2 + angle * Double(number) / Double(count)))
                }
            }
            ring.append(at(place, after - .pi / 2))
        }
        return [ring.reversed()]
    }
}
