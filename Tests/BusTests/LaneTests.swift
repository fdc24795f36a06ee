// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Dispatch
import FoundationEssentials
import Glibc
import Platform
import Synchronization
import TestKit
import Testing

/// A supervisor's end of a lane.
private struct Lane {
    let directory: RunDirectory
    let supervisor: BusThread
    let worker = UUID()
    let pusher: Pusher
    let ends = Inbox<Void>()

    init(credit: Int) throws {
        let ends = ends
        directory = try RunDirectory()
        supervisor = try directory.bus("supervisor")
        pusher = try supervisor.bindLane(.lane(worker), credit: credit) { ends.put(()) }
    }

    /// Its worker, once it has received the welcome, and the messages there.
    func connectWorker() async throws -> (BusThread, Inbox<String>) {
        let bus = try directory.bus("worker")
        let arrived = Inbox<String>()
        try bus.connectPull(.lane(worker)) { arrived.put($0.text) }
        #expect(await send(message(.welcome, "")) == nil)
        _ = try await arrived.first()
        return (bus, arrived)
    }

    /// Sends on the bus thread, as services do; answers what was thrown.
    func send(_ message: Message) async -> Failure? {
        await LaneTests.send(message, by: pusher, on: supervisor)
    }
}

@Suite(.timeLimit(.minutes(5))) struct LaneTests {
    @Test func `messages sent before the worker connects arrive in order`() async throws {
        let lane = try Lane(credit: 4)
        defer { lane.supervisor.stop() }
        for number in 0..<3 { #expect(await lane.send(message(.task, "\(number)")) == nil) }
        let worker = try lane.directory.bus("worker")
        defer { worker.stop() }
        let arrived = Inbox<String>()

        try worker.connectPull(.lane(lane.worker)) { arrived.put($0.text) }
        _ = await arrived.waitFor(3)
        for number in 3..<6 { #expect(await lane.send(message(.task, "\(number)")) == nil) }

        #expect(await arrived.waitFor(6) == ["0", "1", "2", "3", "4", "5"])
    }

    @Test func `a lane without a worker takes no more than its credit and four`() async throws {
        let lane = try Lane(credit: 2)
        defer { lane.supervisor.stop() }

        for _ in 0..<6 { #expect(await lane.send(message(.task, "")) == nil) }

        #expect(await lane.send(message(.task, ""))?.code == .busy)
    }

    @Test func `a worker that does not read makes the lane busy, not the supervisor`() async throws
    {
        let lane = try Lane(credit: 1)
        defer { lane.supervisor.stop() }
        let worker = try lane.directory.bus("worker")
        defer { worker.stop() }
        let gate = DispatchGate()
        try worker.connectPull(.lane(lane.worker)) { _ in gate.wait() }

        // The kernel's buffers take some before the high-water mark takes effect.
        let large = Message(header: MessageHeader(kind: .task), payload: Data(count: 100_000))
        var refusal: Failure?
        for _ in 0..<10_000 where refusal == nil { refusal = await lane.send(large) }
        gate.open()

        #expect(refusal?.code == .busy)
        #expect(lane.ends.count == 0)
    }

    @Test func `an order that is too large is refused before it is sent`() async throws {
        let lane = try Lane(credit: 1)
        defer { lane.supervisor.stop() }
        let large = Message(header: MessageHeader(kind: .task), payload: Data(count: 8 << 20))

        #expect(await lane.send(large)?.code == .tooLarge)
        #expect(lane.supervisor.statistics.oversizeCount == 1)
    }

    @Test func `the end of the worker's socket ends the lane once`() async throws {
        let lane = try Lane(credit: 1)
        defer { lane.supervisor.stop() }
        let (worker, _) = try await lane.connectWorker()

        worker.stop()

        #expect(await eventually { lane.ends.count == 1 })
        #expect(await lane.send(message(.task, ""))?.code == .unavailable)
        lane.pusher.close()
        #expect(lane.ends.count == 1)
    }

    @Test func `a killed worker ends its lane`() async throws {
        let lane = try Lane(credit: 1)
        defer { lane.supervisor.stop() }
        #expect(await lane.send(message(.welcome, "")) == nil)

        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = lane.directory.path as String, id = lane.worker as UUID] in
            let worker = try BusThread(name: "worker", runDirectory: path)
            try worker.connectPull(.lane(id)) { _ in kill(getpid(), SIGKILL) }
            try await waitUntil("the welcome has killed this process") { false }
        }

        #expect(await eventually { lane.ends.count == 1 })
    }

    @Test func `a sender's end is reported after everything it sent, and only its own`()
        async throws
    {
        let directory = try RunDirectory()
        let (supervisor, told) = try sink(in: directory)
        defer { supervisor.stop() }
        let stayer = try directory.bus("stayer")
        defer { stayer.stop() }
        try await push(1, by: stayer)
        _ = await told.waitFor(1)

        // Connections that follow one another have the same descriptor.
        for _ in 0..<20 {
            let sender = try directory.bus("sender")
            let count = Int.random(in: 1...700)
            let before = told.count
            try await push(count, by: sender)
            sender.stop()

            let all = await told.waitFor(before + count + 1)
            let expected = (0..<count).map { "\($0) of \(sender.instance)" }
            let isInOrder = all[before...] == (expected + ["end of \(sender.instance)"])[...]
            #expect(isInOrder, "\(all.count - before) of \(count), last \(all.last ?? "")")
        }
        try await push(1, by: stayer)
        #expect(await eventually { told.all.last == "0 of \(stayer.instance)" })
        #expect(!told.all.contains("end of \(stayer.instance)"))
    }

    @Test func `the end of a sender that left before it was read is reported too`() async throws {
        let directory = try RunDirectory()
        let (supervisor, told) = try sink(in: directory)
        defer { supervisor.stop() }
        for _ in 0..<20 {
            let (gate, before) = (DispatchGate(), told.count)
            supervisor.post { gate.wait() }
            let sender = try directory.bus("sender")
            try await push(3, by: sender)
            sender.stop()
            // libzmq serves connections in turn: one made after the end is accepted after it.
            let next = try directory.bus("next")
            try await push(1, by: next)
            gate.open()

            let end = "end of \(sender.instance)"
            try #require(await eventually { told.all.contains(end) })
            let ofSender = told.all[before...].filter { $0.hasSuffix("\(sender.instance)") }
            #expect(ofSender == (0..<3).map { "\($0) of \(sender.instance)" } + [end])
            next.stop()
        }
    }

    @Test func `a sender without room hears when there is some, or when its peer has gone`()
        async throws
    {
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        let worker = try directory.bus("worker")
        defer { worker.stop() }
        let arrived = Inbox<String>()
        let gates = (0..<2).map { _ in BlockingQueue<Bool>(capacity: 1) }
        try supervisor.bindPull(.sink) { message in
            arrived.put(message.text)
            // The bus thread reads nothing more until it is released.
            if let gate = Int(message.text.dropLast()), message.text.hasSuffix("!") {
                _ = gates[gate].pop()
            }
        }
        let rooms = Inbox<Void>()
        let pusher = try worker.connectPush(.sink) { rooms.put(()) }
        try await waitUntil("the sink is connected") {
            await Self.send(message(.hello, "0!"), by: pusher, on: worker) == nil
        }

        var sent = 1
        while await Self.send(message(.progress, "\(sent)"), by: pusher, on: worker) == nil {
            sent += 1
        }
        #expect(rooms.count == 0)
        _ = gates[0].tryPush(true)
        #expect(await rooms.waitFor(1).count == 1)
        #expect(await Self.send(message(.progress, "\(sent)"), by: pusher, on: worker) == nil)
        let all = await arrived.waitFor(sent + 1)
        let isWhole = all == ["0!"] + (1...sent).map { "\($0)" }
        #expect(isWhole, "\(all.count) of \(sent + 1)")

        #expect(await Self.send(message(.hello, "1!"), by: pusher, on: worker) == nil)
        _ = await arrived.waitFor(sent + 2)
        while await Self.send(message(.progress, "more"), by: pusher, on: worker) == nil {}
        let before = rooms.count
        _ = gates[1].tryPush(true)
        supervisor.stop()
        #expect(await eventually { rooms.count > before })
    }

    /// A sink with its events: the sender of each message, and of each end.
    private func sink(in directory: RunDirectory) throws -> (BusThread, Inbox<String>) {
        let supervisor = try directory.bus("supervisor")
        let told = Inbox<String>()
        try supervisor.bindPull(.sink) {
            told.put("end of \($0)")
        } _: { message in
            told.put("\(message.text) of \(message.header.sender)")
        }
        return (supervisor, told)
    }

    /// Sends numbered messages to the sink, waiting for room; returns once libzmq has them all.
    private func push(_ count: Int, by bus: BusThread) async throws {
        let pusher = try bus.connectPush(.sink)
        for number in 0..<count {
            try await waitUntil("there is room for message \(number)", every: .milliseconds(1)) {
                await Self.send(message(.progress, "\(number)"), by: pusher, on: bus) == nil
            }
        }
    }

    static func send(
        _ message: Message, by pusher: Pusher, on bus: BusThread
    ) async -> Failure? {
        await withCheckedContinuation { continuation in
            bus.post {
                do throws(Failure) {
                    try pusher.send(message)
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
    }

    @Test func `the files of lanes whose supervisor was killed are swept`() async throws {
        let directory = try RunDirectory()
        let (old, kept) = (Endpoint.lane(UUID()), Endpoint.lane(UUID()))
        let other = try directory.bus("other")
        defer { other.stop() }
        _ = try other.bindLane(kept, credit: 1) {}
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = directory.path as String, name = old.name as String] in
            let supervisor = try BusThread(name: "supervisor", runDirectory: path)
            let endpoint = try #require(Endpoint(name: name))
            _ = try supervisor.bindLane(endpoint, credit: 1) {}
            kill(getpid(), SIGKILL)
        }
        #expect(directory.exists(old.name))

        let supervisor = try directory.bus("supervisor")
        defer { supervisor.stop() }
        _ = try supervisor.bindLane(.lane(UUID()), credit: 1) {}

        #expect(!directory.exists(old.name))
        #expect(!directory.exists(old.name + ".lock"))
        #expect(directory.exists(kept.name))
    }

    @Test func `a second peer closes the lane and is counted`() async throws {
        let lane = try Lane(credit: 1)
        defer { lane.supervisor.stop() }
        let worker = try lane.directory.bus("worker")
        let intruder = try lane.directory.bus("intruder")
        defer {
            worker.stop()
            intruder.stop()
        }
        let arrived = Inbox<String>()
        try worker.connectPull(.lane(lane.worker)) { arrived.put($0.text) }
        #expect(await lane.send(message(.welcome, "")) == nil)
        _ = try await arrived.first()

        try intruder.connectPull(.lane(lane.worker)) { _ in }

        #expect(await eventually { lane.ends.count == 1 })
        #expect(lane.supervisor.statistics.laneIntrusionCount == 1)
    }

    @Test func `a lane can be opened again at once, and its worker finds it`() async throws {
        let lane = try Lane(credit: 1)
        defer { lane.supervisor.stop() }
        let worker = try lane.directory.bus("worker")
        defer { worker.stop() }
        let arrived = Inbox<String>()
        try worker.connectPull(.lane(lane.worker)) { arrived.put($0.text) }
        lane.pusher.close()

        for round in 0..<10 {
            let ends = Inbox<Void>()
            let again = try lane.supervisor.bindLane(.lane(lane.worker), credit: 1) { ends.put(()) }
            lane.supervisor.post { try? again.send(message(.welcome, "\(round)")) }
            #expect(await arrived.waitFor(round + 1).last == "\(round)")
            again.close()
            #expect(await eventually { ends.count == 1 })
        }
        #expect(lane.supervisor.statistics.laneIntrusionCount == 0)
        lane.supervisor.stop()
        #expect(!lane.directory.exists(Endpoint.lane(lane.worker).name))
        #expect(!lane.directory.exists(Endpoint.lane(lane.worker).name + ".lock"))
    }

    @Test(.slow) func `a path that is released slowly delays its next bind, and no other socket`()
        async throws
    {
        let lane = try Lane(credit: 1)
        defer { lane.supervisor.stop() }
        let (worker, arrived) = try await lane.connectWorker()
        // Like a disk that does not respond: ten thousand files in place of the socket.
        let path = lane.directory.path + "/" + Endpoint.lane(lane.worker).name
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        for number in 0..<10_000 {
            _ = FileManager.default.createFile(atPath: "\(path)/\(number)", contents: nil)
        }

        worker.stop()
        _ = await lane.ends.waitFor(1)
        // Runs in a turn after the one that has closed the lane.
        let isStillThere = await withCheckedContinuation { continuation in
            lane.supervisor.post {
                continuation.resume(returning: FileManager.default.fileExists(atPath: path))
            }
        }
        #expect(isStillThere)

        let pusher = try lane.supervisor.bindLane(.lane(lane.worker), credit: 1) {}
        #expect(
            await Self.send(message(.welcome, "again"), by: pusher, on: lane.supervisor) == nil)
        let next = try lane.directory.bus("next")
        defer { next.stop() }
        try next.connectPull(.lane(lane.worker)) { arrived.put($0.text) }
        #expect(await arrived.waitFor(2).last == "again")
    }
}

/// Holds threads up until it is opened.
final class DispatchGate: Sendable {
    private let opening = DispatchSemaphore(value: 0)

    func open() { opening.signal() }

    func wait() {
        opening.wait()
        // The next thread passes as well.
        opening.signal()
    }
}
