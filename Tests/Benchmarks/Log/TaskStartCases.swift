// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import Foundation
import Platform
import Site

/// Latency of an empty `Task` until its first instruction, in a process with an idle bus, and in
/// one under full load: blocking work must not hold the threads that tasks share.
struct TaskStartCases {
    let shop: Workshop

    func run() throws {
        for isSaturated in [false, true] {
            let site = try shop.site(isSaturated ? "busy" : "idle")
            defer { shop.remove(site) }
            let count = shop.isShort ? 2_000 : 20_000
            let host = try shop.role(
                ["tasks", site.path, "--count", "\(count)"] + (isSaturated ? ["--saturated"] : []))
            _ = try host.line()
            let asker =
                isSaturated
                ? try shop.role(
                    ["ask", site.path, "--count", "100000000", "--window", "256"]) : nil
            defer { asker?.end() }
            let figures = try host.result(TaskFigures.self)
            var line = Line(
                "an empty task starts, p99, bus \(isSaturated ? "saturated" : "idle")",
                ours: figures.p99 / 1e3, unit: "ms"
            ).asking(atMost: 50)
            line.p50Microseconds = figures.p50
            line.note = "\(figures.answered) questions answered meanwhile"
            Output.write(line)
        }
    }
}

struct TaskFigures: Codable {
    var p50: Double
    var p99: Double
    var answered: Int
}

extension BusRoles {
    /// Answers requests, and starts two thousand tasks a second, with `isSaturated` from the first
    /// request on.
    static func tasks(_ site: Site, count: Int, isSaturated: Bool) throws {
        let bus = try BusThread(name: "tasks", runDirectory: site.runDirectory)
        let answered = Shared(0)
        try bus.bindRouter(endpoint(BenchEndpoint.requests)) { request in
            answered.change { $0 += 1 }
            request.reply(request.message.payload)
        }
        Output.ready()
        while isSaturated && answered.value < 10_000 { usleep(1_000) }
        let before = answered.value
        let times = Shared([Int64]())
        for _ in 0..<count {
            let made = MonotonicClock.nanoseconds()
            Task {
                let waited = MonotonicClock.nanoseconds() - made
                times.change { $0.append(waited) }
            }
            usleep(500)
        }
        while times.value.count < count { usleep(1_000) }
        let found = Times(times.value)
        Output.write(
            value: TaskFigures(
                p50: found.quantile(0.5), p99: found.quantile(0.99),
                answered: answered.value - before))
        bus.stop()
    }
}
