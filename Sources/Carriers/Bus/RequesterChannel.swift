// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import Platform
internal import ZeroMQ

/// The requesting end: a DEALER socket with many requests under way.
final class RequesterChannel: Channel {
    /// The most questions under way.
    static let capacity = 4096
    /// Room for all of them, and all their answers, at once.
    ///
    /// Twice as many and some: libzmq takes back room only after half of a high-water mark has
    /// left.
    static let highWaterMark: Int32 = 10_000

    /// Grace period beyond a task's limit, in which the refusal of the process that holds it, with
    /// its timings, still arrives.
    static let graceNanoseconds: Int64 = 500_000_000
    /// Number of pending tasks from which answers may come straight from workers: fewer are not
    /// worth another socket.
    static let straightFrom = 16

    typealias Completion = @Sendable (Result<Message, Failure>) -> Void

    private struct Question {
        var message: Message
        var completion: Completion
        var timer: UInt64
        /// Monotonic nanoseconds.
        var deadline: Int64
        var isSent: Bool
    }

    private var questions: [UUID: Question] = [:]
    private var unsent: [UUID] = []
    private var isConnected = false
    private var taskCount = 0
    /// The socket for answers that bypass the service.
    private var straight: PullChannel?
    private var taken = ReplyAcks()
    private var telling: UInt64?

    init(_ loop: BusLoop, _ endpoint: Endpoint) throws(Failure) {
        // Not `onlyConnected`: with it libzmq ends the pipe of a lost connection whenever it reads
        // its mailbox, also between two frames of a message, and aborts the process at the next one
        // (fq.cpp).
        var options = SocketOptions()
        options.lingerMilliseconds = 0
        options.sendHighWaterMark = Self.highWaterMark
        options.receiveHighWaterMark = Self.highWaterMark
        try super.init(loop, endpoint, .dealer, .connect, options)
    }

    func ask(
        _ message: Message, timeout: Duration, connectTimeout: Duration,
        _ completion: @escaping Completion
    ) {
        let id = message.header.messageID
        guard !isClosed else { return loop.refuse(completion, .busStopped) }
        guard questions.count < Self.capacity, questions[id] == nil else {
            return loop.refuse(
                completion,
                Failure(.busy, "\(questions.count) requests to \(endpoint) are under way"))
        }
        let now = MonotonicClock.nanoseconds()
        let grace = message.header.kind == .task ? Self.graceNanoseconds : 0
        let deadline = now + timeout.nanoseconds + grace
        let first = min(deadline, now + connectTimeout.nanoseconds)
        var message = message
        if message.header.kind == .task { takeStraight(&message) }
        let isSent = isConnected && unsent.isEmpty && (try? send(message)) == true
        questions[id] = Question(
            message: message, completion: completion, timer: addTimer(first, id),
            deadline: deadline, isSent: isSent)
        if !isSent { unsent.append(id) }
    }

    /// Stops waiting for an answer; the service is notified of a task that it still works on.
    func giveUp(_ id: UUID, _ failure: Failure) {
        if let question = questions[id], question.isSent, question.message.header.kind == .task {
            _ = try? send(Message(header: MessageHeader(kind: .cancel, correlation: id)))
        }
        finish(id, .failure(failure))
    }

    private func sendWaiting() {
        guard isConnected else { return }
        var kept: [UUID] = []
        for (index, id) in unsent.enumerated() {
            guard var question = questions[id] else { continue }
            guard (try? send(question.message)) == true else {
                kept = Array(unsent[index...])
                break
            }
            question.isSent = true
            questions[id] = question
        }
        unsent = kept
    }

    private func addTimer(_ due: Int64, _ id: UUID) -> UInt64 {
        let timer = loop.makeID()
        loop.timers.add(id: timer, due: due) { [weak self] in self?.expire(id) }
        return timer
    }

    private func expire(_ id: UUID) {
        guard let question = questions[id] else { return }
        // That limit covered only the connection to a service.
        if question.isSent, MonotonicClock.nanoseconds() < question.deadline {
            questions[id]?.timer = addTimer(question.deadline, id)
            return
        }
        let failure =
            question.isSent
            ? Failure(
                .timedOut,
                "\(endpoint) gave no answer within the limit of "
                    + "\(question.message.header.ttlMilliseconds) ms")
            : Failure(.unavailable, "no service is connected at \(endpoint): is it running?")
        finish(id, .failure(failure))
    }

    private func finish(_ id: UUID, _ result: Result<Message, Failure>) {
        guard let question = questions.removeValue(forKey: id) else { return }
        loop.timers.cancel(question.timer)
        // Those given up are swept out now and then, not one by one.
        if unsent.count > 2 * questions.count + 64 { unsent.removeAll { questions[$0] == nil } }
        question.completion(result)
    }

    // MARK: Straight answers

    private func takeStraight(_ task: inout Message) {
        taskCount += 1
        if taskCount == Self.straightFrom { listen() }
        guard straight != nil else { return }
        task.header.flags |= MessageHeader.straightFlag
        task.header.correlation = taken.removeFirst()
    }

    /// Without such a socket answers come by the service, as ever.
    private func listen() {
        loop.sweepOnce(Endpoint.answersPrefix)
        straight = try? PullChannel(loop, .answers(loop.instance), .bind) { [loop, id] message in
            (loop.channel(id) as? RequesterChannel)?.acceptStraight(message)
        }
        if let straight { loop.add(straight) }
    }

    private func acceptStraight(_ message: Message) {
        let id = message.header.correlation
        guard message.isAnswer, id != .zero else { return loop.counters.reject(.kind) }
        // Late ones too: the service waits for the acknowledgement.
        taken.append(id)
        accept(message, isStraight: true)
        if taken.isFull { tell() }
        guard !taken.isEmpty, telling == nil else { return }
        let timer = loop.makeID()
        let due = MonotonicClock.nanoseconds() + ReplyAcks.nanoseconds
        loop.timers.add(id: timer, due: due) { [weak self] in
            self?.telling = nil
            self?.tell()
        }
        telling = timer
    }

    private func tell() {
        guard !taken.isEmpty, isConnected else { return taken.removeAll() }
        // Without the acknowledgement the service asks its workers about the task.
        _ = try? send(Message(header: MessageHeader(kind: .taken), payload: taken.payload))
        taken.removeAll()
    }

    override func receive() {
        for _ in 0..<Self.batchCount {
            switch next() {
            case nil: return sendWaiting()
            case .fault(let fault, _): loop.counters.reject(fault)
            case .message(_, let message): accept(message)
            }
        }
    }

    private func accept(_ message: Message, isStraight: Bool = false) {
        let id = message.header.correlation
        guard message.isAnswer else { return loop.counters.reject(.kind) }
        // A service of another wire version cannot have read the question's id.
        guard questions[id] != nil || id == .zero else {
            return loop.counters.change { $0.lateReplyCount += 1 }
        }
        loop.counters.countReceived()
        // Passed on by the service, unlike a straight answer.
        if !isStraight { sendsGroups = message.header.readsGroups }
        guard message.header.kind == .failure else { return finish(id, .success(message)) }
        let failure = Failure(wirePayload: message.payload)
        guard id == .zero else { return finish(id, .failure(failure)) }
        for (id, question) in questions where question.isSent { finish(id, .failure(failure)) }
    }

    override func handle(_ event: SocketEvent) {
        switch event.kind {
        case .handshakeSucceeded:
            isConnected = true
            sendWaiting()
        case .disconnected:
            guard isConnected else { return }
            isConnected = false
            // The next one may be another build.
            sendsGroups = false
            // Answers from before the disconnect may still be queued here; unsent requests go with
            // the socket.
            isDrained = false
            while !isDrained, !isClosed { receive() }
            reopen()
            taken.removeAll()
            let failure = Failure(.unavailable, "\(endpoint) went away before it answered")
            for (id, question) in questions where question.isSent { finish(id, .failure(failure)) }
        default: break
        }
    }

    override func didClose() {
        if !loop.isStopping { straight?.close() }
        for id in Array(questions.keys) { finish(id, .failure(.busStopped)) }
    }
}

extension Message {
    fileprivate var isAnswer: Bool { header.kind == .reply || header.kind == .failure }
}

extension BusLoop {
    /// Fails a request later on this thread, so that a retry does not happen within the caller's
    /// own call.
    func refuse(_ completion: @escaping RequesterChannel.Completion, _ failure: Failure) {
        if !mailbox.postFromInside({ completion(.failure(failure)) }) {
            completion(.failure(failure))
        }
    }
}

extension Duration {
    /// Whole nanoseconds, clamped so that sums with a monotonic clock fit 64 bits.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 1_000_000_000 else { return 1_000_000_000_000_000_000 }
        guard seconds >= 0 else { return 0 }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
