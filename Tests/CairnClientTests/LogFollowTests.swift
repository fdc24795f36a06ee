// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Synchronization
import TestKit
import Testing

/// A log, the network between it and one follower, and what the follower handed on: all decided by
/// one seed.
private final class SimulatedLog: Sendable {
    struct State {
        var random: SeededGenerator
        var log: [RecordedEvent] = []
        var heads: [String: Int64] = [:]
        var network: [Message] = []
        var handled: [RecordedEvent] = []
        var position: Int64
        var fault: Failure?
        var isReading = true
        /// Nothing is lost, late, busy or killed any more.
        var isQuiet = false
        /// Whether the follower's process has been killed: nothing it still does counts.
        var isDead = false
        var deathCount = 0
    }

    static let categories = ["map", "job", "locator"]
    let state: Mutex<State>

    init(seed: UInt64, start: Int64) {
        state = Mutex(State(random: SeededGenerator(seed: seed), position: start))
    }

    var outside: LogFollow.Outside {
        LogFollow.Outside(
            read: { [self] request throws(Failure) in
                try state.withLock { state throws(Failure) in
                    guard !state.dies() else { throw Failure(.unavailable, "killed") }
                    let page = try state.page(request)
                    guard !state.dies() else { throw Failure(.unavailable, "killed") }
                    return page
                }
            },
            handOn: { [self] events, position in
                state.withLock { state in
                    guard !state.dies() else { return }
                    defer { _ = state.dies() }
                    #expect(position >= state.position)
                    #expect(events.allSatisfy { $0.globalPosition <= position })
                    state.handled += events
                    state.position = position
                }
            },
            report: { [self] isReading, fault in
                state.withLock { state in
                    state.isReading = isReading
                    state.fault = fault
                }
            },
            pause: { [self] _ in state.withLock { !$0.isDead } })
    }
}

extension SimulatedLog.State {
    mutating func chance(_ percent: Int) -> Bool {
        !isQuiet && Int.random(in: 0..<100, using: &random) < percent
    }

    /// Whether the follower's process has ended; now and then it does, here.
    mutating func dies() -> Bool {
        if !isDead, chance(1) {
            isDead = true
            deathCount += 1
        }
        return isDead
    }

    /// Answers a read: sometimes busy, of any size, while the log grows.
    mutating func page(_ request: ReadRequest) throws(Failure) -> ReadPage {
        if chance(10) { throw Failure(.busy, "simulated") }
        if chance(30) { append() }
        let matching = log.filter {
            $0.globalPosition > request.after
                && (request.category == nil || $0.stream.category == request.category)
        }
        let events = Array(matching.prefix(Int.random(in: 1...9, using: &random)))
        let head = Int64(log.count)
        let isLast = events.count == matching.count
        return ReadPage(
            events: events,
            through: isLast ? head : events.last?.globalPosition ?? request.after, head: head)
    }

    /// Commits one to four events and publishes them, more or less, one by one as an older log does
    /// or neighbours of a category together.
    mutating func append() {
        var runs: [ArraySlice<RecordedEvent>] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let category = SimulatedLog.categories.randomElement(using: &random) ?? "map"
            guard let stream = StreamName(rawValue: category + "-x") else { continue }
            let position = Int64(log.count + 1)
            let record = RecordedEvent(
                globalPosition: position, stream: stream, streamPosition: 0,
                recordedAt: Timestamp(microseconds: position),
                event: NewEvent(
                    id: UUID(), type: "t", schema: 1, data: Data(), metadata: EventMetadata()))
            log.append(record)
            if let run = runs.last, run.last?.stream == stream, chance(70) {
                runs[runs.count - 1].append(record)
            } else {
                runs.append([record])
            }
        }
        for run in runs { publish(run) }
    }

    private mutating func publish(_ run: ArraySlice<RecordedEvent>) {
        guard let first = run.first, let last = run.last else { return }
        let category = first.stream.category
        var header = MessageHeader(
            kind: .event, sequence: first.globalPosition, previousInCategory: heads[category] ?? 0)
        heads[category] = last.globalPosition
        if run.count == 1, chance(50) { return publish(header, first) }
        header.contentType = MessageHeader.fixedLayout
        guard let records = try? CanonicalRecords(run) else { return }
        publish(header, PublishedEvents.fixedLayout(records, 0..<records.count))
    }

    mutating func publishHead() {
        let head = LogHead(head: Int64(log.count), categories: chance(80) ? heads : nil)
        publish(MessageHeader(kind: .head, sequence: head.head), head)
    }

    /// Loses, doubles or delays.
    private mutating func publish(_ header: MessageHeader, _ body: some Encodable) {
        guard let payload = try? CairnJSON.encode(body) else { return }
        publish(header, payload)
    }

    private mutating func publish(_ header: MessageHeader, _ payload: Data) {
        guard !chance(15) else { return }
        for _ in 0..<(chance(10) ? 2 : 1) {
            let late = chance(15) ? Int.random(in: 0...min(6, network.count), using: &random) : 0
            network.insert(Message(header: header, payload: payload), at: network.count - late)
        }
    }

    /// Messages waiting at the follower's socket.
    mutating func deliver(_ categories: Set<String>) -> [Message] {
        let count = Int.random(in: 0...network.count, using: &random)
        defer { network.removeFirst(count) }
        return network.prefix(count).filter { message in
            guard categories.count == 1, message.header.kind == .event else { return true }
            var decoder = RecordDecoder()
            let event =
                message.header.contentType == MessageHeader.fixedLayout
                ? (try? PublishedEvents.read(fixedLayout: message.payload, by: &decoder))?.first
                : try? message.decode(RecordedEvent.self)
            return event.map { categories.contains($0.stream.category) } ?? true
        }
    }
}

@Suite struct LogFollowTests {
    /// Number of seeds for each of the sixteen cases: 40, or `CAIRN_SEEDS`, 625 for ten thousand.
    static let seedCount =
        ProcessInfo.processInfo.environment["CAIRN_SEEDS"].flatMap { UInt64($0) } ?? 40

    @Test(
        .slow,
        arguments: [[], ["map"], ["job"], ["map", "locator"]] as [Set<String>],
        [0, 10_000, 20_000, 30_000] as [UInt64])
    func `each event is handled once and in order, whatever is lost, doubled, late or killed`(
        categories: Set<String>, firstSeed: UInt64
    ) async throws {
        var deathCount = 0
        for seed in firstSeed..<firstSeed + Self.seedCount {
            let start = Int64(seed % 3 == 0 ? 0 : seed % 20)
            let world = SimulatedLog(seed: seed, start: start)
            for _ in 0..<12 { world.state.withLock { $0.append() } }
            var follow = await Self.restarted(categories, in: world)

            for _ in 0..<60 {
                let messages = world.state.withLock { state in
                    if state.chance(60) { state.append() }
                    if state.chance(25) { state.publishHead() }
                    return state.deliver(categories)
                }
                if !messages.isEmpty {
                    let goesOn = await follow.handle(messages)
                    #expect(goesOn || world.state.withLock { $0.isDead }, "seed \(seed)")
                }
                if world.state.withLock({ $0.isDead }) {
                    follow = await Self.restarted(categories, in: world)
                }
            }
            // One head message suffices to detect the missing events.
            let last = world.state.withLock { state in
                state.isQuiet = true
                return state.lastHead
            }
            #expect(await follow.handle([last]), "seed \(seed)")
            deathCount += world.state.withLock { $0.deathCount }

            world.state.withLock { state in
                let wanted = state.log.filter { record in
                    record.globalPosition > start
                        && (categories.isEmpty || categories.contains(record.stream.category))
                }
                #expect(state.handled == wanted, "seed \(seed)")
                #expect(state.position == Int64(state.log.count), "seed \(seed)")
                #expect(!state.isReading && state.fault == nil)
            }
        }
        #expect(deathCount > Int(Self.seedCount) / 10, "too few deaths: \(deathCount)")
    }

    /// A follower as a new process makes it, which may be killed in turn while it catches up.
    ///
    /// All that a killed one keeps is the position of what it handled.
    private static func restarted(
        _ categories: Set<String>, in world: SimulatedLog
    ) async -> LogFollow {
        while true {
            let kept = world.state.withLock { state in
                state.isDead = false
                state.network = []
                return state.position
            }
            var follow = LogFollow(categories: categories, after: kept, outside: world.outside)
            if await follow.catchUp(), !world.state.withLock({ $0.isDead }) { return follow }
        }
    }

    @Test func `another incarnation of the log stops the follower, if as long`() async throws {
        let (first, second) = (UUID(), UUID())
        let faults = Mutex<[Failure]>([])
        let outside = LogFollow.Outside(
            read: { _ in ReadPage(events: [], through: 7, head: 7) }, handOn: { _, _ in },
            report: { _, fault in faults.withLock { $0 += fault.map { [$0] } ?? [] } },
            pause: { _ in true })
        var follow = LogFollow(categories: [], after: 0, outside: outside)
        func head(_ incarnation: UUID) throws -> Message {
            Message(
                header: MessageHeader(kind: .head),
                payload: try CairnJSON.encode(LogHead(head: 7, incarnation: incarnation)))
        }

        #expect(await follow.catchUp())
        #expect(try await follow.handle([head(first)]))
        #expect(try await follow.handle([head(second)]) == false)
        #expect(faults.withLock { $0.map(\.code) } == [.conflict])
    }

    @Test func `a log that was replaced by an older copy stops the follower loudly`() async {
        let world = SimulatedLog(seed: 1, start: 0)
        world.state.withLock { state in
            for _ in 0..<10 { state.append() }
            state.isQuiet = true
        }
        var follow = LogFollow(categories: [], after: 0, outside: world.outside)
        #expect(await follow.catchUp())
        let (before, head) = world.state.withLock { state in
            state.log.removeLast(3)
            return (state.handled, state.lastHead)
        }

        #expect(await follow.handle([head]) == false)

        world.state.withLock { state in
            #expect(state.fault?.code == .conflict)
            #expect(state.handled == before)
        }
    }
}

extension SimulatedLog.State {
    var lastHead: Message {
        get {
            let head = LogHead(head: Int64(log.count), categories: heads)
            return Message(
                header: MessageHeader(kind: .head), payload: (try? CairnJSON.encode(head)) ?? Data()
            )
        }
    }
}
