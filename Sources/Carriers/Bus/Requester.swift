// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import Synchronization

/// Asks one service; any task or thread.
public struct Requester: Sendable {
    let thread: BusThread
    let id: UInt64
    let endpoint: Endpoint

    /// Asks and waits for the answer.
    ///
    /// A service that is away is waited for until the timeout. `messageID` is chosen when it is
    /// nil; pass the same one to ask the same thing again. Throws the service's own `Failure`, or:
    /// `timedOut` (asked, not answered), `unavailable` (nobody there, or it went away after it was
    /// asked), `busy` (4,096 questions under way, or the bus thread's mailbox is full), `tooLarge`,
    /// `cancelled` (the task was), `draining` (the bus was stopped).
    public func request(
        operation: String, payload: Data = Data(), kind: MessageKind = .request, pool: UInt8 = 0,
        contentType: UInt8 = MessageHeader.json, flags: UInt8 = 0, actor: String? = nil,
        map: String? = nil, messageID: UUID? = nil, timeout: Duration
    ) async throws(Failure) -> Message {
        let metadata = RequestMetadata(operation: operation, actor: actor, map: map)
        let message = Message(
            header: MessageHeader(
                kind: kind, pool: pool, contentType: contentType, flags: flags,
                messageID: messageID ?? .timeOrdered()),
            metadata: try metadata.wireForm(), payload: payload)
        return try await send(message, timeout: timeout)
    }

    /// Asks with a message of one's own making, kind `.request` or `.task`; otherwise as `request`.
    ///
    /// A `ttlMilliseconds` of 0 becomes the timeout. With `connectTimeout` it gives up earlier
    /// (`unavailable`) when nobody is there to be asked.
    public func send(
        _ message: Message, timeout: Duration, connectTimeout: Duration? = nil
    ) async throws(Failure) -> Message {
        let id = id
        let thread = thread
        let question = message.header.messageID
        // Set before the bus thread is told, so a cancellation that overtakes its own question is
        // seen when that arrives.
        let cancelled = Flag()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ask(message, timeout, connectTimeout, cancelled) {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            cancelled.raise()
            thread.post {
                (thread.loop.channel(id) as? RequesterChannel)?
                    .giveUp(question, .requestCancelled)
            }
        }
        return try result.get()
    }

    /// The same with a completion instead of a task to suspend: called once, on the bus thread and
    /// never within this call there, or at once on the caller's when the question cannot even be
    /// handed over.
    public func ask(
        _ message: Message, timeout: Duration, connectTimeout: Duration? = nil,
        _ completion: @escaping @Sendable (Result<Message, Failure>) -> Void
    ) {
        ask(message, timeout, connectTimeout, Flag(), completion)
    }

    /// Gives up a question asked with a completion, which gets `cancelled`; the service is told.
    ///
    /// Any thread, after `ask` has returned; does nothing for a question that is answered.
    public func giveUp(_ question: UUID) {
        let id = id
        let thread = thread
        thread.post {
            (thread.loop.channel(id) as? RequesterChannel)?.giveUp(question, .requestCancelled)
        }
    }

    private func ask(
        _ message: Message, _ timeout: Duration, _ connectTimeout: Duration?, _ cancelled: Flag,
        _ completion: @escaping @Sendable (Result<Message, Failure>) -> Void
    ) {
        do throws(Failure) { try endpoint.check(message) } catch {
            thread.loop.counters.change { $0.oversizeCount += 1 }
            return completion(.failure(error))
        }
        var message = message
        if message.header.ttlMilliseconds == 0 {
            let milliseconds = timeout.nanoseconds / 1_000_000
            message.header.ttlMilliseconds = UInt32(clamping: max(milliseconds, 1))
        }
        let question = message
        let id = id
        let isIn = thread.tryOnThread { loop in
            if cancelled.isRaised { return loop.refuse(completion, .requestCancelled) }
            guard let channel = loop.channel(id) as? RequesterChannel else {
                return loop.refuse(completion, .busStopped)
            }
            channel.ask(
                question, timeout: timeout, connectTimeout: connectTimeout ?? timeout, completion)
        }
        guard !isIn else { return }
        completion(
            .failure(
                thread.isStopped
                    ? .busStopped
                    : Failure(.busy, "this process has too many messages waiting to be sent")))
    }

    /// Ends it: questions under way get `draining`.
    ///
    /// Any thread.
    public func close() { thread.closeChannel(id) }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}

extension Failure {
    static let requestCancelled = Failure(.cancelled, "the request was cancelled")
}
