// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import Platform
import Site
import Synchronization

/// A worker whose every move the test makes, with a process that can be killed.
final class HandWorker: Sendable {
    private let bus: BusThread
    private let sink: Pusher
    // Not Foundation's: it looks through all open descriptors, which the tests have more than a
    // thousand of, and reads beyond the end of their list.
    private let process: ChildProcess
    private let wasKilled = Atomic<Bool>(false)
    private let messages = Mutex<[LaneMessage]>([])
    private let timers = Mutex<[BusThread.Timer]>([])

    /// Says hello, and beats once it has been welcomed.
    init(
        _ hub: HubFixture, pool: WorkerPool = .identify, credit: Int, threads: Int = 1,
        longCapacity: Int? = nil, taskMicroseconds: Int? = nil
    ) throws {
        process = try ChildProcess(
            path: "/bin/sleep", arguments: ["600"], logPath: "/dev/null")
        bus = try BusThread(name: "hand", runDirectory: hub.site.runDirectory)
        sink = try bus.connectPush(.supervisorSink)
        let hello = WorkerHello(
            pool: pool, processID: process.processID, build: "hand/0",
            taskCapacity: credit, taskThreadCount: threads, taskCredit: credit,
            longTaskCapacity: longCapacity, chunkCredit: 0, running: [], finished: [],
            isDraining: false)
        let isWelcome = Atomic<Bool>(false)
        let greeting = try WorkerReport.hello(hello).message()
        let beat = try WorkerReport.heartbeat(
            WorkerBeat(entries: [], taskMicroseconds: taskMicroseconds)
        ).message()
        let instance = bus.instance
        try bus.connectPull(.lane(instance)) { [weak self, sink] message in
            guard let message = try? LaneMessage(message, to: instance) else { return }
            if message == .welcome {
                isWelcome.store(true, ordering: .relaxed)
                try? sink.send(beat)
            }
            self?.messages.withLock { $0.append(message) }
        }
        let timer = bus.schedule(every: .milliseconds(20)) { [sink] in
            if !isWelcome.load(ordering: .relaxed) { try? sink.send(greeting) }
        }
        let pulse = bus.schedule(every: .milliseconds(500)) { [sink] in try? sink.send(beat) }
        timers.withLock { $0 = [timer, pulse] }
    }

    deinit { kill() }

    var instance: UUID { bus.instance }

    /// Tasks received.
    var orders: [TaskOrder] {
        messages.withLock {
            $0.compactMap { if case .task(let order) = $0 { order } else { nil } }
        }
    }

    /// Tasks recalled from it.
    var recalls: [UUID] {
        messages.withLock {
            $0.compactMap { if case .recall(let task) = $0 { task } else { nil } }
        }
    }

    /// Tasks received, by their text.
    var tasks: [String] { orders.map { String(decoding: $0.work.payload, as: UTF8.self) } }

    /// The last task of that text.
    func task(_ text: String) -> TaskOrder? {
        orders.last { String(decoding: $0.work.payload, as: UTF8.self) == text }
    }

    /// Answers a task with its own text, or refuses it.
    func answer(_ text: String, isRefused: Bool = false) {
        guard let work = task(text)?.work else { return }
        report(
            isRefused
                ? .refused(task: work.id, isLong: false)
                : .answer(TaskAnswer(to: work, .success(work.payload))))
    }

    /// Hands back a recalled task.
    func handBack(_ task: UUID) { report(.refused(task: task, isLong: false)) }

    /// Reports a long task, and returns it or not.
    func tellLong(_ text: String, isRefused: Bool = false) {
        guard let id = task(text)?.work.id else { return }
        report(isRefused ? .refused(task: id, isLong: true) : .tookLong(task: id))
    }

    /// Says that it has answered a task straight, true or not.
    func tellAnswered(_ text: String) {
        guard let id = task(text)?.work.id else { return }
        report(.answered(task: id))
    }

    private func report(_ report: WorkerReport) {
        bus.post { [sink] in
            if let message = try? report.message() { try? sink.send(message) }
        }
    }

    /// As `kill -9`.
    func kill() {
        for timer in timers.withLock({ $0 }) { timer.cancel() }
        if !wasKilled.exchange(true, ordering: .relaxed) {
            Foundation.kill(process.processID, SIGKILL)
            while waitpid(process.processID, nil, 0) < 0, errno == EINTR {}
        }
        bus.stop()
    }
}

/// Asks, and has the answer or failure put under the question's text.
final class Asker: Sendable {
    private let hub: HubFixture
    private let answers = Mutex<[String: Result<String, Failure>]>([:])

    init(_ hub: HubFixture) { self.hub = hub }

    func ask(_ text: String) {
        Task {
            let result: Result<String, Failure>
            do {
                result = .success(try await hub.task("x", text))
            } catch {
                result = .failure(error as? Failure ?? Failure(.internal, "\(error)"))
            }
            answers.withLock { [result] in $0[text] = result }
        }
    }

    subscript(text: String) -> Result<String, Failure>? { answers.withLock { $0[text] } }
}
