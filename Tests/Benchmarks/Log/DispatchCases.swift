// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import Logging
import Platform
import Site
import Worker

/// The supervisor's lanes: fairness, the death of a worker, and how many tasks pass.
struct DispatchCases {
    let shop: Workshop

    func run() throws {
        for credit in [2, 32] { try fairness(credit: credit) }
        for isDiskBusy in [false, true] { try deaths(isDiskBusy: isDiskBusy) }
        try PoisonCase(shop: shop).run()
        try passage()
    }

    /// A site with its log and supervisor and the bench as client, and what `body` starts beside.
    private func onSite(
        _ body: (_ site: Site, _ requester: Requester, _ bus: BusThread) throws -> Void
    ) throws {
        let site = try shop.site("hub")
        defer { shop.remove(site) }
        let logd = try shop.cairn("cairn-logd", site)
        defer { logd.end() }
        let supervisor = try shop.cairn("cairn-supervisor", site)
        defer { supervisor.end() }
        let bus = try BusThread(name: "bench", runDirectory: site.runDirectory)
        defer { bus.stop() }
        try body(site, try bus.connectRequester(.supervisorRequests), bus)
    }

    private func worker(_ site: Site, milliseconds: Int, credit: Int) throws -> Program {
        try shop.role(
            ["work", site.path, "--milliseconds", "\(milliseconds)", "--credit", "\(credit)"])
    }

    /// Waits until that many workers are registered.
    private func wait(for count: Int, _ requester: Requester) throws {
        try Blocking.run {
            for _ in 0..<2_000 {
                let answer = try? await requester.request(
                    operation: "workers", payload: Data("[]".utf8), timeout: .seconds(10))
                let workers = try? answer?.decode([WorkerDescription].self)
                if workers?.count == count, workers?.allSatisfy({ $0.taskCredit > 0 }) == true {
                    return
                }
                try await Task.sleep(for: .milliseconds(5))
            }
            throw Failure(.timedOut, "no \(count) workers came")
        }
    }

    static func task(_ payload: Data = Data(repeating: 120, count: 300)) -> Message {
        Message(
            header: MessageHeader(kind: .task, pool: WorkerPool.identify.rawValue),
            metadata: Data(#"{"operation":"work"}"#.utf8), payload: payload)
    }

    /// Four workers, of which three take 1 ms for a task and one 20; a thousand tasks at once.
    ///
    /// The ideal is their joint throughput at the measured lengths of the tasks: a sleep of 1 ms
    /// takes longer.
    private func fairness(credit: Int) throws {
        let milliseconds = [1, 1, 1, 20]
        let count = 1_000
        var runs: [(took: Double, ideal: Double)] = []
        try onSite { site, requester, _ in
            let workers = try milliseconds.map {
                try worker(site, milliseconds: $0, credit: credit)
            }
            defer { for worker in workers { worker.end(by: SIGKILL) } }
            try wait(for: workers.count, requester)
            for _ in 0..<(shop.isShort ? 3 : 9) {
                let lengths = Shared<[Substring: TaskLengths]>([:])
                let took = try seconds {
                    _ = try RequestLoad(
                        requester, window: count, count: count,
                        answered: { answer in lengths.change { $0.add(answer.payload) } }
                    ) { Self.task() }.run()
                }
                let perSecond = lengths.value.values.reduce(0) { $0 + $1.perSecond }
                runs.append((took, Double(count) / perSecond))
            }
        }
        runs.sort { $0.took / $0.ideal < $1.took / $1.ideal }
        let median = runs[runs.count / 2]
        Output.write(
            Line(
                "fair lanes: tasks of 1, 1, 1 and 20 ms, \(credit) given at once",
                ours: median.took, unit: "s"
            ).beside("ideal", median.ideal, atMost: 1.2))
    }

    /// From the SIGKILL of the worker that has a task until another has begun it.
    private func deaths(isDiskBusy: Bool) throws {
        let disk = isDiskBusy ? try BusyDisk(in: shop.directory) : nil
        defer { disk?.stop() }
        var times: [Int64] = []
        try onSite { site, requester, _ in
            var workers: [Int32: Program] = [:]
            func start() throws {
                let started = try worker(site, milliseconds: 0, credit: 2)
                workers[started.processID] = started
            }
            defer { for worker in workers.values { worker.end(by: SIGKILL) } }
            for _ in 0..<2 { try start() }
            for number in 0..<(shop.isShort ? 30 : 200) {
                try wait(for: workers.count, requester)
                let claim = site.path + "/claim-\(number)"
                let begun = Shared<Int64?>(nil)
                let answered = BlockingQueue<Bool>(capacity: 1)
                requester.ask(Self.task(Data(("claim " + claim).utf8)), timeout: .seconds(30)) {
                    let message = try? $0.get()
                    begun.value = message.flatMap {
                        Int64(String(decoding: $0.payload, as: UTF8.self))
                    }
                    _ = answered.tryPush(true)
                }
                let victim = try claimant(claim)
                let killed = MonotonicClock.nanoseconds()
                workers.removeValue(forKey: victim)?.end(by: SIGKILL)
                _ = answered.pop()
                guard let begun = begun.value else {
                    throw Failure(.internal, "the task of a killed worker was not done")
                }
                times.append(begun - killed)
                try start()
            }
        }
        let figures = Times(times)
        Output.write(
            Line(
                "worker killed to task begun again\(isDiskBusy ? ", disk busy" : ""), p99",
                ours: figures.quantile(0.99) / 1e3, unit: "ms"
            ).asking(atMost: 50).times(figures).noting("\(times.count) killed"))
    }

    /// The process that has taken a claim.
    private func claimant(_ claim: String) throws -> Int32 {
        let end = MonotonicClock.nanoseconds() + 20_000_000_000
        while MonotonicClock.nanoseconds() < end {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: claim)
            if let number = target.flatMap({ Int32($0) }) { return number }
            usleep(200)
        }
        throw Failure(.timedOut, "no worker took the task")
    }

    /// Client, hub, worker, hub, client beside the same in C, one at a time and many.
    private func passage() throws {
        let count = shop.isShort ? 5_000 : 30_000
        try onSite { site, requester, _ in
            let worker = try worker(site, milliseconds: 0, credit: 128)
            defer { worker.end(by: SIGKILL) }
            try wait(for: 1, requester)
            for window in [1, 8, 64] {
                let total = window == 1 ? count : count * 4
                let theirs = try shop.peers(
                    ["hub", site.runDirectory, "\(total)", "\(window)", "300"])
                let (figures, times) = try RequestLoad(
                    requester, window: window, count: total
                ) { Self.task() }.run()
                Output.write(
                    Line(
                        "client to hub to worker and back, \(window) under way",
                        ours: figures.perSecond, unit: "tasks/s"
                    ).beside("the same hops in C", theirs.perSecond).times(times, theirs: theirs))
            }
        }
    }
}

/// Number of a worker's tasks, and their measured lengths.
private struct TaskLengths {
    var count = 0
    var nanoseconds: Int64 = 0
    /// The worker's throughput without other work.
    var perSecond: Double { Double(count) * 1e9 / Double(nanoseconds) }
}

extension [Substring: TaskLengths] {
    /// Adds a task by its answer: the worker's process and the nanoseconds it took.
    fileprivate mutating func add(_ answer: Data) {
        let words = String(decoding: answer, as: UTF8.self).split(separator: " ")
        guard words.count == 2, let nanoseconds = Int64(words[1]) else { return }
        self[words[0], default: TaskLengths()].count += 1
        self[words[0], default: TaskLengths()].nanoseconds += nanoseconds
    }
}

/// A worker of the bench.
enum WorkerRole {
    static func run(_ site: Site, milliseconds: Int, credit: Int) async throws {
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let bus = try BusThread(name: "worker", runDirectory: site.runDirectory)
        let handlers: [String: TaskHandler] = [
            "work": { _, payload in try work(payload, milliseconds) }
        ]
        let prompt: [String: TrialHandler] = [
            "work": { _, payload in
                milliseconds == 0 && !payload.starts(with: Data("claim ".utf8)) ? payload : nil
            }
        ]
        let host = WorkerHost(
            pool: .identify, handlers: TaskHandlers(handlers, prompt: prompt),
            slots: WorkerSlots(taskCredit: credit, taskThreadCount: 1, chunkCount: 0), bus: bus,
            build: "bench/0", logger: logger)
        try await host.start()
        try await Task.sleep(for: .seconds(3_600))
    }

    /// Sleeps, or takes the claim named by the payload: its first owner never ends, the next
    /// reports its start.
    private static func work(_ payload: Data, _ milliseconds: Int) throws -> Data {
        let now = MonotonicClock.nanoseconds()
        let text = String(decoding: payload.prefix(300), as: UTF8.self)
        guard text.hasPrefix("claim ") else {
            usleep(UInt32(milliseconds) * 1_000)
            return Data("\(getpid()) \(MonotonicClock.nanoseconds() - now)".utf8)
        }
        if unsafe symlink("\(getpid())", String(text.dropFirst(6))) == 0 { sleep(3_600) }
        return Data("\(now)".utf8)
    }
}
