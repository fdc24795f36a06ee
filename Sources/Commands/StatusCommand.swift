// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Terminal

struct StatusCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the processes, the workers and the log of a site.",
        discussion: """
            Exits 0 when the site is up, 69 when it is not. JSON lines: one \
            {"kind":"process",…} per process of 'cairn up', one {"kind":"worker",…} per worker the \
            supervisor knows, one {"kind":"supervisor",…} with what waits and what was counted, one \
            {"kind":"log","head":…}.
            """)

    @OptionGroup var common: CommonOptions

    private struct Line<Value: Encodable>: Encodable {
        var kind: String
        var value: Value

        private enum CodingKeys: String, CodingKey { case kind }

        func encode(to encoder: any Encoder) throws {
            try value.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(kind, forKey: .kind)
        }
    }

    private struct LogLine: Encodable {
        var head: Int64
        var site: String
    }

    func perform(_ session: Session) async throws {
        let processes =
            session.supervisor.flatMap { _ in
                SiteRecord.read(runDirectory: session.site.runDirectory)
            }?.processes ?? []
        let head = try await session.head()
        let workers = try await session.client().workers()
        let supervisor = try await session.client().supervisorStatus()
        if session.output.isJSON {
            for process in processes {
                try session.output.record(Line(kind: "process", value: process))
            }
            for worker in workers {
                try session.output.record(Line(kind: "worker", value: worker))
            }
            try session.output.record(Line(kind: "supervisor", value: supervisor))
            try session.output.record(
                Line(kind: "log", value: LogLine(head: head, site: session.site.path)))
        } else {
            try session.output.lines(Self.text(processes, workers, head, session.site.path))
            try session.output.lines(supervisor.lines)
        }
    }

    private static func text(
        _ processes: [ProcessRecord], _ workers: [WorkerDescription], _ head: Int64, _ site: String
    ) -> [String] {
        let now = WallClock.microseconds()
        var lines = ["site  \(site)", "log   \(head) events", ""]
        let byProcess = Dictionary(
            workers.map { ($0.processID, $0) }, uniquingKeysWith: { first, _ in first })
        var table = Table(
            ["process", "pid", "state", "up", "restarts", "done", "running", "last end"],
            numbers: [1, 3, 4, 5, 6])
        for process in processes {
            let worker = byProcess[process.pid]
            table.add([
                process.name, "\(process.pid)", process.stateText(now),
                age(now - process.since.microseconds), "\(process.restarts)",
                worker.map { "\($0.doneCount)" } ?? "",
                worker.map { "\($0.runningTaskCount + $0.held.count)" } ?? "",
                process.lastEnd ?? "",
            ])
        }
        for worker in workers where !processes.contains(where: { $0.pid == worker.processID }) {
            table.add([
                "\(worker.pool)", "\(worker.processID)", worker.isDraining ? "draining" : "running",
                age(now - worker.since.microseconds), "", "\(worker.doneCount)",
                "\(worker.runningTaskCount + worker.held.count)", "",
            ])
        }
        lines += table.lines
        return lines
    }

    /// `42s`, `7m`, `3h`, `12d`.
    static func age(_ microseconds: Int64) -> String {
        let seconds = max(0, microseconds / 1_000_000)
        switch seconds {
        case ..<120: return "\(seconds)s"
        case ..<7200: return "\(seconds / 60)m"
        case ..<172_800: return "\(seconds / 3600)h"
        default: return "\(seconds / 86_400)d"
        }
    }
}

extension ProcessRecord {
    /// `running`, or `waiting 3s, crashed 5 times in a row`.
    fileprivate func stateText(_ now: Int64) -> String {
        guard let startsAt else { return state.rawValue }
        let seconds = max(0, startsAt.microseconds - now + 999_999) / 1_000_000
        let crashes = crashesInRow ?? 0
        return "\(state.rawValue) \(seconds)s"
            + (crashes > 1 ? ", crashed \(crashes) times in a row" : "")
    }
}

extension SupervisorStatus {
    /// What waits, pool by pool, and what became of tasks without an answer.
    fileprivate var lines: [String] {
        let waiting = pools.map {
            "\($0.pool) \($0.waitingTaskCount) waiting, \($0.runningTaskCount) running"
                + ($0.cancellingTaskCount > 0 ? " (\($0.cancellingTaskCount) being stopped)" : "")
        }
        let resting = pools.filter { $0.restMilliseconds ?? 0 > 0 }.map {
            "       \($0.pool) is given nothing for \($0.restMilliseconds ?? 0) ms: "
                + "\($0.deathsInRow ?? 0) workers died in a row"
        }
        return [
            "", "tasks  " + waiting.joined(separator: "; "),
            "       \(abandonedTaskCount) abandoned, \(cancelledTaskCount) of them stopped, "
                + "\(expiredTaskCount) expired, \(redispatchedTaskCount) given again, "
                + "\(lostWorkerCount) workers lost",
        ] + resting
    }
}
