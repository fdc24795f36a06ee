// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// Everything that can happen to a job, as recorded in the stream `job-<uuid>`.
///
/// A job's work is a list of stages; a stage is a list of chunks that may run side by side, and the
/// chunks are numbered from 0 through the whole job. Only the supervisor appends these.
public enum JobEvent: Hashable, Sendable {
    /// The job exists.
    case submitted(JobSubmitted)
    /// Chunks were added to a stage.
    case stagePlanned(JobStagePlanned)
    /// One attempt got the right to complete a chunk.
    case chunkLeased(JobChunkLeased)
    /// A chunk was delegated to a sub-job.
    case chunkDelegated(JobChunkDelegated)
    /// A chunk is done, once and for all.
    case chunkCompleted(JobChunkCompleted)
    /// An attempt ended with its worker.
    case chunkLost(JobChunkLost)
    /// An attempt ended with an error.
    case chunkFailed(JobChunkFailed)
    /// An attempt ended without blame.
    case chunkReleased(JobChunkReleased)
    /// A chunk will not be tried again.
    case chunkQuarantined(JobChunkQuarantined)
    /// The job was paused: no further chunk is started.
    case paused(JobPaused)
    /// Chunks are started again.
    case resumed(JobResumed)
    /// Cancellation was requested.
    case cancelRequested(JobCancelRequested)
    /// Progress was made.
    case progressed(JobProgressed)
    /// A message was posted for the user.
    case messagePosted(JobMessagePosted)
    /// The job succeeded.
    case succeeded(JobSucceeded)
    /// The job ended with an error.
    case failed(JobFailed)
    /// The job exceeded its time limit.
    case timedOut(JobTimedOut)
    /// The job was cancelled.
    case cancelled(JobCancelled)

    /// The payload inside.
    public var payload: any EventPayload {
        switch self {
        case .submitted(let payload): payload
        case .stagePlanned(let payload): payload
        case .chunkLeased(let payload): payload
        case .chunkDelegated(let payload): payload
        case .chunkCompleted(let payload): payload
        case .chunkLost(let payload): payload
        case .chunkFailed(let payload): payload
        case .chunkReleased(let payload): payload
        case .chunkQuarantined(let payload): payload
        case .paused(let payload): payload
        case .resumed(let payload): payload
        case .cancelRequested(let payload): payload
        case .progressed(let payload): payload
        case .messagePosted(let payload): payload
        case .succeeded(let payload): payload
        case .failed(let payload): payload
        case .timedOut(let payload): payload
        case .cancelled(let payload): payload
        }
    }

    /// Decodes a record of a `job-` stream; throws `Failure` (`newerVersion`, `corrupt`).
    public init(_ event: NewEvent) throws(Failure) {
        switch event.type {
        case JobSubmitted.eventType: self = .submitted(try .decode(event))
        case JobStagePlanned.eventType: self = .stagePlanned(try .decode(event))
        case JobChunkLeased.eventType: self = .chunkLeased(try .decode(event))
        case JobChunkDelegated.eventType: self = .chunkDelegated(try .decode(event))
        case JobChunkCompleted.eventType: self = .chunkCompleted(try .decode(event))
        case JobChunkLost.eventType: self = .chunkLost(try .decode(event))
        case JobChunkFailed.eventType: self = .chunkFailed(try .decode(event))
        case JobChunkReleased.eventType: self = .chunkReleased(try .decode(event))
        case JobChunkQuarantined.eventType: self = .chunkQuarantined(try .decode(event))
        case JobPaused.eventType: self = .paused(try .decode(event))
        case JobResumed.eventType: self = .resumed(try .decode(event))
        case JobCancelRequested.eventType: self = .cancelRequested(try .decode(event))
        case JobProgressed.eventType: self = .progressed(try .decode(event))
        case JobMessagePosted.eventType: self = .messagePosted(try .decode(event))
        case JobSucceeded.eventType: self = .succeeded(try .decode(event))
        case JobFailed.eventType: self = .failed(try .decode(event))
        case JobTimedOut.eventType: self = .timedOut(try .decode(event))
        case JobCancelled.eventType: self = .cancelled(try .decode(event))
        default:
            throw Failure(
                .newerVersion, "event \(event.id) has type '\(event.type)', unknown to this build")
        }
    }
}

/// A job was accepted and can be read from now on.
public struct JobSubmitted: EventPayload {
    /// The stable type name.
    public static let eventType = "job.submitted"
    /// The whole submission.
    public var submission: JobSubmission

    /// Makes the event.
    public init(submission: JobSubmission) { self.submission = submission }
}

/// Chunks were added to a stage that has not begun.
///
/// A long stage takes several of these events, in one append. Schema 2 has sub-jobs, which a build
/// that knows schema 1 would take for chunks of a worker; schema 3 has inputs as JSON instead of
/// text in Base64.
public struct JobStagePlanned: EventPayload {
    /// The stable type name.
    public static let eventType = "job.stagePlanned"
    /// The newest form.
    public static let schema = 3
    /// Each version only adds members: an input in Base64 is read in every schema.
    public static let upcasts = [Upcast.unchanged, .unchanged]
    /// 3 where an input is JSON, else 2 where a chunk is a sub-job.
    public var writtenSchema: Int {
        if chunks.contains(where: { $0.inputValue != nil }) { return 3 }
        return chunks.contains { $0.subJob != nil } ? 2 : 1
    }
    /// The stage, from 0.
    public var stage: Int
    /// The number of the first chunk here, counted through the whole job.
    public var firstChunk: Int
    /// The chunks, at least one.
    public var chunks: [ChunkDescription]

    /// Makes the event.
    public init(stage: Int, firstChunk: Int, chunks: [ChunkDescription]) {
        self.stage = stage
        self.firstChunk = firstChunk
        self.chunks = chunks
    }
}

/// One chunk was leased to one worker; committed before the worker is notified.
public struct JobChunkLeased: EventPayload {
    /// The stable type name.
    public static let eventType = "job.chunk.leased"
    /// Chunk, attempt and lease.
    public var attempt: ChunkAttempt
    /// The instance of the worker process.
    public var worker: UUID
    /// Its process id on the supervisor's machine.
    public var processID: Int32

    /// Makes the event.
    public init(attempt: ChunkAttempt, worker: UUID, processID: Int32) {
        self.attempt = attempt
        self.worker = worker
        self.processID = processID
    }
}

/// A chunk was delegated to a sub-job, which is submitted next.
///
/// It holds the chunk's lease until that job has ended.
public struct JobChunkDelegated: EventPayload {
    /// The stable type name.
    public static let eventType = "job.chunk.delegated"
    /// Chunk, attempt and lease.
    public var attempt: ChunkAttempt
    /// The job; its id is made from this job's and the attempt.
    public var job: JobID

    /// Makes the event.
    public init(attempt: ChunkAttempt, job: JobID) {
        self.attempt = attempt
        self.job = job
    }
}

/// A chunk was completed.
///
/// There is one of these for a chunk, whatever happened to its attempts.
public struct JobChunkCompleted: EventPayload {
    /// The stable type name.
    public static let eventType = "job.chunk.completed"
    /// The accepted attempt.
    public var attempt: ChunkAttempt
    /// Product of the chunk, if any.
    public var blob: BlobReference?
    /// Messages for the user.
    public var messages: [JobMessage]
    /// The worker's build, `0.1.0+` and the beginning of the SHA-256 of its program; nil when
    /// unknown, and for a sub-job.
    public var build: String?

    /// Makes the event.
    public init(
        attempt: ChunkAttempt, blob: BlobReference?, messages: [JobMessage], build: String? = nil
    ) {
        self.attempt = attempt
        self.blob = blob
        self.messages = messages
        self.build = build
    }
}

/// The worker of an attempt died, or has been silent for so long that it counts as dead.
public struct JobChunkLost: EventPayload {
    /// The stable type name.
    public static let eventType = "job.chunk.lost"
    /// The attempt.
    public var attempt: ChunkAttempt
    /// The evidence, one sentence.
    public var reason: String

    /// Makes the event.
    public init(attempt: ChunkAttempt, reason: String) {
        self.attempt = attempt
        self.reason = reason
    }
}

/// The operation of an attempt threw.
public struct JobChunkFailed: EventPayload {
    /// The stable type name.
    public static let eventType = "job.chunk.failed"
    /// The attempt.
    public var attempt: ChunkAttempt
    /// The error of the attempt.
    public var error: Failure
    /// Backoff before the next attempt, in milliseconds; nil without one.
    public var retryAfterMilliseconds: Int?

    /// Makes the event.
    public init(attempt: ChunkAttempt, error: Failure, retryAfterMilliseconds: Int?) {
        self.attempt = attempt
        self.error = error
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }
}

/// An attempt was released without counting as a failure: its worker drained or refused it, or the
/// job is being cancelled.
public struct JobChunkReleased: EventPayload {
    /// The stable type name.
    public static let eventType = "job.chunk.released"
    /// The attempt.
    public var attempt: ChunkAttempt
    /// The reason, one sentence.
    public var reason: String

    /// Makes the event.
    public init(attempt: ChunkAttempt, reason: String) {
        self.attempt = attempt
        self.reason = reason
    }
}

/// A chunk was quarantined: it killed too many workers to be retried.
public struct JobChunkQuarantined: EventPayload {
    /// The stable type name.
    public static let eventType = "job.chunk.quarantined"
    /// The chunk.
    public var chunk: Int
    /// Number of worker deaths it caused.
    public var deathCount: Int

    /// Makes the event.
    public init(chunk: Int, deathCount: Int) {
        self.chunk = chunk
        self.deathCount = deathCount
    }
}

/// The job was paused: no further chunk is started, running ones finish.
///
/// The event's id is derived from the command's.
public struct JobPaused: EventPayload {
    /// The stable type name.
    public static let eventType = "job.paused"
    /// Makes the event.
    public init() {}
}

/// Chunks are started again.
///
/// The event's id is made from the command's.
public struct JobResumed: EventPayload {
    /// The stable type name.
    public static let eventType = "job.resumed"
    /// Makes the event.
    public init() {}
}

/// Cancellation was requested; running attempts are stopped.
///
/// The event's id is derived from the command's.
public struct JobCancelRequested: EventPayload {
    /// The stable type name.
    public static let eventType = "job.cancelRequested"
    /// Makes the event.
    public init() {}
}

/// The progress of the job, recorded at most once a second and at most 2,000 times.
public struct JobProgressed: EventPayload {
    /// The stable type name.
    public static let eventType = "job.progressed"
    /// Progress in percent: done weight over known weight, running attempts included.
    public var progress: Double

    /// Makes the event.
    public init(progress: Double) { self.progress = progress }
}

/// The job posted a message for its user.
public struct JobMessagePosted: EventPayload {
    /// The stable type name.
    public static let eventType = "job.messagePosted"
    /// The message.
    public var message: JobMessage

    /// Makes the event.
    public init(message: JobMessage) { self.message = message }
}

/// Every chunk is done.
public struct JobSucceeded: EventPayload {
    /// The stable type name.
    public static let eventType = "job.succeeded"
    /// The product, if the last chunk made one.
    public var result: BlobReference?

    /// Makes the event.
    public init(result: BlobReference?) { self.result = result }
}

/// The job ended with an error.
public struct JobFailed: EventPayload {
    /// The stable type name.
    public static let eventType = "job.failed"
    /// The error, for the user.
    public var error: Failure

    /// Makes the event.
    public init(error: Failure) { self.error = error }
}

/// The job took longer than its submitter allowed.
public struct JobTimedOut: EventPayload {
    /// The stable type name.
    public static let eventType = "job.timedOut"
    /// The limit, in seconds since the submission.
    public var limitSeconds: Int

    /// Makes the event.
    public init(limitSeconds: Int) { self.limitSeconds = limitSeconds }
}

/// The job ended by the user's wish; no attempt runs any more.
public struct JobCancelled: EventPayload {
    /// The stable type name.
    public static let eventType = "job.cancelled"
    /// Makes the event.
    public init() {}
}
