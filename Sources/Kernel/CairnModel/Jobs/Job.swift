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

extension JobID {
    /// The longest id that a client chooses.
    public static let clientIDLimit = 64

    /// The job that a submitter knows by an id of its own: the same in every process, another for
    /// every submitter.
    ///
    /// Throws `Failure` (`invalidParameter`) for a text that is not 1 to 64 letters of ASCII,
    /// digits, `-` and `_`.
    public init(clientID text: String, of actor: String) throws(Failure) {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isPlain, 1...Self.clientIDLimit ~= text.utf8.count else {
            throw Failure(
                .invalidParameter,
                "'\(text.prefix(80))': expected 1 to \(Self.clientIDLimit) letters, digits, - and _"
            )
        }
        // The namespace is a constant; the actor's length keeps the parts apart.
        let namespace = UUID(words: (0x6361_6972_6e6a_8f62, 0x8c6c_6965_6e74_6964))
        self.init(rawValue: namespace.named("\(actor.utf8.count)/\(actor)/\(text)"))
    }
}

extension JobDescription {
    /// What of a repeated submission differs from this job; nil where it is the same.
    public func difference(
        kind: JobKind, parameters: [String: String], input: ContentID?
    ) -> String? {
        if kind != self.kind { return "the kind \(self.kind.rawValue)" }
        if input != self.input?.id { return "another input" }
        let names = Set(parameters.keys).union(self.parameters.keys)
        let other = names.filter { parameters[$0] != self.parameters[$0] }.min()
        return other.map { "another value of parameter '\($0)'" }
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
    /// The jobs that it started, by chunk; nil for none, and in lists and published states.
    public var subJobs: [SubJobDescription]?

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

/// The public state of a job that another one started.
public struct SubJobDescription: Hashable, Sendable, Codable {
    /// The job.
    public var id: JobID
    /// Its kind.
    public var kind: JobKind
    /// Its state.
    public var status: JobStatus

    /// Makes a description.
    public init(id: JobID, kind: JobKind, status: JobStatus) {
        self.id = id
        self.kind = kind
        self.status = status
    }
}
