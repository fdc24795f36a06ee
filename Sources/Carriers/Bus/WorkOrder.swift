// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// A task or chunk on its way to a worker.
public struct WorkOrder: Hashable, Sendable {
    /// The dispatch of a task, the lease of a chunk.
    public var id: UUID
    /// ``RequestMetadata`` as it was sent, at most 64 KiB less ``LaneMessage/headByteBound``.
    public var metadata: Data
    /// The form of the payload, as in a header.
    public var contentType: UInt8
    /// The task's question, or the ``ChunkAssignment`` as JSON.
    public var payload: Data

    /// Makes an order.
    public init(
        id: UUID, metadata: Data, contentType: UInt8 = MessageHeader.json, payload: Data
    ) {
        self.id = id
        self.metadata = metadata
        self.contentType = contentType
        self.payload = payload
    }

    /// The operation; throws `Failure` (`invalidParameter`).
    public func requestMetadata() throws(Failure) -> RequestMetadata {
        try RequestMetadata(wireForm: metadata)
    }
}

/// An interactive task on its way to a worker.
public struct TaskOrder: Hashable, Sendable {
    /// A client that takes the answer straight from the worker.
    public struct Asker: Hashable, Sendable {
        /// The client's process instance.
        public var instance: UUID
        /// Whether it reads groups.
        public var readsGroups: Bool

        /// Names a client.
        public init(instance: UUID, readsGroups: Bool) {
            self.instance = instance
            self.readsGroups = readsGroups
        }
    }

    /// The work; its id is that of the request, if there is a requester.
    public var work: WorkOrder
    /// Milliseconds that the client waits in all, for refusals.
    public var limitMilliseconds: UInt32
    /// Milliseconds of them that are left; 0 = no limit.
    public var remainingMilliseconds: UInt32
    /// Whether a worker has found before that it takes long.
    public var isLong: Bool
    /// The destination of the answer; nil for an answer through the supervisor.
    public var asker: Asker?

    /// Makes an order.
    public init(
        work: WorkOrder, limitMilliseconds: UInt32, remainingMilliseconds: UInt32,
        isLong: Bool = false, asker: Asker? = nil
    ) {
        self.work = work
        self.limitMilliseconds = limitMilliseconds
        self.remainingMilliseconds = remainingMilliseconds
        self.isLong = isLong
        self.asker = asker
    }
}

/// The answer to a task: the message that a client gets, from the supervisor or straight from the
/// worker.
public struct TaskAnswer: Hashable, Sendable {
    /// The task.
    public var task: UUID
    /// Whether the payload is a `Failure`.
    public var isFailure: Bool
    /// The form of the payload, as in a header.
    public var contentType: UInt8
    /// The operation's answer, or the `Failure` as JSON.
    public var payload: Data

    /// Makes the answer to a task; that of an operation has the form of the question.
    public init(to task: WorkOrder, _ result: Result<Data, Failure>) {
        self.task = task.id
        switch result {
        case .success(let data):
            (isFailure, contentType, payload) = (false, task.contentType, data)
        case .failure(let failure):
            (isFailure, contentType, payload) = (true, MessageHeader.json, failure.wirePayload)
        }
    }

    /// Makes it a refusal.
    public mutating func fail(_ failure: Failure) {
        (isFailure, contentType, payload) = (true, MessageHeader.json, failure.wirePayload)
    }

    /// Decodes ``message``.
    init(_ message: Message) {
        task = message.header.correlation
        isFailure = message.header.kind == .failure
        contentType = message.header.contentType
        payload = message.payload
    }

    /// The message; its correlation is the task.
    public var message: Message {
        Message(
            header: MessageHeader(
                kind: isFailure ? .failure : .reply, contentType: contentType, correlation: task),
            payload: payload)
    }
}
