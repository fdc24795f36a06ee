// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Synchronization

/// A cache of prepared shapes of one dataset in one spatial reference.
///
/// Consecutive requests concern the same place, so the same large polygons recur: cached with their
/// trees, they cost microseconds instead of being decoded and projected again. The cache has two
/// generations; when the younger is full it replaces the older. Thread-safe; the lock is held for a
/// look-up only.
final class ShapeCache: Sendable {
    /// Capacity of a generation in coordinates; about 21 bytes each.
    static let generationCoordinates = 100_000
    /// Smallest cached shape, in coordinates.
    private static let leastCoordinates = 32

    private struct Generations {
        var young: [Int: PreparedShape] = [:]
        var old: [Int: PreparedShape] = [:]
        var coordinatesLeft = ShapeCache.generationCoordinates

        mutating func keep(_ shape: PreparedShape, _ ordinal: Int) {
            if coordinatesLeft < shape.coordinateCount {
                old = young
                young = [:]
                coordinatesLeft = ShapeCache.generationCoordinates
            }
            coordinatesLeft -= shape.coordinateCount
            young[ordinal] = shape
        }
    }

    private let kept = Mutex(Generations())

    /// The cached shape of a feature, by its index in the dataset.
    func shape(_ ordinal: Int) -> PreparedShape? {
        kept.withLock { kept in
            if let shape = kept.young[ordinal] { return shape }
            guard let shape = kept.old.removeValue(forKey: ordinal) else { return nil }
            kept.keep(shape, ordinal)
            return shape
        }
    }

    /// Caches a shape that is large enough.
    func keep(_ shape: PreparedShape, _ ordinal: Int) {
        guard shape.coordinateCount >= Self.leastCoordinates else { return }
        kept.withLock { $0.keep(shape, ordinal) }
    }
}
