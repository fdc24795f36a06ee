// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// A chunk of a job: the unit of lease, retry, pause and cancel.
public struct ChunkDescription: Hashable, Sendable {
    /// The pool that executes it.
    public var pool: WorkerPool
    /// The operation, a name known to the job kind: `plan`, `geocodeRows`, `assemble`.
    public var operation: String
    /// The input, a JSON object as ``CairnJSON`` writes it, or empty; the supervisor never opens
    /// it.
    public var input: Data
    /// Its share of the job's work, in the kind's own unit (rows); ≥ 0.
    public var weight: Int
    /// Whether it is handed the blobs of the stage before.
    public var gathers: Bool
    /// The job that executes it; nil for a chunk executed by a worker.
    ///
    /// Pool and operation have no meaning for a sub-job.
    public var subJob: SubJob?

    /// Describes a chunk.
    public init(
        pool: WorkerPool, operation: String, input: Data, weight: Int, gathers: Bool = false,
        subJob: SubJob? = nil
    ) {
        self.pool = pool
        self.operation = operation
        self.input = input
        self.weight = weight
        self.gathers = gathers
        self.subJob = subJob
    }
}

/// The result of a finished chunk.
public struct ChunkOutcome: Hashable, Sendable, Codable {
    /// Further chunks, to run after every chunk of the present stage is done (a plan step).
    public var nextStage: [ChunkDescription]
    /// Planned stages after the next one, as far as known, which lets progress account for them.
    public var laterStages: [[ChunkDescription]]
    /// A blob the chunk made, if any.
    public var blob: BlobReference?
    /// Messages for the user.
    public var messages: [JobMessage]
    /// The build that did it, `0.1.0+` and the beginning of the SHA-256 of the worker's program;
    /// the worker sets it.
    public var build: String?

    /// Makes an outcome.
    public init(
        nextStage: [ChunkDescription] = [], laterStages: [[ChunkDescription]] = [],
        blob: BlobReference? = nil, messages: [JobMessage] = []
    ) {
        self.nextStage = nextStage
        self.laterStages = laterStages
        self.blob = blob
        self.messages = messages
    }
}

/// Bytes kept beside the log under their hash, in `blobs/<sha256>`.
public struct BlobReference: Hashable, Sendable, Codable {
    /// The SHA-256 of the bytes.
    public var id: ContentID
    /// Size in bytes.
    public var byteCount: Int64
    /// The media type, `text/csv`.
    public var mediaType: String

    /// Names a blob.
    public init(id: ContentID, byteCount: Int64, mediaType: String) {
        self.id = id
        self.byteCount = byteCount
        self.mediaType = mediaType
    }
}

/// A message a job shows to its user.
public struct JobMessage: Hashable, Sendable, Codable {
    /// Severity of a message.
    public enum Severity: String, Hashable, Sendable, Codable {
        /// Informational.
        case informative
        /// Something to look at.
        case warning
        /// The cause of the job's failure.
        case error
    }

    /// Severity of the message.
    public var severity: Severity
    /// One sentence.
    public var text: String
    /// The sentence for readers without `admin`; nil where it is `text`.
    public var outsideText: String?
    /// The time of its record, by the log's clock; nil in events, whose record has it.
    public var recordedAt: Timestamp?

    /// Makes a message.
    public init(_ severity: Severity, _ text: String, outside: String? = nil) {
        self.severity = severity
        self.text = text
        outsideText = outside == text ? nil : outside
    }
}
