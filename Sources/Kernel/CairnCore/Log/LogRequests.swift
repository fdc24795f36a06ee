// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// A request to append to the log; the body of `append`.
public struct AppendRequest: Hashable, Sendable, Codable {
    /// Appended together or not at all, in this order.
    public var appends: [StreamAppend]
    /// The epochs of the writer, by category.
    ///
    /// A claimed category takes appends under its newest epoch only; an unclaimed one takes those
    /// of every writer that names no epoch for it.
    public var epochs: [String: Int64]?

    /// Makes a request.
    public init(appends: [StreamAppend], epochs: [String: Int64]? = nil) {
        self.appends = appends
        self.epochs = epochs
    }
}

/// A request for the exclusive right to append to the streams of a category; the body of `claim`.
public struct ClaimRequest: Hashable, Sendable, Codable {
    /// The category, `map`.
    public var category: String
    /// Chosen afresh by each process that writes; the same claim again gives the same epoch.
    public var instance: UUID
    /// Display name of the writer: `cairn-mapstate/0.1.0`.
    public var holder: String

    /// Makes a request.
    public init(category: String, instance: UUID, holder: String) {
        self.category = category
        self.instance = instance
        self.holder = holder
    }
}

/// The exclusive right to append to the streams of a category until the next claim; the answer to
/// `claim`.
public struct WriterClaim: Hashable, Sendable, Codable {
    /// The category.
    public var category: String
    /// 1 for its first writer, one more for each later one.
    public var epoch: Int64
    /// The process that claimed.
    public var instance: UUID
    /// Display name of the writer.
    public var holder: String
    /// The last global position when it was claimed: earlier writers can add nothing after it.
    public var after: Int64

    /// Makes an answer.
    public init(
        category: String, epoch: Int64, instance: UUID, holder: String, after: Int64
    ) {
        self.category = category
        self.epoch = epoch
        self.instance = instance
        self.holder = holder
        self.after = after
    }
}

/// A request for events in order; the body of `read`.
public struct ReadRequest: Hashable, Sendable, Codable {
    /// Exclusive lower bound, a global position; 0 for the beginning.
    public var after: Int64
    /// Most events, 1…1,000; a page may hold fewer, see `ReadPage`.
    public var limit: Int
    /// Filter by stream.
    public var stream: StreamName?
    /// Filter by category; ignored when `stream` is given.
    public var category: String?

    /// Makes a request.
    public init(after: Int64, limit: Int, stream: StreamName? = nil, category: String? = nil) {
        self.after = after
        self.limit = limit
        self.stream = stream
        self.category = category
    }
}

/// A piece of the log; the answer to `read`.
public struct ReadPage: Hashable, Sendable, Codable {
    /// The events, in the order of the log; fewer than the limit at the end of the log, or beyond 1
    /// MiB together.
    public var events: [RecordedEvent]
    /// The cursor: the page holds every requested event up to this global position.
    ///
    /// Equal to `head` at the end.
    public var through: Int64
    /// The last global position of the whole log when the page was read; 0 for an empty log.
    public var head: Int64

    /// Makes a page.
    public init(events: [RecordedEvent], through: Int64, head: Int64) {
        self.events = events
        self.through = through
        self.head = head
    }
}

/// The end of the log; the answer to `head` and the body of the periodic head messages.
public struct LogHead: Hashable, Sendable, Codable {
    /// The last global position; 0 for an empty log.
    public var head: Int64
    /// The last global position in each category, so that a reader of one category can detect that
    /// it is complete; absent when the log has more than 100 categories.
    public var categories: [String: Int64]?
    /// The log's incarnation: another id means that a backup has been restored; absent from a log
    /// of an older build.
    public var incarnation: UUID?
    /// The log's clock; absent from head messages and from a log of an older build.
    public var time: Timestamp?

    /// Makes an answer.
    public init(
        head: Int64, categories: [String: Int64]? = nil, incarnation: UUID? = nil,
        time: Timestamp? = nil
    ) {
        self.head = head
        self.categories = categories
        self.incarnation = incarnation
        self.time = time
    }
}

/// A request to verify a range of the log; the body of `verify`.
public struct VerifyRequest: Hashable, Sendable, Codable {
    /// Exclusive lower bound, a global position; 0 for the beginning.
    public var after: Int64
    /// Approximate number of events, 1…10,000; whole commit batches are checked.
    public var limit: Int

    /// Makes a request.
    public init(after: Int64, limit: Int) {
        self.after = after
        self.limit = limit
    }
}

/// The result of verifying a range of the log; the answer to `verify`.
public struct VerifyPage: Hashable, Sendable, Codable {
    /// Everything up to this global position was checked, from where the request began.
    ///
    /// Equal to `head` at the end.
    public var checkedThrough: Int64
    /// The last global position of the whole log.
    public var head: Int64
    /// The hash chain's value at `checkedThrough`, 64 hexadecimal digits: two logs that agree on it
    /// agree on everything before it.
    ///
    /// Empty for an empty log.
    public var chainHash: String
    /// The first fault, if any; later events were not checked.
    public var fault: LogFault?

    /// Makes an answer.
    public init(checkedThrough: Int64, head: Int64, chainHash: String, fault: LogFault? = nil) {
        self.checkedThrough = checkedThrough
        self.head = head
        self.chainHash = chainHash
        self.fault = fault
    }
}

/// The first part of a log, or the part after the previous archive, as one file that is never
/// written again.
public struct LogArchive: Hashable, Sendable, Codable {
    /// The global position of its first event.
    public var first: Int64
    /// The global position of its last event.
    public var last: Int64
    /// The file's name in the site's `log/archives`.
    public var name: String
    /// The file's size in bytes.
    public var byteCount: Int64
    /// The SHA-256 of the file, 64 hexadecimal digits.
    public var fileHash: String

    /// Makes a description.
    public init(first: Int64, last: Int64, name: String, byteCount: Int64, fileHash: String) {
        self.first = first
        self.last = last
        self.name = name
        self.byteCount = byteCount
        self.fileHash = fileHash
    }
}

/// A request to move the first part of the log into an archive; the body of `archive`.
public struct ArchiveRequest: Hashable, Sendable, Codable {
    /// Idempotency key, chosen by the caller: the same request again polls the progress.
    public var id: UUID
    /// Events up to this global position, in whole commits; never the newest commit.
    public var through: Int64

    /// Makes a request.
    public init(id: UUID, through: Int64) {
        self.id = id
        self.through = through
    }
}

/// A request to copy the log's file as it is now; the body of `backup`.
public struct BackupRequest: Hashable, Sendable, Codable {
    /// Idempotency key, chosen by the caller: the same request again polls the progress.
    public var id: UUID
    /// The new file's absolute path, on the machine of the log.
    public var path: String

    /// Makes a request.
    public init(id: UUID, path: String) {
        self.id = id
        self.path = path
    }
}

/// The progress of an archive or a backup; the answer to `archive` and `backup`.
public struct UpkeepStatus: Hashable, Sendable, Codable {
    /// Work done, in the unit of `total`; only their ratio has a meaning.
    public var done: Int64
    /// Total work; 0 before it is known.
    public var total: Int64
    /// Whether it has succeeded; an error is answered as a failure.
    public var isDone: Bool
    /// The archive that was made.
    public var archive: LogArchive?
    /// The last global position in the backup that was made.
    public var head: Int64?

    /// Makes a status.
    public init(
        done: Int64 = 0, total: Int64 = 0, isDone: Bool = false, archive: LogArchive? = nil,
        head: Int64? = nil
    ) {
        self.done = done
        self.total = total
        self.isDone = isDone
        self.archive = archive
        self.head = head
    }
}

/// A place where the stored log differs from the appended one.
public struct LogFault: Error, Hashable, Sendable, Codable {
    /// The global position of the first event that cannot be trusted.
    public var position: Int64
    /// One sentence: the violated invariant.
    public var message: String

    /// Makes a fault.
    public init(position: Int64, message: String) {
        self.position = position
        self.message = message
    }
}
