// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import Platform

/// A message from a worker to a supervisor, through the sink.
public enum WorkerReport: Hashable, Sendable {
    /// Sent until it is welcomed, and again to a new supervisor.
    case hello(WorkerHello)
    /// Sent every second, and as the answer to a welcome.
    case heartbeat(WorkerBeat)
    /// Progress between two heartbeats.
    case progress(WorkerBeat)
    /// The answer to a task.
    case answer(TaskAnswer)
    /// A task was not done and may go to another worker; `isLong`: to one with room for tasks that
    /// take long.
    case refused(task: UUID, isLong: Bool)
    /// A task exceeds its expected time and runs beside the others.
    case tookLong(task: UUID)
    /// The task was answered before, straight to its requester, or is unknown.
    case answered(task: UUID)
    /// The outcome of an attempt at a chunk; sent until it is acknowledged.
    case result(ChunkResult)
    /// The worker accepts no further work.
    case draining
    /// The worker ends.
    case bye

    /// The message; throws `Failure` for a value without a JSON form.
    public func message() throws(Failure) -> Message {
        var head = WorkerHead()
        switch self {
        case .hello(let hello): return try head.message(.hello, encoding: hello)
        case .heartbeat(let beat): return try head.message(.beat, encoding: beat)
        case .progress(let beat): return try head.message(.progress, encoding: beat)
        case .answer(let answer):
            var message = answer.message
            message.metadata = head.bytes
            return message
        case .refused(let task, let isLong):
            head.append(isLong)
            return head.message(.refusal, about: task)
        case .tookLong(let task): return head.message(.tookLong, about: task)
        case .answered(let task): return head.message(.answered, about: task)
        case .result(let result):
            return try head.message(
                .result, about: result.held.attempt.lease, encoding: result)
        case .draining: return head.message(.draining)
        case .bye: return head.message(.bye)
        }
    }

    /// Reads a message.
    ///
    /// Throws `Failure`: `newerVersion` for another worker protocol, `invalidParameter` for a
    /// damaged message.
    public init(_ message: Message) throws(Failure) {
        var head = try WorkerHead(of: message)
        let task = message.header.correlation
        switch message.header.kind {
        case .hello: self = .hello(try message.decode(WorkerHello.self))
        case .beat: self = .heartbeat(try message.decode(WorkerBeat.self))
        case .progress: self = .progress(try message.decode(WorkerBeat.self))
        case .reply, .failure: self = .answer(TaskAnswer(message))
        case .refusal: self = .refused(task: task, isLong: try head.flag() == true)
        case .tookLong: self = .tookLong(task: task)
        case .answered: self = .answered(task: task)
        case .result: self = .result(try message.decode(ChunkResult.self))
        case .draining: self = .draining
        case .bye: self = .bye
        case let kind:
            throw Failure(.invalidParameter, "unexpected message of kind '\(kind)' at the sink")
        }
    }

    /// The process id of a worker with another worker protocol; nil for any message but its hello.
    public static func foreignProcess(in message: Message) -> Int32? {
        guard message.header.kind == .hello, WorkerHead.number(of: message) != WorkerWire.version,
            let hello = try? message.decode(WorkerHello.self), hello.processID > 1
        else { return nil }
        return hello.processID
    }
}

/// The first bytes of the metadata frame of every message between supervisor and workers: the
/// number of the worker protocol, then the fields of the message's kind.
struct WorkerHead {
    /// The head as it is read.
    private let read: Data
    private var offset = 1
    /// The head as it is written: appending to `Data` byte by byte takes a tenth of the hub's time.
    private var written: [UInt8] = []

    /// Begins to write, with room for the longest head.
    init() {
        read = Data()
        written.reserveCapacity(LaneMessage.headByteBound)
        written.append(WorkerWire.version)
    }

    /// Begins to read; throws `Failure` (`newerVersion`) for another protocol.
    init(of message: Message) throws(Failure) {
        let number = Self.number(of: message)
        guard number == WorkerWire.version else {
            throw Failure(
                .newerVersion,
                "worker protocol \(number): this build speaks \(WorkerWire.version); restart the "
                    + "site's "
                    + "processes with one build")
        }
        read = message.metadata
    }

    /// The protocol of a message; 1 for a build without a number.
    static func number(of message: Message) -> UInt8 {
        guard let first = message.metadata.first, first != UInt8(ascii: "{") else { return 1 }
        return first
    }

    // MARK: Writing

    /// What was written.
    var bytes: Data { Data(written) }

    mutating func append(_ uuid: UUID) {
        var field = InlineArray<16, UInt8>(repeating: 0)
        field.store(uuid.uuid, at: 0)
        for index in field.indices { written.append(field[index]) }
    }

    mutating func append(_ number: UInt32) {
        for shift in [0, 8, 16, 24] { written.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// 0 for false, 1 for true, 2 for nil.
    mutating func append(_ flag: Bool?) { written.append(flag.map { $0 ? 1 : 0 } ?? 2) }

    func message(_ kind: MessageKind, about subject: UUID = .zero, payload: Data = Data())
        -> Message
    {
        Message(
            header: MessageHeader(kind: kind, correlation: subject), metadata: bytes,
            payload: payload)
    }

    func message(
        _ kind: MessageKind, about subject: UUID = .zero, encoding value: some Encodable
    ) throws(Failure) -> Message {
        message(kind, about: subject, payload: try CairnJSON.encode(value))
    }

    // MARK: Reading

    /// Skips a field of `count` bytes; returns its offset.
    private mutating func pass(_ count: Int) throws(Failure) -> Int {
        guard read.count - offset >= count else {
            throw Failure(.invalidParameter, "the head of a worker message is cut short")
        }
        defer { offset += count }
        return offset
    }

    mutating func uuid() throws(Failure) -> UUID {
        let place = try pass(16)
        return UUID(uuid: read.bytes.uuid(at: place))
    }

    mutating func number() throws(Failure) -> UInt32 {
        let place = try pass(4)
        return read.bytes.uint32(at: place)
    }

    mutating func flag() throws(Failure) -> Bool? {
        let place = try pass(1)
        switch read.bytes.byte(at: place) {
        case 0: return false
        case 1: return true
        case 2: return nil
        case let byte:
            throw Failure(
                .invalidParameter, "a flag of a worker message is \(byte), not 0, 1 or 2")
        }
    }

    /// The unread bytes.
    var rest: Data { Data(read.dropFirst(offset)) }
}
