// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import ZeroMQ

/// Gathers messages: a PULL socket, bound (the sink) or connected (a worker's end of its lane).
final class PullChannel: Channel {
    private let handler: @Sendable (Message) -> Void
    private let onEnd: (@Sendable (UUID) -> Void)?
    /// Who sends over which connection; only where somebody wants to hear of ends.
    private var senders: [Int32: UUID] = [:]
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
        guard event.kind == .disconnected, let sender = senders.removeValue(forKey: event.value)
        else { return }
        known.remove(sender)
        ended.append(sender)
    }

    /// Binds a sender to its connection, when it is new here or greets or beats: to look for every message
    /// would cost as much as the rest of receiving it.
    private func note(_ header: MessageHeader) {
        let sender = header.sender
        guard !known.contains(sender) || header.kind == .hello || header.kind == .beat,
            let descriptor = connectionDescriptor, senders[descriptor] != sender
        else { return }
        // The number may have been another connection's, whose end comes first.
        receiveEvents()
        if let earlier = senders.updateValue(sender, forKey: descriptor) { known.remove(earlier) }
        known.insert(sender)
    }

    /// The socket is empty: what a connection brought before its end has been handed over.
    private func tellEnds() {
        guard !ended.isEmpty else { return }
        let told = ended
        ended = []
        for sender in told { onEnd?(sender) }
    }
}
