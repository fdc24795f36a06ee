// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import ZeroMQ

/// Publishes: an XPUB socket.
final class PublisherChannel: Channel {
    static let maximumTopicByteCount = 256
    /// Messages that wait for a subscriber, in the publisher's process and as many in its own.
    static let highWaterMark: Int32 = 1_000
    private let onSubscribe: (@Sendable (String) -> Void)?

    init(
        _ loop: BusLoop, _ endpoint: Endpoint, _ onSubscribe: (@Sendable (String) -> Void)?
    ) throws(Failure) {
        self.onSubscribe = onSubscribe
        var options = SocketOptions()
        options.sendHighWaterMark = Self.highWaterMark
        options.everySubscription = true
        try super.init(loop, endpoint, .xpub, .bind, options)
    }

    override func receive() {
        for _ in 0..<Self.batchCount {
            switch nextSubscription() {
            case nil:
                isDrained = true
                return
            case .fault: loop.counters.reject(.topic)
            case .begins(let topic): onSubscribe?(topic)
            case .ends: break
            }
        }
    }

    private enum Subscription {
        case begins(String)
        case ends
        case fault
    }

    private func nextSubscription() -> Subscription? {
        var subscription: Subscription?
        withSocket { socket throws(ZeroMQError) in
            guard try socket.receive(&loop.headFrame) else { return }
            subscription = Self.parse(loop.headFrame.copy())
            while loop.headFrame.hasMore {
                subscription = .fault
                guard try socket.receive(&loop.headFrame) else { break }
            }
        }
        return subscription
    }

    /// One byte, 1 = begins and 0 = ends, then the topic.
    private static func parse(_ bytes: [UInt8]) -> Subscription {
        guard let first = bytes.first, first <= 1, bytes.count <= 1 + maximumTopicByteCount,
            let topic = String(validating: bytes.dropFirst(), as: UTF8.self)
        else { return .fault }
        return first == 1 ? .begins(topic) : .ends
    }

    func publish(_ topic: String, _ message: Message) {
        let isSent = (try? send(message, topic: topic)) ?? false
        if !isSent { loop.counters.change { $0.droppedPublicationCount += 1 } }
    }
}

/// Publishes messages under topics to all subscribers; a hint, never the record.
public struct Publisher: Sendable {
    let thread: BusThread
    let id: UInt64
    let endpoint: Endpoint

    /// Publishes; any thread, never waits.
    ///
    /// Subscribers get it when their subscription is a prefix of the topic and they keep up: beyond
    /// 1,000 waiting messages a subscriber misses some. When the mailbox of the bus thread is full
    /// it is dropped and counted. Throws `Failure`: `tooLarge`, `invalidParameter` for a topic of
    /// more than 256 bytes.
    public func publish(topic: String, _ message: Message) throws(Failure) {
        guard topic.utf8.count <= PublisherChannel.maximumTopicByteCount else {
            throw Failure(
                .invalidParameter, "topic '\(topic.prefix(80))…' is longer than 256 bytes")
        }
        do throws(Failure) { try endpoint.check(message) } catch {
            thread.loop.counters.change { $0.oversizeCount += 1 }
            throw error
        }
        let id = id
        let thread = thread
        let isIn = thread.tryOnThread { loop in
            (loop.channel(id) as? PublisherChannel)?.publish(topic, message)
        }
        if !isIn { thread.loop.counters.change { $0.droppedPublicationCount += 1 } }
    }
}
