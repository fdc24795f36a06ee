// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform
internal import SpatialIndex

/// The packed Hilbert R-tree over pieces of links.
///
/// The number of a leaf is its link in the upper 32 bits and the place of the piece's first point
/// in the link in the lower ones.
struct SnapIndex: Sendable {
    let tree: PackedHilbertTree

    /// Segments of a piece, but for the last of a link.
    static let segmentsOfPiece = 8

    /// The form of a tree of that many bytes; nil when there is none.
    init?(byteCount: Int) {
        // Of all counts of items at most one has so many bytes.
        var range = 1...max(1, byteCount / PackedHilbertTree.nodeByteCount)
        while range.lowerBound < range.upperBound {
            let middle = range.lowerBound + range.count / 2
            guard let tree = PackedHilbertTree(itemCount: middle, nodeSize: 16) else { return nil }
            range =
                tree.byteCount > byteCount
                ? range.lowerBound...middle - 1 : middle...range.upperBound
        }
        guard let tree = PackedHilbertTree(itemCount: range.lowerBound, nodeSize: 16),
            tree.byteCount == byteCount
        else { return nil }
        self.tree = tree
    }

    /// Whether every leaf has a piece of a link.
    func isSound(_ bytes: RawSpan, pointCount: (Int) -> Int) -> Bool {
        for ordinal in 0..<tree.itemCount {
            guard let leaf = tree.leaf(at: ordinal, in: bytes) else { return false }
            let (link, start) = Self.piece(leaf.offset)
            guard start < pointCount(link) - 1 else { return false }
        }
        return true
    }

    static func piece(_ offset: UInt64) -> (link: Int, start: Int) {
        (Int(offset >> 32), Int(offset & 0xFFFF_FFFF))
    }

    static func degrees(_ x: Int32, _ y: Int32) -> Coordinate {
        Coordinate(x: Double(x) / Sphere.unitsPerDegree, y: Double(y) / Sphere.unitsPerDegree)
    }
}
