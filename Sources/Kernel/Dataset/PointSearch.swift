// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
import PROJ
import Platform
public import SpatialIndex

/// Point queries answered from a dataset's mapped index.
///
/// The map may have the dataset's own spatial reference, or be the other one of WGS 84 degrees and
/// Web Mercator: then every coordinate is projected by itself, and edges are straight in the map.
/// Any number of threads may search at once.
public final class PointSearch: Sendable {
    private enum Way {
        case own
        /// Degrees are stored, the map is in metres.
        case toMercator
        /// Metres are stored, the map is in degrees.
        case toDegrees
    }

    private let dataset: Dataset
    private let index: LayerIndex
    private let way: Way
    private let frame: Frame?

    /// Nil when the index cannot serve: it is absent, or the map has another spatial reference.
    public init?(_ dataset: Dataset, in reference: SpatialReference) {
        guard let index = dataset.index else { return nil }
        let own = dataset.properties.spatialReference
        if own.isEquivalent(to: reference) {
            way = .own
        } else {
            switch (own.latestWkid, reference.latestWkid) {
            case (4326, 3857): way = .toMercator
            case (3857, 4326): way = .toDegrees
            default: return nil
            }
            // Far beyond any map projecting could overflow.
            let extent = dataset.properties.extent ?? .empty
            guard extent.isEmpty || extent.intersects(Self.sane),
                extent.union(Self.sane) == Self.sane
            else { return nil }
        }
        self.dataset = dataset
        self.index = index
        frame =
            switch way {
            case .own: nil
            case .toMercator: Frame(Self.project)
            case .toDegrees: Frame(Self.unproject)
            }
    }

    private static let sane = Envelope(
        minX: -Coordinate.bound, minY: -Coordinate.bound, maxX: Coordinate.bound,
        maxY: Coordinate.bound)

    /// A feature that was found, as the dataset's other questions take it.
    public func reference(_ near: NearFeature) -> Dataset.FeatureReference? {
        dataset.reference(at: near.feature, objectID: near.objectID)
    }

    /// Whether a position in the map can be searched.
    ///
    /// Positions at the edge of the Web Mercator square cannot: latitudes beyond it are all clamped
    /// there.
    public func serves(_ position: Coordinate) -> Bool {
        guard position.isFinite else { return false }
        switch way {
        case .own: return true
        case .toMercator: return abs(position.y) < .pi * WebMercator.radius * (1 - 1e-9)
        case .toDegrees: return abs(position.y) < WebMercator.latitudeLimit * (1 - 1e-9)
        }
    }

    /// The features within a distance of a position, both in the map's units; each once, in no
    /// stated order but always the same.
    ///
    /// Empty for a position it does not serve. Throws `.corrupt`, naming the index, where a number
    /// in it leads outside of the dataset.
    public func features(
        near position: Coordinate, within distance: Double = 0
    ) throws(Failure) -> [NearFeature] {
        var found: [NearFeature] = []
        _ = try features(near: position, within: distance, into: &found)
        return found
    }

    /// Appends the results to an array, whose storage can be reused.
    ///
    /// Time grows with the square of the number of results, so a bound keeps it short.
    ///
    /// - Parameter limit: Most pieces of features to test exactly.
    /// - Returns: Their number; nil beyond the limit, when `found` is incomplete.
    @discardableResult
    public func features(
        near position: Coordinate, within distance: Double, atMost limit: Int = .max,
        into found: inout [NearFeature]
    ) throws(Failure) -> Int? {
        guard serves(position), distance >= 0, distance.isFinite else { return 0 }
        do throws(IndexDamage) {
            var counted = 0
            let isWhole = try index.file.withBytes { bytes throws(IndexDamage) in
                try dataset.file.withBytes { data throws(IndexDamage) in
                    try index.features.search(
                        bytes, data, probe(position, distance), frame, atMost: limit, into: &found,
                        counted: &counted)
                }
            }
            return isWhole ? counted : nil
        } catch { throw LayerIndex.corrupt(index.file.path, error) }
    }

    /// The features near each of many positions, found as for one; worth it from some dozens on.
    ///
    /// Positions it does not serve have none.
    public func features(
        near positions: [Coordinate], within distance: Double = 0
    ) throws(Failure) -> NearFeatures {
        do throws(IndexDamage) {
            return try index.file.withBytes { bytes throws(IndexDamage) in
                try dataset.file.withBytes { data throws(IndexDamage) in
                    try index.features.search(bytes, data, positions, frame) { position in
                        serves(position) && distance >= 0 && distance.isFinite
                            ? probe(position, distance) : .nowhere
                    }
                }
            }
        } catch { throw LayerIndex.corrupt(index.file.path, error) }
    }

    @inline(__always)
    private func probe(_ position: Coordinate, _ distance: Double) -> PointProbe {
        var window = Envelope(
            minX: position.x, minY: position.y, maxX: position.x, maxY: position.y)
        if distance > 0 || way != .own {
            let magnitude = max(abs(position.x), abs(position.y)) + distance
            window = window.expanded(by: distance + magnitude * 0x1p-40)
        }
        if way == .own { return PointProbe(position, within: distance, window: window) }
        return projectedProbe(position, distance, window)
    }

    @inline(never)
    private func projectedProbe(
        _ position: Coordinate, _ distance: Double, _ window: Envelope
    ) -> PointProbe {
        let back = way == .toMercator ? Self.unproject : Self.project
        let place = back(position)
        let limit =
            way == .toMercator ? .pi * WebMercator.radius : WebMercator.latitudeLimit
        func corner(_ x: Double, _ y: Double) -> Coordinate {
            back(Coordinate(x: x, y: max(-limit, min(limit, y))))
        }
        let low = corner(window.minX, window.minY)
        let high = corner(window.maxX, window.maxY)
        // Projecting there and back is wrong by less than 1e-13 degrees or 1e-7 metres beside a few
        // units in the last place.
        let base = way == .toMercator ? 1e-11 : 1e-6
        let slack = Coordinate(
            x: base + abs(place.x) * 0x1p-40, y: base + abs(place.y) * 0x1p-40)
        var stored = Envelope(
            minX: low.x - slack.x, minY: low.y - slack.y, maxX: high.x + slack.x,
            maxY: high.y + slack.y)
        stored = stored.expanded(
            by: 0x1p-40 * max(abs(low.x), abs(high.x), abs(low.y), abs(high.y)))
        // An edge at the clamped latitude stands for everything beyond it.
        if window.maxY >= limit * (1 - 1e-9) { stored.maxY = .infinity }
        if window.minY <= -limit * (1 - 1e-9) { stored.minY = -.infinity }
        return PointProbe(
            position, within: distance, window: stored,
            nearby: Envelope(
                minX: place.x - slack.x, minY: place.y - slack.y, maxX: place.x + slack.x,
                maxY: place.y + slack.y))
    }

    private static let project: @Sendable (Coordinate) -> Coordinate = { degrees in
        let (x, y) = PROJ.WebMercator.project(longitude: degrees.x, latitude: degrees.y)
        return Coordinate(x: x, y: y)
    }

    private static let unproject: @Sendable (Coordinate) -> Coordinate = { meters in
        let (x, y) = PROJ.WebMercator.unproject(x: meters.x, y: meters.y)
        return Coordinate(x: x, y: y)
    }
}

/// PROJ's, not Geometry's: both name the same sphere.
private typealias WebMercator = PROJ.WebMercator
