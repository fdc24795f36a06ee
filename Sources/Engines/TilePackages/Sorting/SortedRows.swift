// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform

/// Four numbers, in lexicographic order.
struct SortableRow: Comparable {
    var first: UInt64
    var second: UInt64
    var third: UInt64 = 0
    var fourth: UInt64 = 0

    static let byteCount = 32

    static func < (left: SortableRow, right: SortableRow) -> Bool {
        (left.first, left.second, left.third, left.fourth)
            < (right.first, right.second, right.third, right.fourth)
    }

    func append(to writer: inout ByteWriter) {
        for word in [first, second, third, fourth] { writer.append(word) }
    }

    /// The row at an index of packed rows; nil behind the last.
    init?(_ bytes: RawSpan, _ index: Int) {
        let offset = index * Self.byteCount
        guard let first: UInt64 = bytes.littleEndian(at: offset),
            let second: UInt64 = bytes.littleEndian(at: offset + 8),
            let third: UInt64 = bytes.littleEndian(at: offset + 16),
            let fourth: UInt64 = bytes.littleEndian(at: offset + 24)
        else { return nil }
        self.init(first: first, second: second, third: third, fourth: fourth)
    }

    init(first: UInt64, second: UInt64, third: UInt64 = 0, fourth: UInt64 = 0) {
        (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
    }
}

/// Rows in the order they were added, in memory up to 8 MiB, then in a scratch file.
final class RowList {
    private let directory: String
    private var tail: [SortableRow] = []
    private var file: ScratchFile?
    private var filedCount = 0
    /// Rows in memory.
    static let memoryCount = 1 << 18

    init(scratch directory: String) { self.directory = directory }

    var count: Int { filedCount + tail.count }

    func append(_ row: SortableRow) throws(Failure) {
        tail.append(row)
        guard tail.count >= Self.memoryCount else { return }
        try move()
    }

    /// Sorts the rows in memory and moves them into the file.
    fileprivate func moveSorted() throws(Failure) -> Range<Int> {
        tail.sort()
        let start = filedCount
        try move()
        return start..<filedCount
    }

    fileprivate func sortTail() { tail.sort() }

    fileprivate var isTailFull: Bool { tail.count >= Self.memoryCount - 1 }

    private func move() throws(Failure) {
        var writer = ByteWriter(capacity: tail.count * SortableRow.byteCount)
        for row in tail { row.append(to: &writer) }
        do throws(PlatformError) {
            let file = if let file { file } else { try ScratchFile(inDirectory: directory) }
            self.file = file
            try file.append(writer.bytes)
        } catch { throw Failure(error) }
        filedCount += tail.count
        tail.removeAll(keepingCapacity: true)
    }

    /// Some of the rows, in order; fewer at the end.
    func rows(from start: Int, count: Int) throws(Failure) -> [SortableRow] {
        guard start < filedCount, let file else {
            let start = start - filedCount
            return Array(tail[min(start, tail.count)..<min(start + count, tail.count)])
        }
        let size = SortableRow.byteCount
        let end = min(start + count, filedCount)
        do throws(PlatformError) {
            let bytes = try file.read(start * size..<end * size)
            return SortableRow.unpack(bytes)
        } catch { throw Failure(error) }
    }

    /// Reads the rows from the first on.
    func reader() -> RowReader { RowReader(self, 0..<count) }
}

extension SortableRow {
    fileprivate static func unpack(_ bytes: [UInt8]) -> [SortableRow] {
        var writer = ByteWriter()
        writer.append(bytes)
        return writer.withBytes { span in
            (0..<bytes.count / byteCount).compactMap { SortableRow(span, $0) }
        }
    }
}

/// Reads a part of a list from front to back, 2,048 rows at a time.
struct RowReader {
    private let list: RowList
    private var rest: Range<Int>
    private var block: [SortableRow] = []
    private var index = 0

    init(_ list: RowList, _ range: Range<Int>) {
        self.list = list
        rest = range
    }

    mutating func next() throws(Failure) -> SortableRow? {
        if index == block.count {
            guard !rest.isEmpty else { return nil }
            block = try list.rows(from: rest.lowerBound, count: min(rest.count, 2_048))
            guard !block.isEmpty else { return nil }
            rest = rest.lowerBound + block.count..<rest.upperBound
            index = 0
        }
        defer { index += 1 }
        return block[index]
    }
}

/// Sorts any number of rows with at most 8 MiB of them in memory, and 64 KiB for each further
/// 262,144: runs that are sorted, kept in a scratch file, and merged.
final class RowSorter {
    private let list: RowList
    private var runs: [Range<Int>] = []

    init(scratch directory: String) { list = RowList(scratch: directory) }

    var count: Int { list.count }

    func add(_ row: SortableRow) throws(Failure) {
        if list.isTailFull { runs.append(try list.moveSorted()) }
        try list.append(row)
    }

    /// The rows in ascending order; nothing may be added from now on.
    func sorted() throws(Failure) -> MergedRows {
        list.sortTail()
        let filed = runs.last?.upperBound ?? 0
        let all = runs + (filed < list.count ? [filed..<list.count] : [])
        return try MergedRows(all.map { RowReader(list, $0) })
    }
}

/// Rows of several sorted runs in ascending order.
struct MergedRows {
    /// A heap, the smallest row first.
    private var heads: [(row: SortableRow, reader: RowReader)] = []

    init(_ readers: [RowReader]) throws(Failure) {
        for var reader in readers {
            guard let row = try reader.next() else { continue }
            heads.append((row, reader))
        }
        heads.sort { $0.row < $1.row }
    }

    mutating func next() throws(Failure) -> SortableRow? {
        guard let row = heads.first?.row else { return nil }
        if let following = try heads[0].reader.next() {
            heads[0].row = following
        } else {
            heads.swapAt(0, heads.count - 1)
            heads.removeLast()
        }
        sink()
        return row
    }

    private mutating func sink() {
        var place = 0
        while true {
            let left = 2 * place + 1
            guard left < heads.count else { return }
            let right = left + 1
            let child =
                right < heads.count && heads[right].row < heads[left].row ? right : left
            guard heads[child].row < heads[place].row else { return }
            heads.swapAt(child, place)
            place = child
        }
    }
}
