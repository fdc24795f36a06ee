// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

/// One job: the fold of the events of its stream.
///
/// A value without clock or I/O. `apply` folds a recorded event, `decide` maps an action to events;
/// the caller appends them and applies the records.
public struct JobState: Hashable, Sendable, Codable {
    /// The submission.
    public let submission: JobSubmission
    /// The time of its submission, by the log's clock.
    public let submittedAt: Timestamp
    /// The sequence number of its submission.
    public let submittedSequence: Int64
    /// Its phase.
    public internal(set) var status = JobStatus.submitted
    /// Whether it is paused: no further chunk is started.
    public internal(set) var isPaused = false
    /// Progress 0…100, never falling.
    public internal(set) var progress = 0.0
    /// The product, once succeeded.
    public internal(set) var result: BlobReference?
    /// Why it failed; nil otherwise.
    public internal(set) var failure: Failure?
    /// The time of its end, by the log's clock.
    public internal(set) var endedAt: Timestamp?
    /// Sequence number of the last folded event.
    public internal(set) var sequence: Int64
    /// Position of the last folded event in the job's stream.
    public internal(set) var streamPosition: Int64
    /// Every chunk by its number; empty once the job has ended.
    public internal(set) var chunks: [Chunk] = []
    /// Chunk numbers by stage; empty once the job has ended.
    public internal(set) var stages: [[Int]] = []
    /// The stage whose chunks may run.
    public internal(set) var currentStage = 0
    /// The attempts that hold a lease, by chunk.
    public internal(set) var running: [Int: RunningAttempt] = [:]
    /// Sequence number of the last pause or resume; 0 without one.
    ///
    /// Not part of the state's hash, which is older.
    public internal(set) var pauseSequence: Int64 = 0

    var messages: [JobMessage] = []
    /// Messages of the supervisor's own events, each with its place among the others; they follow
    /// from the events and are not part of the state's hash.
    var notices: [Notice] = []
    var chunkCount = 0
    var omittedMessageCount = 0
    var completedChunkCount = 0
    var lostAttemptCount = 0
    var doneWeight = 0.0
    var knownWeight = 0.0
    var commands: Set<UUID> = []
    var lastProgressAt: Timestamp?
    /// Chunks before this offset of the current stage are done.
    var stageCursor = 0
    var doneInStage = 0

    /// One chunk and its history.
    public struct Chunk: Hashable, Sendable, Codable {
        /// Its operation and input.
        public let description: ChunkDescription
        /// Its stage.
        public let stage: Int
        /// Its phase.
        public internal(set) var phase = Phase.pending
        /// Leases given so far.
        public internal(set) var attemptCount = 0
        /// Attempts whose operation threw.
        public internal(set) var errorCount = 0
        /// Attempts whose worker died.
        public internal(set) var deathCount = 0
        /// Its output.
        public internal(set) var blob: BlobReference?
        /// The time of its last error, and the retry delay from then, in milliseconds.
        var rest: (since: Timestamp, milliseconds: Int)? {
            restingSince.map { ($0, restMilliseconds) }
        }
        var restingSince: Timestamp?
        var restMilliseconds = 0
        /// The lease of the accepted result.
        var completedBy: UUID?

        init(description: ChunkDescription, stage: Int) {
            self.description = description
            self.stage = stage
        }
    }

    struct Notice: Hashable, Sendable, Codable {
        var after: Int
        var message: JobMessage
    }

    /// The phase of a chunk.
    public enum Phase: String, Hashable, Sendable, Codable {
        /// Waiting for an attempt.
        case pending
        /// An attempt holds its lease.
        case leased
        /// Done.
        case completed
        /// Given up after too many worker deaths.
        case quarantined
    }

    /// An attempt that holds a lease.
    public struct RunningAttempt: Hashable, Sendable, Codable {
        /// The attempt.
        public let attempt: ChunkAttempt
        /// The worker's instance.
        public let worker: UUID
        /// The worker's process id; 0 for a sub-job.
        public let processID: Int32
        /// The sub-job in charge; nil for a worker.
        public let subJob: JobID?
    }

    /// The job's id.
    public var id: JobID { submission.id }

    /// Starts with the first event of a stream; throws `Failure` (`corrupt`) for any other.
    public init(first record: RecordedEvent) throws(Failure) {
        guard record.streamPosition == 0, case .submitted(let payload) = try JobEvent(record.event)
        else {
            throw Failure(
                .corrupt,
                "stream \(record.stream): event \(record.globalPosition) is not the submission")
        }
        guard record.stream == .job(payload.submission.id) else {
            throw Failure(
                .corrupt,
                "stream \(record.stream) starts with the submission of job "
                    + "\(payload.submission.id)")
        }
        submission = payload.submission
        submittedAt = record.recordedAt
        submittedSequence = record.globalPosition
        sequence = record.globalPosition
        streamPosition = 0
    }

    /// Folds the next record of the stream.
    ///
    /// Throws `Failure`: `corrupt` for a record that is not the next one or breaks the job's rules,
    /// `newerVersion` for one this build does not know.
    public mutating func apply(_ record: RecordedEvent) throws(Failure) {
        guard record.stream.job == id, record.streamPosition == streamPosition + 1 else {
            throw Failure(
                .corrupt,
                "job \(id): expected event \(streamPosition + 1) of its stream, found "
                    + "\(record.streamPosition) of \(record.stream)")
        }
        let event = try JobEvent(record.event)
        guard !status.isTerminal else {
            throw Failure(.corrupt, "job \(id) has ended, yet '\(record.event.type)' follows")
        }
        try evolve(event, id: record.event.id, at: record.recordedAt)
        if case .paused = event { pauseSequence = record.globalPosition }
        if case .resumed = event { pauseSequence = record.globalPosition }
        let messages = event.messages(recordedAt: record.recordedAt)
        if event.isSaidByAChunk { keep(messages) } else { note(messages) }
        sequence = record.globalPosition
        streamPosition = record.streamPosition
    }

    /// Whether this command has been carried out before.
    public func hasSeen(command: UUID) -> Bool {
        commands.contains(JobChange.commandEventID(job: id, command: command))
    }
}
