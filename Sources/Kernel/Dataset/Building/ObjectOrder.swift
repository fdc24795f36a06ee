// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import Synchronization

/// The features of a dataset by rising object id.
public struct ObjectOrder: Sendable {
    /// Rising; empty where ids have 64 bits.
    public let ids: [Int32]
    /// The places in the file, by rising object id.
    public let ordinals: [Int32]
    /// The features without geometry, by rising object id: ``rank(of:)`` above 32 bits of the
    /// place.
    public let placeless: [Int64]
    /// Rising; nil where ids have 32 bits.
    private let wideIDs: [Int64]?

    /// Reads every feature's id; throws `.corrupt` where a feature's bytes are damaged, and
    /// `.cancelled`.
    public init(
        _ dataset: Dataset, _ isCancelled: () -> Bool = { false }
    ) throws(Failure) {
        let (read, empty) = try dataset.objectIDs(isCancelled)
        if dataset.header.hasWideIDs {
            let order = read.indices.sorted { read[$0] < read[$1] }
            let without = Set(empty)
            ids = []
            ordinals = order.map { Int32(clamping: $0) }
            wideIDs = order.map { read[$0] }
            placeless =
                without.isEmpty
                ? []
                : order.indices.filter { without.contains(order[$0]) }
                    .map { Int64($0) << 32 | Int64(order[$0]) }
            return
        }
        placeless = empty.map { read[$0] << 32 | Int64($0) }.sorted()
        wideIDs = nil
        // Both numbers packed in one, so that the sort moves no pairs.
        var both = read.enumerated().map { $1 << 32 | Int64($0) }
        both.sort()
        ids = both.map { Int32(truncatingIfNeeded: $0 >> 32) }
        ordinals = both.map { Int32(truncatingIfNeeded: $0) }
    }

    /// The place in the file of the feature with that id.
    public func ordinal(of id: Int64) -> Int32? {
        let index = countBelow(id)
        return index < count && self.id(index) == id ? ordinals[index] : nil
    }

    /// Number of features.
    public var count: Int { ordinals.count }

    private func id(_ index: Int) -> Int64 { wideIDs?[index] ?? Int64(ids[index]) }

    /// A number of 0…2^31−1 that rises with the ids of the features there are.
    public func rank(of id: Int64) -> Int64 { wideIDs == nil ? id : Int64(countBelow(id)) }

    /// Number of smaller ids.
    public func countBelow(_ id: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self.id(middle) < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ObjectOrder {
    /// The effective features of a dataset with edits over it.
    ///
    /// A place from the number of features of the dataset on is one of the overlay's. Throws as
    /// ``init(_:_:)``.
    public init(_ base: ObjectOrder, under edited: EditedDataset) throws(Failure) {
        guard edited.isEdited else {
            self = base
            return
        }
        let above = try edited.overlay.map { overlay throws(Failure) in try ObjectOrder(overlay) }
        let first = Int32(clamping: edited.base.properties.featureCount)
        var (ids, ordinals): ([Int32], [Int32]) = ([], [])
        ids.reserveCapacity(base.ids.count + (above?.ids.count ?? 0))
        ordinals.reserveCapacity(ids.capacity)
        var next = 0
        var placeless = (above?.placeless ?? []).map { $0 + Int64(first) }
        placeless += base.placeless.filter { !edited.hides($0 >> 32) }
        placeless.sort()
        func takeAbove(below id: Int32) {
            guard let above else { return }
            while next < above.ids.count, above.ids[next] < id {
                ids.append(above.ids[next])
                ordinals.append(first + above.ordinals[next])
                next += 1
            }
        }
        for (id, ordinal) in zip(base.ids, base.ordinals) {
            takeAbove(below: id)
            if edited.hides(Int64(id)) { continue }
            ids.append(id)
            ordinals.append(ordinal)
        }
        takeAbove(below: .max)
        if let above, next < above.ids.count {
            ids.append(above.ids[next])
            ordinals.append(first + above.ordinals[next])
        }
        (self.ids, self.ordinals, wideIDs) = (ids, ordinals, nil)
        self.placeless = placeless
    }
}

/// A cache of the orders of recently read datasets; any thread.
public final class ObjectOrders: Sendable {
    /// Most features in the cache, eight bytes each; beyond it the cache is cleared.
    private static let featureLimit = 20_000_000

    /// An empty cache.
    public init() {}

    private let kept = Mutex<[ContentID: ObjectOrder]>([:])

    /// The order of a dataset, where it was made already.
    public func known(_ id: ContentID) -> ObjectOrder? { kept.withLock { $0[id] } }

    /// The order of a dataset, made at the first question; two threads may make the same.
    ///
    /// Throws as `ObjectOrder.init`.
    public func order(
        _ id: ContentID, _ dataset: Dataset, _ isCancelled: () -> Bool = { false }
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
