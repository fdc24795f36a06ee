// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import Platform
internal import SQLite

/// Reads a whole log: its file and, below the file's floor, its archives.
///
/// Archives are transparent to the reader. A missing archive is a failure that names it
/// (`archived`), never an empty page. Used by one thread at a time.
public final class ArchivedLogReader: EventReader {
    /// Archives kept open at most.
    private static let openBound = 8

    let live: SQLiteEventReader
    private let folder: String
    private var open: [(name: String, file: FileStamp, reader: SQLiteEventReader)] = []

    /// Opens a log file for reading; throws `Failure` (`unreadable`, `newerVersion`, `corrupt`).
    public convenience init(path: String) throws(Failure) {
        try self.init(live: SQLiteEventReader(path: path), path: path)
    }

    init(live: SQLiteEventReader, path: String) {
        self.live = live
        folder = LogArchive.folder(ofLog: path)
    }

    /// The last global position.
    public func head() throws(Failure) -> Int64 { try live.head() }

    /// The global position up to which events are archived; 0 for none.
    public func floor() throws(Failure) -> Int64 { try live.floor() }

    /// The log's incarnation, new after each restore; nil for a file of version 1.
    public func incarnation() throws(Failure) -> UUID? { try live.incarnation() }

    /// The stream's last position; nil when it has no event.
    public func lastPosition(of stream: StreamName) throws(Failure) -> Int64? {
        try live.lastPosition(of: stream)
    }

    /// The global position of the last event in each category.
    public func categoryHeads() throws(Failure) -> [String: Int64] { try live.categoryHeads() }

    /// The category's last event at or before `position`.
    public func lastGlobalPosition(
        inCategory category: String, through position: Int64
    ) throws(Failure) -> Int64 {
        if let found = try live.lastGlobalPosition(inFileOf: category, through: position) {
            return found
        }
        for archive in try live.archives().reversed() where archive.first <= position {
            let reader = try reader(of: archive)
            if let found = try reader.lastGlobalPosition(inFileOf: category, through: position) {
                return found
            }
        }
        return 0
    }

    // MARK: Reading

    /// Events in the order of the log.
    public func read(_ range: ReadRange) throws(Failure) -> EventSlice {
        var page = EventSlice(events: [], isLast: true)
        page.isLast = try gather(range) { file, rest throws(Failure) in
            try file.read(rest)
        } add: { slice in
            page.events += slice.events
            let byteCount = slice.events.reduce(0) { $0 + $1.event.data.count + 200 }
            return (slice.events.count, byteCount, slice.isLast)
        }
        return page
    }

    /// Events in the order of the log, in their canonical bytes; otherwise as `read`.
    public func readCanonical(_ range: ReadRange) throws(Failure) -> CanonicalSlice {
        var page = CanonicalSlice(records: CanonicalRecords(), last: nil, isLast: true)
        page.isLast = try gather(range) { file, rest throws(Failure) in
            try file.readCanonical(rest)
        } add: { slice in
            // Nearly always one file has all of a page.
            if page.records.isEmpty {
                page.records = slice.records
            } else {
                page.records.append(slice.records)
            }
            page.last = slice.last ?? page.last
            return (slice.records.count, slice.records.byteCount, slice.isLast)
        }
        return page
    }

    /// Reads file after file until a bound is met; whether the end was reached.
    private func gather<Slice>(
        _ range: ReadRange,
        read: (SQLiteEventReader, ReadRange) throws(Failure) -> Slice,
        add: (Slice) -> (count: Int, byteCount: Int, isLast: Bool)
    ) throws(Failure) -> Bool {
        var rest = range
        while true {
            let archive = try archive(after: rest.after)
            let file = if let archive { try reader(of: archive) } else { live }
            let slice = try read(file, rest)
            // Events that were in the file a moment ago may have been archived since.
            if archive == nil, try live.floor() > rest.after { continue }
            let added = add(slice)
            guard let archive, added.isLast else { return added.isLast }
            rest.after = archive.last
            rest.limit -= added.count
            rest.byteLimit -= added.byteCount
            guard rest.byteLimit > 0 else { return false }
        }
    }

    /// The archive that holds the event after a position; nil when the log's file does.
    private func archive(after position: Int64) throws(Failure) -> LogArchive? {
        guard try live.floor() > position else { return nil }
        return try live.archives().first { $0.last > position }
    }

    private func path(of archive: LogArchive) -> String { folder + "/" + archive.name }

    private func reader(of archive: LogArchive) throws(Failure) -> SQLiteEventReader {
        let path = path(of: archive)
        let file = FileSystem.stamp(of: path)
        if let index = open.firstIndex(where: { $0.name == archive.name }) {
            // A file that is held open can be read when it has been put away or replaced.
            if open[index].file == file { return open[index].reader }
            open.remove(at: index)
        }
        guard let file else {
            throw Failure(
                .archived,
                "events \(archive.first) to \(archive.last) are in the archive '\(archive.name)', "
                    + "which is not in '\(folder)'")
        }
        let reader = try SQLiteEventReader(path: path)
        if open.count == Self.openBound { open.removeFirst() }
        open.append((archive.name, file, reader))
        return reader
    }

    // MARK: Verifying

    /// Verifies whole commit batches in archives and file, their connection, and the file's records
    /// of archived events.
    public func verify(after: Int64, limit: Int) throws(Failure) -> VerifyPage {
        while true {
            let archive = try archive(after: after)
            guard let archive else {
                var page = try live.verify(after: after, limit: limit)
                // Events that were in the file a moment ago may have been archived since.
                guard try live.floor() <= after else { continue }
                // A single batch is read for its hash, where latency counts.
                if page.fault == nil, limit > 1, page.checkedThrough >= page.head,
                    let fault = try archivedFault()
                {
                    page.checkedThrough = after
                    page.fault = fault
                }
                return try joined(page, after: after, to: live)
            }
            let file = try reader(of: archive)
            var page = try file.verify(after: after, limit: limit)
            page.head = try head()
            if page.fault == nil, page.checkedThrough < archive.last, try file.head() < archive.last
            {
                page.fault = LogFault(
                    position: page.checkedThrough + 1,
                    message: "the archive '\(archive.name)' ends before its last event")
            }
            if page.fault == nil,
                let fault = try live.archivedFault(
                    in: file, after: after, through: page.checkedThrough)
            {
                page.checkedThrough = after
                page.fault = fault
            }
            return try joined(page, after: after, to: file)
        }
    }

    /// A fault for surplus entries about archived events.
    private func archivedFault() throws(Failure) -> LogFault? {
        guard try floor() > 0 else { return nil }
        if let fault = try live.query({ () throws(SQLiteError) in
            try ArchivedCheck.totals(in: live.connection)
        }) {
            return fault
        }
        let found = try live.query { () throws(SQLiteError) in
            try ArchivedCheck.categories(in: live.connection)
        }
        for (category, position) in found.ends {
            var isThere = 1...max(1, found.evicted) ~= position
            if isThere {
                do throws(Failure) {
                    isThere =
                        try read(ReadRange(after: position - 1, limit: 1)).events.first?.stream
                        .category == category
                } catch {
                    // The pages of a missing archive report it.
                    guard error.code == .archived else { throw error }
                }
            }
            guard !isThere else { continue }
            return LogFault(
                position: max(1, min(position, found.evicted)),
                message: "the log's file states \(position) as the last archived event of the "
                    + "category '\(category)', which has another")
        }
        return nil
    }

    /// The fault of a hash chain that breaks at the beginning of the file after `after`.
    ///
    /// Its initial hash must equal the final hash of the file before it, if that is present.
    private func joined(
        _ page: VerifyPage, after: Int64, to file: SQLiteEventReader
    ) throws(Failure) -> VerifyPage {
        guard after > 0, let before = try live.archives().first(where: { $0.last == after }),
            FileManager.default.fileExists(atPath: path(of: before))
        else { return page }
        let ends = try reader(of: before).chainHash(at: after)
        guard try file.chainHash(at: after) != ends || ends == nil else { return page }
        return VerifyPage(
            checkedThrough: after, head: page.head, chainHash: ends ?? "",
            fault: LogFault(
                position: after + 1,
                message: "the hash chain does not go on from the archive '\(before.name)'"))
    }
}

extension ArchivedLogReader {
    func record(id: UUID) throws(Failure) -> RecordedEvent? {
        if let record = try live.record(id: id) { return record }
        guard let position = try live.archivedPosition(of: id) else { return nil }
        return try read(ReadRange(after: position - 1, limit: 1)).events.first
    }
}
