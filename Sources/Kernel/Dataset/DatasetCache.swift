// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import Synchronization

/// An LRU cache of the open datasets of a directory; any thread.
///
/// A dataset is mapped on first use and stays mapped while recently used. Its bytes never change,
/// so a cached one is never stale.
public final class DatasetCache: Sendable {
    /// Most open files; the least recently used is closed first.
    public static let capacity = 512

    private struct Opened {
        var dataset: Dataset
        var lastUse: UInt64
    }

    private struct Shelf {
        var opened: [ContentID: Opened] = [:]
        var uses: UInt64 = 0
    }

    private let directory: String
    private let shelf = Mutex(Shelf())

    /// An empty shelf of the datasets `<directory>/<id>/layer.fgb`.
    public init(directory: String) { self.directory = directory }

    /// How many are open.
    public var count: Int { shelf.withLock { $0.opened.count } }

    /// The dataset of that name.
    ///
    /// Throws `Failure`: `notFound` or `unreadable` where its file is gone, `corrupt` where it is
    /// damaged.
    public func dataset(_ id: ContentID) throws(Failure) -> Dataset {
        if let known = opened(id) { return known }
        // Two threads may open the same file; one is as good as the other.
        let dataset = try Dataset(path: "\(directory)/\(id)/layer.fgb")
        shelf.withLock { shelf in
            if shelf.opened.count >= Self.capacity {
                let oldest = shelf.opened.min { $0.value.lastUse < $1.value.lastUse }
                if let oldest { shelf.opened[oldest.key] = nil }
            }
            shelf.opened[id] = Opened(dataset: dataset, lastUse: shelf.uses)
        }
        return dataset
    }

    /// The dataset of that name, where it is open.
    public func opened(_ id: ContentID) -> Dataset? {
        shelf.withLock { shelf in
            shelf.uses += 1
            guard let place = shelf.opened.index(forKey: id) else { return nil }
            shelf.opened.values[place].lastUse = shelf.uses
            return shelf.opened.values[place].dataset
        }
    }
}
