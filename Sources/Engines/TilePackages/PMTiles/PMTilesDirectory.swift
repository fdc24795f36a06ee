// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Codecs

/// One line of a directory: tiles that follow each other with the same bytes, or, where `runLength`
/// is 0, a leaf directory.
struct PMTilesEntry: Equatable {
    var id: UInt64
    /// Within the section of tiles, or that of leaf directories.
    var offset: UInt64
    var length: UInt32
    var runLength: UInt32
}

/// A directory as it is in the file: five columns of varints, as gzip.
enum PMTilesDirectory {
    /// The most bytes of a directory before gzip, so at most two million entries.
    static let byteLimit = 8 << 20

    static func encode(_ entries: [PMTilesEntry]) -> [UInt8] {
        var bytes: [UInt8] = []
        append(UInt64(entries.count), to: &bytes)
        var last: UInt64 = 0
        for entry in entries {
            append(entry.id - last, to: &bytes)
            last = entry.id
        }
        for entry in entries { append(UInt64(entry.runLength), to: &bytes) }
        for entry in entries { append(UInt64(entry.length), to: &bytes) }
        var end: UInt64?
        for entry in entries {
            append(entry.offset == end ? 0 : entry.offset + 1, to: &bytes)
            end = entry.offset + UInt64(entry.length)
        }
        return Gzip.compress(bytes)
    }

    /// The entries, in ascending order of ids that no two share; nil for anything else.
    static func decode(_ bytes: [UInt8], isGzip: Bool) -> [PMTilesEntry]? {
        guard
            let expanded = isGzip
                ? Gzip.expand(bytes, limit: byteLimit) : bytes.count <= byteLimit ? bytes : nil
        else { return nil }
        var reader = VarintReader(bytes: expanded)
        guard let total = reader.next(), total <= UInt64(expanded.count / 4) else { return nil }
        let count = Int(total)
        var entries: [PMTilesEntry] = []
        entries.reserveCapacity(count)
        var id: UInt64 = 0
        for index in 0..<count {
            guard let delta = reader.next(), index == 0 || delta > 0 else { return nil }
            let (sum, isTooGreat) = id.addingReportingOverflow(delta)
            guard !isTooGreat, sum < PMTilesID.end else { return nil }
            id = sum
            entries.append(PMTilesEntry(id: id, offset: 0, length: 0, runLength: 0))
        }
        for index in 0..<count {
            guard let run = reader.next().flatMap(UInt32.init(exactly:)) else { return nil }
            let isOverlapping =
                index + 1 < count && UInt64(run) > entries[index + 1].id - entries[index].id
            guard !isOverlapping, entries[index].id + UInt64(run) <= PMTilesID.end else {
                return nil
            }
            entries[index].runLength = run
        }
        for index in 0..<count {
            guard let length = reader.next().flatMap(UInt32.init(exactly:)), length > 0 else {
                return nil
            }
            entries[index].length = length
        }
        var end: UInt64 = 0
        for index in 0..<count {
            guard let value = reader.next(), value > 0 || index > 0 else { return nil }
            let offset = value == 0 ? end : value - 1
            guard offset < 1 << 60 else { return nil }
            entries[index].offset = offset
            end = offset + UInt64(entries[index].length)
        }
        return reader.isAtEnd ? entries : nil
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

private struct VarintReader {
    let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func next() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard place < bytes.count else { return nil }
            let byte = UInt64(bytes[place])
            place += 1
            guard shift < 63 || byte <= 1 else { return nil }
            number |= (byte & 0x7f) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }
}
