// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The kinds of geometry of a tile, by their numbers in the specification.
enum GeometryKind: UInt64 {
    case point = 1
    case line = 2
    case polygon = 3

    init(_ shape: Shape) {
        self =
            switch shape {
            case .point, .multipoint: .point
            case .polyline: .line
            case .polygon, .envelope: .polygon
            }
    }
}

/// The geometry of a layer's features, or as much of it as a square needs.
struct GeometryStore {
    var coordinates: [Coordinate] = []
    /// The end in ``coordinates`` of each part.
    var partEnds: [Int] = []
    var entries: [Entry] = []

    struct Entry {
        /// The number of the feature in its layer.
        let feature: Int
        let parts: Range<Int>
        let envelope: Envelope
    }

    func coordinates(ofPart part: Int) -> Range<Int> {
        (part == 0 ? 0 : partEnds[part - 1])..<partEnds[part]
    }

    /// Appends a shape; false, and nothing appended, without coordinates or with one that is not
    /// finite.
    mutating func append(_ shape: Shape, of feature: Int) -> Bool {
        let envelope = shape.envelope
        let (firstCoordinate, firstPart) = (coordinates.count, partEnds.count)
        switch shape {
        case .point(let place): append(part: CollectionOfOne(place))
        case .multipoint(let places): append(part: places)
        case .polyline(let parts): for part in parts { append(part: part) }
        case .polygon(let rings): for ring in rings { append(part: Self.open(ring[...])) }
        case .envelope(let box):
            append(part: [
                Coordinate(x: box.minX, y: box.minY), Coordinate(x: box.maxX, y: box.minY),
                Coordinate(x: box.maxX, y: box.maxY), Coordinate(x: box.minX, y: box.maxY),
            ])
        }
        // Extending an envelope passes over what is not a number.
        guard !envelope.isEmpty, envelope.isFinite,
            coordinates[firstCoordinate...].allSatisfy(\.isFinite)
        else {
            coordinates.removeSubrange(firstCoordinate...)
            partEnds.removeSubrange(firstPart...)
            return false
        }
        entries.append(
            Entry(feature: feature, parts: firstPart..<partEnds.count, envelope: envelope))
        return true
    }

    private mutating func append(part: some Collection<Coordinate>) {
        guard !part.isEmpty else { return }
        coordinates.append(contentsOf: part)
        partEnds.append(coordinates.count)
    }

    /// A ring without the repetition of its first coordinate.
    private static func open(_ ring: ArraySlice<Coordinate>) -> ArraySlice<Coordinate> {
        ring.count > 1 && ring.first == ring.last ? ring.dropLast() : ring
    }
}
