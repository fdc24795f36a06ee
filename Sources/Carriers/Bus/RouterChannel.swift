// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import ZeroMQ

/// Answers requests: a ROUTER socket.
final class RouterChannel: Channel {
    private let handler: @Sendable (IncomingRequest) -> Void
    private let thread: BusThread
    private var open = PendingRequests()
    /// The requester of the group being read.
    private var asker: RoutingID?

    init(
        _ thread: BusThread, _ endpoint: Endpoint,
        _ handler: @escaping @Sendable (IncomingRequest) -> Void
    ) throws(Failure) {
        self.handler = handler
        self.thread = thread
        var options = SocketOptions()
        options.routerMandatory = true
        options.sendHighWaterMark = RequesterChannel.highWaterMark
        options.receiveHighWaterMark = RequesterChannel.highWaterMark
        try super.init(thread.loop, endpoint, .router, .bind, options)
    }

    override func receive() {
        for _ in 0..<Self.batchCount {
            switch next(after: RoutingID.init, &asker) {
            case nil: return
            case .fault(let fault, let asker): refuse(fault, asker)
            case .message(let asker, let message):
                switch message.header.kind {
                case .cancel: cancel(message, asker)
                case .taken: take(message, asker)
                default: accept(message, asker)
                }
            }
        }
    }

    override func handle(_ event: SocketEvent) {
        switch event.kind {
        case .accepted: open.opened(event.value)
        case .disconnected: for task in open.closed(event.value) { task.end(.abandoned) }
        default: break
        }
    }

    private func accept(_ message: Message, _ asker: RoutingID) {
        guard message.header.kind == .request || message.header.kind == .task else {
            return refuse(.kind, asker)
        }
        loop.counters.countReceived()
        let question = message.header.kind == .task ? PendingRequest() : nil
        let address = IncomingRequest.ReturnAddress(thread: thread, channel: id, asker: asker)
        let request = IncomingRequest(message, to: address, open: question)
        if let question {
            take(message.header.correlation, asker)
            guard locate(asker) else { return question.end(.abandoned) }
            open.add(message.header.messageID, from: asker, question)
        }
        handler(request)
    }

    /// Handles the acknowledgement that a requester has its answer straight from a worker.
    private func take(_ id: UUID, _ asker: RoutingID) {
        guard id != .zero else { return }
        open.remove(id, from: asker)?.end(.taken)
    }

    /// Handles a message of acknowledgements that no later task carried.
    private func take(_ message: Message, _ asker: RoutingID) {
        guard let ids = ReplyAcks.read(message.payload) else {
            return loop.counters.reject(.length)
        }
        loop.counters.countReceived()
        for id in ids { take(id, asker) }
    }

    /// Binds the requester of the message just received to its connection; false when that has
    /// ended.
    private func locate(_ asker: RoutingID) -> Bool {
        if open.isLocated(asker) { return true }
        let descriptor = connectionDescriptor
        // A new requester may be gone again, and its descriptor may have been reused: the
        // connections' events up to here come first.
        if !open.knows(asker, at: descriptor) { receiveEventsToNow() }
        return open.locate(asker, at: descriptor)
    }

    /// Cancels a task; without effect once it is answered.
    private func cancel(_ message: Message, _ asker: RoutingID) {
        loop.counters.countReceived()
        open.remove(message.header.correlation, from: asker)?.end(.abandoned)
    }

    /// Sends the reason only to a peer of another wire version, which can be a newer or older
    /// Cairn.
    private func refuse(_ fault: FrameFault, _ asker: RoutingID) {
        loop.counters.reject(fault)
        guard fault == .version else { return }
        let failure = Failure(
            .newerVersion, "this service speaks wire version \(HeaderCoding.version) only")
        answer(
            Message(header: MessageHeader(kind: .failure), payload: failure.wirePayload), asker)
    }

    /// Sends an answer, or the sentence that it is too large.
    func answer(_ answer: Message, _ asker: RoutingID, asGroup: Bool = false) {
        open.remove(answer.header.correlation, from: asker)
        var answer = answer
        do throws(Failure) { try endpoint.check(answer) } catch {
            loop.counters.change { $0.oversizeCount += 1 }
            answer.header.kind = .failure
            answer.header.contentType = MessageHeader.json
            answer.metadata = Data()
            answer.payload = error.wirePayload
        }
        // A requester that is gone (EHOSTUNREACH) or does not read (full) loses its answer alone:
        // this thread serves all the others.
        let isSent = (try? send(answer, to: asker, asGroup: asGroup)) ?? false
        if !isSent { loop.counters.change { $0.droppedReplyCount += 1 } }
    }
}
