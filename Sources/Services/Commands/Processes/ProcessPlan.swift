// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Recording

/// What a process of a site does; recorded by its name.
enum ProcessRole: Hashable, Sendable {
    case log, mapstate, supervisor, gateway
    case worker(WorkerPool)

    /// In the order in which they are started.
    static let all: [ProcessRole] =
        [.log, .mapstate, .supervisor] + WorkerPool.allCases.map { .worker($0) } + [.gateway]

    var name: String {
        switch self {
        case .log: "log"
        case .mapstate: "mapstate"
        case .supervisor: "supervisor"
        case .gateway: "gateway"
        case .worker(let pool): pool.name
        }
    }

    /// The executable, found beside `cairn`.
    var executable: String {
        switch self {
        case .log: "cairn-logd"
        case .mapstate: "cairn-mapstate"
        case .supervisor: "cairn-supervisor"
        case .gateway: "cairn-gateway"
        case .worker: WorkerPool.program
        }
    }

    /// When it is stopped: lower phases first, the log last of all.
    var stopPhase: Int {
        switch self {
        case .gateway: 0
        case .worker: 1
        case .supervisor: 2
        case .mapstate: 3
        case .log: 4
        }
    }
}

extension ProcessRole: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard let role = Self.all.first(where: { $0.name == name }) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "process role '\(name)': expected one of "
                    + Self.all.map(\.name).joined(separator: ", "))
        }
        self = role
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

extension ProcessRole {
    /// How long it may take to stop: what it drains in, and some seconds.
    var stopSeconds: Int64 { self == .supervisor ? 33 : 8 }
}

/// One process that shall run.
struct ProcessPlan: Hashable, Sendable {
    var role: ProcessRole
    /// 1, 2 … among those of its role.
    var number: Int
    var path: String
    var arguments: [String]
    var logPath: String

    /// `identify-2`; without the number where there is only one by nature.
    var name: String {
        if case .worker = role { return "\(role.name)-\(number)" }
        return role.name
    }
}

/// How many processes of each kind a site runs.
struct SiteShape: Hashable, Sendable {
    var port = 6080
    /// How many processes each pool has; as many as usual for one that is not in it.
    var workerCounts: [WorkerPool: Int] = [:]
    /// Whether the gateway answers identify itself where the answer is at hand.
    var identifyAtOnce = true
    /// How many requests each process keeps.
    var recording = RecordingRate.standard
    /// The file of settings that each process reads.
    var config: String?

    /// The plans for the whole site, or for some roles of it.
    func plans(
        site: String, runDirectory: String, programs: String,
        roles: [ProcessRole] = ProcessRole.all
    ) -> [ProcessPlan] {
        roles.flatMap { role in
            (0..<count(of: role)).map { index in
                var plan = ProcessPlan(
                    role: role, number: index + 1, path: programs + "/" + role.executable,
                    arguments: ["--site", site] + (config.map { ["--config", $0] } ?? []),
                    logPath: "")
                var records = false
                switch role {
                case .log, .mapstate, .supervisor: break
                case .worker(let pool):
                    plan.arguments = ["--pool", pool.name] + plan.arguments
                    records = pool.settings.recordedName != nil
                case .gateway:
                    plan.arguments += ["--port", String(port)]
                    if !identifyAtOnce { plan.arguments.append("--no-identify-at-once") }
                    records = true
                }
                if records, recording != .standard {
                    plan.arguments += ["--record", recording.description]
                }
                plan.logPath = runDirectory + "/" + plan.name + ".log"
                return plan
            }
        }
    }

    /// How many processes of a pool run.
    func count(of pool: WorkerPool) -> Int {
        workerCounts[pool]
            ?? pool.settings.standardCount(ProcessInfo.processInfo.activeProcessorCount)
    }

    private func count(of role: ProcessRole) -> Int {
        if case .worker(let pool) = role { return count(of: pool) }
        return 1
    }
}

/// What `run/up.json` and `cairn status --json` say of one process.
struct ProcessRecord: Codable, Hashable, Sendable {
    enum State: String, Codable, Hashable, Sendable {
        /// It runs.
        case running
        /// It ended and is started again soon.
        case waiting
        /// It was asked to end.
        case stopping
        /// It ended and is not started again.
        case stopped
    }

    var role: ProcessRole
    var name: String
    var pid: Int32
    var state: State
    /// How often it was started again.
    var restarts: Int
    /// When it was started last.
    var since: Timestamp
    /// How it ended last: `exit 1`, `signal 9`.
    var lastEnd: String?
    /// How often it ended, up to now, without ten steady seconds between: such a process rests
    /// longer each time, up to five seconds.
    var crashesInRow: Int?
    /// When it is started again, while it rests.
    var startsAt: Timestamp?
}

/// What `run/up.json` says.
struct SiteRecord: Codable, Hashable, Sendable {
    var pid: Int32
    var port: Int
    /// Whether every process was seen to answer once.
    var isReady: Bool
    var processes: [ProcessRecord]

    static func path(runDirectory: String) -> String { runDirectory + "/up.json" }

    /// The record there is; nil when there is none or it cannot be read.
    static func read(runDirectory: String) -> SiteRecord? {
        guard
            let data = FileManager.default.contents(atPath: path(runDirectory: runDirectory)),
            data.count < 1 << 20
        else { return nil }
        return try? CairnJSON.decode(SiteRecord.self, from: data)
    }
}
