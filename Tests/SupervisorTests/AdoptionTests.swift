// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Logging
import Site
import Synchronization
import TestKit
import Testing
import Worker

/// Up to a hundred concurrent operations that run until they are released.
private final class Crowd: Sendable {
    private let state = Mutex((isOpen: false, begun: [Int](), ended: 0))
    var begun: [Int] { state.withLock { $0.begun } }
    func open() { state.withLock { $0.isOpen = true } }

    func operations(_ blobs: BlobStore) -> [String: TaskHandler] {
        [
            "Test.plan": { _, payload in
                let assignment = try CairnJSON.decode(ChunkAssignment.self, from: payload)
                let rows = Int(assignment.parameters["rows"] ?? "") ?? 1
                return try CairnJSON.encode(
                    ChunkOutcome(
                        nextStage: (0..<rows).map {
                            ChunkDescription(
                                pool: .locator, operation: "row", input: Data("\($0)".utf8),
                                weight: 1)
                        }))
            },
            "Test.row": { [self] context, payload in
                let assignment = try CairnJSON.decode(ChunkAssignment.self, from: payload)
                let number = Int(String(decoding: assignment.chunk.input, as: UTF8.self)) ?? -1
                state.withLock { $0.begun.append(number) }
                try blockUntil("the chunks may end", every: .milliseconds(100)) {
                    if context.isCancelled { throw Failure(.cancelled, "stopped") }
                    context.report(0.5)
                    return state.withLock { $0.isOpen }
                }
                let blob = try blobs.put(Data("\(number)".utf8), mediaType: "text/plain")
                return try CairnJSON.encode(ChunkOutcome(blob: blob))
            },
        ]
    }
}

/// A real supervisor that is killed; its workers live in this process.
@Suite(.serialized, .timeLimit(.minutes(3)), .processes) struct AdoptionTests {
    private func worker(
        _ pool: WorkerPool, chunks: Int, _ site: Site, _ crowd: Crowd
    ) async throws -> (host: WorkerHost, bus: BusThread) {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let bus = try BusThread(name: "worker", runDirectory: site.runDirectory)
        let host = WorkerHost(
            pool: pool, handlers: TaskHandlers(crowd.operations(site.blobs)),
            slots: WorkerSlots(taskCredit: 0, taskThreadCount: 0, chunkCount: chunks), bus: bus,
            build: "test/0", logger: logger)
        try await host.start()
        return (host, bus)
    }

    @Test(.slow) func `a supervisor killed with a hundred running chunks adopts them all`()
        async throws
    {
        let files = try TestSite()
        defer { files.end() }
        let site = try Site(openingOrCreating: files.path)
        let client = try CairnClient(site: site, patience: .seconds(60))
        defer { client.close() }
        try files.start("cairn-logd")
        var supervisor = try files.start("cairn-supervisor")
        let crowd = Crowd()
        var workers = [try await worker(.work, chunks: 1, site, crowd)]
        for _ in 0..<4 { workers.append(try await worker(.locator, chunks: 25, site, crowd)) }
        defer { for worker in workers { worker.bus.stop() } }
        let id = try await client.submit(
            JobSubmission(
                id: JobID(rawValue: .timeOrdered()), kind: JobKind(rawValue: "Test"),
                parameters: ["rows": "100"])
        ).id
        let areBegun = await eventually { crowd.begun.count == 100 }
        try #require(areBegun, "\(crowd.begun.count)")

        for _ in 1...2 {
            files.kill(supervisor)
            supervisor = try files.start("cairn-supervisor")
            let isAdopted = try await eventually {
                try await client.workers().reduce(0) { $0 + $1.held.count } == 100
            }
            #expect(isAdopted)
        }
        crowd.open()
        let job = try await client.follow(JobTicket(site: site.identity.siteID, jobID: id)) { _ in
            true
        }

        #expect(job.status == .succeeded)
        #expect(job.lostAttemptCount == 0)
        #expect(crowd.begun.sorted() == Array(0..<100))
        let types = try await LogReader(bus: client.bus).events(stream: .job(id)).map(\.event.type)
        #expect(types.count { $0 == JobChunkLeased.eventType } == 101)
        #expect(types.count { $0 == JobChunkCompleted.eventType } == 101)
        #expect(!types.contains(JobChunkLost.eventType))
        #expect(!types.contains(JobChunkReleased.eventType))
    }
}
