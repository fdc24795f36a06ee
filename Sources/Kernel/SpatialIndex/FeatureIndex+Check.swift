// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import Platform

extension FeatureIndex {
    /// Verifies the whole index: its checksum, that rectangles are inside their parents, and that
    /// every offset is in its valid range.
    ///
    /// O(size).
    public func check(_ index: RawSpan, _ data: RawSpan) throws(IndexDamage) {
        let body = index.extracting(Self.headerByteCount..<index.byteCount)
        guard CRC32C.checksum(body) == bodyChecksum else {
            throw IndexDamage(Self.headerByteCount, "bytes with the checksum in the header")
        }
        try unsafe index.withUnsafeBytes { index throws(IndexDamage) in
            try unsafe data.withUnsafeBytes { data throws(IndexDamage) in
                try unsafe check(Memory(index), Memory(data))
            }
        }
    }

    private func check(_ index: Memory, _ data: Memory) throws(IndexDamage) {
        try tree.check(index, at: Self.headerByteCount)
        for number in 0..<pieceCount {
            let record = Self.headerByteCount + tree.record(number)
            let piece = Self.piece(record, index)
            guard piece.feature < featureCount else {
                throw IndexDamage(record, "a feature's number")
            }
            if piece.isStriped {
                try StripedArea(index, at: piece.place, data).check()
            } else if !data.holds(
                piece.place, 16 * (kind == .points ? piece.count : piece.count + 1))
            {
                throw IndexDamage(record + 8, "coordinates inside the data")
            }
        }
    }
}
