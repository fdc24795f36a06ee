// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import ZeroMQ

/// Answers requests: a ROUTER socket.
final class RouterChannel: Channel {
    private let handler: @Sendable (IncomingRequest) -> Void
    private let thread: BusThread
    private var open = OpenQuestions()

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
            switch next(leadingCount: 1) {
            case nil: return
            case .fault(let fault, let asker): refuse(fault, asker)
            case .message(let asker, let message):
                message.header.kind == .cancel
                    ? cancel(message, asker)
                    : accept(message, asker, at: loop.bodyFrame.connectionDescriptor)
            }
        }
    }

    override func handle(_ event: SocketEvent) {
        switch event.kind {
        case .accepted: open.opened(event.value)
        case .disconnected: for task in open.closed(event.value) { task.raise() }
        default: break
        }
    }

    private func accept(_ message: Message, _ asker: [UInt8], at descriptor: Int32?) {
        guard message.header.kind == .request || message.header.kind == .task else {
            return refuse(.kind, asker)
        }
        loop.counters.change { $0.receivedCount += 1 }
        let id = id
        let thread = thread
        let abandonment = message.header.kind == .task ? Abandonment() : nil
        let request = IncomingRequest(message, abandonment: abandonment) { answer in
            thread.post { (thread.loop.channel(id) as? RouterChannel)?.answer(answer, asker) }
        }
        if let abandonment {
            // Who is new on a connection may have gone again, and its number may have been another's:
            // the connections' story up to here comes first.
            if !open.knows(asker, at: descriptor) { receiveEvents() }
            for _ in 0..<Self.batchCount where !open.isOpen(descriptor) { receiveEvents() }
            guard open.add(message.header.messageID, from: asker, at: descriptor, abandonment)
            else {
                return abandonment.raise()
            }
        }
        handler(request)
    }

    /// Somebody no longer waits; for a question that was answered meanwhile it means nothing.
    private func cancel(_ message: Message, _ asker: [UInt8]) {
        loop.counters.change { $0.receivedCount += 1 }
        open.abandon(message.header.correlation, from: asker)?.raise()
    }

    /// Only a peer of another wire version is told why: it can be one of ours, newer or older.
    private func refuse(_ fault: FrameFault, _ asker: [UInt8]) {
        loop.counters.reject(fault)
        guard fault == .version else { return }
        let failure = Failure(
            .newerVersion, "this service speaks wire version \(HeaderCoding.version) only")
        answer(
            Message(header: MessageHeader(kind: .failure), payload: failure.wirePayload), asker)
    }

    private func answer(_ answer: Message, _ asker: [UInt8]) {
        open.remove(answer.header.correlation, from: asker)
        var answer = answer
        do throws(Failure) { try endpoint.check(answer) } catch {
            loop.counters.change { $0.oversizeCount += 1 }
            answer.header.kind = .failure
            answer.header.contentType = MessageHeader.json
            answer.metadata = Data()
            answer.payload = error.wirePayload
        }
        // An asker that is gone (EHOSTUNREACH) or does not read (full) loses its answer, and only
        // it: this thread serves all the others.
        let isSent = (try? send(answer, leading: asker)) ?? false
        if !isSent { loop.counters.change { $0.droppedReplyCount += 1 } }
    }
}
