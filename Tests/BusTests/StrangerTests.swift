// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Glibc
import Platform
import TestKit
import Testing
import ZeroMQ

/// Arbitrary bytes at a socket reach no handler, and the socket keeps working.
@Suite(.timeLimit(.minutes(2))) struct StrangerTests {
    private static let connectionCount = 1000

    private func say(to path: String, seed: UInt64, count: Int = connectionCount) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count {
            #expect(
                RawPeer.say(RawPeer.stranger(&random), to: path, lingering: 1), "seed \(seed)")
        }
    }

    /// Sends wrong frames over real sockets, so that they do reach the bus.
    private func sendWrongFrames(
        _ kind: Socket.Kind, to path: String, seed: UInt64, count: Int
    ) throws {
        var random = SeededGenerator(seed: seed)
        let context = try Context()
        let socket = try Socket(context, kind)
        try socket.apply(SocketOptions())
        try socket.connect("ipc://" + path)
        for _ in 0..<count {
            let frames = WrongFrames.make(&random)
            for (index, frame) in frames.enumerated() {
                try blockUntil("the socket takes a frame") {
                    try socket.send(frame, more: index < frames.count - 1)
                }
            }
        }
    }

    @Test func `a router answers its clients among a thousand strangers`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        defer {
            client.stop()
            server.stop()
        }
        let path = try Endpoint.requests.path(in: directory.path)
        try server.bindRouter(.requests) { $0.reply($0.message.payload) }
        let requester = try client.connectRequester(.requests)

        say(to: path, seed: 1)
        try sendWrongFrames(.dealer, to: path, seed: 2, count: 500)
        #expect(await eventually { server.statistics.rejectedCount >= 500 })
        let answer = try await requester.request(
            operation: "x", payload: Data([7]), timeout: .seconds(40))

        #expect(answer.payload == Data([7]))
        #expect(server.statistics.receivedCount == 1)
        #expect(server.statistics.failedHandshakeCount > 0)
        for fault in [FrameFault.frameCount, .magic, .checksum, .length, .headerLength] {
            #expect(server.statistics.rejectedCounts[fault, default: 0] > 0, "\(fault)")
        }
    }

    @Test func `a sink hears its workers among a thousand strangers`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let worker = try directory.bus("worker")
        defer {
            worker.stop()
            server.stop()
        }
        let path = try Endpoint.sink.path(in: directory.path)
        let arrived = Inbox<String>()
        try server.bindPull(.sink) { arrived.put($0.text) }

        say(to: path, seed: 3)
        try sendWrongFrames(.push, to: path, seed: 4, count: 500)
        #expect(await eventually { server.statistics.rejectedCount >= 500 })
        let pusher = try worker.connectPush(.sink)
        let tries = worker.schedule(every: .milliseconds(5)) {
            try? pusher.send(message(.hello, "here"))
        }
        _ = try await arrived.first()
        tries.cancel()

        #expect(Set(arrived.all) == ["here"])
        #expect(server.statistics.failedHandshakeCount > 0)
    }

    @Test func `a publisher serves its subscribers among a thousand strangers`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        defer {
            client.stop()
            server.stop()
        }
        let path = try Endpoint.logTail.path(in: directory.path)
        let subscriptions = Inbox<String>()
        let heard = Inbox<String>()
        let publisher = try server.bindPublisher(.logTail) { subscriptions.put($0) }

        say(to: path, seed: 5)
        var random = SeededGenerator(seed: 6)
        try subscribeWrongly(path, &random)
        #expect(await eventually { server.statistics.rejectedCounts[.topic, default: 0] >= 2 })
        _ = try client.subscribe(.logTail, topics: ["e/"]) { topic, _ in heard.put(topic) }
        #expect(await eventually { subscriptions.all.contains("e/") })
        try publisher.publish(topic: "e/map", message(.event, ""))

        #expect(await heard.waitFor(1) == ["e/map"])
        #expect(subscriptions.all.filter { $0 == "e/" }.count == 1)
        #expect(subscriptions.all.allSatisfy { $0.utf8.count <= 256 })
    }

    /// Topics that are no text, or too long.
    private func subscribeWrongly(_ path: String, _ random: inout SeededGenerator) throws {
        let context = try Context()
        let socket = try Socket(context, .sub)
        try socket.apply(SocketOptions())
        try socket.subscribe([0xff, 0xfe])
        try socket.subscribe([UInt8](repeating: 65, count: 300))
        try socket.connect("ipc://" + path)
        var poller = Poller()
        poller.add(socket)
        _ = try poller.wait(milliseconds: 200)
    }

    @Test(.slow) func `a lane waits for its worker among a thousand strangers`() async throws {
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        let worker = try directory.bus("worker")
        defer {
            worker.stop()
            supervisor.stop()
        }
        let endpoint = Endpoint.lane(UUID())
        let path = try endpoint.path(in: directory.path)
        let ends = Inbox<Void>()
        let pusher = try supervisor.bindLane(endpoint, credit: 8) { ends.put(()) }
        supervisor.post { try? pusher.send(message(.welcome, "hello")) }
        let arrived = Inbox<String>()

        // One after the other: two at once would rightly be taken for a second peer.
        var random = SeededGenerator(seed: 7)
        for number in 1...Self.connectionCount {
            try #require(RawPeer.say(RawPeer.stranger(&random), to: path))
            try #require(
                await eventually { supervisor.statistics.endedConnectionCount >= number },
                "stranger \(number)")
        }
        try worker.connectPull(endpoint) { arrived.put($0.text) }

        #expect(try await arrived.first() == "hello")
        #expect(ends.count == 0)
    }

    @Test func `a stranger beside a worker ends the lane, which can be opened again`() async throws
    {
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        let worker = try directory.bus("worker")
        defer {
            worker.stop()
            supervisor.stop()
        }
        let endpoint = Endpoint.lane(UUID())
        let ends = Inbox<Void>()
        let arrived = Inbox<String>()
        let first = try supervisor.bindLane(endpoint, credit: 1) { ends.put(()) }
        try worker.connectPull(endpoint) { arrived.put($0.text) }
        supervisor.post { try? first.send(message(.welcome, "1")) }
        _ = try await arrived.first()

        #expect(RawPeer.say([1, 0, 0], to: try endpoint.path(in: directory.path), lingering: 50))
        #expect(await eventually { ends.count == 1 })
        let second = try supervisor.bindLane(endpoint, credit: 1) {}
        supervisor.post { try? second.send(message(.welcome, "2")) }

        #expect(await arrived.waitFor(2) == ["1", "2"])
    }

    @Test(.slow, arguments: ["requester", "subscriber", "pull"])
    func `a client that meets strangers first finds its service later`(_ kind: String) async throws
    {
        let directory = try RunDirectory()
        let client = try directory.bus("client")
        let server = try directory.bus("server")
        defer {
            client.stop()
            server.stop()
        }
        let heard = Inbox<String>()
        let endpoint = kind == "requester" ? Endpoint.requests : .logTail
        let path = try endpoint.path(in: directory.path)
        var random = SeededGenerator(seed: 8)
        let lies = (0..<50).map { _ in RawPeer.stranger(&random) }
        let strangers = try PinnedThread(name: "strangers") {
            RawPeer.listen(at: path, sayingTo: 50, lies)
        }

        let requester = kind == "requester" ? try client.connectRequester(endpoint) : nil
        if kind == "subscriber" {
            _ = try client.subscribe(endpoint, topics: [""]) { _, m in heard.put(m.text) }
        }
        if kind == "pull" { try client.connectPull(endpoint) { heard.put($0.text) } }
        strangers.join()
        #expect(heard.count == 0)
        #expect(client.statistics.receivedCount == 0)

        switch kind {
        case "requester":
            try server.bindRouter(endpoint) { $0.reply(Data("hello".utf8)) }
            heard.put(try #require(try await ask(requester)).text)
        case "subscriber":
            let subscriptions = Inbox<String>()
            let publisher = try server.bindPublisher(endpoint) { subscriptions.put($0) }
            _ = try await subscriptions.first()
            try publisher.publish(topic: "x", message(.live, "hello"))
        default:
            let pusher = try server.bindLane(endpoint, credit: 1) {}
            server.post { try? pusher.send(message(.welcome, "hello")) }
        }
        #expect(try await heard.first() == "hello")
    }

    /// Asks until the end of the last stranger has been noticed.
    private func ask(_ requester: Requester?) async throws -> Message? {
        while true {
            do throws(Failure) {
                return try await requester?.request(operation: "x", timeout: .seconds(40))
            } catch {
                try #require(error.code == .unavailable, "\(error)")
            }
        }
    }

    @Test func `a peer of another wire version is told which one is spoken`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        defer { server.stop() }
        try server.bindRouter(.requests) { $0.reply(Data()) }
        let context = try Context()
        let socket = try Socket(context, .dealer)
        try socket.apply(SocketOptions())
        try socket.connect("ipc://" + (try Endpoint.requests.path(in: directory.path)))
        var header = HeaderCoding.encode(message(.request, ""))
        header[4] = 2

        for (index, frame) in [header, [], []].enumerated() {
            try await waitUntil("the socket takes a frame") {
                try socket.send(frame, more: index < 2)
            }
        }
        var frames: [Data] = []
        var frame = Frame()
        try await waitUntil("the answer has three frames") {
            while try socket.receive(&frame) { frames.append(Data(frame.copy())) }
            return frames.count == 3
        }

        let answer = try HeaderCoding.decode(
            header: frames[0].bytes, metadata: frames[1], payload: frames[2])
        #expect(answer.header.kind == .failure)
        #expect(Failure(wirePayload: answer.payload).code == .newerVersion)
        #expect(server.statistics.rejectedCounts[.version] == 1)
    }
}
