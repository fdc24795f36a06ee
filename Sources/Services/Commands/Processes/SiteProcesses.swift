// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Synchronization

/// Runs the processes of a site on a thread of its own: starts them, restarts those that die, and
/// stops them in order.
///
/// The children get SIGTERM when this process ends, however it ends.
final class SiteProcesses: Sendable {
    private struct Shared {
        var records: [ProcessRecord] = []
        var isReady = false
        var isStopping = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var hasEnded = false
    }

    /// Receives progress of the thread as lines of text.
    typealias Report = @Sendable (String) -> Void

    private static let logLimit: Int64 = 16 << 20
    private let plans: [ProcessPlan]
    private let recordPath: String
    private let port: Int
    private let notify: NotifySocket?
    private let report: Report
    private let wake: WakeSignal
    private let shared = Mutex(Shared())

    /// Starts the processes.
    ///
    /// - Parameters:
    ///   - plans: The processes to run.
    ///   - runDirectory: The directory of `up.json`, which is kept up to date.
    ///   - port: The gateway's port for `up.json`.
    ///   - notify: Hears that the site answers, that it stops, and, with a watchdog, that the
    ///     thread turns.
    ///   - report: Called on the thread for every restart and every death.
    init(
        _ plans: [ProcessPlan], runDirectory: String, port: Int, notify: NotifySocket? = nil,
        report: @escaping Report
    ) throws(PlatformError) {
        self.plans = plans
        self.port = port
        self.notify = notify
        self.report = report
        recordPath = SiteRecord.path(runDirectory: runDirectory)
        wake = try WakeSignal()
        _ = try PinnedThread(name: "processes") { [self] in run() }
    }

    /// The current state of every process.
    var records: [ProcessRecord] { shared.withLock { $0.records } }

    /// Records in `up.json` that the site answers, and notifies the service manager.
    func setReady() {
        shared.withLock { $0.isReady = true }
        notify?.send("READY=1")
        wake.raise()
    }

    /// Begins the shutdown; returns at once.
    func stop() {
        shared.withLock { $0.isStopping = true }
        wake.raise()
    }

    /// Whether a shutdown was requested.
    var isStopping: Bool { shared.withLock { $0.isStopping } }

    /// Returns when every process has ended after ``stop()``.
    func untilEnded() async {
        await withCheckedContinuation { continuation in
            let hasEnded = shared.withLock { shared in
                if !shared.hasEnded { shared.waiting.append(continuation) }
                return shared.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }
}

// MARK: The thread

extension SiteProcesses {
    private func run() {
        var slots = plans.map { ProcessSlot($0) }
        for plan in plans { LogFile.rotate(plan.logPath) }
        var written: SiteRecord?
        while !isStopping {
            notify?.keepAlive()
            for index in slots.indices { slots[index].startIfDue(report) }
            publish(slots, &written)
            let due = slots.map(\.millisecondsUntilStart).min() ?? 60_000
            Waiting.forEnd(
                of: slots.compactMap(\.watch), or: wake,
                milliseconds: Int(min(due, longestWait)))
            wake.drain()
            for index in slots.indices { slots[index].look(report) }
            for plan in plans { LogFile.bound(plan.logPath, to: Self.logLimit) }
        }
        notify?.send("STOPPING=1")
        for phase in 0...4 { stop(phase: phase, &slots, &written) }
        unlinkRecord()
        let waiting = shared.withLock { shared in
            shared.hasEnded = true
            defer { shared.waiting = [] }
            return shared.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Stops the processes of a phase: SIGTERM, then SIGKILL for those that exceed their time
    /// limit.
    private func stop(phase: Int, _ slots: inout [ProcessSlot], _ written: inout SiteRecord?) {
        let chosen = slots.indices.filter { slots[$0].plan.role.stopPhase == phase }
        for index in chosen { slots[index].stop(.end) }
        publish(slots, &written)
        let seconds = chosen.map { slots[$0].plan.role.stopSeconds }.max() ?? 8
        let limit = MonotonicClock.nanoseconds() + seconds * 1_000_000_000
        while chosen.contains(where: { slots[$0].isRunning }) {
            let left = (limit - MonotonicClock.nanoseconds()) / 1_000_000
            if left <= 0 {
                for index in chosen where slots[index].isRunning {
                    report("\(slots[index].plan.name) does not end; killed")
                    slots[index].stop(.kill)
                }
            }
            Waiting.forEnd(
                of: chosen.compactMap { slots[$0].watch }, or: wake,
                milliseconds: Int(min(max(left, 200), longestWait)))
            notify?.keepAlive()
            wake.drain()
            for index in chosen { slots[index].look { _ in } }
        }
        publish(slots, &written)
    }

    /// Milliseconds; a watchdog expects the thread twice as often as it bites.
    private var longestWait: Int64 {
        min(10_000, notify?.watchdogMilliseconds.map { Int64(max($0 / 2, 1)) } ?? 10_000)
    }

    private func publish(_ slots: [ProcessSlot], _ written: inout SiteRecord?) {
        let record = shared.withLock { shared in
            shared.records = slots.map(\.record)
            return SiteRecord(
                pid: ProcessInfo.processInfo.processIdentifier, port: port,
                isReady: shared.isReady, processes: shared.records)
        }
        guard record != written else { return }
        let running = record.processes.count { $0.state == .running }
        notify?.send("STATUS=\(running) of \(record.processes.count) processes run")
        guard let data = try? CairnJSON.encode(record) else { return }
        try? data.write(to: URL(filePath: recordPath), options: .atomic)
        written = record
    }

    private func unlinkRecord() { try? FileManager.default.removeItem(atPath: recordPath) }
}

/// A process of the plan across its restarts; used on one thread.
struct ProcessSlot: Sendable {
    let plan: ProcessPlan
    private(set) var record: ProcessRecord
    private(set) var watch: ProcessWatch?
    private var child: Child?
    private var policy = RestartPolicy()
    private var startedAt: Int64 = 0
    private var dueAt: Int64 = 0
    private var isStopping = false

    /// A copyable box around the child; the slots are used on one thread.
    private final class Child: Sendable {
        let process: Mutex<ChildProcess>
        init(_ process: consuming ChildProcess) { self.process = Mutex(process) }
    }

    init(_ plan: ProcessPlan) {
        self.plan = plan
        record = ProcessRecord(
            role: plan.role, name: plan.name, pid: 0, state: .waiting, restarts: -1,
            since: Timestamp(microseconds: 0), lastEnd: nil)
    }

    /// Whether the process is running.
    var isRunning: Bool { child != nil }

    /// Time until the next action.
    var millisecondsUntilStart: Int64 {
        if child != nil || isStopping { return .max }
        return max(0, (dueAt - MonotonicClock.nanoseconds()) / 1_000_000 + 1)
    }

    /// Starts it if it is not running and its delay is over.
    mutating func startIfDue(_ report: SiteProcesses.Report) {
        guard child == nil, !isStopping, MonotonicClock.nanoseconds() >= dueAt else { return }
        record.restarts += 1
        record.since = Timestamp(microseconds: WallClock.microseconds())
        startedAt = MonotonicClock.nanoseconds()
        do throws(PlatformError) {
            let process = try ChildProcess(
                path: plan.path, arguments: plan.arguments, logPath: plan.logPath)
            record.pid = process.processID
            watch = try? ProcessWatch(processID: process.processID)
            child = Child(process)
            record.state = .running
            record.startsAt = nil
            if record.restarts > 0 { report("\(plan.name) started again, pid \(record.pid)") }
        } catch {
            report("\(plan.name) cannot be started: \(error)")
            ended("\(error.operation) failed")
        }
    }

    /// Checks whether it has ended.
    mutating func look(_ report: SiteProcesses.Report) {
        guard let end = child?.process.withLock({ $0.end() }) else { return }
        let text =
            switch end {
            case .status(let status): "exit \(status)"
            case .signal(let number): "signal \(number)"
            }
        child = nil
        watch = nil
        let last = LogFile.lastLine(plan.logPath)
        LogFile.append(ProcessLog.endLine(record.pid, text), to: plan.logPath)
        ended(text)
        if !isStopping {
            var line = ""
            if case .status = end, let last, !ProcessLog.isEndLine(last) {
                line = "; its last line: \(last)"
            }
            report("\(plan.name) (pid \(record.pid)) ended: \(text)\(line)")
        }
    }

    private mutating func ended(_ text: String) {
        record.lastEnd = text
        record.state = isStopping ? .stopped : .waiting
        let now = MonotonicClock.nanoseconds()
        let rest = policy.rest(afterRunning: (now - startedAt) / 1_000_000)
        dueAt = now + rest * 1_000_000
        record.crashesInRow = policy.crashesInRow
        record.startsAt =
            isStopping ? nil : Timestamp(microseconds: WallClock.microseconds() + rest * 1_000)
    }

    /// Stops or kills it; it is not started again.
    mutating func stop(_ demand: ChildProcess.Demand) {
        isStopping = true
        record.state = child == nil ? .stopped : .stopping
        child?.process.withLock { $0.demand(demand) }
    }
}
