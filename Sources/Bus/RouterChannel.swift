// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import ZeroMQ

/// Answers requests: a ROUTER socket.
final class RouterChannel: Channel {
    private let handler: @Sendable (IncomingRequest) -> Void
    private let thread: BusThread

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
            case .message(let asker, let message): accept(message, asker)
            }
        }
    }

    private func accept(_ message: Message, _ asker: [UInt8]) {
        guard message.header.kind == .request || message.header.kind == .task else {
            return refuse(.kind, asker)
        }
        loop.counters.change { $0.receivedCount += 1 }
        let id = id
        let thread = thread
        handler(
            IncomingRequest(message) { answer in
                thread.post { (thread.loop.channel(id) as? RouterChannel)?.answer(answer, asker) }
            })
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
        var answer = answer
        do throws(Failure) { try endpoint.check(answer) } catch {
            loop.counters.change { $0.oversizeCount += 1 }
            answer.header.kind = .failure
            answer.metadata = Data()
            answer.payload = error.wirePayload
        }
        // An asker that is gone (EHOSTUNREACH) or does not read (full) loses its answer, and only
        // it: this thread serves all the others.
        let isSent = (try? send(answer, leading: asker)) ?? false
        if !isSent { loop.counters.change { $0.droppedReplyCount += 1 } }
    }
}
