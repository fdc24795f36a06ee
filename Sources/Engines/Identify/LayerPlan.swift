// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset

/// A layer of a dataset with what every search of it needs, whatever is asked: found out with the
/// first request.
///
/// Used from one thread at a time, like the transforms in it.
final class LayerPlan {
    let layer: PreparedLayer
    /// The dataset; then, where there is any, what edits added to it or changed.
    let sources: [FeatureSource]
    /// What of the first source counts.
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

/// The plans of the layers of the map that was asked last, by their places in it.
struct LayerPlans {
    private var plans: [LayerPlan?] = []

    /// The layer's plan; nil where none is kept: of a map that has changed every layer is another.
    subscript(layer: PreparedLayer) -> LayerPlan? {
        guard layer.place < plans.count, let known = plans[layer.place], known.layer === layer
        else { return nil }
        return known
    }

    /// Keeps a plan in the place of whatever was kept for a layer at its place.
    mutating func keep(_ plan: LayerPlan) {
        while plans.count <= plan.layer.place { plans.append(nil) }
        plans[plan.layer.place] = plan
    }
}
