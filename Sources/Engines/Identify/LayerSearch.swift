// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import SpatialIndex

/// The search of one layer.
struct LayerSearch {
    let plan: LayerPlan
    let filter: FeatureFilter
    let shapes: KeptShapes
    /// Whether the number of candidates is requested.
    let isExplained: Bool
    /// The budget of an in-line request; nil without one.
    let haste: PromptBudget?

    /// Limit of feature pieces in one search of a dataset's index: it cannot be interrupted, and
    /// detects duplicates by a linear scan of its results.
    private static let pieceLimit = 16_384

    /// The features within the tolerance that match.
    func hits(
        _ question: Question, _ isCancelled: () -> Bool
    ) throws(Failure) -> LayerHits {
        var found = LayerHits()
        for source in plan.sources.indices { try search(source, question, isCancelled, &found) }
        try Failure.stop(if: isCancelled)
        found.sort()
        return found
    }

    private func search(
        _ number: Int, _ question: Question, _ isCancelled: () -> Bool,
        _ found: inout LayerHits
    ) throws(Failure) {
        let source = plan.sources[number]
        if let position = question.shape.position, let search = source.points,
            search.serves(position),
            try hits(
                near: position, within: question.distance, search, number, isCancelled, &found)
        {
            // The index tests pieces of features; these are their features.
            try explain(
                source.candidates(question.searchEnvelope, in: question.reference), number,
                isCancelled, &found)
            return
        }
        if let haste { throw haste.giveUp() }
        let candidates = source.candidates(question.searchEnvelope, in: question.reference)
        try explain(candidates, number, isCancelled, &found)
        if candidates.isEmpty { return }
        let cache = shapes.cache(of: source)
        for (count, feature) in candidates.enumerated() {
            if count.isMultiple(of: 256) { try Failure.stop(if: isCancelled) }
            let shape = try source.shape(feature, cache)
            guard
                let distance = shape?.distance(
                    to: question.shape, within: question.distance, isAbandoned: isCancelled)
            else { continue }
            try take(feature, distance, number, &found)
        }
    }

    /// Counts the visible candidates, where requested.
    private func explain(
        _ candidates: @autoclosure () -> [Dataset.FeatureReference], _ source: Int,
        _ isCancelled: () -> Bool, _ found: inout LayerHits
    ) throws(Failure) {
        guard isExplained else { return }
        for (count, feature) in candidates().enumerated() {
            if count.isMultiple(of: 256) { try Failure.stop(if: isCancelled) }
            if try !hides(feature, source) { found.candidateCount += 1 }
        }
    }

    private func hides(
        _ feature: Dataset.FeatureReference, _ source: Int
    ) throws(Failure) -> Bool {
        if source == 0, plan.edited.hides(feature.objectID) { return true }
        return try filter.exclusion(of: feature, in: plan.sources[source].dataset) == .hidden
    }

    /// The hits for one position, from the dataset's index without decoding a geometry; false where
    /// there are so many candidates that a search piece by piece is better.
    private func hits(
        near position: Coordinate, within distance: Double, _ search: PointSearch,
        _ source: Int, _ isCancelled: () -> Bool, _ found: inout LayerHits
    ) throws(Failure) -> Bool {
        var near: [NearFeature] = []
        let limit = haste == nil ? Self.pieceLimit : PromptBudget.pieceLimit
        let counted = try search.features(
            near: position, within: distance, atMost: limit, into: &near)
        guard counted != nil else { return false }
        if let haste, near.count > PromptBudget.nearLimit { throw haste.giveUp() }
        for (number, each) in near.enumerated() {
            if number % 16 == 15 { try Failure.stop(if: isCancelled) }
            guard let feature = search.reference(each) else { continue }
            try take(feature, each.distance, source, &found)
        }
        return true
    }

    /// Adds a feature within the tolerance, unless a filter excludes it.
    private func take(
        _ feature: Dataset.FeatureReference, _ distance: Double, _ source: Int,
        _ found: inout LayerHits
    ) throws(Failure) {
        if source == 0, plan.edited.hides(feature.objectID) { return }
        if let exclusion = try filter.exclusion(of: feature, in: plan.sources[source].dataset) {
            found.note(exclusion)
        } else {
            found.hits.append(
                LayerHits.Hit(distance: distance, feature: feature, source: source))
        }
    }
}

extension LayerSearch {
    private typealias Geometry = (shape: Shape, z: [Double?]?, m: [Double?]?)

    /// The first hits as results, up to the limit of `form`.
    func results(
        _ found: LayerHits, _ form: inout OutputForm, _ transforms: Transforms
    ) throws(Failure) -> IdentifyLayerResult {
        var results: [IdentifyResult] = []
        let attributes = AttributeForm(form, plan.layer)
        for hit in found.hits.prefix(form.resultsPerLayer) {
            if let haste { try prepare(hit, form, haste) }
            let geometry = try output(hit, form, transforms)
            guard form.take(geometry?.shape) else { break }
            results.append(try result(hit, geometry, attributes))
        }
        return IdentifyLayerResult(
            layerID: plan.layer.id, layerName: plan.layer.name, results: results,
            sublayerResults: [],
            transferLimitExceeded: results.count < found.hits.count,
            hitCount: found.hits.count)
    }

    private func result(
        _ hit: LayerHits.Hit, _ geometry: Geometry?, _ form: AttributeForm
    ) throws(Failure) -> IdentifyResult {
        let attributes = try plan.sources[hit.source].dataset.attributes(of: hit.feature)
        let field = plan.layer.shownField
        return IdentifyResult(
            layerID: plan.layer.id, layerName: plan.layer.name, objectID: hit.feature.objectID,
            displayFieldName: field, value: form.value(attributes[field] ?? .null),
            attributes: form.attributes(attributes),
            geometryType: plan.sources[hit.source].dataset.properties.geometryType ?? .point,
            geometry: geometry?.shape, zValues: geometry?.z, mValues: geometry?.m,
            distance: hit.distance)
    }

    /// Gives up before an expensive result.
    private func prepare(
        _ hit: LayerHits.Hit, _ form: OutputForm, _ haste: PromptBudget
    ) throws(Failure) {
        if haste.isOver() { throw haste.giveUp() }
        guard form.returnGeometry else { return }
        try haste.take(
            coordinates: try plan.sources[hit.source].dataset.coordinateCount(of: hit.feature))
    }

    /// Nil when no geometry was requested, or it cannot be projected to the output's spatial
    /// reference.
    private func output(
        _ hit: LayerHits.Hit, _ form: OutputForm, _ transforms: Transforms
    ) throws(Failure) -> Geometry? {
        let dataset = plan.sources[hit.source].dataset
        guard form.returnGeometry, let shape = try dataset.shape(of: hit.feature) else {
            return nil
        }
        let further =
            form.returnZ || form.returnM
            ? try dataset.furtherOrdinates(of: hit.feature) : (nil, nil)
        return try form.output(
            shape, further, from: dataset.properties.spatialReference, transforms)
    }
}
