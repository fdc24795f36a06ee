// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// A message from a supervisor to a worker, on the worker's lane.
public enum LaneMessage: Hashable, Sendable {
    /// The worker is registered; answers ``WorkerReport/hello(_:)``.
    case welcome
    /// Do a task.
    case task(TaskOrder)
    /// An order to execute a chunk whose lease has been committed.
    case chunk(WorkOrder)
    /// Stop a task or chunk.
    case cancel(UUID)
    /// Hand a task back, unless it has been begun.
    case recall(UUID)
    /// An inquiry whether a task has been answered straight.
    case inquiry(UUID)
    /// The result of a chunk is recorded, or is stale because its attempt no longer held the lease;
    /// drop it.
    case resultTaken(lease: UUID, isStale: Bool)
    /// The acknowledgement of a heartbeat.
    case heartbeatEcho
    /// The lane is draining: no message follows.
    case drain

    /// Largest size of the bytes in front of a task's metadata.
    public static let headByteBound = 39

    /// The message for the worker of that instance.
    public func message(to worker: UUID) -> Message {
        var head = WorkerHead()
        head.append(worker)
        switch self {
        case .welcome: return head.message(.welcome)
        case .task(let order):
            head.append(order.limitMilliseconds)
            head.append(order.isLong)
            head.append(order.asker?.readsGroups)
            if let asker = order.asker { head.append(asker.instance) }
            var message = order.work.message(.task, head)
            message.header.ttlMilliseconds = order.remainingMilliseconds
            return message
        case .chunk(let order): return order.message(.chunk, head)
        case .cancel(let id): return head.message(.cancel, about: id)
        case .recall(let task): return head.message(.recall, about: task)
        case .inquiry(let task): return head.message(.inquiry, about: task)
        case .resultTaken(let lease, let isStale):
            head.append(isStale)
            return head.message(.resultAck, about: lease)
        case .heartbeatEcho: return head.message(.beatEcho)
        case .drain: return head.message(.drain)
        }
    }

    /// Reads a message for the worker of that instance.
    ///
    /// Throws `Failure`: `newerVersion` for another worker protocol, `invalidParameter` for another
    /// worker's message or a damaged one.
    public init(_ message: Message, to worker: UUID) throws(Failure) {
        var head = try WorkerHead(of: message)
        guard try head.uuid() == worker else {
            throw Failure(.invalidParameter, "the lane delivered a message for another worker")
        }
        let subject = message.header.correlation
        switch message.header.kind {
        case .welcome: self = .welcome
        case .task:
            let (limit, isLong) = (try head.number(), try head.flag() == true)
            let asker = try head.flag().map { readsGroups throws(Failure) in
                TaskOrder.Asker(instance: try head.uuid(), readsGroups: readsGroups)
            }
            self = .task(
                TaskOrder(
                    work: WorkOrder(message, metadata: head.rest), limitMilliseconds: limit,
                    remainingMilliseconds: message.header.ttlMilliseconds, isLong: isLong,
                    asker: asker))
        case .chunk: self = .chunk(WorkOrder(message, metadata: head.rest))
        case .cancel: self = .cancel(subject)
        case .recall: self = .recall(subject)
        case .inquiry: self = .inquiry(subject)
        case .resultAck: self = .resultTaken(lease: subject, isStale: try head.flag() == true)
        case .beatEcho: self = .heartbeatEcho
        case .drain: self = .drain
        case let kind:
            throw Failure(.invalidParameter, "unexpected message of kind '\(kind)' on a lane")
        }
    }
}

extension WorkOrder {
    fileprivate func message(_ kind: MessageKind, _ head: WorkerHead) -> Message {
        Message(
            header: MessageHeader(kind: kind, contentType: contentType, messageID: id),
            metadata: head.bytes + metadata, payload: payload)
    }

    fileprivate init(_ message: Message, metadata: Data) {
        self.init(
            id: message.header.messageID, metadata: metadata,
            contentType: message.header.contentType, payload: message.payload)
    }
}
