// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Platform

/// The way straight to one asker.
struct StraightWay {
    let pusher: Pusher
    /// When it was used last; monotonic nanoseconds.
    var usedAt: Int64
}

/// Answers that go to their askers without the supervisor, which hears from the askers that they
/// came.
extension WorkerHost {
    /// The most askers answered straight at a time; for a further one, the way used longest ago is
    /// closed.
    static let straightWayBound = 256

    /// Sends an answer straight to its asker; false when it must go by the supervisor.
    func send(_ answer: TaskAnswer, straightTo asker: TaskOrder.Asker) -> Bool {
        guard let pusher = straightWay(to: asker) else { return false }
        return (try? pusher.send(answer.message)) != nil
    }

    /// Nil when it cannot be made; the first answers find it not connected yet.
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
