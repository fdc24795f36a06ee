// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Codecs
internal import Platform
internal import SQLite

extension SQLiteEventReader {
    /// Checks that positions have no gap, batches join, records pass their checksums, streams count
    /// up from 0, time does not go back, the hash chain holds, and the indexes match the events.
    public func verify(after: Int64, limit: Int) throws(Failure) -> VerifyPage {
        // A single batch is read for its hash, where latency counts.
        try verify(after: after, limit: limit, seeksStrays: limit > 1)
    }

    /// Verifies a page; `seeksStrays` makes the last page look for rows of the indexes that no
    /// event leads to.
    func verify(after: Int64, limit: Int, seeksStrays: Bool) throws(Failure) -> VerifyPage {
        let (head, floor) = (try head(), try floor())
        do throws(SQLiteError) {
            var check = try LogCheck(self, after: max(after, floor))
            guard check.checkedThrough >= floor else {
                let fault = LogFault(
                    position: floor + 1,
                    message: "the batch before it, the last archived, is missing")
                return VerifyPage(checkedThrough: 0, head: head, chainHash: "", fault: fault)
            }
            var fault: LogFault?
            do throws(SQLiteError) {
                fault = try check.run(
                    self, after: after, limit: max(1, limit), head: head, seeksStrays: seeksStrays)
            } catch {
                guard error.isCorrupt else { throw error }
                fault = LogFault(near: check.checkedThrough + 1, in: path, error)
            }
            return VerifyPage(
                checkedThrough: check.checkedThrough, head: head,
                chainHash: check.hasChecked ? Hexadecimal.encode(check.chain.value) : "",
                fault: fault)
        } catch {
            throw Failure(log: error, at: path)
        }
    }

    /// The first row of the indexes that no event leads to; nil for none.
    ///
    /// Means something only where `verify` finds every event in its place.
    func firstStray() throws(Failure) -> LogFault? {
        let head = try head()
        do throws(SQLiteError) {
            return try IndexStrays.fault(in: connection)
        } catch {
            guard error.isCorrupt else { throw Failure(log: error, at: path) }
            return LogFault(near: max(1, head), in: path, error)
        }
    }
}

/// One pass over batches and events side by side, in the order of the log.
private struct LogCheck: ~Copyable {
    /// The last position seen of each stream.
    private var ends: [Int64: Int64] = [:]
    /// The records of the batch that is being checked.
    private var records = CanonicalRecords()
    private var batches: Statement
    private var events: RowScan
    private var eventRows: EventRows
    private var indexes: IndexCheck
    /// The time of the last event checked.
    private var time: Int64
    /// Whether there is a batch at or before `checkedThrough`.
    private(set) var hasChecked: Bool
    /// The last event of the last batch that holds.
    private(set) var checkedThrough: Int64
    /// The chain's value there.
    private(set) var chain: HashChain

    /// Begins behind the last batch that ends at or before `after`.
    init(_ reader: SQLiteEventReader, after: Int64) throws(SQLiteError) {
        let connection = reader.connection
        var before = try connection.prepare(
            "SELECT last, hash, (SELECT recorded_at FROM event WHERE position = last) FROM batch "
                + "WHERE last <= ?1 ORDER BY last DESC LIMIT 1")
        try before.bind(1, after)
        let hasChecked = try before.step()
        let start = hasChecked ? before.integer(0) : 0
        var batches = try connection.prepare(
            "SELECT first, last, hash FROM batch WHERE last > ?1 ORDER BY last")
        try batches.bind(1, start)
        var events = try connection.scan(
            "\(EventRows.columns), \(IndexCheck.columns)",
            "FROM event WHERE event.position > ?1 ORDER BY event.position")
        try events.bind(1, start)
        let eventRows = try EventRows(connection)
        let indexes = try IndexCheck(connection)
        self.batches = batches
        self.events = events
        self.eventRows = eventRows
        self.indexes = indexes
        self.hasChecked = hasChecked
        checkedThrough = start
        let hash = hasChecked ? BatchHash(stored: before.bytes(1)) : nil
        // A damaged value holds over nothing that follows.
        chain = hash.map { HashChain(value: $0.chain) } ?? HashChain()
        time = hasChecked && !before.isNull(2) ? before.integer(2) : .min
    }

    /// Checks whole batches until about `limit` events are done; the first thing wrong, if any.
    mutating func run(
        _ reader: SQLiteEventReader, after: Int64, limit: Int, head: Int64, seeksStrays: Bool
    ) throws(SQLiteError) -> LogFault? {
        let (sum, isBeyond) = max(after, checkedThrough).addingReportingOverflow(Int64(limit))
        let end = isBeyond ? .max : sum
        let start = (hasChecked, checkedThrough, chain)
        var fault: LogFault?
        while fault == nil, checkedThrough < end {
            guard try batches.step() else {
                guard checkedThrough < head else { break }
                fault = LogFault(
                    position: checkedThrough + 1, message: "the event belongs to no commit batch")
                break
            }
            do throws(LogFault) { try batch(reader) } catch { fault = error }
        }
        var misplaced = try indexes.fault(isOpen: fault == nil)
        if seeksStrays, misplaced == nil, fault == nil, checkedThrough >= head {
            misplaced = try IndexStrays.fault(in: reader.connection)
        }
        guard let misplaced, misplaced.position <= fault?.position ?? .max else { return fault }
        (hasChecked, checkedThrough, chain) = start
        return misplaced
    }

    private mutating func batch(_ reader: SQLiteEventReader) throws(LogFault) {
        let (first, last) = (batches.integer(0), batches.integer(1))
        let expected = checkedThrough + 1
        guard first == expected, last >= first else {
            throw LogFault(
                position: expected,
                message: "the batch after \(checkedThrough) covers \(first) to \(last)")
        }
        records.removeAll()
        for position in first...last { try event(position, reader) }
        guard let hash = BatchHash(stored: batches.bytes(2)), hash.holds(records, after: chain)
        else {
            throw LogFault(
                position: first,
                message: "the hash chain does not hold over the batch \(first) to \(last)")
        }
        chain = HashChain(value: hash.chain)
        checkedThrough = last
        hasChecked = true
    }

    private mutating func event(_ position: Int64, _ reader: SQLiteEventReader) throws(LogFault) {
        let isThere: Bool
        do {
            isThere = try events.step() && events.integer(0) == position
        } catch {
            throw LogFault(near: position, in: reader.path, error)
        }
        guard isThere else {
            throw LogFault(position: position, message: "the event is missing")
        }
        try eventRows.append(events, to: &records)
        let (stream, place) = (events.integer(1), events.integer(2))
        try indexes.take(events, of: stream, at: position)
        let recordedAt = events.integer(3)
        guard recordedAt >= time else {
            throw LogFault(
                position: position, message: "its time is before that of the preceding event")
        }
        time = recordedAt
        guard try follows(stream, place, at: position, reader) else {
            throw LogFault(
                position: position,
                message: "its stream has no event before position \(place)")
        }
    }

    /// Whether the event before it in its stream is there, earlier in the log.
    private mutating func follows(
        _ stream: Int64, _ place: Int64, at position: Int64, _ reader: SQLiteEventReader
    ) throws(LogFault) -> Bool {
        if let index = ends.index(forKey: stream) {
            defer { ends.values[index] = place }
            return ends.values[index] == place &- 1
        }
        ends[stream] = place
        return try reader.hasEvent(before: place, of: stream, at: position)
    }
}
