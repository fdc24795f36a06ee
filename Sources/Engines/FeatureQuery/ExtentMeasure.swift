// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The rectangle around features in another reference, coordinate by coordinate where it must be.
struct ExtentMeasure {
    /// Around all that were added.
    var total = Envelope.empty
    private let transform: CoordinateTransform?
    private let keepsRectangles: Bool
    private var chains = FeatureChains()

    /// Whether rectangles need not be moved.
    var isPlain: Bool { transform == nil }

    init(from source: SpatialReference, to target: SpatialReference) throws(Failure) {
        transform =
            source.isEquivalent(to: target)
            ? nil : try CoordinateTransform(from: source, to: target)
        let pair = Set([source.latestWkid, target.latestWkid])
        keepsRectangles = transform == nil || pair == [4326, 3857]
    }

    /// Adds the reader's feature; coordinates without a place in the reference are passed over.
    mutating func add(_ reader: FeatureReader) throws(Failure) {
        guard let transform else {
            total = total.union(reader.envelope)
            return
        }
        if keepsRectangles {
            guard !reader.envelope.isEmpty,
                let moved = try? transform.forward(Shape.envelope(reader.envelope))
            else { return }
            total = total.union(moved.envelope)
            return
        }
        try reader.read(into: &chains)
        for coordinate in chains.coordinates {
            if let moved = try? transform.forward(coordinate) { total.extend(to: moved) }
        }
    }
}
