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

/// Answers that go to their askers without the supervisor, which hears from the askers that they came.
extension WorkerHost {
    /// The most askers answered straight at a time; for a further one, the way used longest ago is closed.
    static let straightWayBound = 256

    /// Sends an answer straight to its asker; false when it must go by the supervisor.
    func answerStraight(_ task: Message, _ result: Result<Data, Failure>) -> Bool {
        guard task.header.flags & MessageHeader.straightFlag != 0,
            let pusher = straightWay(to: task.header)
        else { return false }
        let answer: Message
        switch result {
        case .success(let payload):
            answer = Message(
                header: MessageHeader(
                    kind: .reply, contentType: task.header.contentType,
                    correlation: task.header.messageID),
                payload: payload)
        case .failure(let failure):
            answer = Message(
                header: MessageHeader(kind: .failure, correlation: task.header.messageID),
                payload: failure.wirePayload)
        }
        return (try? pusher.send(answer)) != nil
    }

    /// Nil when it cannot be made; the first answers find it not connected yet.
    private func straightWay(to question: MessageHeader) -> Pusher? {
        let asker = question.sender
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
        let pusher = try? bus.connectStraight(to: asker, sendsGroups: question.readsGroups) {
            [weak self] in
            self?.assumeIsolated { $0.straightWays[asker] = nil }
        }
        straightWays[asker] = pusher.map { StraightWay(pusher: $0, usedAt: now) }
        return pusher
    }

    /// The supervisor speaks of a task that is answered: it hears that here where its asker does not say so.
    func tellAnswered(_ id: UUID) {
        var header = MessageHeader(kind: .result, pool: pool.rawValue, correlation: id)
        header.flags = WorkerWire.answeredFlag
        send(Message(header: header))
    }
}
