// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site

/// The tiles that a chunk made, as bytes: for each its level, row, column and number of bytes, four
/// times four bytes, little-endian, then its bytes.
enum TileBlob {
    private static let headByteCount = 16

    /// One tile's record.
    static func record(_ tile: TileAddress, _ bytes: [UInt8]) -> Data {
        var writer = ByteWriter(capacity: headByteCount + bytes.count)
        for number in [tile.level, tile.row, tile.column, bytes.count] {
            writer.append(UInt32(truncatingIfNeeded: number))
        }
        return Data(writer.bytes + bytes)
    }

    /// Where a tile's bytes are in a blob.
    struct Place {
        var tile: TileAddress
        var bytes: Range<Int>
    }

    /// The tiles of a blob, in the order of writing; throws `corrupt` for other bytes.
    static func places(in file: RandomAccessFile) throws -> [Place] {
        var places: [Place] = []
        var offset = 0
        while offset < file.byteCount {
            guard file.byteCount - offset >= headByteCount else { throw damage(file, offset) }
            let head = try file.read(offset..<offset + headByteCount)
            let numbers = stride(from: 0, to: headByteCount, by: 4).map { start in
                (0..<4).reduce(0) { $0 | Int(head[start + $1]) << (8 * $1) }
            }
            let start = offset + headByteCount
            guard let tile = TileAddress(level: numbers[0], row: numbers[1], column: numbers[2]),
                numbers[3] <= file.byteCount - start
            else { throw damage(file, offset) }
            places.append(Place(tile: tile, bytes: start..<start + numbers[3]))
            offset = start + numbers[3]
        }
        return places
    }

    private static func damage(_ file: RandomAccessFile, _ offset: Int) -> Failure {
        Failure(.corrupt, "'\(file.path)' has no tile at byte \(offset)")
    }
}
