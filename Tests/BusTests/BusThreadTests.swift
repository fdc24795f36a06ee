// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Glibc
import Platform
import Synchronization
import TestKit
import Testing

/// Lives on a bus thread.
private actor Tally {
    private let bus: BusThread
    private(set) var count = 0
    private var threads: Set<Int32> = []

    init(_ bus: BusThread) { self.bus = bus }

    nonisolated var unownedExecutor: UnownedSerialExecutor { bus.unownedReference }

    func add() {
        count += 1
        threads.insert(PinnedThread.currentID)
    }

    func threadIDs() -> Set<Int32> { threads }
}

@Suite(.timeLimit(.minutes(5))) struct BusThreadTests {
    // MARK: Work

    @Test func `an actor of the bus thread may be entered from handlers without waiting`()
        async throws
    {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        defer { bus.stop() }
        let tally = Tally(bus)
        try bus.bindRouter(.requests) { request in
            tally.assumeIsolated { $0.add() }
            request.reply(Data())
        }
        let requester = try bus.connectRequester(.requests)

        for _ in 0..<10 { _ = try await requester.request(operation: "x", timeout: .seconds(40)) }
        await tally.add()

        #expect(await tally.count == 11)
        #expect(await tally.threadIDs().count == 1)
    }

    @Test func `an actor of the bus thread still works after the bus has stopped`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        let tally = Tally(bus)
        await tally.add()

        bus.stop()
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { await tally.add() } }
        }

        #expect(await tally.count == 101)
    }

    @Test func `a task that prefers the bus thread runs there, and elsewhere after its end`()
        async throws
    {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        try bus.bindRouter(.requests) { $0.reply(Data()) }
        let requester = try bus.connectRequester(.requests)

        let asking = Task(executorPreference: bus.tasks) {
            var places = [bus.isIsolatingCurrentContext()]
            for _ in 0..<10 {
                _ = try await requester.request(operation: "x", timeout: .seconds(40))
                places.append(bus.isIsolatingCurrentContext())
            }
            return places
        }
        #expect(try await asking.value == Array(repeating: true, count: 11))

        bus.stop()
        let late = Task(executorPreference: bus.tasks) {
            await Task.yield()
            return bus.isIsolatingCurrentContext()
        }
        #expect(await late.value == false)
    }

    @Test func `what one thread posts runs in order, all of it`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        defer { bus.stop() }
        let seen = Inbox<(thread: Int, number: Int)>()
        // More than the mailbox holds at once: posters wait for room.
        let threads = try (0..<4).map { thread in
            try PinnedThread(name: "poster") {
                for number in 0..<30_000 { bus.post { seen.put((thread, number)) } }
            }
        }
        for thread in threads { thread.join() }

        #expect(await seen.waitFor(120_000, within: .seconds(30)).count == 120_000)
        for thread in 0..<4 {
            let numbers = seen.all.filter { $0.thread == thread }.map(\.number)
            #expect(numbers == Array(0..<30_000))
        }
    }

    @Test func `the bus thread may post to itself beyond the mailbox's bound`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        defer { bus.stop() }
        let count = Mutex(0)
        let done = Inbox<Int>()

        bus.post {
            for _ in 0..<70_000 { bus.post { count.withLock { $0 += 1 } } }
            bus.post { done.put(count.withLock { $0 }) }
        }

        #expect(try await done.first(within: .seconds(30)) == 70_000)
    }

    @Test func `a full mailbox drops publications and refuses questions`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        let gate = DispatchGate()
        defer {
            gate.open()
            bus.stop()
        }
        let publisher = try bus.bindPublisher(.logTail)
        let requester = try bus.connectRequester(.requests)
        let isHeld = Inbox<Void>()
        bus.post {
            isHeld.put(())
            gate.wait()
        }
        try await isHeld.first()

        for _ in 0..<65_536 + 100 { try publisher.publish(topic: "x", message(.live, "")) }
        let got = await failure { () throws(Failure) in
            try await requester.request(operation: "x", timeout: .seconds(20))
        }

        #expect(bus.statistics.droppedPublicationCount == 100)
        #expect(got?.code == .busy)
    }

    // MARK: Time and processes

    @Test func `timers run when they are due, in order, until they are cancelled`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        defer { bus.stop() }
        let ran = Inbox<String>()

        // On the bus thread itself no timer can come due between two of these lines.
        bus.post {
            bus.schedule(after: .milliseconds(60)) { ran.put("late") }
            bus.schedule(after: .milliseconds(20)) { ran.put("early") }
            let never = bus.schedule(after: .milliseconds(40)) { ran.put("never") }
            never.cancel()
        }
        #expect(await ran.waitFor(2) == ["early", "late"])

        let ticks = Inbox<Void>()
        let timer = bus.schedule(every: .milliseconds(2)) { ticks.put(()) }
        _ = await ticks.waitFor(5)
        let counts = Inbox<Int>()
        bus.post {
            timer.cancel()
            counts.put(ticks.count)
        }
        bus.schedule(after: .milliseconds(30)) { counts.put(ticks.count) }

        let seen = await counts.waitFor(2)
        #expect(seen.count == 2)
        #expect(seen.first == seen.last)
    }

    @Test func `no timer runs before its time, however short`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        defer { bus.stop() }
        let early = Inbox<Int64>()

        for microseconds in [1, 20, 300, 999, 1_001, 2_500] as [Int64] {
            let due = MonotonicClock.nanoseconds() + microseconds * 1_000
            bus.schedule(after: .microseconds(microseconds)) {
                early.put(due - MonotonicClock.nanoseconds())
            }
        }

        #expect(await early.waitFor(6).allSatisfy { $0 <= 0 })
        #expect(early.count == 6)
    }

    @Test func `the end of a watched process is heard once`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        defer { bus.stop() }
        let ends = Inbox<Int32>()
        var child = try ChildProcess(
            path: "/bin/sleep", arguments: ["60"], logPath: directory.path + "/sleep.log",
            isDetached: true)
        let id = child.processID

        let watch = try bus.watch(processID: id) { ends.put(id) }
        child.demand(.kill)

        #expect(try await ends.first() == id)
        watch.cancel()
        #expect(await eventually { child.end() == .signal(SIGKILL) })
        #expect(ends.count == 1)
        let gone = await failure { () throws(Failure) in
            try bus.watch(processID: id) {}
        }
        #expect(gone?.code == .notFound)
    }

    // MARK: The directory

    @Test func `a run directory open to others is refused`() throws {
        let directory = try RunDirectory()
        unsafe chmod(directory.path, 0o750)

        let got = #expect(throws: Failure.self) { try directory.bus("bus") }

        #expect(got?.code == .invalidParameter)
        #expect(got?.message.contains("0750") == true)
        #expect(throws: Failure.self) {
            try BusThread(name: "bus", runDirectory: directory.path + "/missing")
        }
    }

    @Test func `a socket path that is too long is named, with what is allowed`() throws {
        let directory = try RunDirectory()
        let long = directory.path + "/" + String(repeating: "d", count: 90)
        try FileManager.default.createDirectory(
            atPath: long, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let bus = try BusThread(name: "bus", runDirectory: long)
        defer { bus.stop() }

        let got = #expect(throws: Failure.self) { try bus.bindRouter(.requests) { _ in } }

        #expect(got?.code == .invalidParameter)
        #expect(got?.message.contains(long + "/log.req") == true)
        #expect(got?.message.contains("107") == true)
        let fits = String(repeating: "d", count: 107 - "/log.req".count)
        #expect(try Endpoint.requests.path(in: fits).utf8.count == 107)
        #expect(throws: Failure.self) { try Endpoint.requests.path(in: fits + "d") }
    }

    // MARK: The end

    @Test(.slow, .timeLimit(.minutes(5)))
    func `stopping never hangs, whoever is away or stuck`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let stuck = try directory.bus("stuck")
        let gate = DispatchGate()
        let subscriptions = Inbox<String>()
        let publisher = try server.bindPublisher(.logTail) { subscriptions.put($0) }
        _ = try stuck.subscribe(.logTail, topics: [""]) { _, _ in gate.wait() }
        _ = try await subscriptions.first()
        for _ in 0..<5000 {
            try publisher.publish(
                topic: "x", Message(header: MessageHeader(kind: .live), payload: Data(count: 1000)))
        }
        let lonely = try directory.bus("lonely")
        let requester = try lonely.connectRequester(.requests)
        let outcome = Task {
            await failure { () throws(Failure) in
                try await requester.request(operation: "x", timeout: .seconds(50))
            }
        }
        _ = try lonely.connectPush(.sink)

        let clock = ContinuousClock()
        let serverTime = clock.measure { server.stop() }
        let lonelyTime = clock.measure {
            lonely.stop()
            lonely.stop()
        }
        gate.open()
        stuck.stop()

        #expect(serverTime < .seconds(10))
        #expect(lonelyTime < .seconds(10))
        #expect([.draining, .cancelled].contains(try #require(await outcome.value).code))
        let late = await failure { () throws(Failure) in
            try await requester.request(operation: "x", timeout: .seconds(50))
        }
        #expect(late?.code == .draining)
        #expect(throws: Failure.self) { try server.bindRouter(.requests) { _ in } }
    }

    @Test func `a handler may stop its own bus`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        bus.post { bus.stop() }
        bus.stop()

        let again = try directory.bus("again")
        try again.bindRouter(.requests) { _ in }
        again.stop()
    }

    @Test func `an endpoint is free again once its bus has stopped`() async throws {
        let directory = try RunDirectory()
        for _ in 0..<5 {
            let bus = try directory.bus("bus")
            try bus.bindRouter(.requests) { _ in }
            _ = try bus.bindPublisher(.logTail)
            bus.stop()
        }
    }

    @Sendable private static func processorTime() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    @Test func `an idle bus uses no processor time`() async throws {
        let directory = try RunDirectory()
        let bus = try directory.bus("bus")
        defer { bus.stop() }
        try bus.bindRouter(.requests) { _ in }
        let turns = Inbox<Int64>()

        bus.post { turns.put(Self.processorTime()) }
        bus.schedule(after: .milliseconds(300)) { turns.put(Self.processorTime()) }

        let times = await turns.waitFor(2)
        try #require(times.count == 2)
        #expect(times[1] - times[0] < 50_000_000)
    }
}
