// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Synchronization

/// Has small appends that come while some are under way travel together as the next one, as Nagle's
/// algorithm (RFC 896) has bytes.
///
/// A producer that is faster than the disk then costs one message, one place in a commit and one
/// answer for as many appends as have come meanwhile. Nothing waits for a timer: what comes first
/// goes at once, and what has gathered goes with its answer, or before that when it is a full
/// message.
///
/// Only appends that expect nothing of their streams are joined, under the same claim. They are in
/// the log together or not at all, side by side in the order in which they came, so each has the
/// result that it would have had alone. Where the log refuses them together, or has them already,
/// each is asked for alone and has its own refusal or result.
final class AppendBatcher: Sendable {
    /// So many appends, events or bytes make a message full, so that it waits for nothing.
    ///
    /// What is as large alone is not joined; so no message has twice as much, which is far from
    /// what the log accepts.
    static let fullAppendCount = 64
    static let fullEventCount = 256
    static let fullByteCount = 128 << 10
    /// So many messages are under way before what comes has to wait: the log finds the next one
    /// when it has written one, while answers and appends are on their way.
    static let underWayBound = 16
    /// How long an answer is waited for; at most twice as long goes by until an append is known to
    /// have had none.
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

    /// Appends together with others; nil when that has not come to an answer for this one: then it
    /// must be asked for alone, and may be in the log already.
    ///
    /// Throws `cancelled`: then it may be in the log or not.
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

    /// The same without waiting; `completion` is called once, on the bus thread or before this
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

    /// On the bus thread, or wherever the question could not even be handed over.
    private func finish(_ appends: [JoinedAppend], _ result: Result<AppendResult, Failure>) {
        // A log that does not answer keeps nobody else waiting here.
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
            // What lies side by side may have been committed at different times.
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
            // In JSON it may be understood.
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

/// One caller's append, in bytes, and who waits for it.
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

    /// Nil for what is not joined.
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

    /// Who waits; false when there is nothing more to wait for.
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
