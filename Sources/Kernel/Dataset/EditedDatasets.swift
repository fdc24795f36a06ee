// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import Synchronization

/// The datasets with edits over them that were asked for lately, each with what follows from both;
/// any thread may ask.
///
/// The lock is never held while one is made: two threads may make the same, and one of them stays.
public final class EditedDatasets<Consequence: Sendable>: Sendable {
    /// When there are more, all are forgotten.
    private static var limit: Int { 32 }

    /// A layer as one event left it.
    private struct Key: Hashable {
        var map: MapName
        var layer: LayerID
        var sequence: Int64
        var dataset: ContentID
    }

    private typealias Kept = (features: EditedDataset, consequence: Consequence)
    private let kept = Mutex<[Key: Kept]>([:])

    /// None yet.
    public init() {}

    /// A layer's features, and what `make` makes of them, made at the first question after each
    /// edit.
    ///
    /// `isAllowed` is asked before anything is made, and throws where there is no time for that.
    /// Throws as `EditedDataset.init` and what the closures throw.
    public func value(
        _ base: Dataset, _ layer: LayerDescription, in map: MapName,
        isAllowed: () throws(Failure) -> Void = {},
        _ make: (EditedDataset) throws(Failure) -> Consequence
    ) throws(Failure) -> (features: EditedDataset, consequence: Consequence) {
        guard let edits = layer.edits, !edits.changes.isEmpty, let dataset = layer.kind.dataset
        else {
            let features = EditedDataset(base)
            return (features, try make(features))
        }
        let key = Key(map: map, layer: layer.id, sequence: edits.sequence, dataset: dataset)
        // Maps of one name, as of one sequence number, can differ where a past was told otherwise.
        if let known = kept.withLock({ $0[key] }), known.features.isMade(of: edits) {
            return known
        }
        try isAllowed()
        let features = try EditedDataset(base, edits)
        let made: Kept = (features, try make(features))
        kept.withLock { kept in
            if kept.count >= Self.limit { kept.removeAll() }
            kept[key] = made
        }
        return made
    }
}
