// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression

/// The non-spatial filter of a layer's features.
struct FeatureFilter {
    /// The layer's definition expression; nil without one.
    let definition: BoundClause?
    /// The request's own clause; nil without one.
    let clause: BoundClause?
    /// The request's time; nil for any.
    let time: TimeWindow?
    /// The visible features of a past layer; nil for all.
    var sight: FeatureSight?

    /// The filter that a feature fails.
    enum Exclusion {
        /// The layer's own: nothing may reveal that the feature exists.
        case hidden
        /// The request's clause.
        case clause
        /// The request's time.
        case time
    }

    /// The definition expression and the request's clause, as far as present: all must hold.
    var clauses: [BoundClause] { [definition, clause].compactMap { $0 } }

    /// Nil for a match; throws `corrupt` where the feature's bytes are damaged.
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

/// The results of a search in one layer.
struct LayerHits {
    /// A feature within the tolerance that matches.
    struct Hit {
        var distance: Double
        var feature: Dataset.FeatureReference
        /// The index of its source.
        var source: Int
    }

    /// Nearest first; object id breaks ties.
    var hits: [Hit] = []
    /// Number of visible features tested exactly; counted for an explanation only.
    var candidateCount = 0
    /// Number of features within the tolerance that fail the request's clause.
    var excludedByDefinition = 0
    /// Number of features within the tolerance that pass the clause and fail the time.
    var excludedByTime = 0

    /// Sorts by distance; object id breaks ties.
    mutating func sort() {
        hits.sort { first, second in
            (first.distance, first.feature.objectID) < (second.distance, second.feature.objectID)
        }
    }

    /// Counts a feature within the tolerance that does not match.
    mutating func note(_ exclusion: FeatureFilter.Exclusion) {
        switch exclusion {
        case .hidden: break
        case .clause: excludedByDefinition += 1
        case .time: excludedByTime += 1
        }
    }
}
