// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A searchable layer; there is one conformance for each kind of source, selected by
/// `IdentifyRun.finding`.
protocol SearchableLayer {
    /// The content of the layer within the tolerance, nearest first.
    ///
    /// Limits are those of ``IdentifyLimits``; `form` keeps the budget over all layers.
    func search(
        _ question: Question, _ form: inout OutputForm, _ transforms: Transforms,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> LayerFinding
}

/// The outcome of the search in one layer.
struct LayerFinding {
    /// The hits; nil for none.
    var result: IdentifyLayerResult?
    /// Number of candidates by bounding box that were tested exactly.
    var candidateCount: Int
    /// Number of candidates within the tolerance that fail a clause.
    var excludedByDefinition = 0
    /// Number of candidates within the tolerance that pass the clauses and fail the time.
    var excludedByTime = 0
    /// Why results may be missing; nil where the result is complete.
    var shortfall: Failure?
}

extension LayerSearch: SearchableLayer {
    func search(
        _ question: Question, _ form: inout OutputForm, _ transforms: Transforms,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> LayerFinding {
        let found = try hits(question, isCancelled)
        return LayerFinding(
            result: found.hits.isEmpty ? nil : try results(found, &form, transforms),
            candidateCount: found.candidateCount,
            excludedByDefinition: found.excludedByDefinition,
            excludedByTime: found.excludedByTime)
    }
}
