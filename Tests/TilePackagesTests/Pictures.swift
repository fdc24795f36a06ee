// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Codecs
import Geometry

extension TileAddress {
    /// A PNG of one colour, 256 × 256: its red is the row, its green the column.
    var picture: [UInt8] {
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            let named = Array(name.utf8) + body
            return Self.bigEndian(UInt32(body.count)) + named
                + Self.bigEndian(CRC32.checksum(named))
        }
        // Every pixel is the first of a palette of one. Of zeros the Adler-32 is their number.
        let colour = [UInt8(truncatingIfNeeded: row), UInt8(truncatingIfNeeded: column), 77]
        let lines = [UInt8](repeating: 0, count: 257 * 256)
        let sum = UInt32(lines.count % 65_521) << 16 | 1
        let zlib: [UInt8] = [0x78, 0x9c] + Deflate.compress(lines) + Self.bigEndian(sum)
        let head = Self.bigEndian(256) + Self.bigEndian(256) + [8, 3, 0, 0, 0]
        let magic: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        return magic + chunk("IHDR", head)
            + chunk("PLTE", colour) + chunk("IDAT", zlib) + chunk("IEND", [])
    }

    /// A vector tile of one point in its middle, in the layer `points`.
    var vectorTile: [UInt8] {
        func field(_ number: UInt8, _ body: [UInt8]) -> [UInt8] {
            [number << 3 | 2, UInt8(body.count)] + body
        }
        // MoveTo (2048, 2048), each as a zigzag varint.
        let feature: [UInt8] = [0x18, 1] + field(4, [9, 0x80, 0x20, 0x80, 0x20])
        let layer =
            [0x78, 2] + field(1, Array("points".utf8)) + field(2, feature) + [0x28, 0x80, 0x20]
        return field(3, layer)
    }

    private static func bigEndian(_ word: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
}
