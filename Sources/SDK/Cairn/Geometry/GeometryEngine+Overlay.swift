// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Geometries made of others in the plane of their reference.
///
/// Areas are read by the even-odd rule. Results have outer rings that run clockwise, each followed
/// by its holes, which run counterclockwise; no ring crosses another. They have no z and no m.
/// Vertices are compared on a grid of 2⁻⁴⁰ of the power of two above the greatest coordinate,
/// 0.03 mm in Web Mercator: what is nearer than that is one place, and nothing moves farther than
/// a few steps of it. Geometries of other references are taken into that of the first where that
/// needs no server.
///
/// Each operation has two forms. One is nil where the other throws ``CairnError``:
/// `invalidArgument` for coordinates that are not finite, for a geometry without a reference beside
/// one that has it, and for more than 4 million vertices, 2 million crossings or 200 million pairs
/// of long segments side by side; `unsupported` for references that a server is needed for.
extension GeometryEngine {
    /// Everything that is in one geometry or the other; of geometries of two dimensions, the one of
    /// the higher.
    public static func union(_ geometry1: Geometry, _ geometry2: Geometry) -> Geometry? {
        try? PlanarOverlay([geometry1, geometry2]).union()
    }

    /// Everything that is in one geometry or the other, where failure is to say why.
    @_disfavoredOverload
    public static func union(_ geometry1: Geometry, _ geometry2: Geometry) throws -> Geometry {
        try PlanarOverlay([geometry1, geometry2]).union()
    }

    /// Everything that is in any of the geometries, of those of the highest dimension; nil for no
    /// geometry.
    public static func union(of geometries: [Geometry]) -> Geometry? {
        geometries.isEmpty ? nil : try? PlanarOverlay(geometries).union()
    }

    /// Everything that is in any of the geometries, where failure is to say why.
    ///
    /// Throws also for no geometry.
    @_disfavoredOverload
    public static func union(of geometries: [Geometry]) throws -> Geometry {
        guard !geometries.isEmpty else {
            throw CairnError(.invalidArgument, "there is no geometry to unite")
        }
        return try PlanarOverlay(geometries).union()
    }

    /// Everything that is in both geometries, in the lower of their dimensions: areas that share a
    /// border alone have an empty polygon.
    public static func intersection(_ geometry1: Geometry, _ geometry2: Geometry) -> Geometry? {
        try? PlanarOverlay([geometry1, geometry2]).intersection()
    }

    /// Everything that is in both geometries, where failure is to say why.
    @_disfavoredOverload
    public static func intersection(
        _ geometry1: Geometry, _ geometry2: Geometry
    ) throws -> Geometry { try PlanarOverlay([geometry1, geometry2]).intersection() }

    /// Everything of the first geometry that is not in the second: of a line what is outside the
    /// area, of an area all where the second is a line or positions.
    public static func difference(_ geometry1: Geometry, _ geometry2: Geometry) -> Geometry? {
        try? PlanarOverlay([geometry1, geometry2]).difference()
    }

    /// Everything of the first geometry that is not in the second, where failure is to say why.
    @_disfavoredOverload
    public static func difference(
        _ geometry1: Geometry, _ geometry2: Geometry
    ) throws -> Geometry { try PlanarOverlay([geometry1, geometry2]).difference() }

    /// Everything that is in one geometry alone; of geometries of two dimensions, the one of the
    /// higher.
    public static func symmetricDifference(
        _ geometry1: Geometry, _ geometry2: Geometry
    ) -> Geometry? { try? PlanarOverlay([geometry1, geometry2]).symmetricDifference() }

    /// Everything that is in one geometry alone, where failure is to say why.
    @_disfavoredOverload
    public static func symmetricDifference(
        _ geometry1: Geometry, _ geometry2: Geometry
    ) throws -> Geometry { try PlanarOverlay([geometry1, geometry2]).symmetricDifference() }

    /// What of a geometry is in an envelope, with its sides.
    public static func clip(_ geometry: Geometry, to envelope: Envelope) -> Geometry? {
        try? clipped(geometry, envelope)
    }

    /// What of a geometry is in an envelope, where failure is to say why.
    @_disfavoredOverload
    public static func clip(_ geometry: Geometry, to envelope: Envelope) throws -> Geometry {
        try clipped(geometry, envelope)
    }

    private static func clipped(_ geometry: Geometry, _ envelope: Envelope) throws -> Geometry {
        let overlay = try PlanarOverlay([geometry, envelope])
        // The border of a flat envelope is no area.
        guard !geometry.isEmpty, envelope.width > 0, envelope.height > 0 else {
            return overlay.emptied()
        }
        return try overlay.intersection()
    }

    /// The parts of an area along a line: first what lies on the line's left, then what lies on its
    /// right, then each part that lies on both sides or on neither.
    ///
    /// Empty where the line divides nothing, and for a geometry that is no area.
    public static func cut(_ geometry: Geometry, usingCutter cutter: Polyline) -> [Geometry] {
        (try? cutParts(geometry, cutter)) ?? []
    }

    private static func cutParts(_ geometry: Geometry, _ cutter: Polyline) throws -> [Geometry] {
        let shapes = try PlanarOverlay([geometry, cutter])
        guard PlanarOverlay.dimension(geometry) == 2 else { return [] }
        let parts = try PlanarOverlay.lay(
            PlanarOverlay.input([shapes.geometries[0]]),
            PlanarOverlay.input([shapes.geometries[1]])
        ).cutArea()
        guard parts.contains(where: { $0.isLeft || $0.isRight }) else { return [] }
        let left = parts.filter { $0.isLeft && !$0.isRight }.map(\.rings)
        let right = parts.filter { $0.isRight && !$0.isLeft }.map(\.rings)
        let other = parts.filter { $0.isLeft == $0.isRight }.map(\.rings)
        return [left, right].filter { !$0.isEmpty }.map { shapes.polygon($0) }
            + other.map { shapes.polygon($0) }
    }

    /// The geometry without what the REST does not allow: areas without crossings, with rings in
    /// their directions; lines without segments of no length; positions each once.
    public static func simplify(_ geometry: Geometry) -> Geometry? { try? simplified(geometry) }

    /// The geometry without what the REST does not allow, where failure is to say why.
    @_disfavoredOverload
    public static func simplify(_ geometry: Geometry) throws -> Geometry {
        try simplified(geometry)
    }

    private static func simplified(_ geometry: Geometry) throws -> Geometry {
        switch geometry {
        case is Polygon: return try PlanarOverlay([geometry]).union()
        case is Multipoint: return try PlanarOverlay([geometry]).union()
        case let line as Polyline:
            // Read for what it throws.
            _ = try PlanarOverlay.lay(PlanarOverlay.input([line]))
            let lines = line.lines.map { path in
                var kept: [Place] = []
                for place in path
                where kept.last.map({ $0.x != place.x || $0.y != place.y }) ?? true {
                    kept.append(place)
                }
                return kept
            }
            return Polyline(
                places: lines.filter { $0.count > 1 }, spatialReference: line.spatialReference)
        default: return geometry
        }
    }

    /// Whether ``simplify(_:)->Geometry?`` has nothing to do.
    ///
    /// False for coordinates that are not finite.
    public static func isSimple(_ geometry: Geometry) -> Bool {
        switch geometry {
        case let area as Polygon:
            let rings = area.lines.map { PlanarOverlay.coordinates($0.reversed()) }
            let overlay = try? PlanarOverlay.lay(OverlayInput(rings: rings, rule: .positive))
            return overlay?.isSimpleArea ?? false
        case let line as Polyline:
            return line.lines.allSatisfy { path in
                path.count > 1 && path.allSatisfy { $0.x.isFinite && $0.y.isFinite }
                    && zip(path, path.dropFirst()).allSatisfy { $0.x != $1.x || $0.y != $1.y }
            }
        default:
            let simple = try? simplified(geometry)
            return simple.map { $0.places.count == geometry.places.count } ?? false
        }
    }

    /// The border: of an area its rings as lines, of lines the ends that an odd number of them has;
    /// nil for positions, which have none.
    public static func boundary(of geometry: Geometry) -> Geometry? {
        switch geometry.parted {
        case let area as Polygon:
            return Polyline(places: area.lines, spatialReference: area.spatialReference)
        case let line as Polyline:
            let ends = line.lines.filter { !$0.isEmpty }.flatMap { [$0[0], $0[$0.count - 1]] }
            var counts: [Place: Int] = [:]
            for end in ends { counts[end, default: 0] += 1 }
            // Each once, where it is first.
            let odd = ends.filter { end in
                defer { counts[end] = 0 }
                return counts[end, default: 0] % 2 == 1
            }
            return Multipoint(places: odd, spatialReference: line.spatialReference)
        default: return nil
        }
    }
}
