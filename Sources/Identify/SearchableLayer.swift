// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A layer that can be searched; there is one conformance for each kind of source, and
/// `IdentifyRun.searchable` chooses it.
protocol SearchableLayer {
    /// What of the layer lies near enough to the question, nearest first; nil when nothing does.
    ///
    /// The most it gives is that of ``IdentifyLimits``; `form` keeps account over all layers.
    func search(
        _ question: Question, _ form: inout OutputForm, _ transforms: Transforms,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> IdentifyLayerResult?
}

extension LayerSearch: SearchableLayer {
    func search(
        _ question: Question, _ form: inout OutputForm, _ transforms: Transforms,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> IdentifyLayerResult? {
        let hits = try hits(question, isCancelled)
        return hits.hits.isEmpty ? nil : try results(hits, &form, transforms)
    }
}
