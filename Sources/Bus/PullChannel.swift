// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import ZeroMQ

/// Gathers messages: a PULL socket, bound (the sink) or connected (a worker's end of its lane).
final class PullChannel: Channel {
    private let handler: @Sendable (Message) -> Void

    init(
        _ loop: BusLoop, _ endpoint: Endpoint, _ role: Role,
        _ handler: @escaping @Sendable (Message) -> Void
    ) throws(Failure) {
        self.handler = handler
        try super.init(loop, endpoint, .pull, role, SocketOptions())
    }

    override func receive() {
        for _ in 0..<Self.batchCount {
            switch next(leadingCount: 0) {
            case nil: return
            case .fault(let fault, _): loop.counters.reject(fault)
            case .message(_, let message):
                loop.counters.change { $0.receivedCount += 1 }
                handler(message)
                guard !isClosed else { return }
            }
        }
    }
}
