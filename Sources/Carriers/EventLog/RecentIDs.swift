// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials

/// Ids of events in order of arrival, with their indices.
///
/// A time-ordered id greater than all earlier ones is new without a lookup, as nearly all are; only
/// for the others a table is built.
struct RecentIDs {
    private(set) var ids: [UUID] = []
    /// The greatest that begins with its time.
    private(set) var newest: UUID?
    /// Places of the first `placed` ids.
    private var places: [UUID: Int] = [:]
    private var placed = 0

    /// An empty set with a capacity.
    init(capacity: Int = 0) { ids.reserveCapacity(capacity) }

    /// Takes one that is not there.
    mutating func append(_ id: UUID) {
        ids.append(id)
        if id.isTimeOrdered, !id.isTimeOrdered(before: newest) { newest = id }
    }

    /// Its place, from 0; nil when it is not there.
    mutating func place(of id: UUID) -> Int? {
        if id.isTimeOrdered, id.isTimeOrdered(after: newest) { return nil }
        while placed < ids.count {
            places[ids[placed]] = placed
            placed += 1
        }
        return places[id]
    }

    /// Removes all ids; with `keepingCapacity` the storage stays.
    mutating func removeAll(keepingCapacity: Bool) {
        ids.removeAll(keepingCapacity: keepingCapacity)
        places.removeAll(keepingCapacity: keepingCapacity)
        (newest, placed) = (nil, 0)
    }
}

extension UUID {
    /// Whether it begins with its time: version 7 of RFC 9562.
    var isTimeOrdered: Bool { uuid.6 >> 4 == 7 }

    /// Whether it is greater than another, or that is nil.
    func isTimeOrdered(after other: UUID?) -> Bool { other.map { $0.words < words } ?? true }

    /// Whether another is there and greater than it.
    func isTimeOrdered(before other: UUID?) -> Bool { other.map { words < $0.words } ?? false }
}
