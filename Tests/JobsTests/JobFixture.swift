// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs

/// One job over a log that keeps records as the real one does: expected versions, ids once for
/// ever.
struct JobFixture {
    var log: [RecordedEvent] = []
    var state: JobState
    var now = Timestamp(microseconds: 1_000_000_000)
    var policy = JobPolicy()

    static let job = JobID(
        rawValue: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))

    init(timeLimitSeconds: Int? = nil) throws {
        let submission = JobSubmission(
            id: Self.job, kind: .batchGeocode, parameters: ["query": "address"],
            timeLimitSeconds: timeLimitSeconds)
        let changes = try JobTable().decide(submit: submission)
        let records = try Self.record(changes, after: nil, log: &log, at: now)
        state = try JobState(first: records[0])
        for record in records.dropFirst() { try state.apply(record) }
    }

    /// Appends as the log does: repeated ids with the same bytes return the old records.
    static func record(
        _ changes: [JobChange], after state: JobState?, log: inout [RecordedEvent],
        at time: Timestamp
    ) throws -> [RecordedEvent] {
        let append = try JobChange.append(
            changes, to: job, at: state?.streamPosition ?? -1, metadata: EventMetadata())
        let known = log.filter { record in append.events.contains { $0.id == record.event.id } }
        if !known.isEmpty {
            guard known.map(\.event) == append.events else {
                throw Failure(.conflict, "id reused: \(append.events.map(\.type))")
            }
            return known
        }
        guard append.expected == (log.isEmpty ? .noStream : .exact(Int64(log.count - 1))) else {
            throw Failure(.conflict, "wrong version")
        }
        for event in append.events {
            log.append(
                RecordedEvent(
                    globalPosition: Int64(10 * log.count + 7), stream: append.stream,
                    streamPosition: Int64(log.count), recordedAt: time, event: event))
        }
        return Array(log.suffix(append.events.count))
    }

    @discardableResult
    mutating func perform(_ action: JobAction) throws -> [JobEvent] {
        let changes = try state.decide(action, at: now, policy: policy)
        guard !changes.isEmpty else { return [] }
        for record in try Self.record(changes, after: state, log: &log, at: now) {
            try state.apply(record)
        }
        return changes.map(\.event)
    }

    /// Leases a chunk to a fresh worker.
    mutating func lease(_ chunk: Int) throws -> ChunkAttempt {
        try perform(
            .lease([LeaseGrant(chunk: chunk, lease: UUID(), worker: UUID(), processID: 42)]))
        guard let attempt = state.running[chunk]?.attempt else {
            throw Failure(.internal, "no lease")
        }
        return attempt
    }

    /// Plans `rows` chunks of weight 100 and one that gathers, of weight 10.
    mutating func plan(rows: Int) throws {
        let attempt = try lease(0)
        try perform(.report(attempt, .completed(Self.outcome(planning: rows))))
    }

    static func outcome(planning rows: Int) -> ChunkOutcome {
        ChunkOutcome(
            nextStage: (0..<rows).map {
                ChunkDescription(
                    pool: .locator, operation: "geocodeRows", input: Data("\($0)".utf8), weight: 100
                )
            },
            laterStages: [
                [
                    ChunkDescription(
                        pool: .work, operation: "assemble", input: Data(), weight: 10,
                        gathers: true)
                ]
            ])
    }

    static func blob(_ number: Int) -> BlobReference? {
        let digits = String(number, radix: 16)
        let text = String(repeating: "0", count: 64 - digits.count) + digits
        return ContentID(rawValue: text).map {
            BlobReference(id: $0, byteCount: Int64(number), mediaType: "text/csv")
        }
    }

    /// The state folded anew from the log.
    func refolded() throws -> JobState {
        var state = try JobState(first: log[0])
        for record in log.dropFirst() { try state.apply(record) }
        return state
    }
}
