// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct StraightTests {
    /// A service that keeps tasks and is notified of those taken elsewhere.
    private final class Desk: Sendable {
        let tasks = Inbox<IncomingRequest>()
        let taken = Inbox<UUID>()

        func take(_ request: IncomingRequest) {
            let id = request.message.header.messageID
            request.whenOver { [taken] end in if end == .taken { taken.put(id) } }
            tasks.put(request)
        }
    }

    private func ask(_ requester: Requester, _ count: Int) -> Inbox<Data> {
        let answers = Inbox<Data>()
        for number in 0..<count {
            let task = Message(
                header: MessageHeader(kind: .task), payload: Data("\(number)".utf8))
            requester.ask(task, timeout: .seconds(50)) { result in
                if let payload = try? result.get().payload { answers.put(payload) }
            }
        }
        return answers
    }

    @Test func `the service hears of answers that came past it, from the next task or soon after`()
        async throws
    {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        let worker = try directory.bus("worker")
        defer {
            client.stop()
            worker.stop()
            server.stop()
        }
        let desk = Desk()
        try server.bindRouter(.requests) { desk.take($0) }
        let requester = try client.connectRequester(.requests)
        let answers = ask(requester, 20)
        let tasks = await desk.tasks.waitFor(20)
        let straight = tasks.filter {
            $0.message.header.flags & MessageHeader.straightFlag != 0
        }
        try #require(straight.count == 5)

        let way = try worker.connectStraight(to: client.instance) {}
        let send: @Sendable (IncomingRequest) -> Bool = { request in
            let header = MessageHeader(
                kind: .reply, correlation: request.message.header.messageID)
            return (try? way.send(Message(header: header, payload: request.message.payload))) != nil
        }
        for request in straight {
            let isSent = Inbox<Bool>()
            try await waitUntil("the worker has sent its answer") {
                worker.post { if !isSent.all.contains(true) { isSent.put(send(request)) } }
                return isSent.all.contains(true)
            }
        }
        _ = await answers.waitFor(5)
        let taken = await desk.taken.waitFor(5)

        #expect(Set(taken) == Set(straight.map(\.message.header.messageID)))
        #expect(straight.allSatisfy { $0.isOver })
        // An answer after that goes nowhere.
        for request in straight { request.reply(Data("again".utf8)) }
        for request in tasks where !request.isOver { request.reply(request.message.payload) }
        let all = await answers.waitFor(20)
        #expect(all.count == 20 && Set(all).count == 20)
        #expect(client.statistics.lateReplyCount == 0)
    }

    @Test func `the way to an asker ends with it`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        let worker = try directory.bus("worker")
        defer {
            worker.stop()
            server.stop()
        }
        let desk = Desk()
        try server.bindRouter(.requests) { desk.take($0) }
        let requester = try client.connectRequester(.requests)
        _ = ask(requester, 20)
        _ = await desk.tasks.waitFor(20)
        let ended = Inbox<Bool>()
        let nobody = Inbox<Bool>()
        _ = try worker.connectStraight(to: client.instance) { ended.put(true) }
        _ = try worker.connectStraight(to: UUID()) { nobody.put(true) }
        #expect(await nobody.waitFor(1) == [true])
        #expect(ended.count == 0)

        client.stop()

        #expect(await ended.waitFor(1) == [true])
    }

    @Test func `replies that match no request are counted, and do no harm`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        defer {
            client.stop()
            server.stop()
        }
        let desk = Desk()
        try server.bindRouter(.requests) { desk.take($0) }
        let requester = try client.connectRequester(.requests)
        let answers = ask(requester, 20)
        let tasks = await desk.tasks.waitFor(20)
        let stranger = try directory.bus("stranger")
        defer { stranger.stop() }
        let theirs = try stranger.connectRequester(.requests)
        let ids = tasks.map(\.message.header.messageID)
        var bytes = Data()
        for id in ids {
            bytes.append(contentsOf: unsafe withUnsafeBytes(of: id.uuid) { unsafe Array($0) })
        }
        // Half an id; then the tasks of another client.
        for payload in [Data(count: 24), bytes] {
            let message = Message(header: MessageHeader(kind: .taken), payload: payload)
            theirs.ask(message, timeout: .seconds(50)) { _ in }
        }
        #expect(await eventually { server.statistics.rejectedCounts[.length] == 1 })
        let way = try stranger.connectStraight(to: client.instance) {}
        let messages = [
            Message(header: MessageHeader(kind: .reply)),
            Message(header: MessageHeader(kind: .reply, correlation: UUID())),
            Message(header: MessageHeader(kind: .result, correlation: ids[0])),
        ]
        let sentCount = Inbox<Int>()
        try await waitUntil("the stranger has sent its messages") {
            stranger.post {
                while sentCount.count < messages.count,
                    (try? way.send(messages[sentCount.count])) != nil
                { sentCount.put(1) }
            }
            return sentCount.count == messages.count
        }
        #expect(await eventually { client.statistics.lateReplyCount == 1 })
        #expect(await eventually { client.statistics.rejectedCounts[.kind] == 2 })

        #expect(tasks.allSatisfy { !$0.isOver } && desk.taken.count == 0)
        for request in tasks { request.reply(request.message.payload) }
        #expect(await answers.waitFor(20).count == 20)
    }
}
