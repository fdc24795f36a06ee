// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The bounding box of features in another reference, coordinate by coordinate where necessary.
struct ExtentMeasure {
    /// The bounding box of all added features.
    var total = Envelope.empty
    private let transform: CoordinateTransform?
    private let keepsRectangles: Bool
    private var chains = FeatureChains()

    /// Whether no projection is needed.
    var isPlain: Bool { transform == nil }

    init(from source: SpatialReference, to target: SpatialReference) throws(Failure) {
        transform =
            source.isEquivalent(to: target)
            ? nil : try CoordinateTransform(from: source, to: target)
        let pair = Set([source.latestWkid, target.latestWkid])
        keepsRectangles = transform == nil || pair == [4326, 3857]
    }

    /// Adds the reader's feature; coordinates that cannot be projected are skipped.
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
