// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A layer that can be searched; there is one conformance for each kind of source, and
/// `IdentifyRun.finding` chooses it.
protocol SearchableLayer {
    /// What of the layer lies near enough to the question, nearest first.
    ///
    /// The most it gives is that of ``IdentifyLimits``; `form` keeps account over all layers.
    func search(
        _ question: Question, _ form: inout OutputForm, _ transforms: Transforms,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> LayerFinding
}

/// What came of the search of one layer.
struct LayerFinding {
    /// What was hit; nil when nothing was.
    var result: IdentifyLayerResult?
    /// How many things were near enough by their rectangles and tested exactly.
    var candidateCount: Int
    /// How many were near enough and left out by a clause.
    var excludedByDefinition = 0
    /// How many were near enough, not left out by a clause, and left out by time.
    var excludedByTime = 0
    /// Why things that may be hit are missing; nil where none are.
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
