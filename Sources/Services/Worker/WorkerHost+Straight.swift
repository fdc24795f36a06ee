// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Platform

/// A direct connection to one client.
struct StraightWay {
    let pusher: Pusher
    /// Time of its last use; monotonic nanoseconds.
    var usedAt: Int64
}

/// Direct answers, which bypass the supervisor; clients confirm their arrival to it.
extension WorkerHost {
    /// Maximum number of direct connections; beyond it the least recently used is closed.
    static let straightWayBound = 256

    /// Sends an answer directly to its client; false when it must go through the supervisor.
    func send(_ answer: TaskAnswer, straightTo asker: TaskOrder.Asker) -> Bool {
        guard let pusher = straightWay(to: asker) else { return false }
        return (try? pusher.send(answer.message)) != nil
    }

    /// Nil when it cannot be opened; until it is connected, answers go through the supervisor.
    private func straightWay(to client: TaskOrder.Asker) -> Pusher? {
        let asker = client.instance
        let now = MonotonicClock.nanoseconds()
        if let way = straightWays[asker] {
            straightWays[asker]?.usedAt = now
            return way.pusher
        }
        if straightWays.count >= Self.straightWayBound,
            let oldest = straightWays.min(by: { $0.value.usedAt < $1.value.usedAt })
        {
            oldest.value.pusher.close()
        }
        let pusher = try? bus.connectStraight(to: asker, sendsGroups: client.readsGroups) {
            [weak self] in
            self?.assumeIsolated { $0.straightWays[asker] = nil }
        }
        straightWays[asker] = pusher.map { StraightWay(pusher: $0, usedAt: now) }
        return pusher
    }
}
