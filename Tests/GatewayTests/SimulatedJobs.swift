// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import JobKinds
import Site
import Synchronization

@testable import Gateway

/// Jobs that change only as a test says; their blobs are removed with the test.
final class SimulatedJobs: GatewayJobs {
    let directory: String
    let blobs: BlobStore
    let uploads: UploadLedger
    private let all: Mutex<[JobDescription]>
    private let cancellers = Mutex<[String]>([])

    init(_ all: [JobDescription] = []) throws {
        directory = FileManager.default.temporaryDirectory.path + "/jobs-\(UUID())"
        blobs = BlobStore(directory: directory + "/blobs")
        uploads = UploadLedger(directory: directory + "/uploads", blobs: blobs)
        try FileManager.default.createDirectory(
            atPath: blobs.directory, withIntermediateDirectories: true)
        self.all = Mutex(all)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// In the order in which they were submitted.
    var known: [JobDescription] { all.withLock { $0 } }
    /// The actors of what was cancelled.
    var cancelled: [String] { cancellers.withLock { $0 } }

    func change(_ id: JobID, _ body: @Sendable (inout JobDescription) -> Void) {
        all.withLock { jobs in
            for index in jobs.indices where jobs[index].id == id { body(&jobs[index]) }
        }
    }

    func jobs() async throws(Failure) -> [JobDescription] { known }

    func submit(_ submission: JobSubmission) async throws(Failure) -> JobDescription {
        // As on the way to the log, other requests interleave.
        for _ in 0..<50 { await Task.yield() }
        return all.withLock { jobs in
            if let known = jobs.first(where: { $0.id == submission.id }) { return known }
            let job = Self.job(
                Int64(jobs.count + 1), submission.kind, submission.parameters,
                id: submission.id, input: submission.input, actor: submission.actor)
            jobs.append(job)
            return job
        }
    }

    func usage(of actor: String) async throws(Failure) -> JobUsage {
        let own = known.filter { $0.actor == actor }
        return JobUsage(
            openCount: own.count { !$0.status.isTerminal },
            products: own.compactMap(\.result), olderByteCount: 0)
    }

    func job(_ id: JobID) async throws(Failure) -> JobDescription {
        guard let job = known.first(where: { $0.id == id }) else {
            throw Failure(.notFound, "there is no job \(id)")
        }
        return job
    }

    func cancel(_ id: JobID, actor: String) async throws(Failure) -> JobDescription {
        cancellers.withLock { $0.append(actor) }
        return try await job(id)
    }

    func follow(
        _ id: JobID, as form: JobForm, after sequence: Int64
    ) -> any GatewayChanges { Silence() }

    private struct Silence: GatewayChanges {
        func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]? { nil }
    }

    static func job(
        _ number: Int64, _ kind: JobKind = .batchIdentify,
        _ parameters: [String: String] = ["map": "City"],
        id: JobID = JobID(rawValue: .timeOrdered()), input: BlobReference? = nil,
        actor: String? = nil
    ) -> JobDescription {
        JobDescription(
            id: id, kind: kind, parameters: parameters, status: .executing, isPaused: false,
            progress: 40, chunkCount: 5, completedChunkCount: 2, lostAttemptCount: 0, messages: [],
            result: nil, failure: nil, submittedAt: Timestamp(microseconds: number * 1_000),
            endedAt: nil, sequence: number, input: input, actor: actor)
    }
}
