// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Geometries of one reference as the engine of overlays reads them, and its answers as geometries.
struct PlanarOverlay {
    /// The geometries, in the reference of the first; envelopes as areas.
    let geometries: [Geometry]
    /// What the first is measured in.
    let reference: SpatialReference?

    /// Throws ``CairnError`` where one cannot be had in the reference of the first without a
    /// server.
    init(_ given: [Geometry]) throws {
        let reference = given.first?.spatialReference
        self.reference = reference
        geometries = try given.map { geometry in
            let shape = geometry.parted
            if shape.spatialReference == reference { return shape }
            guard let reference, shape.spatialReference != nil else {
                throw CairnError(
                    .invalidArgument,
                    "one geometry has a spatial reference and the other has none: expected both "
                        + "or neither")
            }
            return try GeometryEngine.projected(shape, into: reference)
        }
    }

    /// 2 for areas, 1 for lines, 0 for positions.
    static func dimension(_ geometry: Geometry) -> Int {
        geometry is Polygon || geometry is Envelope ? 2 : geometry is Polyline ? 1 : 0
    }

    static func coordinates(_ places: [Place]) -> [Coordinate] {
        places.map { Coordinate(x: $0.x, y: $0.y) }
    }

    static func input(_ geometries: [Geometry]) -> OverlayInput {
        var input = OverlayInput()
        for geometry in geometries {
            switch geometry.parted {
            case let area as Polygon: input.rings += area.lines.map(coordinates)
            case let line as Polyline: input.paths += line.lines.map(coordinates)
            case let other: input.points += coordinates(other.places)
            }
        }
        return input
    }

    static func lay(
        _ first: OverlayInput, _ second: OverlayInput = OverlayInput(), reach: Double = 0
    ) throws -> Overlay {
        try engine { () throws(OverlayFailure) in try Overlay(first, second, reach: reach) }
    }

    /// What the engine throws as an error of the SDK.
    static func engine<Answer>(_ body: () throws(OverlayFailure) -> Answer) throws -> Answer {
        do throws(OverlayFailure) {
            return try body()
        } catch {
            throw CairnError(.invalidArgument, error.message)
        }
    }

    func polygon(_ rings: [[Coordinate]]) -> Polygon {
        Polygon(places: rings.map(Self.places), spatialReference: reference)
    }

    func polygon(_ parts: [[[Coordinate]]]) -> Polygon { polygon(parts.flatMap { $0 }) }

    func polyline(_ paths: [[Coordinate]]) -> Polyline {
        Polyline(places: paths.map(Self.places), spatialReference: reference)
    }

    func multipoint(_ points: [Coordinate]) -> Multipoint {
        Multipoint(places: Self.places(points), spatialReference: reference)
    }

    static func places(_ coordinates: [Coordinate]) -> [Place] {
        coordinates.map { Place($0.x, $0.y) }
    }

    /// Areas without crossings, each part clockwise, holes counterclockwise.
    private func simple(_ area: Geometry, reach: Double) throws -> [[Coordinate]] {
        try Self.lay(Self.input([area]), reach: reach).area { first, _ in first }.flatMap { $0 }
    }

    /// The greatest magnitude of a coordinate that is a number.
    private var reach: Double {
        geometries.lazy.flatMap(\.places).reduce(0) {
            let size = max(abs($1.x), abs($1.y))
            return size.isFinite ? max($0, size) : $0
        }
    }

    // MARK: Operations

    /// Of geometries of several dimensions, of those of the highest alone.
    func union() throws -> Geometry {
        let highest = geometries.map(Self.dimension).max() ?? 0
        let shapes = geometries.filter { Self.dimension($0) == highest }
        switch highest {
        case 2 where shapes.count <= 2:
            let overlay = try Self.lay(Self.input([shapes[0]]), Self.input(Array(shapes[1...])))
            return polygon(overlay.area { $0 || $1 })
        case 2:
            let reach = reach
            let areas = try shapes.map { try simple($0, reach: reach) }
            return polygon(
                try Self.engine { () throws(OverlayFailure) in
                    try Buffering.union(of: areas, reach: reach)
                })
        case 1: return polyline(try Self.lay(Self.input(shapes)).lines { _ in true })
        default: return multipoint(try Self.lay(Self.input(shapes)).points { _ in true })
        }
    }

    /// Of two geometries, in the lower of their dimensions.
    func intersection() throws -> Geometry {
        let (first, second) = ordered()
        let overlay = try Self.lay(Self.input([first]), Self.input([second]))
        switch (Self.dimension(first), Self.dimension(second)) {
        case (2, _): return polygon(overlay.area { $0 && $1 })
        case (1, 2): return polyline(overlay.lines { $0.isOnFirst && $0.isInSecond })
        case (1, _): return polyline(overlay.lines { $0.isOnFirst && $0.isOnSecond })
        default:
            return positions(overlay.points { $0.isInSecond || $0.isOnSecond }, like: first)
        }
    }

    /// What of the first geometry is not in the second; all of it where the second has a lower
    /// dimension.
    func difference() throws -> Geometry {
        let (first, second) = (geometries[0], geometries[1])
        let dimensions = (Self.dimension(first), Self.dimension(second))
        let isCut = dimensions.0 <= dimensions.1
        let overlay = try Self.lay(Self.input([first]), Self.input(isCut ? [second] : []))
        switch dimensions.0 {
        case 2: return polygon(overlay.area { $0 && !$1 })
        case 1:
            return polyline(
                overlay.lines { $0.isOnFirst && !$0.isInSecond && !$0.isOnSecond })
        default:
            return positions(overlay.points { !$0.isInSecond && !$0.isOnSecond }, like: first)
        }
    }

    /// What is in one of two geometries alone; of two dimensions, the geometry of the higher.
    func symmetricDifference() throws -> Geometry {
        let (first, second) = (geometries[0], geometries[1])
        let dimension = Self.dimension(first)
        guard dimension == Self.dimension(second) else { return try union() }
        if dimension == 0 {
            let others = try PlanarOverlay([second, first])
            let places = try [self, others].flatMap { try $0.difference().places }
            return Multipoint(places: places, spatialReference: reference)
        }
        let overlay = try Self.lay(Self.input([first]), Self.input([second]))
        return dimension == 2
            ? polygon(overlay.area { $0 != $1 })
            : polyline(overlay.lines { $0.isOnFirst != $0.isOnSecond })
    }

    /// A geometry like the first, with nothing in it.
    func emptied() -> Geometry {
        switch Self.dimension(geometries[0]) {
        case 2: polygon([[Coordinate]]())
        case 1: polyline([])
        default: multipoint([])
        }
    }

    private func ordered() -> (Geometry, Geometry) {
        Self.dimension(geometries[0]) <= Self.dimension(geometries[1])
            ? (geometries[0], geometries[1]) : (geometries[1], geometries[0])
    }

    /// A point where one was given and is left.
    private func positions(_ places: [Coordinate], like given: Geometry) -> Geometry {
        if given is Point, let place = places.first {
            return Point(x: place.x, y: place.y, spatialReference: reference)
        }
        return multipoint(places)
    }
}
