// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Synchronization
import TestKit
import Testing

/// Identify workers that come and go while questions stream in, over HTTP and the bus.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct PoolProcessTests {
    private static let side = 20

    private struct Counts {
        var isOver = false
        var bus = 0
        var http = 0
        var wrong: [String] = []
    }

    private final class Tally: Sendable {
        private let state = Mutex(Counts())
        func withLock<Result>(_ body: (inout sending Counts) -> sending Result) -> Result {
            state.withLock(body)
        }
    }

    @Test func `adding and killing workers under load loses no answer`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(
            side: Self.side, workers: 2, gateway: ["--no-identify-at-once"])
        let counts = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<4 {
                group.addTask { await Self.askOverBus(site, counts, seed: UInt64(client)) }
            }
            for client in 0..<3 {
                group.addTask { try await Self.askOverHTTP(site, counts, seed: UInt64(client)) }
            }
            for round in 0..<15 {
                let before = counts.withLock { $0.bus + $0.http }
                // One more, one less; every third time two die at once, before the new ones come.
                if round % 3 == 2 {
                    for _ in 0..<2 { try site.kill("cairn-worker --pool identify") }
                    for _ in 0..<2 { try site.start("cairn-worker --pool identify") }
                } else {
                    try site.start("cairn-worker --pool identify")
                    try site.kill("cairn-worker --pool identify")
                }
                try await site.until("the workers of round \(round)") { site in
                    let known = try await site.client.workers().map(\.processID)
                    return Set(known) == Set(site.processIDs("cairn-worker --pool identify"))
                }
                try await site.until("answers in round \(round)") { _ in
                    counts.withLock { $0.bus + $0.http } > before + 20
                }
            }
            counts.withLock { $0.isOver = true }
            try await group.waitForAll()
        }

        let (bus, http, wrong) = counts.withLock { ($0.bus, $0.http, $0.wrong) }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
        #expect(bus > 50 && http > 50, "\(bus) over the bus, \(http) over HTTP")
        let status = try await site.client.supervisorStatus()
        #expect(status.lostWorkerCount == 20)
        print(
            "\(bus) identifies over the bus and \(http) over HTTP, 20 workers killed, \(wrong.count) "
                + "failed; \(status.redispatchedTaskCount) were given to another worker")
    }

    private static func askOverBus(
        _ site: IdentifySite, _ counts: Tally, seed: UInt64
    ) async {
        var random = SeededGenerator(seed: seed)
        while !counts.withLock({ $0.isOver }) {
            let (x, y) = (
                Int.random(in: 0..<side, using: &random), Int.random(in: 0..<side, using: &random)
            )
            var fault: String?
            do throws(Failure) {
                let answer = try await site.client.ask(
                    .identify, site.request(x: x, y: y), timeout: .seconds(40))
                let name = answer.results.first?.attributes["name"]
                if name != .string("\(x)/\(y)") { fault = "\(x)/\(y): \(answer)" }
            } catch {
                fault = "\(error)"
            }
            counts.withLock { counts in
                counts.bus += 1
                if let fault { counts.wrong.append(fault) }
            }
        }
    }

    /// On one connection, from a thread of its own.
    private static func askOverHTTP(
        _ site: IdentifySite, _ counts: Tally, seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: 100 + seed)
        let connection = try #require(Loopback(port: site.port))
        while !counts.withLock({ $0.isOver }) {
            let (x, y) = (
                Int.random(in: 0..<side, using: &random), Int.random(in: 0..<side, using: &random)
            )
            let form = site.form(x: x, y: y) + "&timeout=40"
            let body = await withCheckedContinuation { continuation in
                // A blocking read has no place on the threads that tasks share.
                Thread.detachNewThread {
                    connection.post(site.path, form)
                    continuation.resume(returning: connection.answer())
                }
            }
            counts.withLock { counts in
                counts.http += 1
                if body?.contains("\"name\":\"\(x)/\(y)\"") != true {
                    counts.wrong.append("\(x)/\(y): \(body ?? "nothing")")
                }
            }
        }
    }
}
