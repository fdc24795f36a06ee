// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

// The canonical form of jobs for hashes and comparisons. A new field of a form is omitted at its
// initial value, so that the hashes of older logs do not change; any other change requires a new
// `StateHash.form`.
extension JobTable {
    /// The hash of every job.
    public func hash() throws(Failure) -> StateHash {
        StateHash(try parts(), sequence: foldedThrough)
    }

    /// Every job as `job/<id>`, in no particular order.
    public func parts() throws(Failure) -> [StatePart] {
        var parts: [StatePart] = []
        for state in jobs.values { parts.append(try state.part()) }
        return parts
    }
}

extension JobState {
    /// The job in its canonical form, `job/<id>`.
    public func part() throws(Failure) -> StatePart {
        try StatePart(name: "job/\(id)", sequence: sequence, JobForm(self))
    }
}

/// Everything of a job that can be read, or that affects later decisions.
///
/// Sums and cursors that follow from the chunks are omitted: an implementation may change them.
private struct JobForm: Encodable {
    var submission: JobSubmission
    var submittedAt: Timestamp
    var submittedSequence: Int64
    var status: JobStatus
    var isPaused: Bool
    var progress: Double
    var result: BlobReference?
    var failure: Failure?
    var endedAt: Timestamp?
    var sequence: Int64
    var streamPosition: Int64
    var chunks: [ChunkForm]
    var stages: [[Int]]
    var currentStage: Int
    /// By chunk number, as text: JSON sorts keys, not list elements.
    var running: [String: AttemptForm]
    var messages: [MessageForm]
    var omittedMessageCount: Int
    var chunkCount: Int
    var completedChunkCount: Int
    var lostAttemptCount: Int
    var commands: [String]
    var lastProgressAt: Timestamp?

    init(_ state: JobState) {
        submission = state.submission
        submittedAt = state.submittedAt
        submittedSequence = state.submittedSequence
        status = state.status
        isPaused = state.isPaused
        progress = state.progress
        result = state.result
        failure = state.failure
        endedAt = state.endedAt
        sequence = state.sequence
        streamPosition = state.streamPosition
        chunks = state.chunks.map(ChunkForm.init)
        stages = state.stages
        currentStage = state.currentStage
        running = Dictionary(
            uniqueKeysWithValues: state.running.map { ("\($0.key)", AttemptForm($0.value)) })
        messages = state.messages.map(MessageForm.init)
        omittedMessageCount = state.omittedMessageCount
        chunkCount = state.chunkCount
        completedChunkCount = state.completedChunkCount
        lostAttemptCount = state.lostAttemptCount
        commands = state.commands.map { $0.uuidString.lowercased() }.sorted()
        lastProgressAt = state.lastProgressAt
    }
}

/// A message without its external form and its time, which follow from the event.
private struct MessageForm: Encodable {
    var severity: JobMessage.Severity
    var text: String

    init(_ message: JobMessage) {
        severity = message.severity
        text = message.text
    }
}

private struct ChunkForm: Encodable {
    /// The description, its input as text in Base64, independent of the event's form.
    struct Description: Encodable {
        var pool: WorkerPool
        var operation: String
        var input: String
        var weight: Int
        var gathers: Bool
        var subJob: SubJob?

        init(_ chunk: ChunkDescription) {
            pool = chunk.pool
            operation = chunk.operation
            input = chunk.input.base64EncodedString()
            weight = chunk.weight
            gathers = chunk.gathers
            subJob = chunk.subJob
        }
    }

    var description: Description
    var stage: Int
    var phase: String
    var attemptCount: Int
    var errorCount: Int
    var deathCount: Int
    var blob: BlobReference?
    var restingSince: Timestamp?
    var restMilliseconds: Int
    var completedBy: UUID?

    init(_ chunk: JobState.Chunk) {
        description = Description(chunk.description)
        stage = chunk.stage
        phase = chunk.phase.rawValue
        attemptCount = chunk.attemptCount
        errorCount = chunk.errorCount
        deathCount = chunk.deathCount
        blob = chunk.blob
        restingSince = chunk.restingSince
        restMilliseconds = chunk.restMilliseconds
        completedBy = chunk.completedBy
    }
}

private struct AttemptForm: Encodable {
    var attempt: ChunkAttempt
    var worker: UUID
    var processID: Int32
    /// Nil where a worker does it.
    var subJob: JobID?

    init(_ running: JobState.RunningAttempt) {
        attempt = running.attempt
        worker = running.worker
        processID = running.processID
        subJob = running.subJob
    }
}
