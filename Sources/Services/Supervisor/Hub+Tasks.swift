// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Daemon
internal import FoundationEssentials
internal import Jobs
internal import Logging
internal import Platform

/// Drives the dispatcher: feeds it events of tasks, and carries out its actions.
extension Hub {
    /// Accepts an interactive task, without decoding its payload.
    func take(task request: IncomingRequest) {
        let header = request.message.header
        guard let pool = WorkerPool(rawValue: header.pool) else {
            return request.reply(
                failure: Failure(.invalidParameter, "worker pool \(header.pool) does not exist"))
        }
        guard !isDraining else { return request.reply(failure: .draining) }
        guard !request.isOver else { return }
        nextTask += 1
        let (serial, now) = (nextTask, MonotonicClock.nanoseconds())
        let longest = TaskQueue.longestWait.wholeNanoseconds
        let task = DispatchedTask(
            serial: serial, question: header.messageID,
            offersStraight: header.flags & MessageHeader.straightFlag != 0
                && header.messageID != .zero,
            deadline: request.deadline ?? now + longest,
            limitMilliseconds: header.ttlMilliseconds > 0
                ? header.ttlMilliseconds : UInt32(longest / 1_000_000))
        requests[serial] = request
        request.whenOver { [weak self] end in
            self?.assumeIsolated { hub in
                switch end {
                case .abandoned: hub.handle(.abandoned(serial: serial), in: pool)
                case .taken:
                    hub.handle(.taken(serial: serial, question: header.messageID), in: pool)
                }
            }
        }
        handle(.asked(task), in: pool)
    }

    /// Passes an event to the dispatcher and carries out its actions; `answer` is the worker's
    /// current answer.
    func handle(_ event: Dispatcher.Event, in pool: WorkerPool, answer: TaskAnswer? = nil) {
        let actions = dispatcher.handle(event, in: pool, at: MonotonicClock.nanoseconds())
        var unsent: [UUID: [UUID]] = [:]
        for action in actions {
            switch action {
            case .give(let task, let dispatch, let instance, let milliseconds):
                do throws(Failure) {
                    try give(task, dispatch, to: instance, milliseconds)
                    failpoints.pass("supervisor.afterInteractiveTask")
                } catch {
                    guard error.code == .tooLarge else {
                        unsent[instance, default: []].append(dispatch)
                        continue
                    }
                    requests.removeValue(forKey: task.serial)?.reply(failure: error)
                    handle(.unsendable(dispatch, to: instance), in: pool)
                }
            case .cancel(let dispatch, let instance): send(.cancel(dispatch), to: instance)
            case .recall(let dispatch, let instance): send(.recall(dispatch), to: instance)
            case .inquire(let dispatch, let instance): send(.inquiry(dispatch), to: instance)
            case .answer(let serial):
                guard let request = requests.removeValue(forKey: serial), let answer else { break }
                request.reply(relaying: answer.message)
                publish(answer, to: request, of: pool)
            case .refuse(let serial, let failure):
                requests.removeValue(forKey: serial)?.reply(failure: failure)
            case .forget(let serial): requests[serial] = nil
            case .recallLater: after(Pool.recallAge) { $0.handle(.recallDue, in: pool) }
            case .rests(let deathCount, let milliseconds):
                logger.warning(
                    "workers die of their tasks; the pool rests",
                    metadata: [
                        "pool": "\(pool)", "deaths": "\(deathCount)",
                        "milliseconds": "\(milliseconds)",
                    ])
            }
        }
        for (instance, dispatches) in unsent {
            handle(.notSent(dispatches, to: instance), in: pool)
        }
    }

    private func give(
        _ task: DispatchedTask, _ dispatch: UUID, to instance: UUID, _ milliseconds: UInt32
    ) throws(Failure) {
        guard let question = requests[task.serial]?.message, let lane = workers[instance]?.lane
        else { throw .draining }
        let asker = TaskOrder.Asker(
            instance: question.header.sender, readsGroups: question.header.readsGroups)
        let order = TaskOrder(
            work: WorkOrder(
                id: dispatch, metadata: question.metadata,
                contentType: question.header.contentType, payload: question.payload),
            limitMilliseconds: task.limitMilliseconds, remainingMilliseconds: milliseconds,
            isLong: task.isLong, asker: task.isStraight ? asker : nil)
        try lane.send(LaneMessage.task(order).message(to: instance))
    }

    /// Maximum size of a published answer: a thousand are buffered for a subscriber that reads
    /// none.
    private static let shownByteCount = 64 << 10

    /// Publishes an identify answer to the subscribers of the map, up to the size limit.
    private func publish(_ answer: TaskAnswer, to request: IncomingRequest, of pool: WorkerPool) {
        guard hasResultSubscribers, pool == .identify, !answer.isFailure,
            answer.payload.count <= Self.shownByteCount,
            let map = (try? request.metadata())?.map
        else { return }
        let header = MessageHeader(
            kind: .live, contentType: answer.contentType,
            correlation: request.message.header.messageID)
        try? live?.publish(
            topic: "result/" + map.prefix(100),
            Message(header: header, metadata: request.message.metadata, payload: answer.payload))
    }
}
