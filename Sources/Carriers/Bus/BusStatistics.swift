// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Synchronization

/// Counters of one bus thread since its start.
public struct BusStatistics: Hashable, Sendable {
    /// Messages handed to a handler.
    public var receivedCount = 0
    /// Messages handed to libzmq.
    public var sentCount = 0
    /// Messages not let in, by reason.
    public var rejectedCounts: [FrameFault: Int] = [:]
    /// Publications dropped because the mailbox was full.
    public var droppedPublicationCount = 0
    /// Answers dropped because the requester was gone or its queue full.
    public var droppedReplyCount = 0
    /// Answers that came after their question had been given up.
    public var lateReplyCount = 0
    /// Messages refused before sending because they were too large.
    public var oversizeCount = 0
    /// Connections that ended while they still introduced themselves; one that breaks the protocol
    /// openly may be counted as ended only.
    public var failedHandshakeCount = 0
    /// Connections that ended, whatever the reason.
    public var endedConnectionCount = 0
    /// Lanes closed because a second peer came.
    public var laneIntrusionCount = 0
    /// Errors from libzmq without a counter of their own.
    public var socketErrorCount = 0

    /// Messages not let in, all reasons together.
    public var rejectedCount: Int { rejectedCounts.values.reduce(0, +) }

    /// All counters zero.
    public init() {}
}

final class BusCounters: Sendable {
    private let statistics = Mutex(BusStatistics())
    // Counters that change with every message are atomics of their own.
    private let received = Atomic<Int>(0)
    private let sent = Atomic<Int>(0)

    var snapshot: BusStatistics {
        var statistics = statistics.withLock { $0 }
        statistics.receivedCount = received.load(ordering: .relaxed)
        statistics.sentCount = sent.load(ordering: .relaxed)
        return statistics
    }

    func change(_ body: (inout BusStatistics) -> Void) { statistics.withLock { body(&$0) } }

    func countReceived() { received.add(1, ordering: .relaxed) }

    func countSent() { sent.add(1, ordering: .relaxed) }

    func reject(_ fault: FrameFault) {
        change { $0.rejectedCounts[fault, default: 0] += 1 }
    }
}
