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
            switch next(leadingCount: 0) {
            case nil: return tellEnds()
            case .fault(let fault, _): loop.counters.reject(fault)
            case .message(_, let message):
                loop.counters.change { $0.receivedCount += 1 }
                if onEnd != nil { note(message.header.sender) }
                handler(message)
                guard !isClosed else { return }
            }
        }
    }

    override func handle(_ event: SocketEvent) {
        guard event.kind == .disconnected, let sender = senders.removeValue(forKey: event.value)
        else { return }
        ended.append(sender)
    }

    private func note(_ sender: UUID) {
        guard let descriptor = loop.bodyFrame.connectionDescriptor, senders[descriptor] != sender
        else { return }
        // The number may have been another connection's, whose end comes first.
        receiveEvents()
        senders[descriptor] = sender
    }

    /// The socket is empty: what a connection brought before its end has been handed over.
    private func tellEnds() {
        guard !ended.isEmpty else { return }
        let told = ended
        ended = []
        for sender in told { onEnd?(sender) }
    }
}
