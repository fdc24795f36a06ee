// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Synchronization

/// The features of a dataset by rising object id.
struct ObjectOrder: Sendable {
    /// Rising.
    let ids: [Int32]
    /// The place in the file of each of `ids`.
    let ordinals: [Int32]

    /// Reads every feature's id.
    init(_ dataset: Dataset, _ isCancelled: () -> Bool) throws(Failure) {
        let read = try dataset.objectIDs(isCancelled)
        // Both numbers in one, so that sorting moves no pairs.
        var both = read.enumerated().map { Int64($1) << 32 | Int64($0) }
        both.sort()
        ids = both.map { Int32(truncatingIfNeeded: $0 >> 32) }
        ordinals = both.map { Int32(truncatingIfNeeded: $0) }
    }

    /// The place in the file of the feature with that id.
    func ordinal(of id: Int64) -> Int32? {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if Int64(ids[middle]) < id { low = middle + 1 } else { high = middle }
        }
        return low < ids.count && Int64(ids[low]) == id ? ordinals[low] : nil
    }
}

/// The orders of the datasets that were asked lately; any thread may ask.
final class ObjectOrders: Sendable {
    /// When there are more features in all, all orders are forgotten; eight bytes each.
    private static let featureLimit = 20_000_000

    private let kept = Mutex<[ContentID: ObjectOrder]>([:])

    /// The order of a dataset, made at the first question; two threads may make the same.
    func order(
        _ id: ContentID, _ dataset: Dataset, _ isCancelled: () -> Bool
    ) throws(Failure) -> ObjectOrder {
        if let known = kept.withLock({ $0[id] }) { return known }
        let order = try ObjectOrder(dataset, isCancelled)
        kept.withLock { kept in
            let count = kept.values.reduce(order.ids.count) { $0 + $1.ids.count }
            if count > Self.featureLimit { kept.removeAll() }
            kept[id] = order
        }
        return order
    }
}
