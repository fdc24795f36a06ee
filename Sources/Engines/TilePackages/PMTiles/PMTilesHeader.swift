// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// The first 127 bytes of PMTiles 3.
struct PMTilesHeader {
    static let byteCount = 127
    /// The root directory ends within so many bytes of the file.
    static let rootEnd = 16_384

    /// A part of the file.
    struct Section {
        var offset: UInt64 = 0
        var length: UInt64 = 0
    }

    var root = Section()
    var metadata = Section()
    var leaves = Section()
    var tiles = Section()
    var addressedCount: UInt64 = 0
    var entryCount: UInt64 = 0
    var contentCount: UInt64 = 0
    /// Of directories and metadata: 1 none, 2 gzip.
    var compression: UInt8 = 2
    /// Of tiles.
    var tileCompression: UInt8 = 1
    /// 1 vector tiles, 2 PNG, 3 JPEG.
    var tileType: UInt8 = 0
    var levels: ClosedRange<Int> = 0...0
    /// In degrees.
    var bounds = Envelope(minX: -180, minY: -85.0511288, maxX: 180, maxY: 85.0511288)

    init() {}

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.append(text: "PMTiles")
        writer.append(UInt8(3))
        for section in [root, metadata, leaves, tiles] {
            writer.append(section.offset)
            writer.append(section.length)
        }
        for count in [addressedCount, entryCount, contentCount] { writer.append(count) }
        // Clustered: contents in the order of their first tile.
        writer.append([1, compression, tileCompression, tileType])
        writer.append([UInt8(levels.lowerBound), UInt8(levels.upperBound)])
        for degrees in [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY] {
            writer.append(Self.fixed(degrees))
        }
        writer.append(UInt8(levels.lowerBound))
        writer.append(Self.fixed(bounds.center.x))
        writer.append(Self.fixed(bounds.center.y))
        return writer.bytes
    }

    /// Degrees in units of 10⁻⁷.
    private static func fixed(_ degrees: Double) -> Int32 {
        Int32(max(-1.8e9, min(1.8e9, (degrees * 1e7).rounded())))
    }

    /// Reads a header; nil where it is cut, of another version, or has unknown compressions.
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= Self.byteCount, bytes.littleEndian(at: 7, as: UInt8.self) == 3
        else { return nil }
        func number(_ offset: Int) -> UInt64 { bytes.littleEndian(at: offset) ?? 0 }
        func byte(_ offset: Int) -> UInt8 { bytes.littleEndian(at: offset) ?? 0 }
        func degrees(_ offset: Int) -> Double {
            Double(bytes.littleEndian(at: offset, as: Int32.self) ?? 0) / 1e7
        }
        root = Section(offset: number(8), length: number(16))
        metadata = Section(offset: number(24), length: number(32))
        leaves = Section(offset: number(40), length: number(48))
        tiles = Section(offset: number(56), length: number(64))
        addressedCount = number(72)
        (compression, tileCompression, tileType) = (byte(97), byte(98), byte(99))
        guard byte(100) <= byte(101), byte(101) <= 23, 1...2 ~= compression else { return nil }
        levels = Int(byte(100))...Int(byte(101))
        bounds = Envelope(
            minX: degrees(102), minY: degrees(106), maxX: degrees(110), maxY: degrees(114))
    }
}
