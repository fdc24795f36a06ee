// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Synchronization

/// Batches small appends that arrive while others are in flight, like Nagle's algorithm (RFC 896).
///
/// A producer faster than the disk then costs one message, one place in a commit and one answer per
/// batch. There is no timer: the first append leaves at once, a batch leaves with the previous
/// answer, or earlier when it is a full message.
///
/// Only appends without expected versions and under the same claim are batched. A batch is
/// committed as a whole, in order of arrival, so each append has the result that it would have had
/// alone. Where the log refuses a batch, or has it already, each append is retried alone and has
/// its own refusal or result.
final class AppendBatcher: Sendable {
    /// A message is full at this many appends, events or bytes.
    ///
    /// A larger append is not batched; so no message has twice as much, far below the limit of the
    /// log.
    static let fullAppendCount = 64
    static let fullEventCount = 256
    static let fullByteCount = 128 << 10
    /// Limit of messages in flight: the log always has the next one queued while answers and
    /// appends are on their way.
    static let underWayBound = 16
    /// Timeout of an answer; an append is known to have failed after at most twice as long.
    static let patience = Duration.seconds(2)

    private struct State {
        var underWayCount = 0
        var waiting: [JoinedAppend] = []
        var eventCount = 0
        var byteCount = 0

        var isFull: Bool {
            waiting.count >= fullAppendCount || eventCount >= fullEventCount
                || byteCount >= fullByteCount
        }

        mutating func add(_ append: JoinedAppend) {
            waiting.append(append)
            eventCount += append.eventCount
            byteCount += append.streams.count
        }

        mutating func remove(_ append: JoinedAppend) {
            guard let index = waiting.firstIndex(where: { $0 === append }) else { return }
            waiting.remove(at: index)
            eventCount -= append.eventCount
            byteCount -= append.streams.count
        }

        mutating func takeWaiting() -> [JoinedAppend] {
            defer { (waiting, eventCount, byteCount) = ([], 0, 0) }
            return waiting
        }
    }

    private let requester: Requester
    private let state = Mutex(State())

    init(_ requester: Requester) { self.requester = requester }

    /// Appends in a batch; nil when the batch had no result for this append: it must be retried
    /// alone, and may be in the log already.
    ///
    /// Throws `cancelled`: the append may or may not be in the log.
    func append(_ request: AppendRequest) async throws(Failure) -> AppendResult? {
        guard let append = try JoinedAppend(request) else { return nil }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if append.wait({ continuation.resume(returning: $0) }) { put(append) }
            }
        } onCancel: {
            state.withLock { $0.remove(append) }
            append.end(.failure(Failure(.cancelled, "the request was cancelled")))
        }
        return try result.get()
    }

    /// Appends without suspending; `completion` is called once, on the bus thread or before this
    /// returns.
    func append(
        _ request: AppendRequest,
        completion: @escaping @Sendable (Result<AppendResult?, Failure>) -> Void
    ) {
        do throws(Failure) {
            guard let append = try JoinedAppend(request) else { return completion(.success(nil)) }
            if append.wait(completion) { put(append) }
        } catch {
            completion(.failure(error))
        }
    }

    private func put(_ append: JoinedAppend) {
        enum Step { case send([JoinedAppend]), wait, alone }
        let step = state.withLock { state -> Step in
            guard state.waiting.first.map({ $0.epochs == append.epochs }) ?? true else {
                return .alone
            }
            state.add(append)
            guard state.underWayCount < Self.underWayBound || state.isFull else { return .wait }
            state.underWayCount += 1
            return .send(state.takeWaiting())
        }
        switch step {
        case .send(let appends): send(appends)
        case .wait: break
        case .alone: append.end(.success(nil))
        }
    }

    private func send(_ appends: [JoinedAppend]) {
        let message = Message(
            header: MessageHeader(
                kind: .request, contentType: MessageHeader.fixedLayout, flags: LogLayout.flag),
            metadata: Self.metadata,
            payload: AppendRequest.fixedLayout(
                streams: appends.map(\.streams),
                streamCount: appends.reduce(0) { $0 + $1.streamCount },
                epochs: appends.first?.epochs ?? nil))
        requester.ask(message, timeout: Self.patience) { [self] answer in
            finish(appends, Result { () throws(Failure) in try Self.result(answer) })
        }
    }

    /// Completes a batch, on the bus thread or wherever sending it failed.
    private func finish(_ appends: [JoinedAppend], _ result: Result<AppendResult, Failure>) {
        // An unresponsive log must not block further batches.
        let isAway = if case .failure(let failure) = result { failure.isRetriable } else { false }
        let (next, left) = state.withLock { state -> ([JoinedAppend], [JoinedAppend]) in
            state.underWayCount -= 1
            if isAway { return ([], state.takeWaiting()) }
            guard state.underWayCount < Self.underWayBound, !state.waiting.isEmpty else {
                return ([], [])
            }
            state.underWayCount += 1
            return (state.takeWaiting(), [])
        }
        if !next.isEmpty { send(next) }
        switch result {
        case .success(let whole) where whole.isRepeat && appends.count > 1:
            // Adjacent events may have been committed at different times.
            for append in appends { append.end(.success(nil)) }
        case .success(let whole):
            var first = whole.firstPosition
            for append in appends {
                var own = whole
                own.firstPosition = first
                first += Int64(append.eventCount)
                own.lastPosition = first - 1
                append.end(.success(own))
            }
        case .failure(let failure):
            // The log may understand it as JSON.
            let isFinal =
                appends.count == 1 && !failure.isRetriable && failure.code != .invalidParameter
            for append in appends { append.end(isFinal ? .failure(failure) : .success(nil)) }
        }
        for append in left { append.end(.success(nil)) }
    }

    private static func result(
        _ answer: Result<Message, Failure>
    ) throws(Failure) -> AppendResult {
        let message = try answer.get()
        return message.header.contentType == MessageHeader.fixedLayout
            ? try AppendResult(fixedLayout: message.payload)
            : try message.decode(AppendResult.self)
    }

    private static let metadata =
        (try? RequestMetadata(operation: Operation.append.name).wireForm()) ?? Data()
}

/// One caller's append, encoded, with its completion.
private final class JoinedAppend: Sendable {
    typealias Outcome = Result<AppendResult?, Failure>

    private enum Wait {
        case notYet
        case waiting(@Sendable (Outcome) -> Void)
        case over(Outcome)
    }

    let streams: Data
    let streamCount: Int
    let eventCount: Int
    let epochs: [String: Int64]?
    private let wait = Mutex(Wait.notYet)

    /// Nil for an append that cannot be batched.
    init?(_ request: AppendRequest) throws(Failure) {
        let eventCount = request.appends.reduce(0) { $0 + $1.events.count }
        let isSmall =
            request.appends.count < AppendBatcher.fullAppendCount
            && eventCount < AppendBatcher.fullEventCount
            && request.appends.allSatisfy { append in
                append.events.allSatisfy { $0.data.count < AppendBatcher.fullByteCount }
            }
        guard isSmall, request.appends.allSatisfy({ $0.expected == .any }) else { return nil }
        streams = try request.streamsInFixedLayout()
        guard streams.count < AppendBatcher.fullByteCount else { return nil }
        streamCount = request.appends.count
        self.eventCount = eventCount
        epochs = request.epochs
    }

    /// Registers the completion; false when the outcome is known already.
    func wait(_ completion: @escaping @Sendable (Outcome) -> Void) -> Bool {
        let over = wait.withLock { wait -> Outcome? in
            if case .over(let outcome) = wait { return outcome }
            wait = .waiting(completion)
            return nil
        }
        if let over { completion(over) }
        return over == nil
    }

    /// The first outcome counts.
    func end(_ outcome: Outcome) {
        let waiting = wait.withLock { wait -> (@Sendable (Outcome) -> Void)? in
            switch wait {
            case .over: return nil
            case .notYet:
                wait = .over(outcome)
                return nil
            case .waiting(let completion):
                wait = .over(outcome)
                return completion
            }
        }
        waiting?(outcome)
    }
}
