// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The transforms between spatial references that were needed lately.
///
/// Making one costs up to a millisecond, which a request in haste does not have. Used from one
/// thread.
final class Transforms {
    private struct Key: Hashable {
        var source: SpatialReference
        var target: SpatialReference
    }

    private static let limit = 64
    private var made: [Key: CoordinateTransform] = [:]
    private var units: [SpatialReference: Double] = [:]
    /// Of the request that uses them; nil where it has time.
    var haste: PromptBudget?

    /// The transform, or nil where coordinates stay as they are.
    ///
    /// Throws `invalidParameter` for a
    /// reference PROJ does not know or when there is no way.
    func transform(
        from source: SpatialReference, to target: SpatialReference
    ) throws(Failure) -> CoordinateTransform? {
        if source.isEquivalent(to: target) { return nil }
        let key = Key(source: source.canonical, target: target.canonical)
        if let known = made[key] { return known }
        if let haste { throw haste.lack() }
        let transform = try CoordinateTransform(from: source, to: target)
        if made.count >= Self.limit { made.removeAll() }
        made[key] = transform
        return transform
    }

    /// The same from a layer's own reference, or to it; throws `unreadable`, which is the layer's
    /// failure alone, where that is no system of a map or there is no way.
    func transform(
        ofLayerIn source: SpatialReference, to target: SpatialReference
    ) throws(Failure) -> CoordinateTransform? {
        try Self.ofLayer { () throws(Failure) in try transform(from: source, to: target) }
    }

    /// The same to a layer's own reference.
    func transform(
        from source: SpatialReference, toLayerIn target: SpatialReference
    ) throws(Failure) -> CoordinateTransform? {
        try Self.ofLayer { () throws(Failure) in try transform(from: source, to: target) }
    }

    private static func ofLayer(
        _ make: () throws(Failure) -> CoordinateTransform?
    ) throws(Failure) -> CoordinateTransform? {
        do throws(Failure) { return try make() } catch {
            guard error.code == .invalidParameter else { throw error }
            throw Failure(.unreadable, Failure.unusableReference + error.message)
        }
    }

    /// Metres per unit of the reference's x axis; a degree counts as it does at the equator.
    func metersPerUnit(_ reference: SpatialReference) throws(Failure) -> Double {
        if let known = units[reference.canonical] { return known }
        if let haste { throw haste.lack() }
        let meters: Double
        do throws(PROJError) {
            let unit = try reference.coordinateSystem.unit()
            meters = unit.isAngular ? unit.factor * WebMercator.radius : unit.factor
        } catch {
            throw Failure(.invalidParameter, error.description)
        }
        if units.count >= Self.limit { units.removeAll() }
        units[reference.canonical] = meters
        return meters
    }
}

/// PROJ's, not Geometry's: both name the same sphere.
private typealias WebMercator = PROJ.WebMercator

extension SpatialReference {
    /// The same for all aliases.
    fileprivate var canonical: SpatialReference {
        latestWkid.map { SpatialReference(wkid: $0) } ?? self
    }

    /// Whether the two are WGS 84 degrees and Web Mercator, in either order: a pair whose transform
    /// keeps rectangles rectangles.
    func isMercatorPair(with other: SpatialReference) -> Bool {
        (latestWkid == 4326 && other.latestWkid == 3857)
            || (latestWkid == 3857 && other.latestWkid == 4326)
    }
}

extension Failure {
    fileprivate static let unusableReference = "its spatial reference cannot be used here: "

    /// Whether it says of one of the site's own layers that its data are gone or damaged, or that
    /// its spatial reference cannot be used, which the others go on without.
    var isOfLayer: Bool {
        switch code {
        case .notFound, .unreadable, .corrupt, .newerVersion: true
        default: false
        }
    }
}
