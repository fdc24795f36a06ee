// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import GEOS
internal import Geometry
internal import PROJ

/// The spatial filter of a query: a relation to its geometry; confined to one thread.
struct SpatialTest {
    /// The bounding box of all possible matches, in the dataset's reference; nil where it cannot be
    /// computed.
    let searchEnvelope: Envelope?
    /// From the dataset to the reference of the test; nil for the dataset's own.
    private let transform: CoordinateTransform?
    private let way: Way
    private let kind: GeometryKind

    private enum Way {
        /// The feature's bounding box meets the rectangle.
        case envelope(Envelope)
        /// Exact; features inside the rectangle need no test.
        case intersection(PreparedShape, inside: Envelope?)
        /// Within that many metres, in a plane that preserves distances from its centre.
        case distance(PreparedShape, meters: Double)
        case relation(GEOSRelation, GEOSRelation.Predicate)
    }

    /// Throws `invalidParameter` for an unusable geometry, reference or distance, `tooLarge` and
    /// `cancelled`.
    init(
        _ filter: QuerySpatialFilter, _ reference: SpatialReference, of dataset: Dataset,
        _ isCancelled: () -> Bool
    ) throws(Failure) {
        let own = dataset.properties.spatialReference
        kind = GeometryKind(dataset.properties.geometryType)
        let toOwn =
            reference.isEquivalent(to: own)
            ? nil : try CoordinateTransform(from: reference, to: own)
        if let meters = filter.distanceMeters, meters > 0 {
            let ground = try GroundPlane(around: filter.geometry, in: reference)
            transform = try CoordinateTransform(from: own, to: ground.reference)
            way = try Self.way(filter, ground.shape, within: meters, isCancelled)
            searchEnvelope =
                filter.holdsApart ? nil : ground.searchEnvelope(within: meters, in: own)
            return
        }
        guard let toOwn else {
            transform = nil
            way = try Self.way(filter, filter.geometry, isCancelled)
            searchEnvelope = filter.holdsApart ? nil : filter.geometry.envelope
            return
        }
        if let projected = try? toOwn.forward(filter.geometry.withDenseSides) {
            transform = nil
            way = try Self.way(filter, projected, isCancelled)
            searchEnvelope = filter.holdsApart ? nil : projected.envelope
        } else {
            // The geometry cannot be projected to the features; the features may be projected to
            // it.
            transform = try CoordinateTransform(from: own, to: reference)
            way = try Self.way(filter, filter.geometry, isCancelled)
            searchEnvelope = nil
        }
    }

    /// The test for a shape, or for everything within a distance of it where its plane is in
    /// metres.
    private static func way(
        _ filter: QuerySpatialFilter, _ shape: Shape, within meters: Double = 0,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> Way {
        let predicate: GEOSRelation.Predicate
        switch filter.relation {
        case .envelopeIntersects, .indexIntersects:
            return .envelope(shape.envelope.expanded(by: meters))
        case .intersects where meters > 0:
            return .distance(PreparedShape(shape), meters: meters)
        case .intersects:
            var inside: Envelope?
            if case .envelope(let box) = shape { inside = box }
            return .intersection(PreparedShape(shape), inside: inside)
        case .contains: predicate = .contains
        case .within: predicate = .within
        case .crosses: predicate = .crosses
        case .overlaps: predicate = .overlaps
        case .touches: predicate = .touches
        case .pattern: predicate = .matches(filter.pattern ?? "")
        }
        do throws(GEOSError) {
            return .relation(
                try GEOSRelation(
                    wkb: WellKnownBytes(shape).bytes, buffer: meters, isCancelled: isCancelled),
                predicate)
        } catch {
            throw error.stop(comparing: "geometry")
                ?? Failure(
                    .invalidParameter,
                    "geometry: it cannot be compared with others: \(error.message)")
        }
    }

    /// Whether the reader's feature matches; a feature that cannot be projected to the plane of the
    /// test does not, and neither does one that is invalid to GEOS.
    func holds(
        _ reader: FeatureReader, _ chains: inout FeatureChains, _ isCancelled: () -> Bool
    ) throws(Failure) -> Bool {
        // A feature without geometry matches no place.
        if reader.envelope.isEmpty { return false }
        if transform == nil {
            switch way {
            case .envelope(let box): return box.intersects(reader.envelope)
            case .intersection(_, let box?) where box.contains(reader.envelope): return true
            default: break
            }
        }
        try reader.read(into: &chains)
        if chains.coordinates.isEmpty { return false }
        if let transform {
            for index in chains.coordinates.indices {
                guard let moved = try? transform.forward(chains.coordinates[index]) else {
                    return false
                }
                chains.coordinates[index] = moved
            }
        }
        switch way {
        case .envelope(let box):
            return box.intersects(Shape.multipoint(chains.coordinates).envelope)
        case .intersection(let shape, _):
            return shape.distance(
                to: PreparedShape(chains, kind), within: 0, isAbandoned: isCancelled) != nil
        case .distance(let shape, let meters):
            return shape.distance(
                to: PreparedShape(chains, kind), within: meters, isAbandoned: isCancelled) != nil
        case .relation(let relation, let predicate):
            guard let bytes = WellKnownBytes(chains, kind)?.bytes else { return false }
            do throws(GEOSError) {
                return try relation.holds(predicate, wkb: bytes, isCancelled: isCancelled)
            } catch {
                if let stop = error.stop(comparing: "a feature") { throw stop }
                return false
            }
        }
    }
}

extension GEOSError {
    /// The failure of an interrupted GEOS call; nil for an invalid geometry.
    fileprivate func stop(comparing subject: String) -> Failure? {
        switch cause {
        case .refused, .interrupted: nil
        case .cancelled: Failure(.cancelled, "the request was cancelled or timed out")
        case .memory:
            Failure(
                .tooLarge,
                "\(subject): the comparison needs too much memory; it has too many "
                    + "self-intersections"
            )
        }
    }
}

extension QuerySpatialFilter {
    /// Whether the relation may hold between disjoint geometries: no intersection of interior or
    /// boundary is required.
    fileprivate var holdsApart: Bool {
        guard relation == .pattern, let pattern else { return false }
        let letters = Array(pattern)
        return [0, 1, 3, 4].allSatisfy { "F*".contains(letters[$0]) }
    }
}

extension GeometryKind {
    init(_ type: GeometryType?) {
        switch type {
        case .point, .multipoint, nil: self = .positions
        case .polyline: self = .paths
        case .polygon: self = .areas
        }
    }
}

extension PreparedShape {
    /// Prepares a feature for a single test.
    fileprivate init(_ chains: FeatureChains, _ kind: GeometryKind) {
        switch kind {
        case .positions: self.init(.multipoint(chains.coordinates), isIndexed: false)
        case .paths:
            self.init(
                .polyline(
                    paths: chains.ends.indices.map { Array(chains.coordinates[chains.range($0)]) }),
                isIndexed: true)
        case .areas:
            self.init(
                polygonParts: chains.parts.indices.map { part in
                    chains.rings(part).map { Array(chains.coordinates[chains.range($0)]) }
                }, isIndexed: true)
        }
    }
}

extension Envelope {
    func intersects(_ other: Envelope) -> Bool {
        minX <= other.maxX && other.minX <= maxX && minY <= other.maxY && other.minY <= maxY
    }

    fileprivate func contains(_ other: Envelope) -> Bool {
        !other.isEmpty && minX <= other.minX && other.maxX <= maxX && minY <= other.minY
            && other.maxY <= maxY
    }
}

extension Shape {
    /// Number of pieces per side of a rectangle before projection.
    private static let sidePieces = 32

    /// The envelope as a polygon with additional coordinates on its sides, which become curves in
    /// projection.
    var withDenseSides: Shape {
        guard case .envelope(let box) = self else { return self }
        var ring: [Coordinate] = []
        for (a, b) in zip(box.corners, box.corners.dropFirst()) {
            for piece in 0..<Self.sidePieces {
                let part = Double(piece) / Double(Self.sidePieces)
                ring.append(
                    Coordinate(x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part))
            }
        }
        return .polygon(rings: [ring + ring.prefix(1)])
    }
}
