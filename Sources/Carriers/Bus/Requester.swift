// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import Synchronization

/// A client of one service; any task or thread.
public struct Requester: Sendable {
    let thread: BusThread
    let id: UInt64
    let endpoint: Endpoint

    /// Sends a request and waits for the answer.
    ///
    /// An unreachable service is waited for until the timeout. `messageID` is chosen when it is
    /// nil; pass the same one to retry the same request. Throws the service's own `Failure`, or:
    /// `timedOut` (sent, not answered), `unavailable` (not reachable, or the service went away
    /// after the request), `busy` (4,096 requests under way, or the bus thread's mailbox is full),
    /// `tooLarge`, `cancelled` (the task was), `draining` (the bus was stopped).
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

    /// Sends a request message made by the caller, kind `.request` or `.task`; otherwise as
    /// `request`.
    ///
    /// A `ttlMilliseconds` of 0 becomes the timeout. With `connectTimeout` it gives up earlier
    /// (`unavailable`) when the service is not reachable.
    public func send(
        _ message: Message, timeout: Duration, connectTimeout: Duration? = nil
    ) async throws(Failure) -> Message {
        let id = id
        let thread = thread
        let question = message.header.messageID
        // Created before the request is posted, so that a cancellation that overtakes its request
        // is seen.
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

    /// Sends a request with a completion instead of a suspended task.
    ///
    /// The completion is called once, on the bus thread and never within this call there, or at
    /// once on the caller's thread when the request cannot even be posted.
    public func ask(
        _ message: Message, timeout: Duration, connectTimeout: Duration? = nil,
        _ completion: @escaping @Sendable (Result<Message, Failure>) -> Void
    ) {
        ask(message, timeout, connectTimeout, Flag(), completion)
    }

    /// Cancels a request sent with a completion, which gets `cancelled`; the service is notified.
    ///
    /// Any thread, after `ask` has returned; without effect once the request is answered.
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
