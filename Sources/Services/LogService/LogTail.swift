// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnCore
internal import Daemon
internal import EventLog
internal import Platform
internal import Synchronization

/// Publishes committed events, and twice a second the head of the log.
///
/// Topics: `e/<category>/` for events, `h/` for heads. Messages are hints: a subscriber that misses
/// one detects the gap by `previousInCategory` or by the next head, and reads the events.
final class LogTail: Sendable {
    static let headTopic = "h/"
    static let headInterval = Duration.milliseconds(500)
    /// Maximum number of categories listed in a head message.
    static let categoryBound = 100

    /// Maximum size of the events in one message; a larger event has to be read.
    ///
    /// Up to a thousand messages are buffered for a stalled subscriber: 32 MiB.
    static let runByteCapacity = 32 << 10

    private let publisher = Mutex<Publisher?>(nil)
    private let timer = Mutex<BusThread.Timer?>(nil)
    private let published: Mutex<LogHead>
    private let committed: Mutex<LogHead>
    private let failpoints = Failpoints()
    /// For the gateways of this machine; nil where the file cannot be made.
    private let mapHead: SharedNumber?
    private static let mapCategory = "map"

    init(bus: BusThread, head: LogHead, mapHead: SharedNumber?) throws(Failure) {
        self.mapHead = mapHead
        mapHead?.value = head.categories?[Self.mapCategory] ?? 0
        published = Mutex(head)
        committed = Mutex(head)
        let bound = try bus.bindPublisher(.logTail) { [weak self] _ in self?.publishHead() }
        publisher.withLock { $0 = bound }
        let started = bus.schedule(every: Self.headInterval) { [weak self] in self?.publishHead() }
        timer.withLock { $0 = started }
    }

    /// The head of the log: every acknowledged event is below it.
    var head: LogHead { Self.bounded(committed.withLock { $0 }) }

    /// Advances the head; called before any event of the batch is acknowledged.
    func commit(_ batch: CommittedBatch) {
        committed.withLock { head in
            for run in batch.runs {
                let last = batch.records.position(run.records.upperBound - 1)
                head.advance(to: last, in: run.category)
                if run.category == Self.mapCategory { mapHead?.value = last }
            }
        }
    }

    /// Publishes a committed batch; called on the bus thread, in log order.
    ///
    /// Consecutive events of one category share a message, in their stored bytes. An event too
    /// large to publish has to be read; a head message announces it at once.
    func publish(_ batch: CommittedBatch) {
        guard let publisher = publisher.withLock({ $0 }) else { return }
        var isLeftOut = false
        for run in batch.runs {
            var rest = run.records
            while !rest.isEmpty {
                failpoints.pass("log.duringPublish")
                let part = Self.part(of: rest, batch.records)
                rest = part.upperBound..<rest.upperBound
                if batch.records.range(part).count <= Self.runByteCapacity {
                    publish(part, of: batch.records, in: run.category, publisher)
                } else {
                    isLeftOut = true
                }
                // Published last, so that no head message overtakes the events it covers.
                let last = batch.records.position(part.upperBound - 1)
                published.withLock { $0.advance(to: last, in: run.category) }
            }
        }
        if isLeftOut { publishHead() }
    }

    private func publish(
        _ run: Range<Int>, of records: CanonicalRecords, in category: String,
        _ publisher: Publisher
    ) {
        let first = run.lowerBound
        let header = MessageHeader(
            kind: .event, contentType: MessageHeader.fixedLayout, messageID: records.id(first),
            sequence: records.position(first),
            previousInCategory: published.withLock { $0.categories?[category] ?? 0 })
        let payload = PublishedEvents.fixedLayout(records, run)
        try? publisher.publish(
            topic: "e/" + category + "/", Message(header: header, payload: payload))
    }

    /// The longest prefix of consecutive events that fits a message; at least one event.
    private static func part(of indices: Range<Int>, _ records: CanonicalRecords) -> Range<Int> {
        var end = indices.lowerBound + 1
        while end < indices.upperBound,
            records.range(indices.lowerBound..<end + 1).count <= runByteCapacity
        { end += 1 }
        return indices.lowerBound..<end
    }

    private func publishHead() {
        let head = Self.bounded(published.withLock { $0 })
        guard let publisher = publisher.withLock({ $0 }), let message = try? Message(head) else {
            return
        }
        try? publisher.publish(topic: Self.headTopic, message)
    }

    private static func bounded(_ head: LogHead) -> LogHead {
        (head.categories?.count ?? 0) > categoryBound
            ? LogHead(head: head.head, incarnation: head.incarnation) : head
    }

    func stop() { timer.withLock { $0 }?.cancel() }
}

extension LogHead {
    fileprivate mutating func advance(to position: Int64, in category: String) {
        head = position
        categories?[category] = position
    }
}
