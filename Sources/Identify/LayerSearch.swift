// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry

/// The search of one layer.
struct LayerSearch {
    let layer: LayerDescription
    let source: FeatureSource
    let filter: FeatureFilter

    /// What is near enough and counts.
    func hits(
        _ question: Question, _ isCancelled: () -> Bool
    ) throws(Failure) -> LayerHits {
        var found = LayerHits()
        let candidates = source.candidates(question.searchEnvelope, in: question.reference)
        found.candidateCount = candidates.count
        for (number, feature) in candidates.enumerated() {
            if number.isMultiple(of: 256) { try Failure.stop(if: isCancelled) }
            let shape = try source.shape(feature)
            guard
                let distance = shape?.distance(
                    to: question.shape, within: question.distance, isAbandoned: isCancelled)
            else { continue }
            if let exclusion = try filter.exclusion(of: feature, in: source.dataset) {
                found.note(exclusion)
            } else {
                found.hits.append(LayerHits.Hit(distance: distance, feature: feature))
            }
        }
        try Failure.stop(if: isCancelled)
        found.hits.sort { first, second in
            (first.distance, first.feature.objectID) < (second.distance, second.feature.objectID)
        }
        return found
    }
}

extension LayerSearch {
    /// The first hits as results; stops at the limits of ``IdentifyLimits``.
    func results(
        _ found: LayerHits, _ form: inout OutputForm, _ transforms: Transforms
    ) throws(Failure) -> IdentifyLayerResult {
        var results: [IdentifyResult] = []
        for hit in found.hits.prefix(IdentifyLimits.resultsPerLayer) {
            let geometry = try output(hit.feature, form, transforms)
            guard form.take(geometry) else { break }
            results.append(try result(hit, geometry))
        }
        return IdentifyLayerResult(
            layerID: layer.id, layerName: layer.name, results: results, sublayerResults: [],
            transferLimitExceeded: results.count < found.hits.count,
            hitCount: found.hits.count)
    }

    private func result(_ hit: LayerHits.Hit, _ geometry: Shape?) throws(Failure) -> IdentifyResult
    {
        let attributes = try source.dataset.attributes(of: hit.feature)
        let field = layer.shownField ?? Dataset.objectIDField
        return IdentifyResult(
            layerID: layer.id, layerName: layer.name, objectID: hit.feature.objectID,
            displayFieldName: field, value: attributes[field] ?? .null, attributes: attributes,
            geometryType: source.dataset.properties.geometryType ?? .point, geometry: geometry,
            distance: hit.distance)
    }

    /// Nil when no geometry was asked for, or it has no place in the output's spatial reference.
    private func output(
        _ feature: Dataset.FeatureReference, _ form: OutputForm, _ transforms: Transforms
    ) throws(Failure) -> Shape? {
        guard form.returnGeometry, let shape = try source.dataset.shape(of: feature) else {
            return nil
        }
        return try form.output(
            shape, from: source.dataset.properties.spatialReference, transforms)
    }
}
