// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import EventLog
import Foundation
import Site
import TestKit
import Testing

/// Appends of one process that are under way at once.
@Suite(.serialized, .timeLimit(.minutes(3))) struct JoinedAppendTests {
    let scratch: ScratchSite
    init() throws { scratch = try ScratchSite() }

    /// One call, what became of it, and what may become of it.
    private struct Call: Sendable {
        var appends: [StreamAppend]
        var result: Result<AppendResult, Failure>
        /// Nil for success.
        var refusal: Failure.Code?
        /// Whether it was sent again because the log was silent for two seconds, as on a busy
        /// machine: its result may be that of the repetition.
        var isAskedAgain = false
    }

    /// A client that has learnt the fixed layout: before that nothing is joined.
    private func client() async throws -> LogClient {
        let client = try LogClient(scratch.site)
        try await client.log.append(
            [newEvent()], to: try stream("job-first"), expected: .any, timeout: .seconds(30))
        return client
    }

    private static func call(
        _ log: LogReader, _ appends: [StreamAppend], refusal: Failure.Code? = nil
    ) async -> Call {
        let start = ContinuousClock.now
        do throws(Failure) {
            // Both ways, the same ones whenever the seed is.
            let isWaiting = appends[0].events.count.isMultiple(of: 2)
            let result = try await log.append(appends, isWaiting: isWaiting)
            return Call(
                appends: appends, result: .success(result), refusal: refusal,
                isAskedAgain: start.duration(to: .now) >= .seconds(2))
        } catch {
            return Call(appends: appends, result: .failure(error), refusal: refusal)
        }
    }

    private static func events(_ count: Int) -> [NewEvent] { (0..<count).map { newEvent("\($0)") } }

    /// One producer: each call after the answer to the one before it.
    private static func produce(_ log: LogReader, _ number: Int, rounds: Int) async throws -> [Call]
    {
        var random = SeededGenerator(seed: UInt64(number))
        let own = try stream("job-\(number)")
        var calls: [Call] = []
        var ownCount: Int64 = 0
        for _ in 0..<rounds {
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                // Too many to be joined, or to be accepted.
                let count = [255, 256, 1_000, 1_001].randomElement(using: &random) ?? 255
                let append = StreamAppend(
                    stream: try stream("job-many"), expected: .any, events: events(count))
                calls.append(await call(log, [append], refusal: count > 1_000 ? .tooLarge : nil))
            case 1:
                let append = StreamAppend(
                    stream: own, expected: .exact(ownCount + 7), events: events(2))
                calls.append(await call(log, [append], refusal: .conflict))
            case 2:
                let expected = ownCount == 0 ? ExpectedVersion.noStream : .exact(ownCount - 1)
                calls.append(
                    await call(
                        log, [StreamAppend(stream: own, expected: expected, events: events(3))]))
                ownCount += 3
            case 3:
                var bad = newEvent()
                bad.type = "no type"
                let append = StreamAppend(
                    stream: try stream("job-any"), expected: .any, events: [newEvent(), bad])
                calls.append(await call(log, [append], refusal: .invalidParameter))
            case 4:
                guard let again = calls.last(where: { $0.refusal == nil }) else { continue }
                calls.append(await call(log, again.appends))
            case 5:
                guard let known = calls.last(where: { $0.refusal == nil })?.appends[0].events[0]
                else { continue }
                var other = known
                other.data = Data("{}".utf8)
                let append = StreamAppend(
                    stream: try stream("job-any"), expected: .any, events: [newEvent(), other])
                calls.append(await call(log, [append], refusal: .idReused))
            case 6:
                let appends = try (0..<Int.random(in: 2...70, using: &random)).map {
                    StreamAppend(
                        stream: try stream("job-part-\($0)"), expected: .any, events: events(1))
                }
                calls.append(await call(log, appends))
            default:
                let append = StreamAppend(
                    stream: try stream("job-any"), expected: .any,
                    events: events(Int.random(in: 1...5, using: &random)))
                calls.append(await call(log, [append]))
            }
        }
        return calls
    }

    @Test(.slow) func `each caller has the result that separate appends would have given`()
        async throws
    {
        let running = try RunningLog(scratch.site)
        defer { running.stop() }
        let client = try await client()

        let calls = try await withThrowingTaskGroup(of: [Call].self) { group in
            for number in 0..<48 {
                group.addTask { try await Self.produce(client.log, number, rounds: 25) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }

        for call in calls {
            if case .failure(let failure) = call.result { #expect(failure.code == call.refusal) }
            #expect((call.refusal == nil) == ((try? call.result.get()) != nil))
        }
        // The same calls in sequence, in the order of the log, to a log in memory.
        let single = InMemoryEventStore { Timestamp(microseconds: 0) }
        try single.append(
            [StreamAppend(stream: try stream("job-first"), expected: .any, events: [newEvent()])])
        let accepted = calls.compactMap { call in
            (try? call.result.get()).map { (call: call, result: $0) }
        }.sorted {
            ($0.result.firstPosition, $0.result.isRepeat ? 1 : 0) < (
                $1.result.firstPosition, $1.result.isRepeat ? 1 : 0
            )
        }
        for (call, result) in accepted {
            let expected = try single.append(call.appends)
            #expect(expected.firstPosition == result.firstPosition)
            #expect(expected.lastPosition == result.lastPosition)
            #expect(
                expected.isRepeat == result.isRepeat || (result.isRepeat && call.isAskedAgain))
        }
        let range = ReadRange(after: 1, limit: .max, byteLimit: .max)
        let events = try await client.log.all(after: 1)
        let model = try single.read(range).events
        #expect(events.map(\.event.id) == model.map(\.event.id))
        #expect(events.map(\.stream) == model.map(\.stream))
        #expect(events.map(\.streamPosition) == model.map(\.streamPosition))
        let times = Dictionary(
            uniqueKeysWithValues: events.map { ($0.globalPosition, $0.recordedAt) })
        #expect(accepted.allSatisfy { times[$0.result.firstPosition] == $0.result.recordedAt })
    }

    @Test(.processes, arguments: [false, true], [1, 5])
    func `a log that is away is no result for those who wait and those who cannot`(
        isWaiting: Bool, seconds: Int
    ) async throws {
        let logd = try LogdProcess(scratch.site)
        let client = try await client()
        logd.kill()

        let append = StreamAppend(
            stream: try stream("job-any"), expected: .any, events: [newEvent()])
        let failure = await #expect(throws: Failure.self) {
            try await client.log.append(
                [append], isWaiting: isWaiting, timeout: .seconds(seconds))
        }
        #expect(failure?.code == .logUnavailable)
    }

    @Test func `more callers at once than an append may have events are all answered`() async throws
    {
        let running = try RunningLog(scratch.site)
        defer { running.stop() }
        let client = try await client()
        let name = try stream("job-any")

        let positions = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<3_000 {
                group.addTask {
                    try await client.log.append(
                        [newEvent("\(number)")], to: name, expected: .any, timeout: .seconds(60)
                    ).firstPosition
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(positions.sorted() == Array(2...3_001))
    }

    @Test(.processes)
    func `appends made while sixteen messages are under way go as soon as they fill one`()
        async throws
    {
        let logd = try LogdProcess(scratch.site)
        let client = try await client()
        let name = try stream("job-any")
        let sent = client.bus.statistics.sentCount
        try logd.freeze()

        // Sixteen before which fewer are under way, ten full messages of 64, and three that wait
        // for an answer.
        let calls = (0..<659).map { _ in
            Task {
                try await client.log.append([newEvent()], to: name, expected: .any).firstPosition
            }
        }
        #expect(await eventually { client.bus.statistics.sentCount >= sent + 26 })
        logd.signal(SIGCONT)

        var positions: [Int64] = []
        for call in calls { positions.append(try await call.value) }
        #expect(positions.sorted() == Array(2...660))
        #expect(client.bus.statistics.sentCount == sent + 27)
    }

    @Test(.processes) func `appends that are repeated together have their own results`()
        async throws
    {
        let logd = try LogdProcess(scratch.site)
        let client = try await client()
        let name = try stream("job-any")
        let events = Self.events(64)
        var results: [AppendResult] = []
        for event in events {
            results.append(try await client.log.append([event], to: name, expected: .any))
        }
        let sent = client.bus.statistics.sentCount
        try logd.freeze()
        let others = (0..<16).map { _ in
            Task { try await client.log.append([newEvent()], to: name, expected: .any) }
        }
        #expect(await eventually { client.bus.statistics.sentCount >= sent + 16 })

        // At once, so in order: a full message.
        let again = events.map { event in
            Task.immediate { try await client.log.append([event], to: name, expected: .any) }
        }
        #expect(await eventually { client.bus.statistics.sentCount >= sent + 17 })
        logd.signal(SIGCONT)

        for (call, result) in zip(again, results) {
            var expected = result
            expected.isRepeat = true
            #expect(try await call.value == expected)
        }
        #expect(results[0].recordedAt < results[63].recordedAt)
        for call in others { _ = try await call.value }
    }

    @Test(.processes)
    func `a caller that gives up while other appends are under way has appended nothing`()
        async throws
    {
        let logd = try LogdProcess(scratch.site)
        let client = try await client()
        let name = try stream("job-any")
        let sent = client.bus.statistics.sentCount
        try logd.freeze()
        let first = (0..<16).map { _ in
            Task { try await client.log.append([newEvent()], to: name, expected: .any) }
        }
        #expect(await eventually { client.bus.statistics.sentCount >= sent + 16 })

        let last = Task { try await client.log.append([newEvent()], to: name, expected: .any) }
        last.cancel()
        let failure = await #expect(throws: Failure.self) { try await last.value }
        logd.signal(SIGCONT)

        #expect(failure?.code == .cancelled)
        var positions: [Int64] = []
        for call in first { positions.append(try await call.value.firstPosition) }
        #expect(positions.sorted() == Array(2...17))
        #expect(try await client.log.head().head == 17)
    }
}

extension LogReader {
    /// Either form of append; a completion that is called twice traps, one that is not called never
    /// returns.
    fileprivate func append(
        _ appends: [StreamAppend], isWaiting: Bool, timeout: Duration = .seconds(60)
    ) async throws(Failure) -> AppendResult {
        if isWaiting { return try await append(appends, timeout: timeout) }
        return try await withCheckedContinuation { continuation in
            append(appends, timeout: timeout) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Everything after a position.
    fileprivate func all(after position: Int64) async throws -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        var page = ReadPage(events: [], through: position, head: .max)
        while page.through < page.head {
            page = try await read(ReadRequest(after: page.through, limit: 1_000))
            events += page.events
        }
        return events
    }
}
