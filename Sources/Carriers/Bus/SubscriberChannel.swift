// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform
internal import ZeroMQ

/// Subscribes: a SUB socket.
final class SubscriberChannel: Channel {
    private let handler: @Sendable (String, Message) -> Void
    private var topics: [String] = []

    /// The topic of the group being read.
    private var groupTopic: String??

    init(
        _ loop: BusLoop, _ endpoint: Endpoint, _ topics: [String],
        _ handler: @escaping @Sendable (String, Message) -> Void
    ) throws(Failure) {
        self.handler = handler
        var options = SocketOptions()
        options.receiveHighWaterMark = PublisherChannel.highWaterMark
        try super.init(loop, endpoint, .sub, .connect, options)
        for topic in topics { add(topic) }
    }

    func add(_ topic: String) {
        topics.append(topic)
        subscribe(topic)
    }

    private func subscribe(_ topic: String) {
        withSocket { socket throws(ZeroMQError) in try socket.subscribe(Array(topic.utf8)) }
        loop.expectInput(of: self)
    }

    override func didReopen() { for topic in topics { subscribe(topic) } }

    func remove(_ topic: String) {
        guard let index = topics.firstIndex(of: topic) else { return }
        topics.remove(at: index)
        withSocket { socket throws(ZeroMQError) in try socket.unsubscribe(Array(topic.utf8)) }
        loop.expectInput(of: self)
    }

    /// Nil for an invalid topic.
    private static func topic(_ bytes: RawSpan) -> String? {
        guard bytes.byteCount <= PublisherChannel.maximumTopicByteCount else { return nil }
        return String(validating: bytes.copy(), as: UTF8.self)
    }

    override func receive() {
        for _ in 0..<Self.batchCount {
            switch next(after: Self.topic, &groupTopic) {
            case nil: return
            case .fault(let fault, _): loop.counters.reject(fault)
            case .message(nil, _): loop.counters.reject(.topic)
            case .message(let topic?, let message):
                loop.counters.countReceived()
                handler(topic, message)
                guard !isClosed else { return }
            }
        }
    }
}

/// A subscription to a publisher; it survives restarts of that publisher, with a gap.
public struct Subscriber: Sendable {
    let thread: BusThread
    let id: UInt64

    /// Subscribes to a further topic prefix; any thread.
    public func add(topic: String) {
        let id = id
        let thread = thread
        thread.post { (thread.loop.channel(id) as? SubscriberChannel)?.add(topic) }
    }

    /// Takes one earlier `add` back; any thread.
    public func remove(topic: String) {
        let id = id
        let thread = thread
        thread.post { (thread.loop.channel(id) as? SubscriberChannel)?.remove(topic) }
    }

    /// Ends it; after that, once the bus thread has got to it, the handler is not called again.
    public func close() { thread.closeChannel(id) }
}
