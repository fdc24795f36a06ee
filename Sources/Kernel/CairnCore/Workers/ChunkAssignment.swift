// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// One try at one chunk.
///
/// A result is taken only from the attempt that holds the chunk's lease.
public struct ChunkAttempt: Hashable, Sendable, Codable {
    /// The chunk's number, from 0 through the whole job.
    public var chunk: Int
    /// Attempt number from 1, incremented with every lease of the chunk.
    public var number: Int
    /// Lease id, new for every attempt.
    public var lease: UUID

    /// Names an attempt.
    public init(chunk: Int, number: Int, lease: UUID) {
        self.chunk = chunk
        self.number = number
        self.lease = lease
    }
}

/// An attempt with its job, reported by a worker that reconnects.
public struct HeldAttempt: Hashable, Sendable, Codable {
    /// The job.
    public var job: JobID
    /// The attempt.
    public var attempt: ChunkAttempt

    /// Names an attempt of a job.
    public init(job: JobID, attempt: ChunkAttempt) {
        self.job = job
        self.attempt = attempt
    }
}

/// Everything a worker needs to do one chunk; the payload of its task.
public struct ChunkAssignment: Hashable, Sendable, Codable {
    /// The job and the attempt.
    public var held: HeldAttempt
    /// The job's kind.
    public var kind: JobKind
    /// The job's parameters.
    public var parameters: [String: String]
    /// The bytes the job works on.
    public var jobInput: BlobReference?
    /// The chunk to execute.
    public var chunk: ChunkDescription
    /// The results of the previous stage's chunks, in the order of their numbers; empty unless the
    /// chunk gathers.
    public var gathered: [BlobReference?]
    /// The sequence number of the job's submission, as of which a kind that reads maps reads them.
    public var submittedSequence: Int64?
    /// The time of the job's submission, by the log's clock: the present of a kind that has one.
    public var submittedAt: Timestamp?

    /// Makes an assignment.
    public init(
        held: HeldAttempt, kind: JobKind, parameters: [String: String], jobInput: BlobReference?,
        chunk: ChunkDescription, gathered: [BlobReference?], submittedSequence: Int64? = nil,
        submittedAt: Timestamp? = nil
    ) {
        self.submittedSequence = submittedSequence
        self.submittedAt = submittedAt
        self.held = held
        self.kind = kind
        self.parameters = parameters
        self.jobInput = jobInput
        self.chunk = chunk
        self.gathered = gathered
    }

    /// The operation's name in workers, `BatchGeocode.plan`.
    public var operation: String { kind.rawValue + "." + chunk.operation }
}

/// The outcome of an attempt, reported by its worker.
public enum ChunkReport: Hashable, Sendable, Codable {
    /// The chunk is done.
    case completed(ChunkOutcome)
    /// The operation threw.
    case failed(Failure)
    /// Not done, and not counted as a failure: the worker drains, was stopped, or refuses.
    case released(reason: String)
}

/// A report on its way to the supervisor, sent again until it is acknowledged.
public struct ChunkResult: Hashable, Sendable, Codable {
    /// Job and attempt.
    public var held: HeldAttempt
    /// Outcome of the attempt.
    public var report: ChunkReport

    /// Makes a result.
    public init(held: HeldAttempt, report: ChunkReport) {
        self.held = held
        self.report = report
    }
}
