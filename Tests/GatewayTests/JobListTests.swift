// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import JobKinds
import Site
import Testing

@testable import Gateway

/// `GPServer/{task}/jobs`: which jobs of a site a caller hears of.
@Suite struct JobListTests {
    /// Jobs that lie there, of which nothing becomes.
    private struct StandingJobs: GatewayJobs {
        let all: [JobDescription]
        var blobs: BlobStore { BlobStore(directory: "/nonexistent") }

        func jobs() async throws(Failure) -> [JobDescription] { all }
        func submit(_ submission: JobSubmission) async throws(Failure) -> JobDescription {
            throw Failure(.internal, "nothing is submitted here")
        }
        func job(_ id: JobID) async throws(Failure) -> JobDescription {
            guard let job = all.first(where: { $0.id == id }) else {
                throw Failure(.notFound, "no such job")
            }
            return job
        }
        func cancel(_ id: JobID) async throws(Failure) -> JobDescription { try await job(id) }
        func follow(
            _ id: JobID, as task: JobKindDescription, after sequence: Int64
        ) -> any GatewayChanges { preconditionFailure("nothing is followed here") }
    }

    private static func job(
        _ number: Int64, _ kind: JobKind = .batchIdentify, map: String = "City"
    ) -> JobDescription {
        JobDescription(
            id: JobID(rawValue: .timeOrdered()), kind: kind, parameters: ["map": map],
            status: .executing, isPaused: false, progress: 40, chunkCount: 5,
            completedChunkCount: 2, lostAttemptCount: 0, messages: [], result: nil, failure: nil,
            submittedAt: Timestamp(microseconds: number * 1_000), endedAt: nil, sequence: number)
    }

    private struct Listed: Decodable {
        struct Job: Decodable, Equatable {
            var jobId: String, jobStatus: String, submitted: Int64
        }
        var jobs: [Job]
        var exceededTransferLimit: Bool?
    }

    private func ask(
        _ service: GatewayService, _ query: String = "", wantsPage: Bool = false
    ) async -> GatewayResponse {
        await service.answer(
            GatewayRequest(
                path: Array("/arcgis/rest/services/Jobs/GPServer/BatchIdentify/jobs".utf8),
                query: Array(query.utf8), wantsPage: wantsPage,
                client: RequestClient(isPrivate: true)))
    }

    @Test func `the jobs of the task are listed, the newest first, a hundred at most`() async throws
    {
        var jobs = (0..<120).map { Self.job(($0 * 37) % 120) }
        jobs.append(Self.job(500, .batchGeocode))
        let site = SimulatedSite(map: try Samples.map(), jobs: StandingJobs(all: jobs))
        let service = GatewayService(backend: site)

        let listed = try CairnJSON.decode(Listed.self, from: Data(await ask(service).body))

        #expect(listed.jobs.map(\.submitted) == (20..<120).reversed().map(Int64.init))
        #expect(listed.exceededTransferLimit == true)
        let ids = Dictionary(uniqueKeysWithValues: jobs.map { ("\($0.id)", $0) })
        for each in listed.jobs {
            #expect(ids[each.jobId]?.submittedAt.microseconds == each.submitted * 1_000)
            #expect(each.jobStatus == "esriJobExecuting")
        }
        let page = String(decoding: await ask(service, wantsPage: true).body, as: UTF8.self)
        #expect(page.contains("BatchIdentify/jobs/\(listed.jobs[0].jobId)"))
        #expect(page.contains("Older ones are not listed."))
    }

    @Test func `a caller hears of jobs whose map they may read`() async throws {
        let ruled = try RuledSite(["anna": [.init(.jobs), .init(.query, on: "City")]])
        let (own, other) = (Self.job(1), Self.job(2, map: "Secret"))
        let site = SimulatedSite(map: try Samples.map(), jobs: StandingJobs(all: [own, other]))
        let service = GatewayService(backend: site, access: try ruled.control())
        let asked = await service.answer(
            GatewayRequest(
                path: Array("/arcgis/tokens/generateToken".utf8),
                form: Array("username=anna&password=password&f=json".utf8),
                client: RequestClient(isPrivate: true)))
        struct Given: Decodable { var token: String }
        let token = try CairnJSON.decode(Given.self, from: Data(asked.body)).token

        let listed = try CairnJSON.decode(
            Listed.self, from: Data(await ask(service, "token=\(token)").body))

        #expect(listed.jobs.map(\.jobId) == ["\(own.id)"])
    }
}
