// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Testing

@testable import Gateway

/// `GPServer/{task}/jobs`: the jobs of a site that a caller sees.
@Suite struct JobListTests {
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
        var jobs = (0..<120).map { SimulatedJobs.job(($0 * 37) % 120) }
        jobs.append(SimulatedJobs.job(500, .batchGeocode))
        let site = SimulatedSite(map: try Samples.map(), jobs: try SimulatedJobs(jobs))
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
}
