// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import Platform

/// The index of a layer's features: a tree over their pieces, with the offsets of their coordinates
/// in another file, the data; queries run in place on both.
///
/// The value holds no bytes, which every search lends it, but the checked contents of the header.
/// The layout is described in `Docs/dataset-format.md`.
public struct FeatureIndex: Hashable, Sendable {
    /// The geometry kind of the layer's features.
    public enum Kind: UInt32, Sendable {
        /// Positions standing alone: points and multipoints.
        case points = 0
        /// Chains of segments.
        case lines
        /// Parts of polygons, each even-odd over its rings.
        case areas
    }

    /// A piece of a feature: a ring, a run of a path's segments, some positions, or a striped area.
    struct Piece {
        /// The count that marks a striped area.
        static let striped = 0xFFFF

        var feature: Int
        var objectID: Int
        /// Segments (positions, for points); not used for a striped area.
        var count: Int
        var isStriped: Bool
        /// Offset of its coordinates in the data, or of the striped area in the index.
        var place: Int
    }

    static let magic: UInt64 = 0x5844_4E49_4E52_4943
    static let version: UInt32 = 1
    static let headerByteCount = 128

    /// Geometry kind of the features.
    public let kind: Kind
    /// Number of features.
    public let featureCount: Int
    /// Byte count of the data.
    public let dataByteCount: Int
    /// The SHA-256 of the data.
    public let dataHash: [UInt8]
    /// Byte count of the index.
    public let byteCount: Int
    let pieceCount: Int
    let origin: Coordinate
    let tree: FloatTree
    let bodyChecksum: UInt32

    /// Reads the header and holds it against the sizes of the two files; cost does not depend on
    /// them.
    public init(_ index: RawSpan, dataByteCount: Int) throws(IndexDamage) {
        guard index.byteCount >= Self.headerByteCount else {
            throw IndexDamage(index.byteCount, "the header of a layer index")
        }
        let header = index.extracting(0..<Self.headerByteCount)
        guard header.uint64(at: 0) == Self.magic else {
            throw IndexDamage(0, "the mark of a layer index")
        }
        guard header.uint32(at: 8) == Self.version else {
            throw IndexDamage(8, "version \(Self.version) of the layer index")
        }
        guard CRC32C.checksum(header.extracting(0..<124)) == header.uint32(at: 124) else {
            throw IndexDamage(0, "a header with the checksum it states")
        }
        guard let kind = Kind(rawValue: header.uint32(at: 12)) else {
            throw IndexDamage(12, "a known kind of geometry")
        }
        self.kind = kind
        let counts = [16, 24, 32, 40].map { header.uint64(at: $0) }
        guard counts.allSatisfy({ $0 <= 1 << 48 }), counts[2] <= 1 << 31, counts[3] <= 1 << 31
        else { throw IndexDamage(16, "possible sizes and counts") }
        byteCount = Int(counts[0])
        self.dataByteCount = Int(counts[1])
        featureCount = Int(counts[2])
        pieceCount = Int(counts[3])
        origin = Coordinate(x: header.double(at: 48), y: header.double(at: 56))
        dataHash = (64..<96).map { header.byte(at: $0) }
        bodyChecksum = header.uint32(at: 96)
        tree = FloatTree(itemCount: pieceCount)
        guard byteCount == index.byteCount else {
            throw IndexDamage(index.byteCount, "\(byteCount) bytes")
        }
        guard self.dataByteCount == dataByteCount else {
            throw IndexDamage(
                24, "data of \(self.dataByteCount) bytes, not of \(dataByteCount)")
        }
        guard Self.headerByteCount + tree.byteCount <= byteCount, origin.isFinite else {
            throw IndexDamage(index.byteCount, "a tree inside the index")
        }
    }

    /// The piece whose record is at that offset.
    @inline(__always)
    static func piece(_ record: Int, _ index: Memory) -> Piece {
        let bits = index.uint64(record + 8)
        let count = Int(bits >> 48)
        return Piece(
            feature: index.uint32(record), objectID: index.uint32(record + 4), count: count,
            isStriped: count == Piece.striped, place: Int(bits & 0xFFFF_FFFF_FFFF))
    }
}
