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
    // Not Foundation's: it looks through all open descriptors, which the tests have more than a thousand of, and
    // reads beyond the end of their list.
    private let process: ChildProcess
    private let wasKilled = Atomic<Bool>(false)
    private let orders = Mutex<[Message]>([])
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
        let greeting = Message(
            header: MessageHeader(kind: .hello, pool: pool.rawValue),
            payload: try CairnJSON.encode(hello))
        let pace = WorkerBeat(entries: [], taskMicroseconds: taskMicroseconds)
        let beat = Message(
            header: MessageHeader(kind: .beat, pool: pool.rawValue),
            payload: try CairnJSON.encode(pace))
        try bus.connectPull(.lane(bus.instance)) { [weak self, sink] message in
            if message.header.kind == .welcome {
                isWelcome.store(true, ordering: .relaxed)
                try? sink.send(beat)
            }
            self?.orders.withLock { $0.append(message) }
        }
        let timer = bus.schedule(every: .milliseconds(20)) { [sink] in
            if !isWelcome.load(ordering: .relaxed) { try? sink.send(greeting) }
        }
        let pulse = bus.schedule(every: .milliseconds(500)) { [sink] in try? sink.send(beat) }
        timers.withLock { $0 = [timer, pulse] }
    }

    deinit { kill() }

    var instance: UUID { bus.instance }

    /// What has come down the lane of one kind.
    func received(_ kind: MessageKind) -> [Message] {
        orders.withLock { $0.filter { $0.header.kind == kind } }
    }

    /// The tasks it has been given, by what they say.
    var tasks: [String] { received(.task).map { String(decoding: $0.payload, as: UTF8.self) } }

    /// Answers a task with its own text, or refuses it.
    func answer(_ text: String, isRefused: Bool = false) {
        guard let task = task(text) else { return }
        var header = MessageHeader(kind: .result, correlation: task.header.messageID)
        if isRefused { header.flags = WorkerWire.refusedFlag }
        let message = Message(header: header, payload: isRefused ? Data() : task.payload)
        bus.post { [sink] in try? sink.send(message) }
    }

    /// Hands back the task that a recall names.
    func handBack(_ recall: Message) {
        var header = MessageHeader(kind: .result, correlation: recall.header.messageID)
        header.flags = WorkerWire.refusedFlag
        let message = Message(header: header)
        bus.post { [sink] in try? sink.send(message) }
    }

    /// Says that a task takes long, and hands it back or not.
    func tellLong(_ text: String, isRefused: Bool = false) {
        guard let task = task(text) else { return }
        var header = MessageHeader(kind: .result, correlation: task.header.messageID)
        header.flags = WorkerWire.longFlag | (isRefused ? WorkerWire.refusedFlag : 0)
        let message = Message(header: header)
        bus.post { [sink] in try? sink.send(message) }
    }

    /// The last task of that text.
    func task(_ text: String) -> Message? {
        received(.task).last { String(decoding: $0.payload, as: UTF8.self) == text }
    }

    /// Says that it has answered a task straight, true or not.
    func tellAnswered(_ text: String) {
        guard let task = task(text) else { return }
        var header = MessageHeader(kind: .result, correlation: task.header.messageID)
        header.flags = WorkerWire.answeredFlag
        let message = Message(header: header)
        bus.post { [sink] in try? sink.send(message) }
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
