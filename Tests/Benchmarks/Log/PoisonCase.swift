// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Platform
import Site

/// The remaining throughput of jobs while another job kills every worker that takes its chunks.
struct PoisonCase {
    let shop: Workshop

    private static let chunksOfJob = 4
    private static let workerCount = 2
    /// Jobs that wait at a time.
    private static let window = 8

    func run() throws {
        let site = try shop.site("poison")
        defer { shop.remove(site) }
        let services = try [
            "cairn-logd", "cairn-supervisor", "cairn-mapstate", "cairn-worker --pool work",
        ]
        .map { try shop.cairn($0, site) }
        defer { for service in services { service.end() } }
        let poison = JobID(rawValue: .timeOrdered())
        let workers = try Kept(count: Self.workerCount) {
            try shop.cairn(
                "cairn-worker --pool identify", site,
                variables: [
                    "CAIRN_FAILPOINT": "worker.chunkTaken:kill@job=\(poison.rawValue)"
                ])
        }
        defer { workers.end() }
        let client = try CairnClient(site: site, patience: .seconds(60))
        defer { client.close() }
        let map = try MapName(parsing: "Empty")
        let queries = try site.blobs.put(Self.queries(), mediaType: "text/csv")
        let count = shop.isShort ? 180 : 600

        @Sendable func submit(_ id: JobID) async throws {
            _ = try await client.submit(
                JobSubmission(
                    id: id, kind: .batchIdentify,
                    parameters: ["map": map.rawValue, "extent": "-180,-90,180,90"], input: queries))
        }
        /// Jobs a second.
        func throughput() throws -> Double {
            let took = try seconds {
                try Blocking.run {
                    var waiting: [JobID] = []
                    for number in 0..<(count + Self.window) {
                        if number < count {
                            waiting.append(JobID(rawValue: .timeOrdered()))
                            try await submit(waiting[waiting.count - 1])
                        }
                        guard waiting.count >= Self.window || number >= count, !waiting.isEmpty
                        else { continue }
                        let job = try await Self.end(of: waiting.removeFirst(), client)
                        guard job.status == .succeeded else {
                            throw Failure(.internal, "a job of the others came to \(job)")
                        }
                    }
                }
            }
            return Double(count) / took
        }
        try Blocking.run { _ = try await client.command(map: map, .createMap) }
        // The first may wait for workers to come.
        _ = try throughput()
        let alone = try throughput()
        try Blocking.run { try await submit(poison) }
        let beside = try throughput()
        let lost = Shared(0)
        try Blocking.run {
            let job = try await Self.end(of: poison, client)
            guard job.status == .failed else {
                throw Failure(.internal, "the job that kills its workers came to \(job)")
            }
            lost.value = job.lostAttemptCount
        }
        Output.write(
            Line("jobs beside one whose work kills its workers", ours: beside, unit: "jobs/s")
                .beside("the same jobs alone", alone, atLeast: 0.8)
                .noting("\(workers.deathCount) workers died, \(lost.value) attempts of the job"))
    }

    private static func queries() -> Data {
        var text = "x,y\n"
        for row in 0..<(chunksOfJob * 500) { text += "\(row % 180),\(row % 90)\n" }
        return Data(text.utf8)
    }

    private static func end(of id: JobID, _ client: CairnClient) async throws -> JobDescription {
        while true {
            let job = try await client.job(id)
            if job.status.isTerminal { return job }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// Programs that are started again when they die, as `cairn up` does.
private final class Kept: Sendable {
    private let isEnding = Shared(false)
    private let deaths = Shared(0)
    private let ended = BlockingQueue<Bool>(capacity: 1)

    init(count: Int, _ start: @escaping @Sendable () throws -> Program) throws {
        _ = try PinnedThread(name: "keeper") { [isEnding, deaths, ended] in
            var running = (0..<count).compactMap { _ in try? start() }
            while !isEnding.value {
                for index in running.indices where !running[index].isRunning {
                    deaths.change { $0 += 1 }
                    if let next = try? start() { running[index] = next }
                }
                usleep(5_000)
            }
            for program in running { program.end(by: SIGKILL) }
            _ = ended.tryPush(true)
        }
    }

    /// Number of workers that died by themselves.
    var deathCount: Int { deaths.value }

    func end() {
        isEnding.value = true
        _ = ended.pop()
    }
}
