// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import Synchronization
import TestKit
import Testing

/// Gateways that die or stand still under the SDK, and jobs that are cancelled.
extension SDKProcessTests {
    /// A job that geocodes a table.
    private func geocodeJob(
        _ running: SDKSite, rows: Int, seed: UInt64
    ) async throws -> GeoprocessingJob {
        let table = URL(filePath: running.site.folder + "/table-\(seed).csv")
        try JobSite.table(rows: rows, seed: seed).write(to: table)
        let task = GeoprocessingTask(
            url: running.services.appending(path: "Jobs/GPServer/BatchGeocode"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setInputValue(GeoprocessingDataFile(url: table), forKey: "input")
        parameters.setInputValue(GeoprocessingString(value: "query"), forKey: "query")
        return task.makeJob(parameters: parameters)
    }

    private func submitted(_ job: Job) async throws {
        try await waitUntil("the job is submitted", detail: "\(job.status) \(job.allMessages)") {
            !job.serverJobID.isEmpty
        }
    }

    /// What the server says of a job.
    private func status(
        _ running: SDKSite, _ job: Job, task: String = "BatchGeocode"
    ) async throws -> [String: Any] {
        try await running.answer("Jobs/GPServer/\(task)/jobs/\(job.serverJobID)")
    }

    /// The texts of the messages that the server has of a job.
    private func messages(_ running: SDKSite, _ job: Job) async throws -> [String] {
        let list = try await status(running, job)["messages"] as? [[String: Any]]
        return try #require(list).map { $0["description"] as? String ?? "" }
    }

    @Test
    func `a job succeeds, submitted once, with each message once, whenever its gateway is killed`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite(withLocator: true)
        defer { running.remove() }
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        for round in 0..<5 {
            let job = try await geocodeJob(running, rows: 2_000, seed: UInt64(round))
            job.start()
            if round == 0 {
                // It has something left to do when the gateway is back.
                try await submitted(job)
                let pause = try await running.site.run("job pause \(job.serverJobID)")
                try #require(pause.status == 0, "\(pause.errors)")
                try await running.replaceGateway()
                // What an answer brings is not brought again by the stream.
                try await job.checkStatus()
                #expect(job.status == .started)
                let resume = try await running.site.run("job resume \(job.serverJobID)")
                try #require(resume.status == 0, "\(resume.errors)")
            } else {
                try await pauseBeforeKill(milliseconds: 0...300, using: &random)
                try await running.replaceGateway()
            }
            let output = try await job.output
            #expect(output.outputs["output"] is GeoprocessingDataFile)
            let said = job.allMessages.map(\.text)
            #expect(!said.isEmpty)
            #expect(
                try await said == messages(running, job), "seed \(random.seed), round \(round)")
        }
        #expect(try await running.submittedJobs().count == 5, "seed \(random.seed)")
    }

    @Test func `the JSON of a job, read after its gateway was killed, is the same job`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite(withLocator: true)
        defer { running.remove() }
        let job = try await geocodeJob(running, rows: 10_000, seed: 1)
        job.start()
        try await submitted(job)
        let pause = try await running.site.run("job pause \(job.serverJobID)")
        try #require(pause.status == 0, "\(pause.errors)")
        let text = job.toJSON()
        job.pause()
        try await running.replaceGateway()

        let again = try GeoprocessingJob.fromJSON(text)
        #expect(again.status == .paused)
        #expect(again.serverJobID == job.serverJobID)
        again.start()
        #expect(again.status == .started)
        let resume = try await running.site.run("job resume \(job.serverJobID)")
        try #require(resume.status == 0, "\(resume.errors)")
        _ = try await again.output
        #expect(again.serverJobID == job.serverJobID)
        #expect(try await again.allMessages.map(\.text) == messages(running, again))
        #expect(try await running.submittedJobs().count == 1)
        // The first object has stopped asking, and goes on where it was.
        #expect(job.status == .paused)
        job.start()
        _ = try await job.output
        #expect(job.allMessages.map(\.text) == again.allMessages.map(\.text))
    }

    @Test func `a gateway that stands still costs an identify its time, and nothing afterwards`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let (before, interceptors) = (
            CairnEnvironment.requestTimeout, CairnEnvironment.interceptors
        )
        defer {
            CairnEnvironment.requestTimeout = before
            CairnEnvironment.interceptors = interceptors
        }
        let watch = RequestWatch(prefix: running.services.absoluteString)
        CairnEnvironment.interceptors = [watch]
        let map = Map(spatialReference: .wgs84)
        map.addOperationalLayer(
            ArcGISMapImageLayer(url: running.services.appending(path: "Grid/MapServer")))
        map.initialViewpoint = Viewpoint(latitude: 10, longitude: 10, scale: 1_000_000)
        let view = MapViewProxy(map: map, size: CGSize(width: 500, height: 400))
        let identify = { @Sendable () async throws -> Int in
            try await view.identifyLayers(
                screenPoint: CGPoint(x: 250, y: 200), tolerance: 5, maximumResultsPerLayer: nil
            ).flatMap(\.sublayerResults).flatMap(\.geoElements).count
        }
        let count = try await identify()
        #expect(count > 0)

        CairnEnvironment.requestTimeout = .seconds(1)
        let gateway = try #require(try await running.gateway())
        defer { kill(gateway, SIGCONT) }
        let asking = Task { while true { _ = try await identify() } }
        let begun = watch.count
        try await waitUntil("identifies are under way") { watch.count > begun + 20 }
        try #require(kill(gateway, SIGSTOP) == 0)
        let stopped = ContinuousClock.now
        let error = await #expect(throws: TransportError.self) { try await asking.value }
        #expect(error?.kind == .timedOut, "\(error as Any)")
        #expect(ContinuousClock.now - stopped < .seconds(20))

        CairnEnvironment.requestTimeout = .seconds(600)
        let asked = watch.count
        let waiting = Task { try await identify() }
        try await waitUntil("an identify is under way") { watch.count > asked }
        let cancelled = ContinuousClock.now
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(ContinuousClock.now - cancelled < .seconds(20))

        try #require(kill(gateway, SIGCONT) == 0)
        #expect(try await identify() == count)
    }

    @Test func `a cancel reaches the server's job, and that of a batch each of its parts`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite(withLocator: true)
        defer { running.remove() }
        let job = try await geocodeJob(running, rows: 40_000, seed: 1)
        job.start()
        try await waitUntil("the job is under way", detail: "\(job.allMessages)") {
            job.progress.completedUnitCount > 0
        }
        #expect(await job.cancel())
        #expect(job.status == .failed)
        #expect((job.error as? CocoaError)?.code == .userCancelled)
        await #expect(throws: CocoaError.self) { try await job.output }
        #expect(try await status(running, job)["jobStatus"] as? String == "esriJobCancelled")

        let batch = try await batch(running, jobs: 4, rows: 40_000)
        batch.start()
        try await submitted(batch)
        try await waitUntil("two parts are under way", detail: "\(batch.allMessages)") {
            let parts = try await self.parts(running, batch)
            return parts.count { $0.value == "esriJobExecuting" } >= 2
        }
        #expect(await batch.cancel())
        #expect(batch.status == .failed)
        #expect((batch.error as? CocoaError)?.code == .userCancelled)
        let ended = try await status(running, batch, task: "Batch")["jobStatus"] as? String
        #expect(ended == "esriJobCancelled")
        let parts = try await self.parts(running, batch)
        #expect(parts.count >= 2)
        #expect(parts.values.allSatisfy { $0 == "esriJobCancelled" }, "\(parts)")
        // Parts that had not begun do not begin afterwards.
        let jobs = try await running.site.run("job list --json").objects
        #expect(jobs.count == 2 + parts.count)
    }

    /// A job that geocodes tables side by side.
    private func batch(
        _ running: SDKSite, jobs: Int, rows: Int
    ) async throws -> GeoprocessingJob {
        var lines = ""
        for number in 0..<jobs {
            let path = URL(filePath: running.site.folder + "/part-\(number).csv")
            let table = JobSite.table(rows: rows, seed: UInt64(100 + number))
            try table.write(to: path)
            let response = try await CurlTransport().send(
                Request(
                    .post, running.services.appending(path: "Jobs/GPServer/uploads/upload"),
                    body: .upload(
                        fields: [("f", "json")], file: path, name: "file")))
            var bytes = Data()
            for try await piece in response.body { bytes += piece }
            let answer = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
            let item = try #require(answer?["item"] as? [String: Any])
            let id = try #require(item["itemID"] as? String)
            lines += #"{"kind":"BatchGeocode","parameters":{"query":"query"},"#
            lines += #""input":{"id":"\#(id)","byteCount":\#(table.count),"#
            lines += #""mediaType":"text/csv"}}"# + "\n"
        }
        let file = URL(filePath: running.site.folder + "/jobs.jsonl")
        try lines.write(to: file, atomically: true, encoding: .utf8)
        let task = GeoprocessingTask(url: running.services.appending(path: "Jobs/GPServer/Batch"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setInputValue(GeoprocessingDataFile(url: file), forKey: "input")
        parameters.setInputValue(GeoprocessingLong(value: 2), forKey: "sideBySide")
        return task.makeJob(parameters: parameters)
    }

    /// The states of a batch's parts.
    private func parts(_ running: SDKSite, _ batch: Job) async throws -> [String: String] {
        let list = try await status(running, batch, task: "Batch")["subJobs"] as? [[String: Any]]
        var parts: [String: String] = [:]
        for part in list ?? [] {
            parts[part["jobId"] as? String ?? ""] = part["jobStatus"] as? String
        }
        return parts
    }
}

/// Counts the requests to one server as they are sent.
private final class RequestWatch: RequestInterceptor {
    private let prefix: String
    private let sent = Mutex(0)

    init(prefix: String) { self.prefix = prefix }

    var count: Int { sent.withLock { $0 } }

    func intercept(_ request: Request, next: Next) async throws -> Response {
        if request.url.absoluteString.hasPrefix(prefix) { sent.withLock { $0 += 1 } }
        return try await next(request)
    }
}
