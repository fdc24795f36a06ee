// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Platform
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct PublishTests {
    @Test func `a subscriber hears the topics it asked for and no others`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        defer {
            client.stop()
            server.stop()
        }
        let subscriptions = Inbox<String>()
        let heard = Inbox<String>()
        let publisher = try server.bindPublisher(.logTail) { subscriptions.put($0) }
        let subscriber = try client.subscribe(.logTail, topics: ["e/map/", "head"]) {
            topic, message in
            heard.put(topic + "=" + message.text)
        }
        _ = await subscriptions.waitFor(2)

        try publisher.publish(topic: "e/job/", message(.event, "1"))
        try publisher.publish(topic: "e/map/", message(.event, "2"))
        try publisher.publish(topic: "head", message(.head, "3"))
        #expect(await heard.waitFor(2) == ["e/map/=2", "head=3"])
        subscriber.add(topic: "e/job/")
        _ = await subscriptions.waitFor(3)
        try publisher.publish(topic: "e/job/", message(.event, "4"))

        #expect(await heard.waitFor(3).last == "e/job/=4")
        #expect(Set(subscriptions.all) == ["e/map/", "head", "e/job/"])
    }

    /// 6,000 messages of 30 KiB, for a subscriber whose thread is blocked meanwhile.
    @Test func `events that wait for a stalled subscriber are bounded`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        defer {
            client.stop()
            server.stop()
        }
        let subscriptions = Inbox<String>()
        let (begun, taken, ended) = (Inbox<String>(), Inbox<String>(), Inbox<String>())
        let stands = BlockingQueue<Bool>(capacity: 1)
        let publisher = try server.bindPublisher(.logTail) { subscriptions.put($0) }
        _ = try client.subscribe(.logTail, topics: ["e/"]) { topic, _ in
            switch topic {
            case "e/begin":
                begun.put(topic)
                _ = stands.pop()
            case "e/end": ended.put(topic)
            default: taken.put(topic)
            }
        }
        _ = await subscriptions.waitFor(1)
        try publisher.publish(topic: "e/begin", message(.event, ""))
        _ = await begun.waitFor(1)

        let text = String(repeating: "x", count: 30 << 10)
        for _ in 0..<6_000 { try publisher.publish(topic: "e/", message(.event, text)) }
        // Comes back when the thread has published them all.
        _ = try server.bindPublisher(.supervisorLive)
        _ = stands.tryPush(true)
        try await waitUntil("the subscriber has the last event", every: .milliseconds(1)) {
            try publisher.publish(topic: "e/end", message(.event, ""))
            return !ended.all.isEmpty
        }

        // As many in each of the two processes, and what is on the way between them.
        #expect(1_000..<2_500 ~= taken.all.count)
    }

    @Test func `each subscriber of a topic is announced, not only the first`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let subscriptions = Inbox<String>()
        _ = try server.bindPublisher(.logTail) { subscriptions.put($0) }
        let clients = try (0..<3).map { try directory.bus("client-\($0)") }
        defer {
            for client in clients { client.stop() }
            server.stop()
        }

        for client in clients { _ = try client.subscribe(.logTail, topics: ["head"]) { _, _ in } }

        #expect(await subscriptions.waitFor(3) == ["head", "head", "head"])
    }

    @Test func `a closed subscription is heard no more`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        defer {
            client.stop()
            server.stop()
        }
        let subscriptions = Inbox<String>()
        let heard = Inbox<String>()
        let publisher = try server.bindPublisher(.logTail) { subscriptions.put($0) }
        let first = try client.subscribe(.logTail, topics: ["a"]) { _, _ in heard.put("first") }
        _ = try client.subscribe(.logTail, topics: ["a"]) { _, _ in heard.put("second") }
        _ = await subscriptions.waitFor(2)

        first.close()
        client.post { heard.put("closed") }
        _ = try await heard.first()
        try publisher.publish(topic: "a", message(.live, ""))

        #expect(await heard.waitFor(2) == ["closed", "second"])
    }

    @Test func `a subscriber hears a publisher that was restarted`() async throws {
        let directory = try RunDirectory()
        let client = try directory.bus("client")
        defer { client.stop() }
        let heard = Inbox<String>()
        _ = try client.subscribe(.logTail, topics: [""]) { _, message in heard.put(message.text) }
        for round in 0..<3 {
            let server = try directory.bus("server")
            let subscriptions = Inbox<String>()
            let publisher = try server.bindPublisher(.logTail) { subscriptions.put($0) }
            _ = try await subscriptions.first()
            try publisher.publish(topic: "x", message(.event, "\(round)"))
            #expect(await heard.waitFor(round + 1).last == "\(round)")
            server.stop()
        }
    }

    @Test func `publishing does not wait, not even for a stalled subscriber`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let stuck = try directory.bus("stuck")
        let client = try directory.bus("client")
        let gate = DispatchGate()
        defer {
            gate.open()
            client.stop()
            stuck.stop()
            server.stop()
        }
        let subscriptions = Inbox<String>()
        let heard = Inbox<Int64>()
        let publisher = try server.bindPublisher(.logTail) { subscriptions.put($0) }
        _ = try stuck.subscribe(.logTail, topics: [""]) { _, _ in gate.wait() }
        _ = try client.subscribe(.logTail, topics: [""]) { _, message in
            heard.put(message.header.sequence)
        }
        _ = await subscriptions.waitFor(2)

        // More than the stuck one's high-water marks and buffers hold.
        let count = 40_000
        for batch in 0..<count / 500 {
            for number in batch * 500..<batch * 500 + 500 {
                var event = message(
                    .event, "an event of some sixty bytes, so that buffers do fill up")
                event.header.sequence = Int64(number)
                try publisher.publish(topic: "e", event)
            }
            _ = await heard.waitFor(batch * 500 + 500)
        }

        #expect(heard.count == count)
        #expect(heard.all == heard.all.sorted())
    }

    @Test func `an event too large for subscribers is refused when it is published`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        defer { server.stop() }
        let publisher = try server.bindPublisher(.logTail)

        let large = await failure { () throws(Failure) in
            try publisher.publish(
                topic: "e",
                Message(header: MessageHeader(kind: .event), payload: Data(count: 1 << 20)))
        }
        let topic = await failure { () throws(Failure) in
            try publisher.publish(
                topic: String(repeating: "e", count: 257), message(.event, ""))
        }

        #expect(large?.code == .tooLarge)
        #expect(topic?.code == .invalidParameter)
    }
}
