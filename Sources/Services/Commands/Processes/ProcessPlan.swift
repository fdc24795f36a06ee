// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Recording

/// The role of a process of a site; recorded by its name.
enum ProcessRole: Hashable, Sendable {
    case log, mapstate, supervisor, gateway
    case worker(WorkerPool)

    /// In start order.
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

    /// Stop phase: lower phases first, the log last.
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
    /// Time limit to stop: the drain limit and some seconds.
    var stopSeconds: Int64 { self == .supervisor ? 33 : 8 }
}

/// A process to be run.
struct ProcessPlan: Hashable, Sendable {
    var role: ProcessRole
    /// 1, 2 … within its role.
    var number: Int
    var path: String
    var arguments: [String]
    var logPath: String

    /// `identify-2`; without the number for a role with a single process.
    var name: String {
        if case .worker = role { return "\(role.name)-\(number)" }
        return role.name
    }
}

/// Number of processes of each kind in a site.
struct SiteShape: Hashable, Sendable {
    var port = 6080
    /// The address that the gateway listens on.
    var host = "127.0.0.1"
    /// Whether the gateway speaks TLS.
    var isSecure = false
    /// Number of processes per pool; the default applies to missing pools.
    var workerCounts: [WorkerPool: Int] = [:]
    /// Whether the gateway answers identify itself where the data is local.
    var identifyAtOnce = true
    /// Number of requests that each process records.
    var recording = RecordingRate.standard
    /// The file of settings that each process reads.
    var config: String?

    /// Where the gateway answers on this machine.
    var gatewayPort: LocalPort { LocalPort(UInt16(port), host: host) }

    /// The URL of the services, as this machine reaches them.
    var services: String {
        let host = gatewayPort.host
        return (isSecure ? "https" : "http")
            + "://\(host.contains(":") ? "[\(host)]" : host):\(port)/arcgis/rest/services"
    }

    /// The plans for the whole site, or for some of its roles.
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

    /// Number of processes of a pool.
    func count(of pool: WorkerPool) -> Int {
        workerCounts[pool]
            ?? pool.settings.standardCount(ProcessInfo.processInfo.activeProcessorCount)
    }

    private func count(of role: ProcessRole) -> Int {
        if case .worker(let pool) = role { return count(of: pool) }
        return 1
    }
}

/// The state of one process in `run/up.json` and `cairn status --json`.
struct ProcessRecord: Codable, Hashable, Sendable {
    enum State: String, Codable, Hashable, Sendable {
        /// Running.
        case running
        /// Ended; to be started again soon.
        case waiting
        /// Asked to end.
        case stopping
        /// Ended; not to be started again.
        case stopped
    }

    var role: ProcessRole
    var name: String
    var pid: Int32
    var state: State
    /// Number of restarts.
    var restarts: Int
    /// Time of the last start.
    var since: Timestamp
    /// The last exit: `exit 1`, `signal 9`.
    var lastEnd: String?
    /// Number of consecutive ends within ten seconds of a start; the delay before the next start
    /// grows with it, up to five seconds.
    var crashesInRow: Int?
    /// Time of the next start, during a delay.
    var startsAt: Timestamp?
}

/// The content of `run/up.json`.
struct SiteRecord: Codable, Hashable, Sendable {
    var pid: Int32
    var port: Int
    /// Whether every process has answered once.
    var isReady: Bool
    var processes: [ProcessRecord]

    static func path(runDirectory: String) -> String { runDirectory + "/up.json" }

    /// The record; nil when it is missing or unreadable.
    static func read(runDirectory: String) -> SiteRecord? {
        guard
            let data = FileManager.default.contents(atPath: path(runDirectory: runDirectory)),
            data.count < 1 << 20
        else { return nil }
        return try? CairnJSON.decode(SiteRecord.self, from: data)
    }
}
