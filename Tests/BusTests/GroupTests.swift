// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Platform
import TestKit
import Testing
import ZeroMQ

/// Messages to one peer in one turn leave together, and arrive as if sent one by one.
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
    func `messages sent in one turn arrive once, whole and in order`(seed: UInt64) async throws {
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

    @Test func `a group ends after sixty-four kibibytes, and what is as large travels alone`()
        async throws
    {
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        defer { supervisor.stop() }
        let lane = Endpoint.lane(UUID())
        let pusher = try supervisor.bindLane(lane, credit: 1_000, sendsGroups: true) {}
        let listener = try Listener(.pull, try lane.path(in: directory.path))
        // The first message waits for the connection, with all that comes before that.
        let hello = messages([0])
        await send(hello, by: pusher, on: supervisor)
        _ = try listener.arrivals(untilMessages: 1)

        await send(messages(Array(repeating: 3, count: 600)), by: pusher, on: supervisor)
        let small = try listener.arrivals(untilMessages: 600)
        let sizes = [40_000, 30_000, 5, 70_000, 5]
        await send(messages(sizes), by: pusher, on: supervisor)
        let mixed = try listener.arrivals(untilMessages: sizes.count)

        // A slow machine may end one earlier, because it has been open for long.
        #expect(small.allSatisfy { $0.isGroup && 1...256 ~= $0.messages.count })
        #expect(small.count < 600)
        #expect(mixed.flatMap(\.messages).map(\.payload) == messages(sizes).map(\.payload))
        for arrival in mixed {
            let isLarge = arrival.messages.contains { $0.payload.count > 64 << 10 }
            #expect(arrival.isGroup == !isLarge)
            #expect(!arrival.isGroup || arrival.byteCount < 2 * (64 << 10) + 200)
        }
    }

    @Test func `a group for which there is no room leaves when there is some`() async throws {
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        defer { supervisor.stop() }
        let lane = Endpoint.lane(UUID())
        let pusher = try supervisor.bindLane(lane, credit: 1, sendsGroups: true) {}
        let listener = try Listener(.pull, try lane.path(in: directory.path))
        await send(messages([0]), by: pusher, on: supervisor)
        _ = try listener.arrivals(untilMessages: 1)

        // One after the other, until libzmq and the group behind it are full.
        let taken = Inbox<Int>()
        supervisor.post {
            var count = 0
            let large = messages([60_000])[0]
            while (try? pusher.send(large)) != nil { count += 1 }
            taken.put(count)
        }
        let count = try await taken.first()
        let arrived = try listener.arrivals(untilMessages: count)

        #expect(arrived.flatMap(\.messages).count == count)
        await send(messages([3]), by: pusher, on: supervisor)
        #expect(try listener.arrivals(untilMessages: 1).count == 1)
    }

    @Test func `a peer that has not said that it reads groups gets none`() async throws {
        let directory = try RunDirectory()
        let supervisor = try directory.bus("supervisor")
        defer { supervisor.stop() }
        let lane = Endpoint.lane(UUID())
        let pusher = try supervisor.bindLane(lane, credit: 1_000) {}
        let listener = try Listener(.pull, try lane.path(in: directory.path))

        await send(messages([0]), by: pusher, on: supervisor)
        _ = try listener.arrivals(untilMessages: 1)
        await send(messages(Array(repeating: 3, count: 50)), by: pusher, on: supervisor)

        #expect(try listener.arrivals(untilMessages: 50).allSatisfy { !$0.isGroup })
    }

    @Test(arguments: [false, true])
    func `an answer is a group to an asker that reads them`(readsGroups: Bool) async throws {
        let directory = try RunDirectory()
        let service = try directory.bus("service")
        defer { service.stop() }
        try service.bindRouter(.requests) { $0.reply($0.message.payload) }
        let asker = try Listener(.dealer, try Endpoint.requests.path(in: directory.path))
        let sizes = [3, 70_000, 0]
        for var message in messages(sizes) {
            message.header.kind = .request
            message.header.readsGroups = readsGroups
            message.header.sender = service.instance
            let frames = [
                HeaderCoding.encode(message), Array(message.metadata), Array(message.payload),
            ]
            for (index, frame) in frames.enumerated() {
                #expect(try asker.socket.send(frame, more: index < 2))
            }
        }

        let answers = try asker.arrivals(untilMessages: sizes.count)

        #expect(answers.map(\.isGroup) == [readsGroups, false, readsGroups])
        #expect(answers.flatMap(\.messages).map(\.payload) == messages(sizes).map(\.payload))
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
        let first = try service.arrivals(untilMessages: 12, leading: 1)
        let reply = Message(
            header: MessageHeader(
                kind: .reply, correlation: first[0].messages[0].header.messageID,
                readsGroups: readsGroups))
        #expect(try service.socket.send(first[0].leading[0], more: true))
        #expect(try service.socket.send(HeaderCoding.encode(reply), more: true))
        #expect(try service.socket.send([], more: true))
        #expect(try service.socket.send([], more: false))
        _ = await answers.waitFor(1)
        ask(12)
        let then = try service.arrivals(untilMessages: 12, leading: 1)

        #expect(first.allSatisfy { !$0.isGroup })
        #expect(then.allSatisfy { $0.isGroup == readsGroups })
        #expect(then.contains { $0.messages.count > 1 } == readsGroups)
        #expect(
            then.flatMap(\.messages).map(\.payload) == (0..<12).map { Data("\($0)".utf8) })
    }

    @Test(arguments: [UInt64(11), 12, 13])
    func `a damaged message of a group is rejected with those behind it`(seed: UInt64) async throws
    {
        var random = SeededGenerator(seed: seed)
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        defer { server.stop() }
        let arrived = Inbox<Data>()
        try server.bindRouter(.requests) { arrived.put($0.message.payload) }
        let peer = try Listener(.dealer, try Endpoint.requests.path(in: directory.path))
        var expected: [Data] = []
        var faults = 0

        for _ in 0..<200 {
            var group: [UInt8] = []
            var ends: [Int] = []
            let members = messages((0..<Int.random(in: 1...20, using: &random)).map { _ in 3 })
            for var message in members {
                message.header.kind = Bool.random(using: &random) ? .request : .task
                message.header.sender = server.instance
                group += HeaderCoding.encode(message) + message.metadata + message.payload
                ends.append(group.count)
            }
            var whole = members.count
            switch Int.random(in: 0..<3, using: &random) {
            case 0: break
            case 1:
                // Any bit of any byte: all are under the checksum, or are it.
                let place = Int.random(in: 0..<group.count, using: &random)
                group[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                whole = ends.firstIndex { place < $0 } ?? 0
            default:
                let count = Int.random(in: 0..<group.count, using: &random)
                group.removeSubrange(count...)
                whole = ends.firstIndex { count < $0 } ?? 0
                // Cut between two messages, or before the first.
                if count > 0, ends.contains(count) { faults -= 1 }
            }
            if whole < members.count { faults += 1 }
            expected += members.prefix(whole).map(\.payload)
            while !(try peer.socket.send(group, more: false)) {
                var poller = Poller()
                poller.add(peer.socket)
                _ = try poller.wait(milliseconds: 10)
            }
        }

        #expect(await arrived.waitFor(expected.count) == expected, "seed \(seed)")
        let count = faults
        #expect(await eventually { server.statistics.rejectedCount >= count })
        #expect(server.statistics.rejectedCount == faults)
    }
}
