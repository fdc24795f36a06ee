// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression

/// What decides, beside its place, whether a feature of a layer counts.
struct FeatureFilter {
    /// The layer's definition expression; nil where it has none.
    let definition: BoundClause?
    /// The request's own clause; nil where it has none.
    let clause: BoundClause?
    /// The time that is asked for; nil for any.
    let time: TimeWindow?
    /// Which features of a past layer are seen; nil for all.
    var sight: FeatureSight?

    /// Why a feature does not count.
    enum Exclusion {
        /// The layer hides it: nothing may tell that it is there.
        case hidden
        /// The request's clause leaves it out.
        case clause
        /// The time that is asked for leaves it out.
        case time
    }

    /// The definition expression and the request's clause, as far as there are any: all must hold.
    var clauses: [BoundClause] { [definition, clause].compactMap { $0 } }

    /// Nil when the feature counts; throws `corrupt` where its bytes are damaged.
    func exclusion(
        of feature: Dataset.FeatureReference, in dataset: Dataset
    ) throws(Failure) -> Exclusion? {
        if definition == nil && clause == nil && time == nil && sight == nil { return nil }
        let attributes = try dataset.attributes(of: feature)
        if let sight, try !sight.shows(feature.objectID, { attributes.entries[$0].value }) {
            return .hidden
        }
        return exclusion(of: attributes)
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
    /// How many features that the layer shows were tested exactly; counted for an explanation only.
    var candidateCount = 0
    /// How many were near enough and left out by the request's clause.
    var excludedByDefinition = 0
    /// How many were near enough, not left out by it, and left out by time.
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
        case .hidden: break
        case .clause: excludedByDefinition += 1
        case .time: excludedByTime += 1
        }
    }
}
