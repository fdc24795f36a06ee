// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

/// The history of every chunk of a job, from the events of its stream: complete even for an ended
/// job, whose state has no chunks.
public struct JobAutopsy: Hashable, Sendable {
    /// One try at a chunk.
    public struct Attempt: Hashable, Sendable {
        /// Its chunk, number and lease.
        public let attempt: ChunkAttempt
        /// The worker's instance.
        public let worker: UUID
        /// The worker's process id; 0 for a sub-job.
        public let processID: Int32
        /// The sub-job in charge, if any.
        public let subJob: JobID?
        /// The sequence number of the lease.
        public let sequence: Int64
        /// The time of the lease, by the log's clock.
        public let begunAt: Timestamp
        /// Its end; nil while it runs, or when its job ended first.
        public internal(set) var end: End?
    }

    /// The end of an attempt.
    public struct End: Hashable, Sendable {
        /// `completed`, `lost`, `failed` or `released`.
        public let word: String
        /// The reason, one sentence.
        public let reason: String?
        /// The time of the event.
        public let at: Timestamp
    }

    /// One chunk.
    public struct Chunk: Hashable, Sendable {
        /// Its operation and input.
        public let description: ChunkDescription
        /// Its stage.
        public let stage: Int
        /// Its attempts in order.
        public internal(set) var attempts: [Attempt] = []
        /// Whether it has been given up.
        public internal(set) var isQuarantined = false
        /// Its output.
        public internal(set) var blob: BlobReference?

        /// Attempts that ended with their worker.
        public var deathCount: Int { attempts.count { $0.end?.word == "lost" } }
        /// Attempts whose operation threw.
        public var errorCount: Int { attempts.count { $0.end?.word == "failed" } }
    }

    /// The submission of the job.
    public let submission: JobSubmission
    /// The sequence number of the submission.
    public let submittedSequence: Int64
    /// The time of the submission, by the log's clock.
    public let submittedAt: Timestamp
    /// Every chunk by its number.
    public private(set) var chunks: [Chunk] = []

    /// Folds a complete stream of a job, in order; throws `Failure` (`corrupt`, `newerVersion`).
    public init(_ records: [RecordedEvent]) throws(Failure) {
        guard let first = records.first else { throw Failure(.notFound, "the job has no event") }
        var state = try JobState(first: first)
        submission = state.submission
        submittedSequence = state.submittedSequence
        submittedAt = state.submittedAt
        for record in records.dropFirst() {
            try state.apply(record)
            follow(try JobEvent(record.event), record)
        }
    }

    private mutating func follow(_ event: JobEvent, _ record: RecordedEvent) {
        switch event {
        case .stagePlanned(let payload):
            chunks += payload.chunks.map { Chunk(description: $0, stage: payload.stage) }
        case .chunkLeased(let payload):
            begin(payload.attempt, payload.worker, payload.processID, nil, record)
        case .chunkDelegated(let payload):
            begin(payload.attempt, payload.job.rawValue, 0, payload.job, record)
        case .chunkCompleted(let payload):
            chunks[payload.attempt.chunk].blob = payload.blob
            end(payload.attempt, "completed", nil, record)
        case .chunkLost(let payload): end(payload.attempt, "lost", payload.reason, record)
        case .chunkFailed(let payload):
            end(payload.attempt, "failed", payload.error.description, record)
        case .chunkReleased(let payload): end(payload.attempt, "released", payload.reason, record)
        case .chunkQuarantined(let payload): chunks[payload.chunk].isQuarantined = true
        case .submitted, .paused, .resumed, .cancelRequested, .progressed, .messagePosted,
            .succeeded, .failed, .timedOut, .cancelled:
            break
        }
    }

    private mutating func begin(
        _ attempt: ChunkAttempt, _ worker: UUID, _ processID: Int32, _ subJob: JobID?,
        _ record: RecordedEvent
    ) {
        chunks[attempt.chunk].attempts.append(
            Attempt(
                attempt: attempt, worker: worker, processID: processID, subJob: subJob,
                sequence: record.globalPosition, begunAt: record.recordedAt))
    }

    private mutating func end(
        _ attempt: ChunkAttempt, _ word: String, _ reason: String?, _ record: RecordedEvent
    ) {
        let attempts = chunks[attempt.chunk].attempts
        guard let index = attempts.lastIndex(where: { $0.attempt == attempt }) else { return }
        chunks[attempt.chunk].attempts[index].end = End(
            word: word, reason: reason, at: record.recordedAt)
    }

    /// The suspicious chunks, the worst first: quarantined, then those with errors, then those that
    /// lost a worker.
    public var suspects: [Int] {
        func grade(_ chunk: Chunk) -> Int {
            if chunk.isQuarantined { return 3 }
            return chunk.errorCount > 0 ? 2 : min(chunk.deathCount, 1)
        }
        return chunks.indices.filter { grade(chunks[$0]) > 0 }
            .sorted { (grade(chunks[$1]), $0) < (grade(chunks[$0]), $1) }
    }

    /// The assignment of a chunk's last attempt, for execution outside the site.
    ///
    /// Throws `Failure`: `notFound` when there is no such chunk, `invalidParameter` for one done by
    /// a sub-job.
    public func assignment(chunk number: Int) throws(Failure) -> ChunkAssignment {
        guard chunks.indices.contains(number) else {
            throw Failure(
                .notFound,
                "job \(submission.id) has no chunk \(number): expected 0 to \(chunks.count - 1)")
        }
        let chunk = chunks[number]
        if chunk.description.subJob != nil {
            let child = chunk.attempts.last?.subJob.map { ": look at job \($0)" } ?? ""
            throw Failure(
                .invalidParameter, "chunk \(number) is done by a sub-job\(child)")
        }
        let attempt =
            chunk.attempts.last?.attempt
            ?? ChunkAttempt(
                chunk: number, number: 1, lease: submission.id.rawValue.named("autopsy/\(number)"))
        let gathered =
            chunk.description.gathers && chunk.stage > 0
            ? chunks.filter { $0.stage == chunk.stage - 1 }.map(\.blob) : []
        return ChunkAssignment(
            held: HeldAttempt(job: submission.id, attempt: attempt), kind: submission.kind,
            parameters: submission.parameters, jobInput: submission.input,
            chunk: chunk.description, gathered: gathered, submittedSequence: submittedSequence,
            submittedAt: submittedAt)
    }
}
