// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Platform
internal import SQLite

extension SQLiteEventReader {
    private struct Batch {
        var first: Int64
        var last: Int64
        var hash: [UInt8]
    }

    /// Checks that positions have no gap, batches join, records pass their checksums, streams count
    /// up from 0, time does not go back, and that the hash chain holds.
    public func verify(after: Int64, limit: Int) throws(Failure) -> VerifyPage {
        let head = try head()
        var before = try batch("last <= ?1 ORDER BY last DESC", after)
        var checked = 0
        while checked < max(1, limit) {
            let through = before?.last ?? 0
            guard let next = try batch("last > ?1 ORDER BY last", through) else {
                return page(
                    before, head: head, fault: through < head ? Self.unbatched(through) : nil)
            }
            if let fault = try check(next, after: before) {
                return page(before, head: head, fault: fault)
            }
            checked += Int(next.last - next.first + 1)
            before = next
        }
        return page(before, head: head, fault: nil)
    }

    private func page(_ last: Batch?, head: Int64, fault: LogFault?) -> VerifyPage {
        VerifyPage(
            checkedThrough: last?.last ?? 0, head: head,
            chainHash: last.map { Hexadecimal.encode($0.hash) } ?? "", fault: fault)
    }

    private static func unbatched(_ through: Int64) -> LogFault {
        LogFault(position: through + 1, message: "the event belongs to no commit batch")
    }

    private func batch(_ condition: String, _ position: Int64) throws(Failure) -> Batch? {
        do {
            var statement = try connection.prepare(
                "SELECT first, last, hash FROM batch WHERE \(condition) LIMIT 1")
            try statement.bind(1, position)
            guard try statement.step() else { return nil }
            return Batch(
                first: statement.integer(0), last: statement.integer(1), hash: statement.bytes(2))
        } catch {
            throw Failure(log: error)
        }
    }

    private func check(_ batch: Batch, after before: Batch?) throws(Failure) -> LogFault? {
        let expected = (before?.last ?? 0) + 1
        guard batch.first == expected, batch.last >= batch.first else {
            return LogFault(
                position: expected,
                message: "the batch after \(expected - 1) covers \(batch.first) to \(batch.last)")
        }
        let last = try before.flatMap { before throws(Failure) in
            try records(from: before.last, through: before.last).records.last
        }
        let rows = try records(from: batch.first, through: batch.last)
        if let fault = try checkOrder(rows.records, from: batch.first, after: last?.recordedAt) {
            return fault
        }
        if let fault = rows.fault { return fault }
        guard rows.records.count == Int(batch.last - batch.first + 1) else {
            return LogFault(
                position: batch.first + Int64(rows.records.count), message: "the event is missing")
        }
        var chain = before.map { HashChain(value: $0.hash) } ?? HashChain()
        chain.add(rows.records)
        guard chain.value == batch.hash else {
            return LogFault(
                position: batch.first,
                message: "the hash chain does not hold over the batch \(batch.first) to "
                    + "\(batch.last)")
        }
        return nil
    }

    /// Checks positions, times, and that each stream counts up.
    private func checkOrder(
        _ records: [StoredRecord], from first: Int64, after time: Int64?
    ) throws(Failure) -> LogFault? {
        var time = time ?? .min
        var ends: [String: Int64] = [:]
        for (offset, record) in records.enumerated() {
            let position = first + Int64(offset)
            guard record.position == position else {
                return LogFault(position: position, message: "the event is missing")
            }
            guard record.recordedAt >= time else {
                return LogFault(
                    position: position, message: "its time lies before the event before it")
            }
            time = record.recordedAt
            guard try follows(record, ends[record.stream]) else {
                return LogFault(
                    position: position,
                    message: "stream '\(record.stream)' has no event before position "
                        + "\(record.streamPosition)")
            }
            ends[record.stream] = record.streamPosition
        }
        return nil
    }

    /// Whether the event before it in its stream is there: in this batch, or earlier in the log.
    private func follows(_ record: StoredRecord, _ end: Int64?) throws(Failure) -> Bool {
        if let end { return record.streamPosition == end + 1 }
        guard record.streamPosition > 0 else { return record.streamPosition == 0 }
        let before = try globalPosition(stream: record.stream, at: record.streamPosition - 1)
        return before.map { $0 < record.position } ?? false
    }

    private func records(from first: Int64, through last: Int64) throws(Failure) -> Rows {
        let count = Int(min(last - first + 1, 1 << 20))
        do {
            return try rows(ReadRange(after: first - 1, limit: count, byteLimit: .max))
        } catch {
            guard error.code == .corrupt else { throw error }
            return Rows(fault: LogFault(position: first, message: error.message))
        }
    }
}
