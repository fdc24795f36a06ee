// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import Synchronization

/// A cache of edited datasets, each with a derived value; any thread.
///
/// The lock is never held while a value is made: two threads may make the same, and one of them is
/// kept.
public final class EditedDatasets<Consequence: Sendable>: Sendable {
    /// Most entries; beyond it the cache is cleared.
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

    /// An empty cache.
    public init() {}

    /// A layer's features with the value that `make` derives, made on first use after each edit.
    ///
    /// `isAllowed` is called before anything is made, and throws when the deadline leaves no time
    /// for that. Throws as `EditedDataset.init` and the errors of the closures.
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
        // Maps of one name and one sequence number can differ after a restore.
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
