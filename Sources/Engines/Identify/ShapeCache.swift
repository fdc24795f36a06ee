// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Synchronization

/// The prepared shapes of one dataset in one spatial reference that were asked for lately.
///
/// People look at one place for a while, so the same large polygons are asked again and again: kept
/// ready, with their trees, they cost microseconds instead of being decoded and projected anew. It
/// has two generations; when the younger is full it becomes the older, and the older is
/// forgotten. Any thread may ask; the lock is held for a look-up only.
final class ShapeCache: Sendable {
    /// How many coordinates fill a generation; about 21 bytes each.
    static let generationCoordinates = 100_000
    /// Smaller shapes are not worth a place.
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

    /// The shape of the feature at that place in the dataset, or nil.
    func shape(_ ordinal: Int) -> PreparedShape? {
        kept.withLock { kept in
            if let shape = kept.young[ordinal] { return shape }
            guard let shape = kept.old.removeValue(forKey: ordinal) else { return nil }
            kept.keep(shape, ordinal)
            return shape
        }
    }

    /// Keeps the shape, if it is large enough to be worth it.
    func keep(_ shape: PreparedShape, _ ordinal: Int) {
        guard shape.coordinateCount >= Self.leastCoordinates else { return }
        kept.withLock { $0.keep(shape, ordinal) }
    }
}
