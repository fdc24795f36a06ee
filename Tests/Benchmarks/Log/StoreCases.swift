// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import EventLog
import Foundation
import Jobs
import MapState
import Platform
import SQLite
import Site

/// The stored log: folding, verification, start, and memory.
struct StoreCases {
    let shop: Workshop

    /// Commits that many events, in batches of a busy site's size.
    private func fill(_ path: String, _ count: Int) throws {
        let store = try SQLiteEventStore(path: path) {
            Timestamp(microseconds: WallClock.microseconds())
        }
        var corpus = Corpus()
        while try store.head() < Int64(count) {
            let appends = try corpus.next(100)
            let batch = store.append(batch: appends.map { AppendRequest(appends: [$0]) })
            for result in batch.results { _ = try result.get() }
            try store.checkpointIfDue()
        }
        try store.checkpoint(truncating: true)
    }

    /// From the file into the states of every service, and through `verify`, beside a scan in C.
    func foldAndVerify() throws {
        let site = try shop.site("fold")
        defer { shop.remove(site) }
        try fill(site.logFile, shop.isShort ? 300_000 : 1_000_000)
        let reader = try SQLiteEventReader(path: site.logFile)
        let head = try reader.head()
        let scan = try shop.peers(["scan", site.logFile])

        var folded = Folded()
        let foldSeconds = try seconds {
            let scan = try LogScan(path: site.logFile)
            while let events = try scan.next() {
                for record in events { try folded.apply(record) }
            }
        }
        guard folded.maps.sequence == head, folded.jobs.sequence == head else {
            throw Failure(.internal, "the fold did not reach the end of the log")
        }
        let events = Double(head)
        Output.write(
            Line("replay into state", ours: events / foldSeconds, unit: "events/s")
                .beside("raw scan in C", scan.perSecond)
                .asking(atLeast: 250_000))

        let verifySeconds = try seconds {
            let page = try LogAudit.verify(path: site.logFile)
            if let fault = page.fault { throw Failure(.corrupt, fault.message) }
            guard page.checkedThrough == head else {
                throw Failure(.internal, "verify did not reach the end of the log")
            }
        }
        Output.write(
            Line("verify", ours: events / verifySeconds, unit: "events/s")
                .beside("raw scan in C", scan.perSecond)
                .asking(atLeast: 1_000_000))
        try startAndFollow(site, head: head)
    }

    /// The start of a service: it reads everything from `cairn-logd`, page by page.
    private func startAndFollow(_ site: Site, head: Int64) throws {
        let logd = try shop.cairn("cairn-logd", site)
        defer { logd.end() }
        let bus = try BusThread(name: "bench", runDirectory: site.runDirectory)
        defer { bus.stop() }
        let log = try LogReader(bus: bus)
        try Blocking.run { _ = try await log.head() }
        let took = try seconds {
            try Blocking.run {
                var folded = Folded()
                var after: Int64 = 0
                while after < head {
                    let page = try await log.read(ReadRequest(after: after, limit: 1_000))
                    for record in page.events { try folded.apply(record) }
                    after = page.through
                }
            }
        }
        Output.write(
            Line(
                "replay into state through cairn-logd", ours: Double(head) / took, unit: "events/s")
        )
    }

    /// Appends many events through `cairn-logd` with a subscriber that never reads; then restarts
    /// it on the result.
    func memoryAndStart() throws {
        let site = try shop.site("memory")
        defer { shop.remove(site) }
        try memory(site)
        try start(site)
        try ServiceStartCases(shop: shop).run(on: site)
    }

    private func memory(_ site: Site) throws {
        let logd = try shop.cairn("cairn-logd", site)
        defer { logd.end() }
        let dead = try shop.role(["listen", site.path])
        defer { dead.end(by: SIGKILL) }
        _ = try dead.line()
        dead.signal(SIGSTOP)
        let bus = try BusThread(name: "bench", runDirectory: site.runDirectory)
        defer { bus.stop() }
        let log = try LogReader(bus: bus)
        var corpus = Corpus()
        var sizes: [Int] = []
        let count = shop.memoryEventCount
        let took = try seconds {
            var made = 0
            while made < count {
                let appends = try corpus.next(1_000)
                made += appends.reduce(0) { $0 + $1.events.count }
                try Blocking.run { try await Self.append(appends, to: log) }
                if made / (count / 100) > sizes.count { sizes.append(logd.residentByteCount) }
            }
        }
        // Buffers up to their bounds fill in the first quarter; after that nothing may grow.
        let settled = Array(sizes.dropFirst(sizes.count / 4))
        let early = settled.prefix(max(1, settled.count / 4)).max() ?? 0
        let late = settled.suffix(max(1, settled.count / 4)).max() ?? 0
        Output.write(
            Line("memory with a dead subscriber", ours: Double(late) / 1_048_576, unit: "MiB")
                .beside("itself after a quarter", Double(early) / 1_048_576, atMost: 1.1)
                .noting("\(count) events, \(Int(Double(count) / took)) a second"))
    }

    /// Four parts at once, so that the writer has something to gather; a stream's events stay
    /// together.
    private static func append(_ appends: [StreamAppend], to log: LogReader) async throws {
        let parts = Dictionary(grouping: appends) { $0.stream.rawValue.utf8.last.map { $0 % 4 } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in parts.values { group.addTask { try await log.append(part) } }
            try await group.waitForAll()
        }
    }

    private func start(_ site: Site) throws {
        let start = MonotonicClock.nanoseconds()
        let logd = try shop.cairn("cairn-logd", site)
        defer { logd.end() }
        let bus = try BusThread(name: "bench", runDirectory: site.runDirectory)
        defer { bus.stop() }
        let log = try LogReader(bus: bus)
        let head = Shared(Int64(0))
        try Blocking.run { head.value = try await log.head().head }
        let took = Double(MonotonicClock.nanoseconds() - start) / 1e9
        Output.write(
            Line("start of cairn-logd", ours: took, unit: "s").asking(atMost: 1)
                .noting("\(head.value) events in the log; until the first answer"))
    }
}
