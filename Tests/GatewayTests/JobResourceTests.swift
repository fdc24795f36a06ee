// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import FoundationEssentials
import Platform
import Testing

@testable import Gateway
@testable import JobKinds

@Suite struct JobResourceTests {
    private static let item = String(repeating: "ab", count: 32)

    private func order(_ values: [String: String]) throws -> JobResource.Order {
        try JobResource.order(BatchIdentify.description, Parameters(values))
    }

    @Test(arguments: [item, #"{"itemID":"\#(item)"}"#, #"{itemID: '\#(item)', url: ''}"#])
    func `a submission has the parameters of its task and the upload as input`(
        input: String
    ) throws {
        let found = try order([
            "map": "World", "LAYERS": "all", "input": input, "f": "json", "env:outSR": "4326",
            "token": "x", "sr": "", "size": " ",
        ])
        #expect(found.itemID == Self.item)
        #expect(found.parameters.texts["map"] == "World")
        #expect(found.parameters.texts["layers"] == "all")
        for parameter in BatchIdentify.description.parameters
        where !["map", "layers"].contains(parameter.name) {
            #expect(found.parameters.texts[parameter.name] == parameter.defaultValue)
        }
    }

    @Test func `a product that is text has its charset, and JSON needs none`() {
        #expect(MediaType.csv.contentType == "text/csv; charset=utf-8")
        #expect(MediaType.jsonLines.contentType == "application/jsonl")
    }

    @Test(arguments: [
        ("f=json", "application/x-www-form-urlencoded", true),
        ("token=a&f=pjson", "application/x-www-form-urlencoded; charset=UTF-8", true),
        ("f=json", "application/octet-stream", false), ("f=json", "", false),
        // The body that curl sends for a file, without a given type.
        ("id,x\n1,f=json&f=json\n", "application/x-www-form-urlencoded", false),
        (#"{"id":1,"x":2}"#, "application/x-www-form-urlencoded", false),
        ("buff=json", "application/x-www-form-urlencoded", false),
    ])
    func `a form without a file is no upload`(_ body: String, _ type: String, _ isForm: Bool) {
        #expect(Uploads.isForm(Array(body.utf8), type) == isForm)
    }

    @Test(arguments: [
        ["input": item], ["map": "World"], ["map": " ", "input": item],
        ["map": "World", "input": "{"], ["map": "World", "input": #"{"url":"http://x/y"}"#],
    ])
    func `a submission that lacks something, or names no upload, is refused`(
        _ values: [String: String]
    ) {
        let failure = #expect(throws: Failure.self) { try order(values) }
        #expect(failure?.code == .invalidParameter)
    }

    @Test(arguments: [
        ("", "", Captures()), ("uploads/upload", "/uploads/upload", Captures()),
        ("uploads/register", "/uploads/register", Captures()),
        ("uploads/u1/uploadPart", "/uploads/{item}/uploadPart", Captures(text: "u1")),
        ("uploads/u1/parts", "/uploads/{item}/parts", Captures(text: "u1")),
        ("uploads/u1/commit", "/uploads/{item}/commit", Captures(text: "u1")),
        ("uploads", "/{task}", Captures(task: "uploads")),
        ("Batch", "/{task}", Captures(task: "Batch")),
        ("Batch/submitJob", "/{task}/submitJob", Captures(task: "Batch")),
        ("Batch/SUBMITJOB", "/{task}/submitJob", Captures(task: "Batch")),
        ("Batch/estimate", "/{task}/estimate", Captures(task: "Batch")),
        ("Batch/jobs", "/{task}/jobs", Captures(task: "Batch")),
        ("Batch/jobs/j1", "/{task}/jobs/{job}", Captures(task: "Batch", job: "j1")),
        (
            "Batch/jobs/j1/cancel", "/{task}/jobs/{job}/cancel",
            Captures(task: "Batch", job: "j1")
        ),
        (
            "Batch/jobs/j1/changes", "/{task}/jobs/{job}/changes",
            Captures(task: "Batch", job: "j1")
        ),
        (
            "Batch/jobs/j1/results/output", "/{task}/jobs/{job}/results/{result}",
            Captures(task: "Batch", job: "j1", text: "output")
        ),
        (
            "Batch/jobs/j1/results/output/file", "/{task}/jobs/{job}/results/{result}/file",
            Captures(task: "Batch", job: "j1", text: "output")
        ),
        (
            "Batch/jobs/j1/inputs/map", "/{task}/jobs/{job}/inputs/{input}",
            Captures(task: "Batch", job: "j1", text: "map")
        ),
        (
            "Batch/jobs/j1/inputs/input/file", "/{task}/jobs/{job}/inputs/{input}/file",
            Captures(task: "Batch", job: "j1", text: "input")
        ),
    ])
    func `a path names a part of the geoprocessing service`(
        path: String, pattern: String, captures: Captures
    ) {
        for service in ["Jobs/GPServer", "jobs/gpserver"] {
            let match = RouteTable.shared.match("/arcgis/rest/services/\(service)/\(path)/".utf8)
            #expect(
                match.route.patterns[0].text == "arcgis/rest/services/Jobs/GPServer" + pattern)
            #expect(match.captures == captures)
        }
    }

    @Test func `a status has the times of messages, and the jobs that a batch began`()
        async throws
    {
        var job = SimulatedJobs.job(7, .batch, [:])
        var message = JobMessage(.warning, "row 3 is bad")
        message.recordedAt = Timestamp(microseconds: 1_764_444_000_123_456)
        job.messages = [message, JobMessage(.informative, "2 further messages are left out")]
        let child = JobID(rawValue: UUID())
        let jobs = try SimulatedJobs([job])
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: jobs))
        func status() async -> JSONTree? {
            let path = "\(JobResource.path)/Batch/jobs/\(job.id)"
            return JSONTree(await service.answer(GatewayRequest(path: Array(path.utf8))).body)
        }
        let before = try #require(await status())
        let times = before["messages"]?.elements.map { $0["timestamp"]?.whole }
        #expect(times == [1_764_444_000_123, nil])
        #expect(before["messages"]?.elements.first?["description"]?.text == "row 3 is bad")
        #expect(before["subJobs"] != nil && before["subJobs"]?.elements.isEmpty == true)

        jobs.change(job.id) { job in
            job.subJobs = [SubJobDescription(id: child, kind: .batchGeocode, status: .succeeded)]
        }
        let subJobs = try #require(await status()?["subJobs"]?.elements)
        #expect(subJobs.map { $0["jobId"]?.text } == ["\(child)"])
        #expect(subJobs.map { $0["taskName"]?.text } == ["BatchGeocode"])
        #expect(subJobs.map { $0["jobStatus"]?.text } == ["esriJobSucceeded"])
    }

    @Test(arguments: ["Batch/execute", "Batch/jobs/j1/results", "Batch/jobs/j1/x/y"])
    func `any other path names no part of the geoprocessing service`(path: String) {
        let match = RouteTable.shared.match("/arcgis/rest/services/Jobs/GPServer/\(path)".utf8)
        #expect(match.route.label == "unknown")
    }
}
