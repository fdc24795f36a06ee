// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// Sixteen bytes in the header; the same type as everywhere else.
public typealias UUID16 = UUID

/// The kind of a message: byte 5 of the header.
public struct MessageKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Wraps any byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A request to a service; answered by `reply` or `failure`.
    public static let request = MessageKind(rawValue: 1)
    /// Answers a request or task.
    public static let reply = MessageKind(rawValue: 2)
    /// Answers with a `Failure` as payload.
    public static let failure = MessageKind(rawValue: 3)
    /// Worker to supervisor: registration, with the work in hand.
    public static let hello = MessageKind(rawValue: 4)
    /// Supervisor to worker: registration accepted.
    public static let welcome = MessageKind(rawValue: 5)
    /// Work: to the supervisor as a question, down a lane as an order.
    public static let task = MessageKind(rawValue: 6)
    /// Worker to supervisor: how the attempt at a chunk ended.
    public static let result = MessageKind(rawValue: 7)
    /// Supervisor to worker: the result is durable and can be dropped.
    public static let resultAck = MessageKind(rawValue: 8)
    /// Worker to supervisor: alive, with a progress counter per chunk.
    public static let beat = MessageKind(rawValue: 9)
    /// Supervisor to worker: acknowledgement of a heartbeat.
    public static let beatEcho = MessageKind(rawValue: 10)
    /// Worker to supervisor: how far a chunk is.
    public static let progress = MessageKind(rawValue: 11)
    /// Worker to supervisor: no further work is accepted.
    public static let draining = MessageKind(rawValue: 12)
    /// Supervisor to worker: stop that task; client to service: the answer is no longer awaited.
    public static let cancel = MessageKind(rawValue: 13)
    /// Supervisor to worker: finish, then leave.
    public static let drain = MessageKind(rawValue: 14)
    /// Worker to supervisor: I leave.
    public static let bye = MessageKind(rawValue: 15)
    /// Committed events.
    public static let event = MessageKind(rawValue: 16)
    /// The log's last sequence number.
    public static let head = MessageKind(rawValue: 17)
    /// Something ephemeral: progress, a result on a map, the list of workers.
    public static let live = MessageKind(rawValue: 18)
    /// Supervisor to worker: hand that task back, unless it has been begun.
    public static let recall = MessageKind(rawValue: 19)
    /// Client to service: these answers have come, straight from workers.
    public static let taken = MessageKind(rawValue: 20)

    /// Supervisor to worker: a chunk of a job.
    public static let chunk = MessageKind(rawValue: 21)
    /// Supervisor to worker: inquiry whether a task has been answered straight.
    public static let inquiry = MessageKind(rawValue: 22)
    /// Worker to supervisor: a task goes back undone.
    public static let refusal = MessageKind(rawValue: 23)
    /// Worker to supervisor: a task takes long.
    public static let tookLong = MessageKind(rawValue: 24)
    /// Worker to supervisor: a task was answered straight.
    public static let answered = MessageKind(rawValue: 25)

    /// Whether this build has a name for the byte.
    public var isKnown: Bool { 1...25 ~= rawValue }

    private static let names = [
        "request", "reply", "failure", "hello", "welcome", "task", "result", "resultAck", "beat",
        "beatEcho", "progress", "draining", "cancel", "drain", "bye", "event", "head", "live",
        "recall", "taken", "chunk", "inquiry", "refusal", "tookLong", "answered",
    ]

    /// The name, or the number for a byte this build does not know.
    public var description: String {
        isKnown ? Self.names[Int(rawValue) - 1] : "kind \(rawValue)"
    }
}

/// The 96 bytes in front of every message; `Docs/bus-protocol.md` has the offsets.
public struct MessageHeader: Hashable, Sendable {
    /// Kind of the message.
    public var kind: MessageKind
    /// The worker pool a task is meant for (`WorkerPool`); 0 otherwise.
    public var pool: UInt8
    /// The payload's form: 0 = opaque, 1 = JSON, 2 = the operation's fixed layout.
    public var contentType: UInt8
    /// Flags of the message's protocol, such as `straightFlag`; unknown ones are carried unchanged.
    public var flags: UInt8
    /// Chosen by the sender, kept when the same request is sent again.
    public var messageID: UUID16
    /// The `messageID` of the request that an answer belongs to; all zero for none.
    public var correlation: UUID16
    /// The sending process's instance.
    public var sender: UUID16
    /// For events: the global position; for the state of a job: the position of its last event;
    /// else 0.
    public var sequence: Int64
    /// For events: the global position of the category's event before this one; 0 for none.
    public var previousInCategory: Int64
    /// The sender's epoch; 0 for none.
    public var epoch: UInt32
    /// Time to live in milliseconds, from the moment of sending; 0 for no limit.
    public var ttlMilliseconds: UInt32
    /// Whether its sender, and each process that forwarded it, reads messages that come as a group.
    public var readsGroups: Bool

    /// Makes a header; the bus fills in `sender` when it is left all zero.
    public init(
        kind: MessageKind, pool: UInt8 = 0, contentType: UInt8 = 1, flags: UInt8 = 0,
        messageID: UUID16 = .timeOrdered(), correlation: UUID16 = .zero, sender: UUID16 = .zero,
        sequence: Int64 = 0, previousInCategory: Int64 = 0, epoch: UInt32 = 0,
        ttlMilliseconds: UInt32 = 0, readsGroups: Bool = true
    ) {
        self.kind = kind
        self.pool = pool
        self.contentType = contentType
        self.flags = flags
        self.messageID = messageID
        self.correlation = correlation
        self.sender = sender
        self.sequence = sequence
        self.previousInCategory = previousInCategory
        self.epoch = epoch
        self.ttlMilliseconds = ttlMilliseconds
        self.readsGroups = readsGroups
    }
}

/// One message: exactly three frames, header, metadata, payload.
public struct Message: Hashable, Sendable {
    /// The first frame.
    public var header: MessageHeader
    /// The second frame: small JSON, at most 64 KiB; may be empty.
    public var metadata: Data
    /// The third frame: opaque to the bus.
    public var payload: Data

    /// Makes a message.
    public init(header: MessageHeader, metadata: Data = Data(), payload: Data = Data()) {
        self.header = header
        self.metadata = metadata
        self.payload = payload
    }

    /// A message of kind `head` with the log's length as JSON; throws `Failure` when encoding
    /// fails.
    package init(_ head: LogHead) throws(Failure) {
        self.init(
            header: MessageHeader(kind: .head, sequence: head.head),
            payload: try CairnJSON.encode(head))
    }

    /// The payload as a JSON value; throws `Failure` (`invalidParameter`) naming the place.
    public func decode<Value: Decodable>(_ type: Value.Type) throws(Failure) -> Value {
        try CairnJSON.decode(type, from: payload)
    }

    /// The metadata of a request or task; throws `Failure` (`invalidParameter`).
    public func requestMetadata() throws(Failure) -> RequestMetadata {
        try RequestMetadata(wireForm: metadata)
    }
}

/// The metadata frame of a request or task.
public struct RequestMetadata: Hashable, Sendable, Codable {
    /// The operation's name: `append`, `identify`.
    public var operation: String
    /// The user on whose behalf the request is made.
    public var actor: String?
    /// The map it is about, where there is one.
    public var map: String?

    /// Makes metadata.
    public init(operation: String, actor: String? = nil, map: String? = nil) {
        self.operation = operation
        self.actor = actor
        self.map = map
    }
}

extension MessageHeader {
    /// `contentType` of a payload that is JSON.
    public static let json: UInt8 = 1
    /// `contentType` of a payload in the fixed layout that its operation has.
    public static let fixedLayout: UInt8 = 2
    /// Flag of a task: its `sender` takes the answer straight from the worker.
    public static let straightFlag: UInt8 = 0x80
}

extension UUID {
    /// All zero: "none".
    public static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
