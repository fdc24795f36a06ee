// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression

/// What decides, beside its place, whether a feature of a layer counts.
struct FeatureFilter {
    /// All must hold: the layer's definition expression and the request's own clause.
    let clauses: [BoundClause]
    /// The time that is asked for; nil for any.
    let time: TimeWindow?

    /// Why a feature does not count.
    enum Exclusion { case definition, time }

    /// Nil when the feature counts; throws `corrupt` where its bytes are damaged.
    func exclusion(
        of feature: Dataset.FeatureReference, in dataset: Dataset
    ) throws(Failure) -> Exclusion? {
        if clauses.isEmpty && time == nil { return nil }
        return exclusion(of: try dataset.attributes(of: feature))
    }
}

/// What a search of one layer found.
struct LayerHits {
    /// A feature that is near enough and counts.
    struct Hit {
        var distance: Double
        var feature: Dataset.FeatureReference
        /// Which of the search's sources it is in.
        var source: Int
    }

    /// Nearest first, equal distances by object id.
    var hits: [Hit] = []
    /// How many features, or pieces of them, were tested exactly.
    var candidateCount = 0
    /// How many were near enough and left out by a clause.
    var excludedByDefinition = 0
    /// How many were near enough, not left out by a clause, and left out by time.
    var excludedByTime = 0

    /// Puts the nearest first, equal distances by object id.
    mutating func sort() {
        hits.sort { first, second in
            (first.distance, first.feature.objectID) < (second.distance, second.feature.objectID)
        }
    }

    /// Counts a feature that is near enough and does not count.
    mutating func note(_ exclusion: FeatureFilter.Exclusion) {
        switch exclusion {
        case .definition: excludedByDefinition += 1
        case .time: excludedByTime += 1
        }
    }
}
