// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The prepared shapes of one dataset in one spatial reference that were asked for lately.
///
/// People look at one place for a while, so the same large polygons are asked again and again: kept
/// ready, with their trees, they cost microseconds instead of being decoded and projected anew. It
/// has two generations; when the younger is full it becomes the older, and the older is forgotten.
final class ShapeCache {
    /// How many coordinates fill a generation; about 21 bytes each.
    static let generationCoordinates = 100_000
    /// Smaller shapes are not worth a place.
    private static let leastCoordinates = 32

    private var young: [Int: PreparedShape] = [:]
    private var old: [Int: PreparedShape] = [:]
    private var coordinatesLeft = ShapeCache.generationCoordinates

    /// The shape of the feature at that place in the dataset, or nil.
    func shape(_ ordinal: Int) -> PreparedShape? {
        if let shape = young[ordinal] { return shape }
        guard let shape = old.removeValue(forKey: ordinal) else { return nil }
        keep(shape, ordinal)
        return shape
    }

    /// Keeps the shape, if it is large enough to be worth it.
    func keep(_ shape: PreparedShape, _ ordinal: Int) {
        guard shape.coordinateCount >= Self.leastCoordinates else { return }
        if coordinatesLeft < shape.coordinateCount {
            old = young
            young = [:]
            coordinatesLeft = Self.generationCoordinates
        }
        coordinatesLeft -= shape.coordinateCount
        young[ordinal] = shape
    }
}
