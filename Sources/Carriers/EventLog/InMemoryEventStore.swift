// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Codecs
internal import FoundationEssentials
internal import Platform

/// A log in memory, for tests and for programs that fold a log they made themselves.
///
/// It behaves as `SQLiteEventStore` does, except that it ends with the process.
public final class InMemoryEventStore: EventStore {
    private struct Batch {
        var last: Int64
        var hash: [UInt8]
    }

    private let clock: () -> Timestamp
    private var records: [RecordedEvent] = []
    /// Byte count of each record's canonical form.
    private var byteCounts: [Int] = []
    private var heads: [StreamName: Int64] = [:]
    private var positions: [UUID: Int] = [:]
    private var batches: [Batch] = []
    private var chain = HashChain()
    private var writers = Writers()
    private(set) var categories: Set<String> = []

    /// An empty log; `clock` gives the time of each commit.
    public init(clock: @escaping () -> Timestamp) { self.clock = clock }

    /// Commits several independent appends at once.
    public func append(batch: [AppendBytes]) -> CommittedBatch {
        var plan = BatchPlan(
            for: batch, log: self, writers: writers, head: Int64(records.count),
            time: max(clock(), records.last?.recordedAt ?? Timestamp(microseconds: .min)))
        let results = batch.map { append in
            Result { () throws(Failure) in try plan.add(append) }
        }
        let new = plan.new
        do {
            try keep(new.records)
            categories.formUnion(plan.newCategories)
        } catch {
            return CommittedBatch(results: batch.map { _ in .failure(error) })
        }
        return CommittedBatch(results: results, records: new.records, runs: new.runs)
    }

    private func keep(_ new: CanonicalRecords) throws(Failure) {
        guard !new.isEmpty else { return }
        let values = try new.decoded()
        chain.add(new)
        for (index, record) in values.enumerated() {
            positions[record.event.id] = records.count
            heads[record.stream] = record.streamPosition
            records.append(record)
            byteCounts.append(new.range(index).count)
        }
        batches.append(Batch(last: Int64(records.count), hash: chain.value))
    }

    /// Makes the caller the only writer of a category.
    public func claim(_ request: ClaimRequest) throws(Failure) -> WriterClaim {
        let claim = try writers.claim(for: request, after: head())
        writers.keep(claim)
        return claim
    }

    /// The last global position.
    public func head() -> Int64 { Int64(records.count) }

    /// The category's last event at or before `position`.
    public func lastGlobalPosition(inCategory category: String, through position: Int64) -> Int64 {
        records.prefix(Int(max(0, min(position, head()))))
            .last { $0.stream.category == category }?.globalPosition ?? 0
    }

    /// The global position of the last event in each category.
    public func categoryHeads() -> [String: Int64] {
        records.reduce(into: [:]) { $0[$1.stream.category] = $1.globalPosition }
    }

    /// Events in the order of the log.
    public func read(_ range: ReadRange) throws(Failure) -> EventSlice {
        var page: [RecordedEvent] = []
        var byteCount = 0
        for record in records.dropFirst(Int(max(0, min(range.after, head()))))
        where range.filter.admits(record.stream) {
            byteCount += byteCounts[Int(record.globalPosition) - 1]
            guard page.count < range.limit, page.isEmpty || byteCount <= range.byteLimit else {
                return EventSlice(events: page, isLast: false)
            }
            page.append(record)
        }
        return EventSlice(events: page, isLast: true)
    }

    /// Checks whole commit batches.
    public func verify(after: Int64, limit: Int) -> VerifyPage {
        let batch =
            batches.first { $0.last > after && $0.last - after >= Int64(limit) }
            ?? batches.last
        return VerifyPage(
            checkedThrough: batch?.last ?? 0, head: head(),
            chainHash: batch.map { Hexadecimal.encode($0.hash) } ?? "")
    }
}

extension InMemoryEventStore: CommittedLog {
    /// The stream's last position; nil when it has no event.
    public func lastPosition(of stream: StreamName) -> Int64? { heads[stream] }
    func record(id: UUID) -> RecordedEvent? { positions[id].map { records[$0] } }
    func holds(_ id: UUID) -> Bool { positions[id] != nil }
}

extension ReadRange.Filter {
    /// Whether the filter includes events of the stream.
    public func admits(_ stream: StreamName) -> Bool {
        switch self {
        case .all: true
        case .stream(let name): name == stream
        case .category(let category): category == stream.category
        }
    }
}
