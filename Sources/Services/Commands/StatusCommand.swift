// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Terminal

struct StatusCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the processes, the workers and the log of a site.",
        discussion: """
            Exits 0 when the site is up, 69 when it is not, or its log or its supervisor does not \
            answer: the answers of the others are shown all the same. JSON lines: one \
            {"kind":"process",…} per process of 'cairn up', one {"kind":"worker",…} per worker the \
            supervisor knows, one {"kind":"supervisor",…} with what waits and what was counted, \
            one {"kind":"log","head":…}, without a head where the log does not answer, one \
            {"kind":"disk",…} with the bytes of the site's folders and those free on its disk, one \
            {"kind":"access",…}, without users where there are no rules, so that every client may \
            do everything, and one {"kind":"open","path":…,"mode":…,"owner":…} per file or \
            directory of the site that other users of this machine may read or write.
            """)

    @OptionGroup var common: CommonOptions
    @Option(
        help: "Time limit for the supervisor in seconds; three for the log.",
        transform: Reading.number) var timeout = 10.0

    func validate() throws {
        guard 0.001...86_400 ~= timeout else {
            throw ValidationError("--timeout takes 0.001 to 86400 seconds.")
        }
    }

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
        /// Absent if the log does not answer.
        var head: Int64?
        var site: String
    }

    private struct AccessLine: Encodable {
        /// Number of users; absent without access rules.
        var users: Int?
        /// Permissions of requests without a token, as `query:World`.
        var anonymous: [String]
    }

    /// A file or directory that is readable or writable for other users of the machine.
    private struct OpeningLine: Encodable {
        var path: String
        /// Octal, as `0644`.
        var mode: String
        /// Numeric id of the owner.
        var owner: UInt32
    }

    /// The supervisor's answers.
    private struct Hub {
        var workers: [WorkerDescription] = []
        var status: SupervisorStatus
    }

    func perform(_ session: Session) async throws {
        let processes =
            session.supervisor.flatMap { _ in
                SiteRecord.read(runDirectory: session.site.runDirectory)
            }?.processes ?? []
        let limit = Duration.milliseconds(Int64(timeout * 1_000))
        guard !session.isOfFiles else { return try await showFiles(session) }
        let client = try session.client()
        async let asked = Self.hub(client, limit)
        let head = await session.head(within: min(limit, .seconds(3)))
        let hub = await asked
        let workers = hub?.workers ?? []
        if session.output.isJSON {
            for process in processes {
                try session.output.record(Line(kind: "process", value: process))
            }
            for worker in workers {
                try session.output.record(Line(kind: "worker", value: worker))
            }
            if let hub {
                try session.output.record(Line(kind: "supervisor", value: hub.status))
            }
            try session.output.record(
                Line(kind: "log", value: LogLine(head: head, site: session.site.path)))
        } else {
            try session.output.lines(Self.text(processes, workers, head, session.site.path))
            if let hub { try session.output.lines(hub.status.lines) }
        }
        try DiskUse(of: session.site).show(session.output)
        try showAccess(session)
        let silent = [
            head == nil ? Self.silence(session) : nil, hub == nil ? "the supervisor" : nil,
        ]
        let names = silent.compactMap(\.self)
        guard names.isEmpty else {
            throw Failure(
                .unavailable, "no answer in time from " + names.joined(separator: " and from "))
        }
    }

    /// Shows what the files of a site that is down say; throws as for a site that is down.
    private func showFiles(_ session: Session) async throws {
        let head = try await session.head()
        if session.output.isJSON {
            try session.output.record(
                Line(kind: "log", value: LogLine(head: head, site: session.site.path)))
        } else {
            try session.output.lines([
                "site  \(session.site.path), not up", "log   \(head) events",
            ])
        }
        try DiskUse(of: session.site).show(session.output)
        try showAccess(session)
        throw Failure(.unavailable, "the site '\(session.site.path)' is not up")
    }

    /// Prints the permissions of anonymous clients, and the files accessible to other users of this
    /// machine.
    private func showAccess(_ session: Session) throws {
        let rules = try session.site.access.rules()
        let anonymous = rules?.anonymous.map { "\($0.operation.rawValue):\($0.service)" } ?? []
        var openings: [OpeningLine] = []
        PrivateFiles.forEachOpening(below: session.site.path) { opening in
            openings.append(
                OpeningLine(
                    path: opening.path, mode: "0" + String(opening.mode, radix: 8),
                    owner: opening.owner))
        }
        guard !session.output.isJSON else {
            try session.output.record(
                Line(
                    kind: "access",
                    value: AccessLine(users: rules?.users.count, anonymous: anonymous)))
            for opening in openings {
                try session.output.record(Line(kind: "open", value: opening))
            }
            return
        }
        var lines: [String] = [""]
        if let rules {
            lines.append(
                "access \(rules.users.count) users; without a token "
                    + (anonymous.isEmpty ? "nothing" : anonymous.joined(separator: ", ")))
        } else {
            lines.append("access open: no users, every client of a gateway may do everything")
        }
        lines += openings.prefix(Self.listedOpenings).map {
            "open   '\($0.path)' has mode \($0.mode), owner \($0.owner): "
                + "other users may read or write it"
        }
        if openings.count > Self.listedOpenings {
            lines.append("open   \(openings.count - Self.listedOpenings) more")
        }
        try session.output.lines(lines)
    }

    /// Maximum number of accessible files in the text output.
    private static let listedOpenings = 10

    /// Nil if it does not answer in time.
    private static func hub(_ client: CairnClient, _ limit: Duration) async -> Hub? {
        guard let workers = try? await client.workers(timeout: limit),
            let status = try? await client.supervisorStatus(timeout: limit)
        else { return nil }
        return Hub(workers: workers, status: status)
    }

    /// Describes why the log does not answer.
    private static func silence(_ session: Session) -> String {
        guard let process = session.logProcess, RunningProcess.isStopped(process) else {
            return "the log"
        }
        return "the log: cairn-logd, process \(process), is stopped by a signal"
    }

    private static func text(
        _ processes: [ProcessRecord], _ workers: [WorkerDescription], _ head: Int64?, _ site: String
    ) -> [String] {
        let now = WallClock.microseconds()
        var lines = ["site  \(site)", "log   " + (head.map { "\($0) events" } ?? "no answer"), ""]
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
    /// Waiting tasks by pool, and tasks without an answer.
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
