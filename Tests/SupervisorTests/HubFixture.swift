// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import LogService
import Logging
import Platform
import Site
import Supervisor
import Synchronization
import TestKit
import Testing
import Worker

/// A site whose log, supervisor and workers run in this process, each on its own bus thread, over
/// real sockets.
final class HubFixture: Sendable {
    let site: Site
    private struct Parts {
        var log: (service: LogService, bus: BusThread)?
        var supervisor: (service: Supervisor, bus: BusThread)?
        var workers: [(host: WorkerHost, bus: BusThread)] = []
    }
    private let parts = Mutex(Parts())
    let client: BusThread
    let requester: Requester
    let logRequester: Requester
    let faults = Mutex<[Failure]>([])
    private let pace: SnapshotPace

    init(
        timing: SupervisorTiming = HubFixture.quick, pace: SnapshotPace = .usual
    ) async throws {
        self.pace = pace
        let path = "/tmp/cairn-sup-\(UUID().uuidString.prefix(8))"
        site = try Site(openingOrCreating: path)
        client = try BusThread(name: "client", runDirectory: site.runDirectory)
        requester = try client.connectRequester(.supervisorRequests)
        logRequester = try client.connectRequester(.logRequests)
        try startLog()
        try await startSupervisor(timing)
    }

    /// Timing for short tests that still tolerates slow workers.
    static var quick: SupervisorTiming {
        var timing = SupervisorTiming()
        timing.adoption = .seconds(4)
        timing.cancelGrace = .seconds(3)
        timing.poolAbsence = .seconds(60)
        return timing
    }

    /// With a worker for plans and sums and several for rows, each of which does one chunk at a
    /// time.
    static func forJobs(
        rowWorkers: Int = 1
    ) async throws -> (hub: HubFixture, kind: TestKind) {
        let hub = try await HubFixture()
        let kind = TestKind(site: hub.site)
        try await hub.startWorker(.work, slots: .oneChunk, kind.operations)
        for _ in 0..<rowWorkers {
            try await hub.startWorker(.locator, slots: .oneChunk, kind.operations)
        }
        try await hub.waitForWorkers(1 + rowWorkers)
        return (hub, kind)
    }

    private static var logger: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    func startLog() throws {
        let bus = try BusThread(name: "log", runDirectory: site.runDirectory)
        let service = try LogService(site: site, bus: bus, logger: Self.logger)
        parts.withLock { $0.log = (service, bus) }
    }

    /// Restarts once the stopped one has released its file.
    func restartLog() async throws {
        try await waitUntil("the stopped log has closed its file") {
            do {
                try startLog()
                return true
            } catch let failure as Failure where failure.code == .conflict {
                return false
            }
        }
    }

    func stopLog() {
        let log = parts.withLock { $0.log.take() }
        log?.service.stop()
        log?.bus.stop()
    }

    /// Returns once the supervisor has read the log, as a client's patience would have it.
    func startSupervisor(_ timing: SupervisorTiming = HubFixture.quick) async throws {
        let bus = try BusThread(name: "supervisor", runDirectory: site.runDirectory)
        let service = try await Supervisor(
            site: site, bus: bus, logger: Self.logger, timing: timing, pace: pace
        ) {
            [weak self] fault in self?.faults.withLock { $0.append(fault) }
        }
        parts.withLock { $0.supervisor = (service, bus) }
        try await waitUntil("the supervisor has read the log") {
            do {
                let _: [JobDescription] = try await ask("list", [String]())
                return true
            } catch let failure as Failure where failure.code == .unavailable {
                return false
            }
        }
    }

    /// Like a kill: its sockets close without a message.
    func stopSupervisor() {
        parts.withLock { $0.supervisor.take() }?.bus.stop()
    }

    /// Like SIGTERM; returns the summary.
    func drainSupervisor(limit: Duration) async -> DrainSummary? {
        guard let (service, bus) = parts.withLock({ $0.supervisor.take() }) else { return nil }
        let summary = await service.drain(limit: limit)
        bus.stop()
        return summary
    }

    func counts() async -> [String: Int] {
        await parts.withLock { $0.supervisor?.service }?.counts() ?? [:]
    }

    /// Starts a worker; returns its number.
    @discardableResult
    func startWorker(
        _ pool: WorkerPool, slots: WorkerSlots, _ handlers: [String: TaskHandler],
        tried: [String: TrialHandler] = [:], long: Set<String> = []
    ) async throws -> Int {
        let bus = try BusThread(name: "worker", runDirectory: site.runDirectory)
        let host = WorkerHost(
            pool: pool, handlers: TaskHandlers(handlers, tried: tried, long: long), slots: slots,
            bus: bus, build: "test/0", logger: Self.logger)
        try await host.start()
        return parts.withLock { parts in
            parts.workers.append((host, bus))
            return parts.workers.count - 1
        }
    }

    func worker(_ number: Int) -> (host: WorkerHost, bus: BusThread) {
        parts.withLock { $0.workers[number] }
    }

    // MARK: Asking

    func ask<Answer: Decodable>(
        _ operation: String, _ body: some Encodable, timeout: Duration = .seconds(60)
    ) async throws -> Answer {
        let answer = try await requester.request(
            operation: operation, payload: try CairnJSON.encode(body), timeout: timeout)
        return try answer.decode(Answer.self)
    }

    func task(
        _ operation: String, _ text: String, pool: WorkerPool = .identify, map: String? = nil,
        timeout: Duration = .seconds(60)
    ) async throws -> String {
        let answer = try await requester.request(
            operation: operation, payload: Data(text.utf8), kind: .task, pool: pool.rawValue,
            map: map, timeout: timeout)
        return String(decoding: answer.payload, as: UTF8.self)
    }

    func submit(
        _ parameters: [String: String] = [:], actor: String? = nil, stallLimitSeconds: Int? = nil,
        priority: JobPriority? = nil
    ) async throws -> JobDescription {
        try await ask(
            "submit",
            JobSubmission(
                id: JobID(rawValue: .timeOrdered()), kind: JobKind(rawValue: "Test"),
                parameters: parameters, actor: actor, stallLimitSeconds: stallLimitSeconds,
                priority: priority))
    }

    func jobs() async throws -> [JobDescription] { try await ask("list", [String]()) }

    func command(_ command: JobCommand, _ job: JobID) async throws -> JobDescription {
        try await ask("command", JobCommandRequest(id: .timeOrdered(), job: job, command: command))
    }

    func job(_ id: JobID) async throws -> JobDescription { try await ask("describe", id) }

    /// The job once it satisfies the condition; the last look at it after the limit.
    func job(
        _ id: JobID, within limit: Duration = .seconds(60),
        _ condition: (JobDescription) -> Bool
    ) async throws -> JobDescription {
        var last: JobDescription?
        _ = try await eventually(within: limit) {
            do {
                let description = try await job(id)
                last = description
                return condition(description)
            } catch let failure as Failure where failure.isRetriable {
                // A supervisor that has just started, or whose log is away.
                return false
            }
        }
        return try #require(last, "the supervisor described no job \(id) within \(limit)")
    }

    /// The types of the job's events, in order.
    func events(_ id: JobID) async throws -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        while true {
            let request = ReadRequest(
                after: events.last?.globalPosition ?? 0, limit: 1_000, stream: .job(id))
            let page = try await logRequester.request(
                operation: "read", payload: try CairnJSON.encode(request), timeout: .seconds(10)
            ).decode(ReadPage.self)
            guard !page.events.isEmpty else { return events }
            events += page.events
        }
    }

    func waitForWorkers(_ count: Int) async throws {
        try await waitUntil("the supervisor has \(count) workers") {
            let workers: [WorkerDescription] = try await ask("workers", [String]())
            return workers.count == count
        }
    }

    deinit {
        let parts = parts.withLock { $0 }
        for worker in parts.workers { worker.bus.stop() }
        parts.supervisor?.bus.stop()
        parts.log?.service.stop()
        parts.log?.bus.stop()
        client.stop()
        try? FileManager.default.removeItem(atPath: site.path)
    }
}

extension WorkerSlots {
    /// A chunk at a time, and no task.
    static let oneChunk = WorkerSlots(taskCredit: 0, taskThreadCount: 0, chunkCount: 1)
}

/// A job kind for tests: `rows` chunks that each wait for the gate, then a sum.
struct TestKind: Sendable {
    /// A gate with one pass per chunk.
    let gate = Gate()

    final class Gate: Sendable {
        private let state = Mutex((isOpen: true, started: [Int](), ended: [Int]()))
        var started: [Int] { state.withLock { $0.started } }
        var ended: [Int] { state.withLock { $0.ended } }
        func set(open: Bool) { state.withLock { $0.isOpen = open } }
        func begin(_ number: Int) { state.withLock { $0.started.append(number) } }
        func end(_ number: Int) { state.withLock { $0.ended.append(number) } }
        var isOpen: Bool { state.withLock { $0.isOpen } }
    }

    let blobs: Site

    init(site: Site) { blobs = site }

    /// So many sub-jobs of two rows each, two at a time, and a sum.
    private static func family(of count: Int, _ parameters: [String: String]) -> ChunkOutcome {
        var own = parameters
        own["subJobs"] = nil
        own["rows"] = "2"
        let subJobs = (0..<count).map { number in
            var own = own
            if parameters["failJob"] == "\(number)" { own["fail"] = "0" }
            return ChunkDescription(
                pool: .work, operation: "job", input: Data(), weight: 200,
                subJob: SubJob(
                    kind: JobKind(rawValue: "Test"), parameters: own,
                    mayFail: parameters["mayFail"] != nil, sideBySide: 2))
        }
        let sum = ChunkDescription(
            pool: .work, operation: "sum", input: Data(), weight: 10, gathers: true)
        return ChunkOutcome(nextStage: subJobs, laterStages: [[sum]])
    }

    var operations: [String: TaskHandler] {
        [
            "Test.plan": { context, payload in
                let assignment = try CairnJSON.decode(ChunkAssignment.self, from: payload)
                let rows = Int(assignment.parameters["rows"] ?? "3") ?? 3
                if let count = assignment.parameters["subJobs"].flatMap(Int.init) {
                    return try CairnJSON.encode(Self.family(of: count, assignment.parameters))
                }
                let stage = (0..<rows).map {
                    ChunkDescription(
                        pool: .locator, operation: "row", input: Data("\($0)".utf8), weight: 100)
                }
                let sum = ChunkDescription(
                    pool: .work, operation: "sum", input: Data(), weight: 10, gathers: true)
                return try CairnJSON.encode(
                    ChunkOutcome(nextStage: stage, laterStages: [[sum]]))
            },
            "Test.row": { [gate, blobs] context, payload in
                let assignment = try CairnJSON.decode(ChunkAssignment.self, from: payload)
                let number =
                    Int(String(decoding: assignment.chunk.input, as: UTF8.self)) ?? -1
                gate.begin(number)
                context.report(0.5)
                while !gate.isOpen {
                    if context.isCancelled { throw Failure(.cancelled, "stopped") }
                    PauseThread.briefly()
                }
                if assignment.parameters["fail"] == "\(number)" {
                    throw Failure(.invalidParameter, "row \(number) is bad")
                }
                gate.end(number)
                let blob = try blobs.blobs.put(Data("\(number);".utf8), mediaType: "text/plain")
                return try CairnJSON.encode(ChunkOutcome(blob: blob))
            },
            "Test.sum": { [blobs] context, payload in
                let assignment = try CairnJSON.decode(ChunkAssignment.self, from: payload)
                let blob = try blobs.blobs.put(
                    Data(), then: assignment.gathered.compactMap(\.self), mediaType: "text/plain")
                return try CairnJSON.encode(ChunkOutcome(blob: blob))
            },
        ]
    }
}

enum PauseThread {
    /// Blocks the calling thread, one of a worker's own, for two milliseconds.
    static func briefly() {
        let queue = BlockingQueue<Int>(capacity: 1)
        let end = ContinuousClock.now + .milliseconds(2)
        while ContinuousClock.now < end { _ = queue.count }
    }
}
