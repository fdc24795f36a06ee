// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A shape made ready for exact questions: whether it touches another, and how far it is from it.
///
/// The shape is the closed set of its positions. A polygon is the union of its parts; inside one
/// part even-odd decides over all its rings, and every position on a ring belongs to it. So rings
/// that cross themselves, spikes, repeated coordinates and rings without area all have a meaning,
/// and none of them has to be repaired first. Coordinates must be finite for a meaningful answer;
/// others never trap.
public struct PreparedShape: Sendable {
    /// A run of coordinates joined by segments, or (multipoint) standing alone.
    struct Chain: Sendable {
        /// The chain's segments among all segments of the shape.
        var segments: Range<Int>
        /// Index of the chain's first coordinate.
        var start: Int
        /// Number of coordinates, one at least.
        var count: Int
        /// The polygon part it bounds; 0 for other shapes.
        var part: Int
        var isJoined: Bool
    }

    /// The coordinates of all chains, one after the other.
    let coordinates: [Coordinate]
    let chains: [Chain]
    /// Number of parts with an interior; 0 for points and lines.
    let partCount: Int
    let segmentCount: Int
    /// The smallest rectangle around the shape; empty when it has no coordinates.
    public let envelope: Envelope
    let tree: SegmentTree?

    /// Prepares a shape; the rings of a polygon form one part.
    ///
    /// O(number of coordinates). `isIndexed` builds a tree over a large shape: worth it unless the
    /// only query is with a single position.
    public init(_ shape: Shape, isIndexed: Bool = true) {
        switch shape {
        case .point(let coordinate): self.init(position: coordinate)
        case .multipoint(let coordinates):
            self.init(chains: [coordinates], isJoined: false, isIndexed)
        case .polyline(let paths): self.init(chains: paths, isJoined: true, isIndexed)
        case .polygon(let rings): self.init(polygonParts: [rings], isIndexed: isIndexed)
        case .envelope(let envelope):
            let corners = [
                Coordinate(x: envelope.minX, y: envelope.minY),
                Coordinate(x: envelope.maxX, y: envelope.minY),
                Coordinate(x: envelope.maxX, y: envelope.maxY),
                Coordinate(x: envelope.minX, y: envelope.maxY),
            ]
            self.init(polygonParts: envelope.isEmpty ? [] : [[corners]])
        }
    }

    /// Prepares a polygon of several parts, each a list of rings (the last coordinate of a ring may
    /// repeat the first or not).
    public init(polygonParts: [[[Coordinate]]], isIndexed: Bool = true) {
        var builder = Builder(roomFor: polygonParts.joined())
        for (index, rings) in polygonParts.enumerated() {
            for ring in rings { builder.append(ring, part: index, isJoined: true, isRing: true) }
        }
        self.init(builder, partCount: polygonParts.count, isIndexed)
    }

    private init(position: Coordinate) {
        coordinates = [position]
        chains = [Chain(segments: 0..<1, start: 0, count: 1, part: 0, isJoined: false)]
        (partCount, segmentCount, tree) = (0, 1, nil)
        var box = Envelope.empty
        box.extend(to: position)
        envelope = box
    }

    private init(chains: [[Coordinate]], isJoined: Bool, _ isIndexed: Bool) {
        var builder = Builder(roomFor: chains)
        for chain in chains { builder.append(chain, part: 0, isJoined: isJoined, isRing: false) }
        self.init(builder, partCount: 0, isIndexed)
    }

    private init(_ builder: Builder, partCount: Int, _ isIndexed: Bool) {
        coordinates = builder.coordinates
        chains = builder.chains
        segmentCount = builder.segmentCount
        envelope = builder.envelope
        self.partCount = partCount
        tree =
            isIndexed && builder.segmentCount > SegmentTree.threshold
            ? SegmentTree(builder.chains, builder.coordinates) : nil
    }

    private struct Builder {
        var coordinates: [Coordinate] = []
        var chains: [Chain] = []
        var segmentCount = 0
        var envelope = Envelope.empty

        init(roomFor given: some Sequence<[Coordinate]>) {
            // A ring may need one more, to be closed.
            let (chainCount, count) = given.reduce((0, 0)) { ($0.0 + 1, $0.1 + $1.count + 1) }
            chains.reserveCapacity(chainCount)
            coordinates.reserveCapacity(count)
        }

        mutating func append(_ chain: [Coordinate], part: Int, isJoined: Bool, isRing: Bool) {
            guard let first = chain.first else { return }
            let start = coordinates.count
            coordinates.append(contentsOf: chain)
            if isRing && chain.last != first { coordinates.append(first) }
            for coordinate in chain { envelope.extend(to: coordinate) }
            let count = coordinates.count - start
            let segments = isJoined ? max(1, count - 1) : count
            chains.append(
                Chain(
                    segments: segmentCount..<segmentCount + segments, start: start, count: count,
                    part: part, isJoined: isJoined))
            segmentCount += segments
        }
    }

    /// Number of coordinates, those that close rings included.
    public var coordinateCount: Int { coordinates.count }

    /// Whether it has no coordinates, and so no position at all.
    public var isEmpty: Bool { coordinates.isEmpty }

    /// The shape's only position; nil when it has none, several, or an inside.
    public var position: Coordinate? {
        partCount == 0 && coordinates.count == 1 ? coordinates[0] : nil
    }

    /// The segment of a chain, counted from 0 in it.
    @inline(__always)
    func segment(_ index: Int, of chain: Chain) -> Segment {
        let first = chain.start + index
        let last = chain.isJoined && chain.count > 1 ? first + 1 : first
        return Segment(a: coordinates[first], b: coordinates[last])
    }
}
