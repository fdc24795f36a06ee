// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform

/// Where everything of a PMTiles file will be: its directories, and the contents in their order.
struct PMTilesPlan {
    /// Entries: id, offset, length, run length.
    let entries: RowList
    /// Contents in the order of the file: place and length in the scratch file.
    let contents: RowList
    let leaves: ScratchFile
    let root: [UInt8]
    private(set) var addressedCount: UInt64 = 0
    private(set) var dataCount: UInt64 = 0

    /// Entries that a root directory holds at most; so many fit in any case.
    private static let rootCount = 1_800
    /// Entries of a leaf directory, unless the root would have too many.
    private static let leafCount = 4_096

    init(
        contents rows: MergedRows, data: ScratchFile, scratch directory: String
    ) throws(Failure) {
        entries = RowList(scratch: directory)
        contents = RowList(scratch: directory)
        var rows = rows
        var open: PMTilesEntry?
        while let row = try rows.next() {
            let length = row.second & 0xff_ffff
            let offset: UInt64
            if row.third == 1 {
                offset = dataCount
                dataCount += length
                try Self.keep(offset, of: row.second, in: data)
                try contents.append(SortableRow(first: row.second, second: 0))
            } else {
                offset = try Self.offset(of: row.second, in: data)
            }
            addressedCount += 1
            // GDAL 3.12 does not find tiles of a run that began on the level above.
            if let entry = open, entry.offset == offset, !PMTilesID.beginsLevel(row.first),
                entry.id + UInt64(entry.runLength) == row.first
            {
                open?.runLength += 1
                continue
            }
            if let entry = open { try entries.append(entry.row) }
            open = PMTilesEntry(
                id: row.first, offset: offset, length: UInt32(length), runLength: 1)
        }
        if let entry = open { try entries.append(entry.row) }
        (root, leaves) = try Self.directories(entries, scratch: directory)
    }

    /// The root directory, and the leaf directories where it needs them.
    private static func directories(
        _ entries: RowList, scratch directory: String
    ) throws(Failure) -> ([UInt8], ScratchFile) {
        let room = PMTilesHeader.rootEnd - PMTilesHeader.byteCount
        if entries.count <= PMTilesHeader.rootEnd {
            let all = try entries.rows(from: 0, count: entries.count)
            let root = PMTilesDirectory.encode(all.map(PMTilesEntry.init))
            if root.count <= room { return (root, try scratchFile(directory)) }
        }
        var count = max(leafCount, (entries.count + rootCount - 1) / rootCount)
        while true {
            let leaves = try scratchFile(directory)
            var pointers: [PMTilesEntry] = []
            var reader = entries.reader()
            while let leaf = try next(count, of: &reader) {
                let bytes = PMTilesDirectory.encode(leaf)
                pointers.append(
                    PMTilesEntry(
                        id: leaf[0].id, offset: UInt64(leaves.byteCount),
                        length: UInt32(bytes.count), runLength: 0))
                do throws(PlatformError) { try leaves.append(bytes) } catch {
                    throw Failure(error)
                }
            }
            let root = PMTilesDirectory.encode(pointers)
            if root.count <= room { return (root, leaves) }
            count *= 2
        }
    }

    private static func next(
        _ count: Int, of reader: inout RowReader
    ) throws(Failure) -> [PMTilesEntry]? {
        var entries: [PMTilesEntry] = []
        while entries.count < count, let row = try reader.next() {
            entries.append(PMTilesEntry(row))
        }
        return entries.isEmpty ? nil : entries
    }

    private static func scratchFile(_ directory: String) throws(Failure) -> ScratchFile {
        do throws(PlatformError) { return try ScratchFile(inDirectory: directory) } catch {
            throw Failure(error)
        }
    }

    private static func keep(
        _ offset: UInt64, of place: UInt64, in data: ScratchFile
    ) throws(Failure) {
        var writer = ByteWriter(capacity: 8)
        writer.append(offset)
        do throws(PlatformError) { try data.overwrite(writer.bytes, at: Int(place >> 24)) } catch {
            throw Failure(error)
        }
    }

    private static func offset(
        of place: UInt64, in data: ScratchFile
    ) throws(Failure) -> UInt64 {
        let start = Int(place >> 24)
        do throws(PlatformError) {
            let bytes = try data.read(start..<start + 8)
            return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        } catch { throw Failure(error) }
    }
}

extension PMTilesEntry {
    var row: SortableRow {
        SortableRow(first: id, second: offset, third: UInt64(length), fourth: UInt64(runLength))
    }

    init(_ row: SortableRow) {
        self.init(
            id: row.first, offset: row.second, length: UInt32(truncatingIfNeeded: row.third),
            runLength: UInt32(truncatingIfNeeded: row.fourth))
    }
}
