// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Recording

/// What a process of a site does; in the order in which they are started, the reverse of the order
/// in which they are stopped.
enum ProcessRole: String, Codable, Hashable, Sendable, CaseIterable {
    case log, mapstate, supervisor, identify, locator, work, gateway

    /// The executable, found beside `cairn`.
    var executable: String {
        switch self {
        case .log: "cairn-logd"
        case .mapstate: "cairn-mapstate"
        case .supervisor: "cairn-supervisor"
        case .identify: "cairn-identify"
        case .locator: "cairn-locator"
        case .work: "cairn-worker"
        case .gateway: "cairn-gateway"
        }
    }

    /// When it is stopped: lower phases first, the log last of all.
    var stopPhase: Int {
        switch self {
        case .gateway: 0
        case .identify, .locator, .work: 1
        case .supervisor: 2
        case .mapstate: 3
        case .log: 4
        }
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
        switch role {
        case .identify, .locator, .work: "\(role.rawValue)-\(number)"
        case .log, .mapstate, .supervisor, .gateway: role.rawValue
        }
    }
}

/// How many processes of each kind a site runs.
struct SiteShape: Hashable, Sendable {
    /// One worker computes on one processor; with two, one may die.
    static let standardIdentifyWorkers = min(
        max(ProcessInfo.processInfo.activeProcessorCount, 2), 8)

    var port = 6080
    var identifyWorkers = standardIdentifyWorkers
    var locators = 1
    var workers = 1
    /// Whether the gateway answers identify itself where the answer is at hand.
    var identifyAtOnce = true
    /// How many requests each process keeps.
    var recording = RecordingRate.standard

    /// The plans for the whole site, or for some roles of it.
    func plans(
        site: String, runDirectory: String, programs: String,
        roles: [ProcessRole] = ProcessRole.allCases
    ) -> [ProcessPlan] {
        roles.flatMap { role in
            (1...max(1, count(of: role))).prefix(count(of: role)).map { number in
                var plan = ProcessPlan(
                    role: role, number: number, path: programs + "/" + role.executable,
                    arguments: ["--site", site], logPath: "")
                if role == .gateway {
                    plan.arguments += ["--port", String(port)]
                    if !identifyAtOnce { plan.arguments.append("--no-identify-at-once") }
                }
                if [.gateway, .identify, .locator].contains(role), recording != .standard {
                    plan.arguments += ["--record", recording.description]
                }
                plan.logPath = runDirectory + "/" + plan.name + ".log"
                return plan
            }
        }
    }

    private func count(of role: ProcessRole) -> Int {
        switch role {
        case .log, .mapstate, .supervisor, .gateway: 1
        case .identify: identifyWorkers
        case .locator: locators
        case .work: workers
        }
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
    /// How often it ended, up to now, without ten steady seconds between: such a process rests longer
    /// each time, up to five seconds.
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
