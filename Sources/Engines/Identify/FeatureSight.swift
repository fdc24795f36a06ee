// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Dataset
internal import Expression

/// The visible features of a past layer, as seen from a later state (``LayerSight``).
///
/// Thread-safe. Whether past values satisfy the later definition expression is not decided here:
/// that is the expression of the queried layer (``MapDescription/seen(from:)``).
public struct FeatureSight: Sendable {
    private let then: BoundClause?
    private let now: BoundClause?
    /// Whether one of the expressions cannot be evaluated, so that every feature is hidden.
    private let isBlind: Bool
    private let edits: LayerEdits?
    /// The later dataset; nil where it is that of the past, whose features without an edit are
    /// unchanged.
    private let later: (dataset: Dataset, order: ObjectOrder)?

    /// - Parameters:
    ///   - fields: The layer's fields, the same in the past and later.
    ///   - base: The layer's dataset of the past.
    ///   - later: Lends the later dataset and its order; called where the dataset has changed, or
    ///     an id has to be looked up.
    ///
    /// Throws what `later` throws.
    public init(
        _ sight: LayerSight, _ fields: [FieldDescription], of base: ContentID,
        later: () throws(Failure) -> (dataset: Dataset, order: ObjectOrder)
    ) throws(Failure) {
        var isBlind = false
        func bound(_ text: String?) -> BoundClause? {
            guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
            let clause = try? WhereClause(parsing: text).bound(to: fields)
            isBlind = isBlind || clause == nil
            return clause
        }
        then = bound(sight.definitionThen)
        now = bound(sight.definition)
        self.isBlind = isBlind
        edits = sight.edits
        self.later = sight.dataset == base || isBlind ? nil : try later()
    }

    /// Whether the feature with that object id and past values, by field index, is visible.
    ///
    /// Throws `corrupt` where the later dataset's bytes are damaged.
    public func shows(
        _ objectID: Int64, _ column: (Int) -> AttributeValue
    ) throws(Failure) -> Bool {
        guard !isBlind, then.map({ $0.evaluate(column) == true }) ?? true else { return false }
        if let change = edits?.change(of: objectID) {
            guard let feature = change.feature else { return false }
            let values = feature.attributes.entries
            return holds { place in
                place == 0
                    ? .integer(objectID)
                    : place <= values.count ? values[place - 1].value : .null
            }
        }
        guard let later else { return true }
        guard let ordinal = later.order.ordinal(of: objectID),
            let feature = later.dataset.feature(at: Int(ordinal))
        else { return false }
        guard now != nil else { return true }
        let values = try later.dataset.attributes(of: feature).entries
        return holds { $0 < values.count ? values[$0].value : .null }
    }

    private func holds(_ column: (Int) -> AttributeValue) -> Bool {
        now.map { $0.evaluate(column) == true } ?? true
    }
}

extension IdentifyRun {
    /// The visible features of a dataset layer; nil for all.
    func sight(
        _ layer: PreparedLayer, in id: ContentID, _ kept: EngineState
    ) throws(Failure) -> FeatureSight? {
        guard let sight = layer.description.sight else { return nil }
        return try FeatureSight(sight, layer.fields, of: id) { () throws(Failure) in
            let dataset = try dataset(sight.dataset, kept.haste)
            return (dataset, try kept.order(sight.dataset, dataset, isCancelled))
        }
    }
}
