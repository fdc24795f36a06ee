// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Platform
import Site

/// Producer, log, subscriber: three processes.
///
/// An event is counted when the subscriber's handler has it,
/// which is after its commit.
struct PipelineCase {
    let shop: Workshop

    struct Figures: Codable {
        var perSecond: Double
        /// Microseconds from the event's making to the handler.
        var p50: Double
        var p99: Double
    }

    func run() throws {
        let many = try measure(
            count: shop.isShort ? 200_000 : 2_000_000, eventsOfAppend: 500, perSecond: 0)
        Output.write(
            Line("producer to durable to subscriber", ours: many.perSecond, unit: "events/s")
                .asking(atLeast: 300_000).noting("appends of 500 events, 8 under way"))
        try paced()
        let floor = try DiskFloor.times(
            in: shop.directory, rounds: shop.isShort ? 1_000 : 20_000)
        Output.write(
            Line(
                "the disk alone: 16 KiB written and waited for, p50", ours: floor.quantile(0.5),
                unit: "µs"
            ).noting(
                "p99 \(Int(floor.quantile(0.99))) µs, longest \(Int(floor.quantile(1))) µs"))
    }

    /// In turns with the same three processes in C, with one thread each beside libzmq's own.
    private func paced() throws {
        var runs = PacedRuns()
        for _ in 0..<(shop.isShort ? 1 : 3) {
            try runOurs(&runs)
            try runPeers(&runs)
        }
        report(runs, "producer to durable to subscriber at 10,000/s, p50", atMost: 400)
    }

    private struct PacedRuns {
        var ours: [Figures] = []
        var overSQLite: [PeerFigures] = []
        var overFile: [PeerFigures] = []
    }

    private var pacedCount: Int { shop.isShort ? 20_000 : 40_000 }

    private func runOurs(_ runs: inout PacedRuns) throws {
        runs.ours.append(
            try measure(count: pacedCount, eventsOfAppend: 1, perSecond: 10_000))
    }

    private func runPeers(_ runs: inout PacedRuns) throws {
        runs.overSQLite.append(try peer("sqlite", count: pacedCount))
        runs.overFile.append(try peer("file", count: pacedCount))
    }

    private func report(_ runs: PacedRuns, _ title: String, atMost bound: Double?) {
        let p50 = runs.ours.map(\.p50).median
        Output.write(
            Line(title, ours: p50, unit: "µs").asking(atMost: bound)
                .noting(
                    "p99 \(Int(runs.ours.map(\.p99).median)) µs; "
                        + "\(Int(runs.ours.map(\.perSecond).median)) a second"))
        for (name, theirs, ratio) in [
            ("C over SQLite", runs.overSQLite, 1.25), ("C over a plain file", runs.overFile, nil),
        ] {
            Output.write(
                Line(title, ours: p50, unit: "µs")
                    .beside(name, theirs.map { $0.p50 ?? 0 }.median, atMost: ratio)
                    .noting("its p99 \(Int(theirs.map { $0.p99 ?? 0 }.median)) µs"))
        }
    }

    private func peer(_ kind: String, count: Int) throws -> PeerFigures {
        let site = try shop.site("pipeline-peer")
        defer { shop.remove(site) }
        let payload = PipelineRoles.payload().count
        return try shop.peers(
            ["pipeline", site.runDirectory, kind, "\(count)", "10000", "\(payload)"])
    }

    private func measure(
        count: Int, eventsOfAppend: Int, perSecond: Int
    ) throws -> Figures {
        let site = try shop.site("pipeline")
        defer { shop.remove(site) }
        let logd = try shop.cairn("cairn-logd", site)
        defer { logd.end() }
        let subscriber = try shop.role(["subscribe", site.path, "--count", "\(count)"])
        _ = try subscriber.line()
        let producer = try shop.role(
            [
                "produce", site.path, "--count", "\(count)", "--of-append", "\(eventsOfAppend)",
                "--per-second", "\(perSecond)",
            ])
        let figures: Figures = try subscriber.result()
        producer.end()
        return figures
    }
}

/// The processes of this case.
enum PipelineRoles {
    static func subscribe(_ site: Site, count: Int) throws {
        let bus = try BusThread(name: "subscriber", runDirectory: site.runDirectory)
        let log = try LogReader(bus: bus)
        let times = Shared<[Int64]>([])
        times.change { $0.reserveCapacity(count) }
        let began = Shared(Int64(0))
        let done = BlockingQueue<Int64>(capacity: 1)
        let subscription = try LogSubscription(bus: bus, log: log, isPrompt: true) { events, _ in
            let now = MonotonicClock.nanoseconds()
            if began.value == 0, !events.isEmpty { began.value = now }
            let isLast = times.change { times in
                for event in events { times.append(now - time(of: event)) }
                return times.count >= count
            }
            if isLast { _ = done.tryPush(now) }
        }
        while subscription.isStale { usleep(1_000) }
        Output.ready()
        guard let ended = done.pop() else { return }
        subscription.cancel()
        let figures = Times(times.value)
        Output.write(
            value: PipelineCase.Figures(
                perSecond: Double(count) / (Double(ended - began.value) / 1e9),
                p50: figures.quantile(0.5), p99: figures.quantile(0.99)))
        bus.stop()
    }

    /// Position of the text in an event's payload, after spaces.
    private static let timePlace = 6..<26
    private static let template = Data(
        (#"{"at":"# + String(repeating: " ", count: timePlace.count) + #","worker":"#
            + #""0D7F2A40-6C2B-4A55-8C9E-6A1F0E3D2C1B","lease":"5E0A3B1C-8F5E-4C53-9E5A-2B9B0C6D7E8F"}"#)
            .utf8)

    /// When it was made, in nanoseconds.
    private static func time(of record: RecordedEvent) -> Int64 {
        let bytes = record.event.data.bytes
        var number: Int64 = 0
        for place in timePlace where bytes.byte(at: place) != UInt8(ascii: " ") {
            number = number * 10 + Int64(bytes.byte(at: place) & 15)
        }
        return number
    }

    /// Of an event that is made now.
    static func payload() -> Data {
        var payload = template
        var bytes = payload.mutableBytes
        var (rest, place) = (MonotonicClock.nanoseconds(), timePlace.upperBound)
        while rest > 0, place > timePlace.lowerBound {
            place -= 1
            bytes.storeBytes(
                of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: place, as: UInt8.self)
            rest /= 10
        }
        return payload
    }

    private static func event() -> NewEvent {
        NewEvent(
            id: .timeOrdered(), type: "bench.made", schema: 1, data: payload(),
            metadata: EventMetadata())
    }

    /// Appends as fast as eight appends in flight allow, or at a rate of events per second,
    /// regardless of those in flight.
    static func produce(_ site: Site, count: Int, ofAppend: Int, perSecond: Int) throws {
        let bus = try BusThread(name: "producer", runDirectory: site.runDirectory)
        let log = try LogReader(bus: bus)
        try Blocking.run { _ = try await log.head() }
        guard let stream = StreamName(rawValue: "bench-pipeline") else { return }
        let ended = DispatchSemaphore(value: 0)
        @Sendable func append(_ eventCount: Int) {
            let events = (0..<eventCount).map { _ in event() }
            log.append([StreamAppend(stream: stream, expected: .any, events: events)]) { _ in
                ended.signal()
            }
        }
        let appendCount = (count + ofAppend - 1) / ofAppend
        @Sendable func eventCount(_ number: Int) -> Int { min(ofAppend, count - number * ofAppend) }
        if perSecond > 0 {
            let pace = Pace(
                on: bus, interval: Int64(ofAppend) * 1_000_000_000 / Int64(perSecond),
                appendCount: appendCount
            ) { append(eventCount($0)) }
            bus.post { pace.go() }
            for _ in 0..<appendCount { ended.wait() }
        } else {
            let mostUnderWay = 8
            for number in 0..<appendCount {
                if number >= mostUnderWay { ended.wait() }
                append(eventCount(number))
            }
            for _ in 0..<min(mostUnderWay, appendCount) { ended.wait() }
        }
        bus.stop()
    }

    /// Subscribes to every event and reads none of them once it is stopped.
    static func listen(_ site: Site) throws {
        let bus = try BusThread(name: "listener", runDirectory: site.runDirectory)
        let heard = BlockingQueue<Bool>(capacity: 1)
        let subscriber = try bus.subscribe(.logTail, topics: ["e/", "h/"]) { _, _ in
            _ = heard.tryPush(true)
        }
        // The subscription is active once its first message arrives; before that nothing is
        // buffered for it.
        _ = heard.pop()
        Output.ready()
        while true {
            sleep(60)
            subscriber.add(topic: "e/")
        }
    }
}

/// Appends at a pace, on the bus thread, which sleeps in between: like the peer's, whose one thread
/// sleeps and sends.
private final class Pace: Sendable {
    private let bus: BusThread
    private let interval: Int64
    private let appendCount: Int
    private let append: @Sendable (_ number: Int) -> Void
    private let start = MonotonicClock.nanoseconds()

    init(
        on bus: BusThread, interval: Int64, appendCount: Int,
        append: @escaping @Sendable (_ number: Int) -> Void
    ) {
        self.bus = bus
        self.interval = interval
        self.appendCount = appendCount
        self.append = append
    }

    /// Makes what is due from this one on, and comes back for the next; bus thread only.
    func go(on number: Int = 0) {
        var number = number
        var early = Int64(0)
        while number < appendCount {
            early = start + Int64(number) * interval - MonotonicClock.nanoseconds()
            if early > 0 { break }
            append(number)
            number += 1
        }
        guard number < appendCount else { return }
        bus.schedule(after: .nanoseconds(early)) { [number] in self.go(on: number) }
    }
}
