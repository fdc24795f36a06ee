// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// Reads a log.
///
/// It stores bytes and type names and decodes no payload.
public protocol EventReader {
    /// The last global position; 0 for an empty log.
    func head() throws(Failure) -> Int64

    /// The stream's last position; nil when it has no event.
    func lastPosition(of stream: StreamName) throws(Failure) -> Int64?

    /// The global position of the category's last event at or before `position`; 0 when there is
    /// none.
    func lastGlobalPosition(inCategory category: String, through position: Int64)
        throws(Failure) -> Int64

    /// The global position of the last event in each category.
    func categoryHeads() throws(Failure) -> [String: Int64]

    /// Events in the order of the log, bounded in number and in bytes (but at least one, if there
    /// is one). Throws `corrupt`, naming the sequence number, for a damaged record.
    func read(_ range: ReadRange) throws(Failure) -> EventSlice

    /// Checks whole commit batches, from the first that ends after `after`, until about `limit`
    /// events are checked.
    func verify(after: Int64, limit: Int) throws(Failure) -> VerifyPage
}

/// A log that can be appended to.
///
/// Used by one thread at a time.
public protocol EventStore: EventReader {
    /// Commits several independent appends at once, in their order.
    ///
    /// Each is atomic over its streams; a refused one leaves no trace and does not affect its
    /// neighbours. Global positions have no gaps. On return the accepted appends are durable.
    func append(batch: [AppendBytes]) -> CommittedBatch

    /// Makes the caller the only writer of a category and fences the writer before it; durable on
    /// return.
    ///
    /// Idempotent: an instance that has claimed before gets its earlier epoch, even if that has
    /// been fenced meanwhile. Throws `invalidParameter`, `tooLarge`, `noSpace`, `internal`.
    func claim(_ request: ClaimRequest) throws(Failure) -> WriterClaim
}

extension EventStore {
    /// Commits several independent appends at once; otherwise as of appends in their bytes.
    public func append(batch: [AppendRequest]) -> CommittedBatch {
        let written = batch.map { request in
            Result { () throws(Failure) in try AppendBytes(request) }
        }
        var committed = append(batch: written.compactMap { try? $0.get() })
        guard committed.results.count < batch.count else { return committed }
        var rest = committed.results[...]
        committed.results = written.map { one in
            switch one {
            case .success: rest.popFirst() ?? .failure(Failure(.internal, "no result"))
            case .failure(let failure): .failure(failure)
            }
        }
        return committed
    }

    /// Appends once; throws the refusal.
    @discardableResult
    public func append(
        _ appends: [StreamAppend], epochs: [String: Int64]? = nil
    ) throws(Failure) -> AppendResult {
        try append(batch: [AppendRequest(appends: appends, epochs: epochs)]).results[0].get()
    }
}

/// The result of a group commit.
public struct CommittedBatch: Sendable {
    /// One result for each append, in their order.
    ///
    /// Refusals: `conflict` (expected version; details hold `actual=<last position>` or
    /// `actual=none`), `fenced` (details hold `epoch=<the newest>`), `idReused`,
    /// `invalidParameter`, `tooLarge`, `noSpace`, `corrupt`, `internal`.
    public var results: [Result<AppendResult, Failure>]
    /// The new records, in the order of the log.
    public var records: CanonicalRecords
    /// Neighbours of one category among the new records, in their order.
    public var runs: [Run]

    /// Records of one category that follow on each other.
    public struct Run: Hashable, Sendable {
        /// The category.
        public var category: String
        /// The indices of its records among the new ones.
        public var records: Range<Int>
    }

    /// Makes a batch.
    public init(
        results: [Result<AppendResult, Failure>], records: CanonicalRecords = CanonicalRecords(),
        runs: [Run] = []
    ) {
        self.results = results
        self.records = records
        self.runs = runs
    }

    /// The new records as values.
    public var events: [RecordedEvent] { (try? records.decoded()) ?? [] }

    /// Puts another commit behind this one.
    mutating func append(_ other: CommittedBatch) {
        let count = records.count
        results += other.results
        records.append(other.records)
        for run in other.runs {
            runs.append(
                Run(
                    category: run.category,
                    records: run.records.lowerBound + count..<run.records.upperBound + count))
        }
    }
}

/// Events read at once.
public struct EventSlice: Hashable, Sendable {
    /// The events, in the order of the log.
    public var events: [RecordedEvent]
    /// Whether the end was reached.
    public var isLast: Bool

    /// Makes a slice.
    public init(events: [RecordedEvent], isLast: Bool) {
        self.events = events
        self.isLast = isLast
    }
}

/// A range of events to read.
public struct ReadRange: Hashable, Sendable {
    /// The streams to read.
    public enum Filter: Hashable, Sendable {
        /// The whole log.
        case all
        /// One stream.
        case stream(StreamName)
        /// Every stream of a category.
        case category(String)
    }

    /// Exclusive lower bound, a global position; 0 for the beginning.
    public var after: Int64
    /// Most events.
    public var limit: Int
    /// Most bytes of stored records; at least one event is read.
    public var byteLimit: Int
    /// The streams to read.
    public var filter: Filter

    /// Makes a range.
    public init(after: Int64, limit: Int, byteLimit: Int = 1 << 20, filter: Filter = .all) {
        self.after = after
        self.limit = limit
        self.byteLimit = byteLimit
        self.filter = filter
    }
}

/// The bounds of an append.
public enum AppendLimits {
    /// Events in one append, over all its streams.
    public static let eventCount = 1_000
    /// Most categories of a log: each has an entry in the head messages, twice a second.
    public static let categoryCount = 1_000
    /// Bytes of one event's payload.
    public static let eventByteCount = 1 << 20
    /// Bytes of one append's records.
    public static let appendByteCount = 4 << 20
    /// UTF-8 bytes of a type name: `A–Z a–z 0–9 . _ -`.
    public static let typeByteCount = 100
    /// UTF-8 bytes of actor and producer, each.
    public static let metadataTextByteCount = 500
}
