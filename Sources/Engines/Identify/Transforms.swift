// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// A cache of transforms between spatial references.
///
/// Creating one costs up to a millisecond, which exceeds the budget of an in-line request. Confined
/// to one thread.
final class Transforms {
    private struct Key: Hashable {
        var source: SpatialReference
        var target: SpatialReference
    }

    private static let limit = 64
    private var made: [Key: CoordinateTransform] = [:]
    private var units: [SpatialReference: Double] = [:]
    /// The budget of the current in-line request; nil without one.
    var haste: PromptBudget?

    /// The transform; nil for the identity.
    ///
    /// Throws `invalidParameter` for a reference unknown to PROJ, and for a pair without a
    /// transform.
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

    /// The transform from a layer's own reference, or to it; throws `unreadable`, a failure of the
    /// layer alone, for a reference that is no map projection, or a pair without a transform.
    func transform(
        ofLayerIn source: SpatialReference, to target: SpatialReference
    ) throws(Failure) -> CoordinateTransform? {
        try Self.ofLayer { () throws(Failure) in try transform(from: source, to: target) }
    }

    /// The transform to a layer's own reference.
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

    /// Metres per unit of the reference's x axis; a degree counts as at the equator.
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

/// PROJ's, not Geometry's: both define the same sphere.
private typealias WebMercator = PROJ.WebMercator

extension SpatialReference {
    /// The canonical reference among its aliases.
    fileprivate var canonical: SpatialReference {
        latestWkid.map { SpatialReference(wkid: $0) } ?? self
    }

    /// Whether the two are WGS 84 degrees and Web Mercator, in either order: a pair whose transform
    /// maps rectangles to rectangles.
    func isMercatorPair(with other: SpatialReference) -> Bool {
        (latestWkid == 4326 && other.latestWkid == 3857)
            || (latestWkid == 3857 && other.latestWkid == 4326)
    }
}

extension Failure {
    fileprivate static let unusableReference = "its spatial reference cannot be used here: "

    /// Whether the failure concerns one of the site's own layers alone: data that are missing or
    /// damaged, or an unusable spatial reference.
    var isOfLayer: Bool {
        switch code {
        case .notFound, .unreadable, .corrupt, .newerVersion: true
        default: false
        }
    }
}
