// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import MapState
internal import PROJ

/// Features of imported datasets for decisions on edits; used from one task at a time.
final class LayerFeatures {
    private let shelf: DatasetCache
    private let orders = ObjectOrders()
    private var transforms: [Pair: CoordinateTransform] = [:]
    private var domains: [SpatialReference: ReferenceDomain?] = [:]

    private struct Pair: Hashable {
        var source: SpatialReference
        var target: SpatialReference
    }

    /// Size bound of the cache of transforms; beyond it the cache is emptied.
    private static let transformLimit = 64

    init(datasets directory: String) { shelf = DatasetCache(directory: directory) }

    /// A dataset whose features are given in `reference`; the first access reads every object id.
    func lend(
        _ id: ContentID, in reference: SpatialReference?
    ) throws(Failure) -> any DatasetFeatures {
        let dataset = try shelf.dataset(id)
        return Lent(
            owner: self, dataset: dataset, order: try orders.order(id, dataset),
            reference: reference ?? dataset.properties.spatialReference)
    }

    /// The properties of a dataset.
    func properties(of id: ContentID) throws(Failure) -> LayerProperties {
        try shelf.dataset(id).properties
    }

    fileprivate func transform(
        from source: SpatialReference, to target: SpatialReference
    ) throws(Failure) -> CoordinateTransform {
        let pair = Pair(source: source, target: target)
        if let known = transforms[pair] { return known }
        if transforms.count >= Self.transformLimit { transforms.removeAll() }
        let transform = try CoordinateTransform(from: source, to: target)
        transforms[pair] = transform
        return transform
    }

    fileprivate func domain(of reference: SpatialReference) -> ReferenceDomain? {
        if let known = domains[reference] { return known }
        if domains.count >= Self.transformLimit { domains.removeAll() }
        let domain = ReferenceDomain(of: reference)
        domains[reference] = .some(domain)
        return domain
    }

    private struct Lent: DatasetFeatures {
        let owner: LayerFeatures
        let dataset: Dataset
        let order: ObjectOrder
        let reference: SpatialReference

        func nextID() -> Int64 { order.ids.last.map { Int64($0) + 1 } ?? 1 }

        func feature(_ id: Int64) throws(Failure) -> EditedFeature? {
            guard let ordinal = order.ordinal(of: id),
                let feature = dataset.feature(at: Int(ordinal))
            else { return nil }
            return try EditedFeature(feature, of: dataset)
        }

        func projected(
            _ shape: Shape, from source: SpatialReference
        ) throws(Failure) -> Shape {
            if source.isEquivalent(to: reference) { return shape }
            return try owner.transform(from: source, to: reference).forward(shape)
        }

        func checkPlace(of shape: Shape, orIn extent: Envelope?) throws(Failure) {
            try owner.domain(of: reference)?.check(shape, orIn: extent)
        }
    }
}
