// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset

/// The part of a dataset layer's search that does not depend on the request, computed at the first
/// one.
///
/// Used from one thread at a time, like its transforms.
final class LayerPlan {
    let layer: PreparedLayer
    /// The dataset; then, if any, the added and changed features of edits.
    let sources: [FeatureSource]
    /// The filter of the first source by edits.
    let edited: EditedDataset
    /// The layer's own definition expression.
    let filter: FeatureFilter

    init(
        _ layer: PreparedLayer, sources: [FeatureSource], edited: EditedDataset,
        filter: FeatureFilter
    ) {
        self.layer = layer
        self.sources = sources
        self.edited = edited
        self.filter = filter
    }
}

/// The plans of the most recently used map's layers, by index.
struct LayerPlans {
    private var plans: [LayerPlan?] = []

    /// The layer's plan; nil without one: a changed map has new layers.
    subscript(layer: PreparedLayer) -> LayerPlan? {
        guard layer.place < plans.count, let known = plans[layer.place], known.layer === layer
        else { return nil }
        return known
    }

    /// Stores a plan in place of the previous one at its index.
    mutating func keep(_ plan: LayerPlan) {
        while plans.count <= plan.layer.place { plans.append(nil) }
        plans[plan.layer.place] = plan
    }
}
