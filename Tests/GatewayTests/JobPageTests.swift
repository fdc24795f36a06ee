// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import Expat
import FoundationEssentials
import JobKinds
import Platform
import Site
import Testing

@testable import Gateway

private let root = "/arcgis/rest/services/Jobs/GPServer"

/// Jobs as pages: a job, its receipt, and the list of all.
@Suite struct JobPageTests {
    private func service(_ jobs: [JobDescription]) throws -> GatewayService {
        GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: try SimulatedJobs(jobs)))
    }

    private static func job(_ status: JobStatus) -> JobDescription {
        var job = SimulatedJobs.job(1)
        job.status = status
        return job
    }

    @Test(arguments: [
        (JobStatus.waiting, "Waiting for a worker", "busy", String?.none),
        (.executing, "Running", "busy", "40"), (.cancelling, "Being cancelled", "busy", nil),
    ])
    func `the page of a job that goes on has a bar, which a script follows`(
        _ status: JobStatus, _ words: String, _ tone: String, _ percent: String?
    ) async throws {
        let job = Self.job(status)
        let path = "\(root)/BatchIdentify/jobs/\(job.id)"
        for (url, isReceipt) in [(path, false), (path + "/cancel", true)] {
            let page = try await service([job]).browse(url).page()
            let state = try #require(page.with(id: "status"))
            #expect(state.text == words && state.attributes["class"] == "state " + tone)
            let bar = try #require(page.with(id: "progress"))
            #expect(bar.attributes["value"] == (isReceipt ? nil : percent))
            #expect(bar.attributes["data-changes"] == path + "/changes")
            #expect(bar.attributes["data-page"] == path)
            let table = try #require(
                JSONTree(Array((bar.attributes["data-words"] ?? "").utf8))?["esriJobFailed"])
            #expect(table.elements.first?.text == "Failed" && table.elements.last?.isTrue == true)
            #expect(page.every("script").contains { $0.attributes["src"] == PageAsset.job.url })
        }
    }

    @Test(arguments: [
        (JobStatus.succeeded, "Succeeded", "good"), (.failed, "Failed", "bad"),
        (.timedOut, "Timed out", "bad"), (.cancelled, "Cancelled", "ended"),
    ])
    func `the page of a job that has ended has its state in words, and no bar`(
        _ status: JobStatus, _ words: String, _ tone: String
    ) async throws {
        let job = Self.job(status)
        let page = try await service([job])
            .browse("\(root)/BatchIdentify/jobs/\(job.id)").page()
        let state = try #require(page.with(id: "status"))
        #expect(state.text == words && state.attributes["class"] == "state " + tone)
        #expect(page.every("progress").isEmpty)
        #expect(!page.every("button").contains { $0.text == "Cancel the job" })
        #expect(page.every("h1").map(\.text) == ["Batch identify"])
        #expect(!page.words.contains("esriJob"))
        let small = page.whole.filter { $0.attributes["class"] == "id" }
        #expect(small.map(\.text) == ["\(job.id)"])
    }

    @Test func `the list of all jobs has parts, the newest job first, with kind and user`()
        async throws
    {
        var jobs = (0..<120).map { SimulatedJobs.job(($0 * 37) % 120, actor: "user:anna") }
        jobs[0].kind = .batchGeocode
        jobs[0].submittedAt = Timestamp(microseconds: 500_000_000)
        jobs[0].endedAt = Timestamp(microseconds: 600_000_000)
        jobs[0].status = .failed
        let service = try service(jobs)

        func part(_ query: String) async -> JSONTree? {
            let answer = await service.answer(
                GatewayRequest(path: Array((root + "/jobs").utf8), query: Array(query.utf8)))
            return JSONTree(answer.body)
        }
        let first = try #require(await part("f=json"))
        #expect(first["count"]?.whole == 120 && first["exceededTransferLimit"]?.isTrue == true)
        let listed = try #require(first["jobs"]?.elements)
        #expect(listed.count == 50)
        #expect(listed.compactMap { $0["submitted"]?.whole } == [500_000] + (71..<120).reversed())
        #expect(listed[0]["taskName"]?.text == "BatchGeocode")
        #expect(listed[0]["user"]?.text == "anna" && listed[0]["ended"]?.whole == 600_000)
        #expect(listed[0]["progress"] == nil && listed[1]["progress"]?["percent"]?.whole == 40)
        let last = try #require(await part("f=json&resultOffset=100&resultRecordCount=1000"))
        #expect(last["jobs"]?.elements.count == 20 && last["exceededTransferLimit"] == nil)
        let beyond = try #require(await part("f=json&resultOffset=4000"))
        #expect(beyond["jobs"]?.elements.isEmpty == true && beyond["count"]?.whole == 120)

        let page = try await service.browse(root + "/jobs?resultOffset=50").page()
        #expect(page.words.contains("Jobs 51 to 100 of 120, the newest first"))
        let rows = try #require(page.every("tbody").first).children
        #expect(rows.count == 50)
        #expect(rows[0].words.contains("Batch identify") && rows[0].words.contains("anna"))
        #expect(rows[0].words.contains("Running") && rows[0].words.contains("40 %"))
        #expect(page.links.contains("?resultOffset=0") && page.links.contains("?resultOffset=100"))
        let top = try await service.browse(root + "/jobs").page()
        #expect(
            top.every("tbody")[0].links.first == "\(root)/BatchGeocode/jobs/\(jobs[0].id)")
    }

    @Test func `a kind is shown in words`() {
        #expect(JobKind.batchGeocode.title == "Batch geocode")
        #expect(JobKind.title(of: "exportfeatures") == "Export features")
        #expect(JobKind.title(of: "noKind") == "noKind")
    }
}
