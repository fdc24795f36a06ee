// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A part of a line or an area: its vertices, of an area those of a closed ring.
public struct GeometryPart: Sendable, Hashable {
    let places: [Place]
    /// The reference of the geometry.
    public let spatialReference: SpatialReference?

    /// The vertices, in order.
    public var points: [Point] { places.map { Point($0, spatialReference) } }
    /// The first vertex; nil for an empty part.
    public var startPoint: Point? { places.first.map { Point($0, spatialReference) } }
    /// The last vertex; nil for an empty part.
    public var endPoint: Point? { places.last.map { Point($0, spatialReference) } }
    /// Whether it has no vertex.
    public var isEmpty: Bool { places.isEmpty }
}

extension Multipart {
    /// Its parts, each a line, or of an area a ring.
    public var parts: [GeometryPart] {
        lines.map { GeometryPart(places: $0, spatialReference: spatialReference) }
    }
}

/// Makes a geometry point by point.
public class GeometryBuilder: @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; all state is behind a lock.
    let lines: Guarded<[[Place]]>
    /// The reference of the geometry; nil for none.
    public let spatialReference: SpatialReference?

    init(_ lines: [[Place]], _ spatialReference: SpatialReference?) {
        self.lines = Guarded(lines)
        self.spatialReference = spatialReference
    }

    /// Whether no point was added.
    public var isEmpty: Bool { lines.current.allSatisfy(\.isEmpty) }

    /// A point as the geometry has it; one of another reference is projected where that is known
    /// here, else taken as it is.
    func place(_ point: Point) -> Place {
        guard let spatialReference, point.spatialReference != nil,
            let own = try? GeometryEngine.projected(point, into: spatialReference)
        else { return point.place }
        return own.place
    }

    /// Adds a point to the last part.
    func append(_ point: Point) {
        let place = place(point)
        lines.withLock { lines in
            if lines.isEmpty { lines = [[]] }
            lines[lines.count - 1].append(place)
        }
    }
}

/// Makes several positions.
public final class MultipointBuilder: GeometryBuilder, @unchecked Sendable {
    /// None yet.
    public init(spatialReference: SpatialReference? = nil) { super.init([], spatialReference) }

    /// Those that are there already.
    public init(points: [Point], spatialReference: SpatialReference? = nil) {
        super.init([], spatialReference ?? points.first?.spatialReference)
        for point in points { append(point) }
    }

    /// Adds a position.
    public func add(_ point: Point) { append(point) }

    /// The positions so far.
    public func toGeometry() -> Multipoint {
        Multipoint(places: Array(lines.current.joined()), spatialReference: spatialReference)
    }
}

/// Makes a geometry of one part or several: of a line, or of an area its rings.
public class MultipartBuilder: GeometryBuilder, @unchecked Sendable {
    /// Adds a point to the last part.
    public func add(_ point: Point) { append(point) }

    /// Begins another part with points.
    public func addPart(points: [Point]) {
        let places = points.map { place($0) }
        lines.withLock { $0.append(places) }
    }
}

/// Makes a line of one part or several.
public final class PolylineBuilder: MultipartBuilder, @unchecked Sendable {
    /// No point yet.
    public init(spatialReference: SpatialReference? = nil) { super.init([], spatialReference) }

    /// A line that is there already.
    public init(polyline: Polyline?) {
        super.init(polyline?.lines ?? [], polyline?.spatialReference)
    }

    /// The points of a first part.
    public init(points: [Point], spatialReference: SpatialReference? = nil) {
        super.init([], spatialReference ?? points.first?.spatialReference)
        for point in points { append(point) }
    }

    /// The line so far.
    public func toGeometry() -> Polyline {
        Polyline(places: lines.current, spatialReference: spatialReference)
    }
}

/// Makes an area of one ring or several.
public final class PolygonBuilder: MultipartBuilder, @unchecked Sendable {
    /// No point yet.
    public init(spatialReference: SpatialReference? = nil) { super.init([], spatialReference) }

    /// An area that is there already.
    public init(polygon: Polygon?) {
        // Its rings end where they begin; a builder closes them itself.
        super.init(
            polygon?.lines.map { $0.count > 1 ? Array($0.dropLast()) : $0 } ?? [],
            polygon?.spatialReference)
    }

    /// The points of a first ring.
    public init(points: [Point], spatialReference: SpatialReference? = nil) {
        super.init([], spatialReference ?? points.first?.spatialReference)
        for point in points { append(point) }
    }

    /// The area so far; rings are closed.
    public func toGeometry() -> Polygon {
        Polygon(places: lines.current, spatialReference: spatialReference)
    }
}

/// Makes a rectangle.
public final class EnvelopeBuilder: Sendable {
    private let envelope: Guarded<Envelope>

    /// A rectangle that is there already.
    public init(envelope: Envelope) { self.envelope = Guarded(envelope) }

    /// Makes it larger around its center, by a factor; below 1 smaller.
    public func expand(by factor: Double) {
        envelope.withLock { $0 = $0.expanded(by: factor) }
    }

    /// Makes it so large that it contains another of the same reference.
    public func union(with other: Envelope) { envelope.withLock { $0 = $0.union(other) } }

    /// The rectangle so far.
    public func toGeometry() -> Envelope { envelope.current }
}
