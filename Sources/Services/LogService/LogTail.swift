// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnCore
internal import Daemon
internal import EventLog
internal import Synchronization

/// Publishes committed events, and twice a second how long the log is.
///
/// Topics: `e/<category>/` for events, `h/` for heads. What is published is a hint: a subscriber
/// that misses something sees it by `previousInCategory` or by the next head, and reads it.
final class LogTail: Sendable {
    static let headTopic = "h/"
    static let headInterval = Duration.milliseconds(500)
    /// Beyond so many categories a head message does not list them.
    static let categoryBound = 100

    /// The most bytes of events that travel together; a greater event is left to be read.
    ///
    /// For a subscriber that stands still a thousand messages wait: 32 MiB.
    static let runByteCapacity = 32 << 10

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
    func commit(_ batch: CommittedBatch) {
        committed.withLock { head in
            for run in batch.runs {
                let last = batch.records.position(run.records.upperBound - 1)
                head.advance(to: last, in: run.category)
            }
        }
    }

    /// Publishes what was committed; called on the bus thread, in the order of the log.
    ///
    /// Neighbours of one category travel together, in the bytes in which they were stored. An event
    /// too large to publish is left to be read; the head tells of it at once.
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
                // Only now, so that no head message overtakes the events it speaks of.
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

    /// The first of some neighbours, at least one, and not too many for a message.
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
