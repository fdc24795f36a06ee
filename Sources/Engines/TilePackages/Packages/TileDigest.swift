// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Codecs
package import Geometry
internal import Platform

/// The identity of a set of tiles: SHA-256 over their encoding, addresses and bytes, in ascending
/// order.
///
/// Vector tiles count as they are before gzip. So equal tiles have one identity in every format, on
/// every machine, with every build of zlib.
struct TileDigest {
    private var hash = SHA256()
    private(set) var count = 0

    init(_ encoding: TileEncoding) { hash.update(Array("tiles 1 \(encoding.rawValue)\n".utf8)) }

    mutating func add(_ tile: TileAddress, _ bytes: [UInt8]) {
        var head = ByteWriter(capacity: 12)
        head.append(tile.sortKey)
        head.append(UInt32(truncatingIfNeeded: bytes.count))
        hash.update(head.bytes)
        hash.update(bytes)
        count += 1
    }

    /// Adds a change: the state before, where it is known, and the bytes after, nil for none.
    mutating func add(_ tile: TileAddress, _ before: [UInt8]?, _ after: [UInt8]?) {
        hash.update([before == nil ? 0 : 1, after == nil ? 0 : 1])
        if let before { hash.update(before) }
        add(tile, after ?? [])
    }

    /// The SHA-256 of one tile's bytes, vector tiles before gzip; a zero for a missing tile.
    static func state(_ bytes: [UInt8]?) -> [UInt8] {
        guard let bytes, !bytes.isEmpty else { return [0] }
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish().bytes
    }

    /// 64 hexadecimal digits.
    var text: String { hash.finish().hexadecimal }
}

extension TileAddress {
    /// A number in the order of addresses: level, row, column.
    package var sortKey: UInt64 { UInt64(level) << 48 | UInt64(row) << 24 | UInt64(column) }

    /// The tile of a ``sortKey``; nil outside the scheme.
    package init?(sortKey: UInt64) {
        self.init(
            level: Int(sortKey >> 48), row: Int(sortKey >> 24 & 0xff_ffff),
            column: Int(sortKey & 0xff_ffff))
    }

    /// `tile 5/17/11`: level, row, column, for messages.
    var text: String { "tile \(level)/\(row)/\(column)" }
}
