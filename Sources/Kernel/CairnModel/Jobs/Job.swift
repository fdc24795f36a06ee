// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

extension JobKind {
    /// Geocodes every row of a CSV file.
    public static let batchGeocode = JobKind(rawValue: "BatchGeocode")

    /// Identifies the features at each place of a file of queries.
    public static let batchIdentify = JobKind(rawValue: "BatchIdentify")

    /// Does several jobs and lists their products.
    public static let batch = JobKind(rawValue: "Batch")
}

/// The state of a job: REST's states without the `esriJob` prefix.
///
/// A pause is stated by `JobDescription.isPaused`.
public enum JobStatus: String, Hashable, Sendable, Codable {
    /// Accepted and recorded; not started.
    case submitted
    /// Its chunks wait for a worker.
    case waiting
    /// At least one chunk has been started.
    case executing
    /// Every chunk is done and the product is named.
    case succeeded
    /// Ended with an error.
    case failed
    /// Exceeded the limit set by its submitter.
    case timedOut
    /// Cancellation was requested; chunks may still be running.
    case cancelling
    /// Ended by cancellation; no process writes for it any more.
    case cancelled

    /// Whether the state is final.
    public var isTerminal: Bool {
        switch self {
        case .succeeded, .failed, .timedOut, .cancelled: true
        case .submitted, .waiting, .executing, .cancelling: false
        }
    }
}

/// A user's submission.
public struct JobSubmission: Hashable, Sendable, Codable {
    /// Chosen by the caller, kept over retries: the same id is submitted once.
    public var id: JobID
    /// The kind.
    public var kind: JobKind
    /// The kind's parameters, text by name.
    public var parameters: [String: String]
    /// Bytes the job works on, put into the site's blobs beforehand.
    public var input: BlobReference?
    /// The submitting user.
    public var actor: String?
    /// The longest the job may take from submission, in seconds; nil, the usual case, for ever.
    public var timeLimitSeconds: Int?
    /// Longest time an operation may go without progress, 1…3,600 seconds; nil for 60.
    public var stallLimitSeconds: Int?
    /// Its share among the jobs of the same actor; nil for normal.
    public var priority: JobPriority?
    /// The job that started this one; only the supervisor sets it.
    public var parent: JobParent?

    /// Makes a submission.
    public init(
        id: JobID, kind: JobKind, parameters: [String: String], input: BlobReference? = nil,
        actor: String? = nil, timeLimitSeconds: Int? = nil, stallLimitSeconds: Int? = nil,
        priority: JobPriority? = nil, parent: JobParent? = nil
    ) {
        self.id = id
        self.kind = kind
        self.parameters = parameters
        self.input = input
        self.actor = actor
        self.timeLimitSeconds = timeLimitSeconds
        self.stallLimitSeconds = stallLimitSeconds
        self.priority = priority
        self.parent = parent
    }
}

/// A command to a submitted job.
public enum JobCommand: String, Hashable, Sendable, Codable {
    /// Stop starting chunks; running ones end.
    case pause
    /// Go on.
    case resume
    /// End it for good.
    case cancel
}

/// A job command on its way to the supervisor.
public struct JobCommandRequest: Hashable, Sendable, Codable {
    /// Chosen by the caller, kept over retries.
    public var id: UUID
    /// The job.
    public var job: JobID
    /// The command.
    public var command: JobCommand

    /// Makes a request.
    public init(id: UUID, job: JobID, command: JobCommand) {
        self.id = id
        self.job = job
        self.command = command
    }
}

/// The public state of a job at one sequence number.
public struct JobDescription: Hashable, Sendable, Codable {
    /// The job.
    public var id: JobID
    /// Its kind.
    public var kind: JobKind
    /// Its parameters.
    public var parameters: [String: String]
    /// State of the job.
    public var status: JobStatus
    /// Whether it is paused.
    public var isPaused: Bool
    /// Progress in percent, monotonic: finished weight over known weight, plus the reports of
    /// running chunks.
    public var progress: Double
    /// Number of chunks planned so far.
    public var chunkCount: Int
    /// Chunks finished.
    public var completedChunkCount: Int
    /// Attempts that ended with their worker's death.
    public var lostAttemptCount: Int
    /// Messages, oldest first.
    public var messages: [JobMessage]
    /// The product, once succeeded.
    public var result: BlobReference?
    /// The error of a failed job; with the code `cancelled` after a cancellation.
    public var failure: Failure?
    /// Time of submission.
    public var submittedAt: Timestamp
    /// Time of the end.
    public var endedAt: Timestamp?
    /// The last event folded into this answer.
    public var sequence: Int64
    /// The job that started this one.
    public var parent: JobID?
    /// The input file; nil for none.
    public var input: BlobReference?
    /// The submitter, or that of the job it is part of: `JobSubmission.actor`.
    public var actor: String?

    /// Makes a description.
    public init(
        id: JobID, kind: JobKind, parameters: [String: String], status: JobStatus, isPaused: Bool,
        progress: Double, chunkCount: Int, completedChunkCount: Int, lostAttemptCount: Int,
        messages: [JobMessage], result: BlobReference?, failure: Failure?, submittedAt: Timestamp,
        endedAt: Timestamp?, sequence: Int64, parent: JobID? = nil, input: BlobReference? = nil,
        actor: String? = nil
    ) {
        self.parent = parent
        self.input = input
        self.actor = actor
        self.id = id
        self.kind = kind
        self.parameters = parameters
        self.status = status
        self.isPaused = isPaused
        self.progress = progress
        self.chunkCount = chunkCount
        self.completedChunkCount = completedChunkCount
        self.lostAttemptCount = lostAttemptCount
        self.messages = messages
        self.result = result
        self.failure = failure
        self.submittedAt = submittedAt
        self.endedAt = endedAt
        self.sequence = sequence
    }
}
