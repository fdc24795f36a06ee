// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Jobs
internal import Platform

/// Tasks that their workers answer without the hub, which knows of each until its asker says that the
/// answer came: so a worker's death loses none, whatever it had sent.
extension Hub {
    /// How long a straight answer may take before the worker is asked whether it has given it.
    static let inquiryAge = Duration.milliseconds(500)

    /// Workers that take fewer tasks at once answer by the hub: what comes straight gives its credit back a
    /// millisecond or two later, for which a worker that waits for each credit would stand still.
    static let straightCapacity = 8

    /// Whether the asker can be answered straight, and nobody else needs the answer.
    func mayAnswerStraight(_ task: PendingTask, _ worker: WorkerLane) -> Bool {
        let question = task.request.message.header
        guard question.flags & MessageHeader.straightFlag != 0, !task.isSuspect,
            worker.hello.taskCapacity >= Self.straightCapacity
        else { return false }
        if hasResultSubscribers, task.pool == .identify { return false }
        return question.messageID != .zero && worker.tasks[question.messageID] == nil
            && worker.unconfirmed[question.messageID] == nil
    }

    /// The asker of a straight task has its answer.
    func taken(_ serial: UInt64, _ question: UUID, in pool: WorkerPool) {
        for worker in workers.values where worker.hello.pool == pool {
            if worker.unconfirmed[question]?.serial == serial {
                worker.unconfirmed[question] = nil
                return
            }
            guard worker.tasks[question]?.serial == serial else { continue }
            let task = worker.tasks.removeValue(forKey: question)
            worker.returnCredit(of: task)
            worker.doneCount += 1
            health[pool]?.succeeded()
            if let task { becameFreer(worker, by: task) }
            return
        }
    }

    /// The worker answered a task before it was told to stop, or was asked.
    func answered(_ dispatch: UUID, by worker: WorkerLane) {
        guard let task = worker.tasks.removeValue(forKey: dispatch) else { return }
        if !task.request.isOver { worker.unconfirmed[dispatch] = task }
        worker.returnCredit(of: task)
        worker.doneCount += 1
        health[task.pool]?.succeeded()
        becameFreer(worker, by: task)
    }

    /// An asker that is stopped says nothing, and must not keep a worker's credit.
    func inquire(_ now: Int64) {
        let limit = now - Self.inquiryAge.wholeNanoseconds
        for worker in workers.values where !worker.tasks.isEmpty || !worker.unconfirmed.isEmpty {
            for (id, task) in worker.tasks
            where task.isStraight && max(task.givenAt, task.inquiredAt) < limit {
                worker.tasks[id]?.inquiredAt = now
                send(.inquiry(id), to: worker.instance)
            }
            for (id, task) in worker.unconfirmed where !task.isWanted {
                worker.unconfirmed[id] = nil
            }
        }
    }
}
