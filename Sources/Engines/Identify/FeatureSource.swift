// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ
internal import SpatialIndex

/// A dataset projected to a map's spatial reference: coordinate by coordinate, with straight edges
/// in the map.
final class FeatureSource {
    let dataset: Dataset
    /// The cache key.
    let key: EngineState.Key
    /// From the dataset to the map; nil for the identity.
    let toMap: CoordinateTransform?
    /// Index of the projected features; nil where the dataset's own index suffices.
    let index: ProjectedIndex?
    /// Search for positions without decoding geometries; nil where the dataset's own index is
    /// unusable.
    let points: PointSearch?

    init(
        _ dataset: Dataset, _ key: EngineState.Key, toMap: CoordinateTransform?,
        index: ProjectedIndex? = nil
    ) {
        self.dataset = dataset
        self.key = key
        self.toMap = toMap
        self.index = index
        points = PointSearch(dataset, in: key.reference)
    }

    /// The features whose bounding box in the map meets this rectangle.
    func candidates(
        _ envelope: Envelope, in reference: SpatialReference
    ) -> [Dataset.FeatureReference] {
        var result: [Dataset.FeatureReference] = []
        if let index {
            for ordinal in index.search(envelope) {
                if let feature = dataset.feature(at: ordinal) { result.append(feature) }
            }
        } else if let toMap {
            dataset.search(Self.mercatorPreimage(envelope, toMap, reference)) { result.append($0) }
        } else {
            dataset.search(envelope) { result.append($0) }
        }
        return result
    }

    /// The feature in map coordinates, prepared for exact tests; nil without a geometry, or without
    /// a place in the map.
    ///
    /// `cache` is the one of this source.
    func shape(
        _ feature: Dataset.FeatureReference, _ cache: ShapeCache
    ) throws(Failure) -> PreparedShape? {
        if let known = cache.shape(feature.ordinal) { return known }
        guard let shape = try prepared(feature, isIndexed: true) else { return nil }
        cache.keep(shape, feature.ordinal)
        return shape
    }

    /// The feature in map coordinates; nil without a geometry, or without a place in the map.
    func prepared(
        _ feature: Dataset.FeatureReference, isIndexed: Bool
    ) throws(Failure) -> PreparedShape? {
        if dataset.properties.geometryType == .polygon {
            let parts = try dataset.polygonParts(of: feature)
            guard let toMap else {
                return PreparedShape(polygonParts: parts, isIndexed: isIndexed)
            }
            guard let projected = try? Self.project(parts, toMap) else { return nil }
            return PreparedShape(polygonParts: projected, isIndexed: isIndexed)
        }
        guard let shape = try dataset.shape(of: feature) else { return nil }
        guard let toMap else { return PreparedShape(shape, isIndexed: isIndexed) }
        guard let projected = try? toMap.forward(shape) else { return nil }
        return PreparedShape(projected, isIndexed: isIndexed)
    }

    private static func project(
        _ parts: [[[Coordinate]]], _ transform: CoordinateTransform
    ) throws(Failure) -> [[[Coordinate]]] {
        var result: [[[Coordinate]]] = []
        for rings in parts {
            guard case .polygon(let projected) = try transform.forward(.polygon(rings: rings))
            else {
                continue
            }
            result.append(projected)
        }
        return result
    }

    /// The preimage of a rectangle, for a transform that maps rectangles to rectangles.
    ///
    /// Latitudes are clamped in projection, so an edge at or beyond the clamp includes everything
    /// beyond it.
    static func mercatorPreimage(
        _ envelope: Envelope, _ toMap: CoordinateTransform, _ reference: SpatialReference
    ) -> Envelope {
        let limit =
            reference.latestWkid == 3857
            ? .pi * WebMercator.radiusMeters : WebMercator.latitudeLimit
        let slack = 1 - 1e-9
        let corner: (Double, Double) -> Coordinate = { x, y in
            let y = max(-limit, min(limit, y))
            return (try? toMap.inverse(Coordinate(x: x, y: y))) ?? Coordinate(x: x, y: y)
        }
        let low = corner(envelope.minX, envelope.minY)
        let high = corner(envelope.maxX, envelope.maxY)
        var result = Envelope(minX: low.x, minY: low.y, maxX: high.x, maxY: high.y).widened
        if envelope.maxY >= limit * slack { result.maxY = .infinity }
        if envelope.minY <= -limit * slack { result.minY = -.infinity }
        return result
    }
}

private typealias WebMercator = Geometry.WebMercator

/// An index of projected bounding boxes.
///
/// A straight edge in one spatial reference is a curve in another, so the bounding box of a
/// projected feature does not follow from its own: every coordinate is projected once, at the first
/// request in that spatial reference.
struct ProjectedIndex {
    private let envelopes: EnvelopeIndex

    /// Projects every feature; those without a place in the map are never found.
    ///
    /// Throws `corrupt` where the dataset's bytes are damaged.
    init(_ source: FeatureSource, _ isCancelled: () -> Bool) throws(Failure) {
        var envelopes: [Envelope] = []
        for ordinal in 0..<source.dataset.properties.featureCount {
            if ordinal.isMultiple(of: 1024) { try Failure.stop(if: isCancelled) }
            guard let feature = source.dataset.feature(at: ordinal) else { break }
            let shape = try source.prepared(feature, isIndexed: false)
            envelopes.append(shape?.envelope ?? .empty)
        }
        self.envelopes = EnvelopeIndex(envelopes)
    }

    /// The ordinals of the features whose bounding box meets this rectangle, rising.
    func search(_ envelope: Envelope) -> [Int] { envelopes.search(envelope) }
}
