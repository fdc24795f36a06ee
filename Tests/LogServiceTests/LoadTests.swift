// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Site
import Synchronization
import TestKit
import Testing

/// More than fits, faster than one can follow.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LoadTests {
    let scratch: ScratchSite
    init() throws { scratch = try ScratchSite() }

    @Test func `appends beyond the queue are refused as busy, and asking again gets them in`()
        async throws
    {
        let running = try RunningLog(scratch.site)
        defer { running.stop() }
        let client = try LogClient(scratch.site)
        let requester = try client.bus.connectRequester(.logRequests)
        let requests = try (0..<60).map { number in
            var event = newEvent("\(number)")
            event.data = Data(repeating: 120, count: 1_000_000)
            return AppendRequest(appends: [
                StreamAppend(stream: try stream("map-a"), expected: .any, events: [event])
            ])
        }

        let outcomes = await withTaskGroup(of: Failure.Code?.self) { group in
            for request in requests {
                group.addTask {
                    do throws(Failure) {
                        _ = try await requester.request(
                            operation: "append", payload: try CairnJSON.encode(request),
                            timeout: .seconds(60))
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let accepted = outcomes.count { $0 == nil }
        #expect(accepted >= 12 && accepted < 60)
        #expect(outcomes.allSatisfy { $0 == nil || $0 == .busy })
        #expect(try await client.log.head().head == Int64(accepted))

        for request in requests {
            try await client.log.append(request.appends, timeout: .seconds(60))
        }
        #expect(try await client.log.head().head == 60)
    }

    /// Number of events of the flood: 20,000, or `CAIRN_FLOOD`, 200,000 for the long form.
    private static let floodCount =
        ProcessInfo.processInfo.environment["CAIRN_FLOOD"].flatMap { Int($0) } ?? 20_000

    @Test(.processes)
    func `fast, slow, late and frozen subscribers get every event while the log stays small`()
        async throws
    {
        let rounds = Self.floodCount / 100
        let logd = try LogdProcess(scratch.site)
        let writer = try LogClient(scratch.site)
        let readers = try (0..<4).map { _ in try LogClient(scratch.site) }
        let handled = (0..<4).map { _ in Handled() }
        var subscriptions: [LogSubscription] = []
        func subscribe(
            _ number: Int, pause: @escaping @Sendable () async -> Void = {}
        ) throws {
            let (reader, target) = (readers[number], handled[number])
            subscriptions.append(
                try LogSubscription(bus: reader.bus, log: reader.log) { events, upTo in
                    await pause()
                    target.take(events, upTo: upTo)
                })
        }
        let thaw = AsyncStream.makeStream(of: Never.self)
        let steps = AsyncStream.makeStream(of: Void.self)
        try subscribe(0)
        // It takes one page for ten that are appended, until the flood is over.
        try subscribe(1) { for await _ in steps.stream { break } }
        // It takes what comes first, and stands still until the flood is over.
        try subscribe(3) { for await _ in thaw.stream {} }
        var before = 0
        for round in 0..<rounds {
            try await writer.log.append(
                (0..<100).map { newEvent("\(round).\($0)") }, to: try stream("job-\(round % 7)"),
                expected: .any, timeout: .seconds(30))
            if round == rounds / 4 { before = try memory(of: logd) }
            if round == rounds / 2 { try subscribe(2) }
            if round % 10 == 0 { steps.continuation.yield() }
        }
        let after = try memory(of: logd)
        #expect(handled[3].position == 0)
        thaw.continuation.finish()
        steps.continuation.finish()

        let last = Int64(rounds * 100)
        for target in handled {
            #expect(await target.reached(last))
            let isWhole = target.events.map(\.globalPosition) == Array(1...last)
            #expect(isWhole)
        }
        #expect(after < before + 48 << 20, "\(before >> 20) MiB, then \(after >> 20) MiB")
        for subscription in subscriptions { subscription.cancel() }
    }

    @Test func `a large event is not published, and followed in its place all the same`()
        async throws
    {
        let running = try RunningLog(scratch.site)
        defer { running.stop() }
        let client = try LogClient(scratch.site)
        let published = Mutex<[Int64]>([])
        let isThere = Mutex(false)
        let subscriber = try client.bus.subscribe(.logTail, topics: ["e/", "h/"]) {
            topic, message in
            guard topic.hasPrefix("e/") else { return isThere.withLock { $0 = true } }
            published.withLock { $0.append(message.header.sequence) }
        }
        defer { subscriber.close() }
        let handled = Handled()
        let subscription = try LogSubscription(bus: client.bus, log: client.log) { events, upTo in
            handled.take(events, upTo: upTo)
        }
        defer { subscription.cancel() }
        #expect(await eventually { !subscription.isStale && isThere.withLock { $0 } })

        let large = String(repeating: "x", count: 40 << 10)
        for round in 0..<20 {
            try await client.log.append(
                [newEvent(round % 3 == 1 ? large : "small")], to: try stream("job-1"),
                expected: .any)
        }

        #expect(await handled.reached(20))
        #expect(handled.events.map(\.globalPosition) == Array(1...20))
        let small = (1...20).filter { $0 % 3 != 2 }.map(Int64.init)
        #expect(await eventually { published.withLock { $0.count >= small.count } })
        #expect(published.withLock { $0 } == small)
    }

    /// Resident bytes.
    private func memory(of logd: LogdProcess) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(logd.processID)/statm", encoding: .utf8)
        let pages = try #require(Int(text.split(separator: " ")[1]))
        return pages * 4096
    }

    @Test func `a request that makes no sense is refused by a sentence`() async throws {
        let running = try RunningLog(scratch.site)
        defer { running.stop() }
        let client = try LogClient(scratch.site)
        let requester = try client.bus.connectRequester(.logRequests)
        func refusal(_ operation: String, _ text: String) async -> Failure? {
            do throws(Failure) {
                _ = try await requester.request(
                    operation: operation, payload: Data(text.utf8), timeout: .seconds(20))
                return nil
            } catch {
                return error
            }
        }

        #expect(await refusal("explode", "{}")?.code == .notFound)
        #expect(await refusal("append", "not json")?.code == .invalidParameter)
        #expect(await refusal("append", #"{"appends":[]}"#)?.code == .invalidParameter)
        #expect(
            await refusal(
                "append", #"{"appends":[{"stream":"nodash","expected":"any","events":[]}]}"#)?
                .code == .invalidParameter)
        #expect(await refusal("read", #"{"after":0,"limit":0}"#)?.message.contains("limit") == true)
        #expect(await refusal("read", #"{"after":0,"limit":1001}"#)?.code == .invalidParameter)
        #expect(await refusal("read", #"{"after":-1,"limit":1}"#)?.code == .invalidParameter)
        #expect(await refusal("verify", #"{"after":0,"limit":10001}"#)?.code == .invalidParameter)
        #expect(await refusal("read", #"{"after":9,"limit":1}"#) == nil)
        #expect(await refusal("head", "") == nil)
    }
}
