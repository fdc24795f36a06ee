// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import ZeroMQ

/// Gathers messages: a PULL socket, bound (the sink) or connected (a worker's end of its lane).
final class PullChannel: Channel {
    private let handler: @Sendable (Message) -> Void
    private let onEnd: (@Sendable (UUID) -> Void)?
    /// The sender on each connection; kept only when the owner observes disconnects.
    private var senders = Connections<UUID>()
    private var known: Set<UUID> = []
    /// Senders whose connection has ended while their messages may still wait in the socket.
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

    /// Binds a sender to its connection, on its first message, greeting or heartbeat: doing so for
    /// every message would double the cost of receiving.
    ///
    /// The connection may have ended before any of its messages was taken, and its descriptor may
    /// have been reused.
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

    /// Reports the ends of connections whose messages have all been handled, since the socket is
    /// empty.
    private func tellEnds() {
        guard !ended.isEmpty else { return }
        let told = ended
        ended = []
        known.subtract(told)
        for sender in told { onEnd?(sender) }
    }
}
