// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Daemon
internal import Synchronization

/// Publishes committed events, and twice a second how long the log is.
///
/// Topics: `e/<category>/` for events, `h/` for heads. What is published is a hint: a subscriber that
/// misses something sees it by `previousInCategory` or by the next head, and reads it.
final class LogTail: Sendable {
    static let headTopic = "h/"
    static let headInterval = Duration.milliseconds(500)
    /// Beyond so many categories a head message does not list them.
    static let categoryBound = 100

    /// About how many bytes of events travel together.
    static let runByteCapacity = 128 << 10

    private let publisher = Mutex<Publisher?>(nil)
    private let timer = Mutex<BusThread.Timer?>(nil)
    private let published: Mutex<LogHead>
    private let committed: Mutex<LogHead>
    private let failpoints = Failpoints()

    init(bus: BusThread, head: LogHead) throws(Failure) {
        published = Mutex(head)
        committed = Mutex(head)
        let bound = try bus.bindPublisher(.logTail) { [weak self] _ in self?.publishHead() }
        publisher.withLock { $0 = bound }
        let started = bus.schedule(every: Self.headInterval) { [weak self] in self?.publishHead() }
        timer.withLock { $0 = started }
    }

    /// How long the log is: nothing acknowledged lies beyond.
    var head: LogHead { Self.bounded(committed.withLock { $0 }) }

    /// Counts what was committed; to be called before anything of it is acknowledged.
    func commit(_ events: [RecordedEvent]) {
        committed.withLock { head in
            for event in events { head.advance(to: event) }
        }
    }

    /// Publishes what was committed; called by one thread, in the order of the log.
    ///
    /// Neighbours of one category travel together. An event too large to publish is left to be read.
    func publish(_ events: [RecordedEvent]) {
        guard let publisher = publisher.withLock({ $0 }) else { return }
        var rest = events[...]
        while let first = rest.first {
            failpoints.pass("log.duringPublish")
            let category = first.stream.category
            let run = rest.prefix(Self.runLength(of: rest, in: category))
            rest = rest.dropFirst(run.count)
            let header = MessageHeader(
                kind: .event, contentType: MessageHeader.fixedLayout, messageID: first.event.id,
                sequence: first.globalPosition,
                previousInCategory: published.withLock { $0.categories?[category] ?? 0 })
            if let payload = try? PublishedEvents.fixedLayout(run) {
                try? publisher.publish(
                    topic: "e/" + category + "/", Message(header: header, payload: payload))
            }
            // Only now, so that no head message overtakes the events it speaks of.
            if let last = run.last { published.withLock { $0.advance(to: last) } }
        }
    }

    /// How many events of the category stand in front, at least one, and not too many for a message.
    private static func runLength(of events: ArraySlice<RecordedEvent>, in category: String) -> Int
    {
        var byteCount = 0
        let length = events.prefix { event in
            byteCount += event.event.data.count + 500
            return byteCount <= runByteCapacity && event.stream.isOf(category: category)
        }.count
        return max(1, length)
    }

    private func publishHead() {
        let head = Self.bounded(published.withLock { $0 })
        guard let publisher = publisher.withLock({ $0 }), let payload = try? CairnJSON.encode(head)
        else { return }
        try? publisher.publish(
            topic: Self.headTopic,
            Message(header: MessageHeader(kind: .head, sequence: head.head), payload: payload))
    }

    private static func bounded(_ head: LogHead) -> LogHead {
        (head.categories?.count ?? 0) > categoryBound
            ? LogHead(head: head.head, incarnation: head.incarnation) : head
    }

    func stop() { timer.withLock { $0 }?.cancel() }
}

extension LogHead {
    fileprivate mutating func advance(to event: RecordedEvent) {
        head = event.globalPosition
        categories?[event.stream.category] = event.globalPosition
    }
}
