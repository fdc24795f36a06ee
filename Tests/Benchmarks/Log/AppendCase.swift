// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Platform
import SQLite
import Site

/// Durable appends by clients that each wait for the acknowledgement before they append again.
struct AppendCase {
    static let clientCount = 32
    let shop: Workshop
    /// Events of one append.
    let eventCount: Int

    func run() throws {
        let site = try shop.site("append")
        defer { shop.remove(site) }
        let (perSecond, times) = try ours(site)
        let sizes = try batchSizes(site)
        let name = eventCount == 1 ? "durable appends" : "durable appends of \(eventCount) events"
        let mean = Double(sizes.reduce(0, +)) / Double(max(1, sizes.count))
        let note = "\(Self.clientCount) clients; \(Int(mean.rounded())) events a commit"
        let line = Line(name, ours: perSecond, unit: "events/s").noting(note)

        let raw = try shop.peers(
            ["append", shop.directory + "/raw.sqlite", "\(Self.payload.count)"],
            input: sizes.map { "\($0)\n" }.joined())
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: shop.directory + "/raw.sqlite" + suffix)
        }
        Output.write(
            line.beside("SQLite in C, the same batches", raw.perSecond, atLeast: 0.7)
                .times(times, theirs: raw))
        guard let python = shop.python else { return }
        let theirs: PeerFigures = try Program(
            python.program,
            [
                python.script, shop.directory + "/python.sqlite", "\(Self.clientCount)",
                "\(shop.seconds)", "\(eventCount)", "\(Self.payload.count)",
            ]
        ).result()
        Output.write(
            line.beside("eventsourcing, SQLite recorder", theirs.perSecond, atLeast: 5)
                .times(times, theirs: theirs))
    }

    static let payload = Data(
        (#"{"attempt":{"chunk":17,"lease":"5E0A3B1C-8F5E-4C53-9E5A-2B9B0C6D7E8F","number":1},"#
            + #""processID":4711,"worker":"0D7F2A40-6C2B-4A55-8C9E-6A1F0E3D2C1B"}"#).utf8)

    private func ours(_ site: Site) throws -> (Double, Times) {
        let logd = try shop.cairn("cairn-logd", site)
        defer { logd.end() }
        let bus = try BusThread(name: "bench", runDirectory: site.runDirectory)
        defer { bus.stop() }
        let times = Shared<[Int64]>([])
        let eventCount = eventCount
        let length = shop.seconds
        let began = Shared(Int64(0))
        let ended = Shared(Int64(0))
        try Blocking.run {
            let logs = try (0..<Self.clientCount).map { _ in try LogReader(bus: bus) }
            _ = try await logs[0].head()
            began.value = MonotonicClock.nanoseconds()
            let end = began.value + Int64(length * 1e9)
            try await withThrowingTaskGroup(of: [Int64].self) { group in
                for (number, log) in logs.enumerated() {
                    group.addTask {
                        try await Self.client(number, log, eventCount, until: end)
                    }
                }
                for try await some in group { times.change { $0 += some } }
            }
            ended.value = MonotonicClock.nanoseconds()
        }
        let took = Double(ended.value - began.value) / 1e9
        return (Double(times.value.count * eventCount) / took, Times(times.value))
    }

    private static func client(
        _ number: Int, _ log: LogReader, _ eventCount: Int, until end: Int64
    ) async throws -> [Int64] {
        guard let stream = StreamName(rawValue: "bench-\(number)") else { return [] }
        var times: [Int64] = []
        var next: Int64 = 0
        while true {
            let start = MonotonicClock.nanoseconds()
            guard start < end else { return times }
            let events = (0..<eventCount).map { _ in
                NewEvent(
                    id: .timeOrdered(), type: "job.chunk.leased", schema: 1, data: payload,
                    metadata: EventMetadata())
            }
            try await log.append(
                events, to: stream, expected: next == 0 ? .noStream : .exact(next - 1))
            next += Int64(eventCount)
            times.append(MonotonicClock.nanoseconds() - start)
        }
    }

    /// Number of events in each commit.
    private func batchSizes(_ site: Site) throws -> [Int64] {
        let connection = try Connection(path: site.logFile, mode: .read)
        var statement = try connection.prepare("SELECT last - first + 1 FROM batch")
        var sizes: [Int64] = []
        while try statement.step() { sizes.append(statement.integer(0)) }
        return sizes
    }
}
