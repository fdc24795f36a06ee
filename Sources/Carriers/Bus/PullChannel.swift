// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import ZeroMQ

/// Gathers messages: a PULL socket, bound (the sink) or connected (a worker's end of its lane).
final class PullChannel: Channel {
    private let handler: @Sendable (Message) -> Void
    private let onEnd: (@Sendable (UUID) -> Void)?
    /// Who sends over which connection; only where somebody wants to hear of ends.
    private var senders = Connections<UUID>()
    private var known: Set<UUID> = []
    /// Senders whose connection has ended, and of whom something may still wait in the socket.
    private var ended: [UUID] = []

    init(
        _ loop: BusLoop, _ endpoint: Endpoint, _ role: Role,
        onEnd: (@Sendable (UUID) -> Void)? = nil, _ handler: @escaping @Sendable (Message) -> Void
    ) throws(Failure) {
        self.handler = handler
        self.onEnd = onEnd
        try super.init(loop, endpoint, .pull, role, SocketOptions())
    }

    override func receive() {
        for _ in 0..<Self.batchCount {
            switch next() {
            case nil: return tellEnds()
            case .fault(let fault, _): loop.counters.reject(fault)
            case .message(_, let message):
                loop.counters.countReceived()
                if onEnd != nil { note(message.header) }
                handler(message)
                guard !isClosed else { return }
            }
        }
    }

    override func handle(_ event: SocketEvent) {
        switch event.kind {
        case .accepted: senders.opened(event.value)
        case .disconnected: if let sender = senders.closed(event.value) { end(sender) }
        default: break
        }
    }

    /// Binds a sender to its connection, when it is new here or greets or beats: to look for every
    /// message would cost as much as the rest of receiving it.
    ///
    /// The connection may have ended before anything of it was taken, and its number may be
    /// another's by now.
    private func note(_ header: MessageHeader) {
        let sender = header.sender
        guard !known.contains(sender) || header.kind == .hello || header.kind == .beat,
            let descriptor = connectionDescriptor, senders.peer(at: descriptor) != sender
        else { return }
        receiveEventsToNow()
        known.insert(sender)
        if !senders.isOpen(descriptor) {
            end(sender)
        } else if let earlier = senders.bind(sender, to: descriptor) {
            end(earlier)
        }
    }

    private func end(_ sender: UUID) { if !ended.contains(sender) { ended.append(sender) } }

    /// The socket is empty: what a connection brought before its end has been handed over.
    private func tellEnds() {
        guard !ended.isEmpty else { return }
        let told = ended
        ended = []
        known.subtract(told)
        for sender in told { onEnd?(sender) }
    }
}
