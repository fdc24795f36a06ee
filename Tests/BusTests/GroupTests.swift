// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Platform
import TestKit
import Testing
import ZeroMQ

/// What is sent to one peer in one turn leaves together, and arrives as if it had not.
@Suite(.timeLimit(.minutes(2))) struct GroupTests {
    /// Sends all of them in one turn of the loop.
    private func send(_ messages: [Message], by pusher: Pusher, on bus: BusThread) async {
        let refused = Inbox<Failure?>()
        bus.post {
            for message in messages {
                do throws(Failure) { try pusher.send(message) } catch { refused.put(error) }
            }
            refused.put(nil)
        }
        #expect(await refused.waitFor(1) == [nil])
    }

    private func messages(_ sizes: [Int]) -> [Message] {
        sizes.enumerated().map { number, size in
            var payload = Data(repeating: UInt8(truncatingIfNeeded: number), count: size)
            payload.append(contentsOf: "\(number)".utf8)
            return Message(
                header: MessageHeader(kind: .task), metadata: Data("{}".utf8), payload: payload)
        }
    }

    @Test(arguments: [UInt64(1), 2, 3, 4, 5])
    func `whatever is sent in a turn arrives once, whole and in order`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        let worker = try directory.bus("worker")
        defer {
            worker.stop()
            supervisor.stop()
        }
        let lane = Endpoint.lane(UUID())
        let pusher = try supervisor.bindLane(lane, credit: 1_000, sendsGroups: true) {}
        let arrived = Inbox<Data>()
        try worker.connectPull(lane) { arrived.put($0.payload) }
        var sent: [Message] = []

        for _ in 0..<20 {
            let count = Int.random(in: 1...40, using: &random)
            let turn = messages(
                (0..<count).map { _ in
                    Bool.random(using: &random) ? 0 : Int.random(in: 0...20_000, using: &random)
                })
            await send(turn, by: pusher, on: supervisor)
            sent += turn
            if Bool.random(using: &random) { _ = await arrived.waitFor(sent.count) }
        }

        #expect(await arrived.waitFor(sent.count) == sent.map(\.payload), "seed \(seed)")
        #expect(worker.statistics.rejectedCount == 0)
        #expect(worker.statistics.receivedCount == sent.count)
    }

    @Test func `a group has at most sixteen messages and ends after sixty-four kibibytes`()
        async throws
    {
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        defer { supervisor.stop() }
        let lane = Endpoint.lane(UUID())
        let pusher = try supervisor.bindLane(lane, credit: 1_000, sendsGroups: true) {}
        let listener = try Listener(.pull, try lane.path(in: directory.path))
        let large = [40_000, 30_000, 5, 70_000, 5]
        // The first message waits for the connection, with all that comes before that.
        let hello = messages([0])
        await send(hello, by: pusher, on: supervisor)
        _ = try listener.multiparts(untilMessages: 1)

        await send(messages(Array(repeating: 3, count: 50)), by: pusher, on: supervisor)
        let small = try listener.multiparts(untilMessages: 50).map { $0.count / 3 }
        await send(messages(large), by: pusher, on: supervisor)
        let groups = try listener.multiparts(untilMessages: large.count)

        // A slow machine may end one earlier, because it has been open for long.
        #expect(small.allSatisfy { 1...16 ~= $0 } && small.count < 50)
        for group in groups {
            #expect(group.count.isMultiple(of: 3))
            let sizes = stride(from: 2, to: group.count, by: 3).map { group[$0].count }
            #expect(sizes.dropLast().reduce(0, +) < 64 << 10)
        }
    }

    @Test func `a peer that has not said that it reads groups gets none`() async throws {
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        defer { supervisor.stop() }
        let lane = Endpoint.lane(UUID())
        let pusher = try supervisor.bindLane(lane, credit: 1_000) {}
        let listener = try Listener(.pull, try lane.path(in: directory.path))

        await send(messages([0]), by: pusher, on: supervisor)
        _ = try listener.multiparts(untilMessages: 1)
        await send(messages(Array(repeating: 3, count: 50)), by: pusher, on: supervisor)

        #expect(try listener.multiparts(untilMessages: 50).allSatisfy { $0.count == 3 })
    }

    @Test(arguments: [false, true])
    func `an asker sends groups to a service that has answered and said so`(
        readsGroups: Bool
    ) async throws {
        let directory = try RunDirectory()
        let client = try directory.bus("client")
        defer { client.stop() }
        let service = try Listener(
            .router, try Endpoint.requests.path(in: directory.path), binding: true)
        let requester = try client.connectRequester(.requests)
        let answers = Inbox<Data>()
        let ask: @Sendable (Int) -> Void = { count in
            client.post {
                for number in 0..<count {
                    requester.ask(
                        Message(
                            header: MessageHeader(kind: .request), payload: Data("\(number)".utf8)),
                        timeout: .seconds(50)
                    ) { result in
                        if let payload = try? result.get().payload { answers.put(payload) }
                    }
                }
            }
        }

        ask(12)
        let first = try service.multiparts(untilMessages: 12, leading: 1)
        let question = try decode(Array(first[0][1...]))
        let reply = Message(
            header: MessageHeader(
                kind: .reply, correlation: question.header.messageID, readsGroups: readsGroups))
        #expect(try service.socket.send(first[0][0], more: true))
        #expect(try service.socket.send(HeaderCoding.encode(reply), more: true))
        #expect(try service.socket.send([], more: true))
        #expect(try service.socket.send([], more: false))
        _ = await answers.waitFor(1)
        ask(12)
        let then = try service.multiparts(untilMessages: 12, leading: 1)

        #expect(first.allSatisfy { $0.count == 4 })
        #expect(then.contains { $0.count > 4 } == readsGroups)
        let payloads = try then.flatMap { group in
            try stride(from: 1, to: group.count, by: 3).map { start in
                try decode(Array(group[start..<start + 3])).payload
            }
        }
        #expect(payloads == (0..<12).map { Data("\($0)".utf8) })
    }

    private func decode(_ frames: [[UInt8]]) throws -> Message {
        let header = Data(frames[0])
        return try HeaderCoding.decode(
            header: header.bytes, metadata: Data(frames[1]), payload: Data(frames[2]))
    }

    @Test(arguments: [UInt64(11), 12, 13])
    func `of a group what is damaged is rejected, and only that`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        defer { server.stop() }
        let path = try Endpoint.requests.path(in: directory.path)
        let arrived = Inbox<Data>()
        try server.bindRouter(.requests) { arrived.put($0.message.payload) }
        let peer = try Listener(.dealer, path)
        var expected: [Data] = []
        var faults = 0

        for _ in 0..<50 {
            let group = messages((0..<Int.random(in: 1...20, using: &random)).map { _ in 3 })
            var frames: [[UInt8]] = []
            var isLastWhole = false
            for var message in group {
                message.header.kind = .request
                message.header.sender = server.instance
                var three = [
                    HeaderCoding.encode(message), Array(message.metadata), Array(message.payload),
                ]
                isLastWhole = Int.random(in: 0..<5, using: &random) > 0
                if !isLastWhole {
                    three[Int.random(in: 0..<3, using: &random)] = [1, 2, 3]
                    faults += 1
                } else {
                    expected.append(message.payload)
                }
                frames += three
            }
            // Some end in the middle of a message.
            if Bool.random(using: &random) {
                let last = group.count * 3 - Int.random(in: 1...2, using: &random)
                frames.removeSubrange(last...)
                if isLastWhole {
                    expected.removeLast()
                    faults += 1
                }
            }
            for (index, frame) in frames.enumerated() {
                while !(try peer.socket.send(frame, more: index < frames.count - 1)) {
                    var poller = Poller()
                    poller.add(peer.socket)
                    _ = try poller.wait(milliseconds: 10)
                }
            }
        }

        #expect(await arrived.waitFor(expected.count) == expected, "seed \(seed)")
        let count = faults
        #expect(await eventually { server.statistics.rejectedCount >= count })
        #expect(server.statistics.rejectedCount == faults)
    }
}
