// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

@Suite struct JobTests {
    private let server = StubServer()

    init() {
        CairnEnvironment.jobPolling = JobPolling(
            first: .milliseconds(2), longest: .milliseconds(10))
        server.on("/Jobs/GPServer/Clip", json: Self.description)
        server.on(
            "/Jobs/GPServer/Clip/submitJob", json: #"{"jobId":"j1","jobStatus":"esriJobSubmitted"}"#
        )
        server.on(
            "/Jobs/GPServer/Clip/jobs/j1/results/out",
            json: #"{"paramName":"out","dataType":"GPString","value":"done"}"#)
    }

    private static let description = #"""
        {"name":"Clip","executionType":"esriExecutionTypeAsynchronous","parameters":[
        {"name":"text","dataType":"GPString","direction":"esriGPParameterDirectionInput",
        "defaultValue":"hello","parameterType":"esriGPParameterTypeOptional"},
        {"name":"count","dataType":"GPLong","direction":"esriGPParameterDirectionInput",
        "defaultValue":3,"parameterType":"esriGPParameterTypeOptional"},
        {"name":"out","dataType":"GPString","direction":"esriGPParameterDirectionOutput"}]}
        """#

    private static func status(
        _ word: String, _ percent: Int = 0, messages: [String] = []
    ) -> StubAnswer {
        let list = messages.map {
            #"{"type":"esriJobMessageTypeInformative","description":"\#($0)"}"#
        }.joined(separator: ",")
        return .json(
            #"""
            {"jobId":"j1","jobStatus":"\#(word)","progress":{"percent":\#(percent)},
            "messages":[\#(list)],"results":{"out":{"paramUrl":"results/out"}}}
            """#)
    }

    private var task: GeoprocessingTask {
        GeoprocessingTask(url: server.url.appending(path: "Jobs/GPServer/Clip"))
    }

    private func job() async throws -> GeoprocessingJob {
        task.makeJob(parameters: try await task.makeDefaultParameters())
    }

    private let place = "/Jobs/GPServer/Clip/jobs/j1"

    @Test func `a job runs to its output, with progress and each message once`() async throws {
        server.on(
            place,
            inTurn: [
                Self.status("esriJobExecuting", 10, messages: ["one"]),
                Self.status("esriJobExecuting", 60, messages: ["one", "two"]),
                Self.status("esriJobExecuting", 30, messages: ["one", "two"]),
                Self.status("esriJobSucceeded", 100, messages: ["one", "two", "three"]),
            ])
        let job = try await job()
        #expect(job.status == .notStarted)
        #expect(job.serverJobID == "")
        let heard = Task {
            var heard: [String] = []
            for await message in job.messages { heard.append(message.text) }
            return heard
        }
        job.start()
        #expect(job.status == .started)
        let output = try await job.output
        #expect((output.outputs["out"] as? GeoprocessingString)?.value == "done")
        #expect(job.status == .succeeded)
        #expect(job.progress.fractionCompleted == 1)
        #expect(job.serverJobID == "j1")
        #expect(await heard.value == ["one", "two", "three"])
        #expect(job.allMessages.map(\.text) == ["one", "two", "three"])
        let sent = try #require(server.requests("/Jobs/GPServer/Clip/submitJob").first).parameters
        #expect(sent["text"] == "hello" && sent["count"] == "3")

        // An ended job is not started again.
        job.start()
        #expect(job.status == .succeeded)
        #expect(await job.cancel() == false)
        let again = try await job.output
        #expect(again.outputs.count == 1)
    }

    @Test func `a failed job says why, and is not started again`() async throws {
        server.on(
            place,
            .json(
                #"""
                {"jobId":"j1","jobStatus":"esriJobFailed","messages":[
                {"type":"esriJobMessageTypeError","description":"the input is empty"}],"results":{}}
                """#))
        let job = try await job()
        job.start()
        let error = await #expect(throws: CairnError.self) { try await job.output }
        #expect(error?.description == "the input is empty")
        #expect(job.status == .failed)
        #expect(job.allMessages.map(\.severity) == [.error])
        job.start()
        #expect(job.status == .failed)
        #expect(server.requests("/Jobs/GPServer/Clip/submitJob").count == 1)
    }

    @Test func `a cancelled job asks the server and its parts, and ends as the user's`()
        async throws
    {
        let isCancelled = StubGate()
        server.on(place) { _ in
            let word = isCancelled.arrivedCount > 0 ? "esriJobCancelled" : "esriJobExecuting"
            return .json(
                #"""
                {"jobId":"j1","jobStatus":"\#(word)",
                "subJobs":[{"jobId":"j2","taskName":"Part"},{"jobId":"j3"},
                {"jobId":"j4","jobStatus":"esriJobSucceeded"}],"messages":[]}
                """#)
        }
        isCancelled.open()
        server.on(
            place + "/cancel",
            StubAnswer.json(#"{"jobStatus":"esriJobCancelling"}"#).held(by: isCancelled))
        server.on("/Jobs/GPServer/Part/jobs/j2/cancel", json: "{}")
        server.on("/Jobs/GPServer/Clip/jobs/j3/cancel", json: "{}")
        let job = try await job()
        job.start()
        for await status in job.$status where status == .started {
            break
        }
        while job.serverJobID.isEmpty { await Task.yield() }
        let cancelling = Task { await job.cancel() }
        #expect(await cancelling.value)
        #expect(job.status == .failed)
        #expect((job.error as? CocoaError)?.code == .userCancelled)
        await #expect(throws: CocoaError.self) { try await job.output }
        #expect(server.requests("/Jobs/GPServer/Part/jobs/j2/cancel").count == 1)
        #expect(server.requests("/Jobs/GPServer/Clip/jobs/j3/cancel").count == 1)
        #expect(server.requests(place + "/cancel").count == 1)
        // The whole comes first, which a cancelled part would fail; a part that has ended is left.
        let cancels = server.requests.map(\.path).filter { $0.hasSuffix("/cancel") }
        #expect(cancels.first == place + "/cancel" && cancels.count == 3, "\(cancels)")
        #expect(job.progress.isCancelled)
    }

    @Test func `a cancel that the server refuses is false, and the messages say so`() async throws {
        server.on(place, Self.status("esriJobExecuting", 10))
        server.on(place + "/cancel", .error(403, "not yours"))
        let job = try await job()
        job.start()
        while job.serverJobID.isEmpty { await Task.yield() }
        #expect(await job.cancel() == false)
        #expect(job.allMessages.last?.text.contains("not yours") == true)
        #expect(!job.status.isEnded)
        job.pause()
    }

    @Test func `a pause is the client's alone: it stops asking, and goes on where the job is`()
        async throws
    {
        server.on(place, Self.status("esriJobExecuting", 10, messages: ["one"]))
        let job = try await job()
        job.pause()
        #expect(job.status == .notStarted)
        job.start()
        for await message in job.messages where message.text == "one" { break }
        job.pause()
        #expect(job.status == .paused)
        #expect(job.progress.isPaused)
        server.on(place, Self.status("esriJobSucceeded", 100, messages: ["one", "two"]))
        #expect(job.status == .paused)
        #expect(job.allMessages.count == 1)
        #expect(server.requests(place + "/cancel").isEmpty)
        job.start()
        _ = try await job.output
        #expect(job.allMessages.map(\.text) == ["one", "two"])
        #expect(server.requests("/Jobs/GPServer/Clip/submitJob").count == 1)
    }

    @Test func `a job read back is paused, whatever it was`() async throws {
        server.on(place, Self.status("esriJobExecuting", 40, messages: ["one"]))
        let fresh = try await job()
        #expect(try Job.fromJSON(fresh.toJSON()).status == .paused)
        fresh.start()
        for await message in fresh.messages where message.text == "one" { break }
        let text = fresh.toJSON()
        fresh.pause()
        #expect(!text.contains("token") && !text.contains("password"))

        server.on(place, Self.status("esriJobSucceeded", 100, messages: ["one", "two"]))
        let job = try GeoprocessingJob.fromJSON(text)
        #expect(job.status == .paused)
        #expect(job.serverJobID == "j1")
        #expect(job.progress.completedUnitCount == 40)
        job.start()
        let output = try await job.output
        #expect(output.outputs["out"] != nil)
        // No message twice.
        #expect(job.allMessages.map(\.text) == ["one", "two"])
        #expect(server.requests("/Jobs/GPServer/Clip/submitJob").count == 1)

        // An ended job is paused too, and ends again without asking.
        let ended = try Job.fromJSON(job.toJSON())
        #expect(ended.status == .paused)
        let count = server.requests.count
        ended.start()
        for await status in ended.$status where status.isEnded { break }
        #expect(ended.status == .succeeded)
        #expect(server.requests.count == count)
    }

    @Test func `no token of a file's URL is in the JSON of a job`() async throws {
        server.on(
            "/Jobs/GPServer/Clip/jobs/j1/results/out",
            json: #"""
                {"paramName":"out","dataType":"GPDataFile","value":{"url":
                "http://files.test/a.zip?token=secret1&part=2"}}
                """#)
        server.on(
            place,
            Self.status(
                "esriJobSucceeded", 100,
                messages: ["made http://files.test/b?part=2&Token=secret2#end"]))
        let parameters = try await task.makeDefaultParameters()
        let address = try #require(URL(string: "https://other.test/in.csv?part=1&token=secret3"))
        parameters.setInputValue(GeoprocessingDataFile(url: address), forKey: "file")
        parameters.setInputValue(GeoprocessingString(value: "a?token=b"), forKey: "text")
        let job = task.makeJob(parameters: parameters)
        job.start()
        _ = try await job.output
        let sent = try #require(server.requests("/Jobs/GPServer/Clip/submitJob").first)
        #expect(sent.parameters["file"]?.contains("token=secret3") == true)

        let text = job.toJSON()
        #expect(!text.contains("secret"))
        // The rest stays, and so does text that is no URL.
        for part in [
            "http://files.test/a.zip?part=2", "http://files.test/b?part=2#end",
            "https://other.test/in.csv?part=1", "a?token=b",
        ] {
            #expect(
                text.contains(part) || text.replacing("\\/", with: "/").contains(part), "\(part)")
        }
        let again = try GeoprocessingJob.fromJSON(text)
        again.start()
        let file = try await again.output.outputs["out"] as? GeoprocessingDataFile
        #expect(file?.url.absoluteString == "http://files.test/a.zip?part=2")
    }

    @Test func `what an answer brought is not brought again by a stream that is continued`()
        async throws
    {
        let event: @Sendable (String, String, String) -> (name: String, id: String, data: String) =
            { id, word, text in
                let data = #"""
                    {"jobStatus":"\#(word)","results":{"out":{"paramUrl":"results/out"}},
                    "messages":[{"type":"esriJobMessageTypeInformative","description":"\#(text)"}]}
                    """#
                return ("job", id, data.split(separator: "\n").joined())
            }
        server.on(place + "/changes") { request in
            request.headers["last-event-id"] == nil
                ? .events([event("5", "esriJobExecuting", "one")], ends: false)
                : .events([
                    event("6", "esriJobExecuting", "two"), event("7", "esriJobSucceeded", "three"),
                ])
        }
        server.on(place, Self.status("esriJobExecuting", 50, messages: ["one", "two"]))
        let job = try await job()
        job.start()
        for await message in job.messages where message.text == "one" { break }
        try await job.checkStatus()
        #expect(job.allMessages.map(\.text) == ["one", "two"])
        // Also in another process.
        let again = try GeoprocessingJob.fromJSON(job.toJSON())
        job.pause()
        for each in [job, again] {
            each.start()
            _ = try await each.output
            #expect(each.allMessages.map(\.text) == ["one", "two", "three"])
        }
    }

    @Test func `a submission to a server that is away is made when it is back`() async throws {
        server.on(
            "/Jobs/GPServer/Clip/submitJob",
            inTurn: [
                .unreachable, .unreachable, .error(504, "the log is away"),
                .json(#"{"jobId":"j1","jobStatus":"esriJobSubmitted"}"#),
            ])
        // Whether the server knows a repeated submission cannot be found out at first.
        server.on(
            "/arcgis/rest/info",
            inTurn: [.unreachable, .unreachable, .unreachable, .json(#"{"owningSystem":"Cairn"}"#)])
        server.on(place, Self.status("esriJobSucceeded", 100))
        let job = try await job()
        job.start()
        _ = try await job.output
        let sent = server.requests("/Jobs/GPServer/Clip/submitJob")
        #expect(sent.count == 4)
        #expect(Set(sent.map { $0.parameters["clientId"] }).count == 1)
    }

    /// Many times, since it starts again about when the answer comes.
    @Test(arguments: 0..<100)
    func `a job that is paused and started while it is submitted is submitted once`(
        _ number: Int
    ) async throws {
        let gate = StubGate()
        server.on(
            "/Jobs/GPServer/Clip/submitJob",
            StubAnswer.json(#"{"jobId":"j1","jobStatus":"esriJobSubmitted"}"#).held(by: gate))
        server.on(place, Self.status("esriJobSucceeded", 100))
        let job = try await job()
        job.start()
        await gate.arrived()
        job.pause()
        if number.isMultiple(of: 2) { gate.open() }
        job.start()
        gate.open()
        _ = try await job.output
        #expect(server.requests("/Jobs/GPServer/Clip/submitJob").count == 1)
    }

    @Test func `a job that is cancelled while it is submitted is cancelled on the server`()
        async throws
    {
        let gate = StubGate()
        server.on(
            "/Jobs/GPServer/Clip/submitJob",
            StubAnswer.json(#"{"jobId":"j1","jobStatus":"esriJobSubmitted"}"#).held(by: gate))
        server.on(place, Self.status("esriJobCancelled"))
        server.on(place + "/cancel", json: "{}")
        let job = try await job()
        job.start()
        await gate.arrived()
        let cancelling = Task { await job.cancel() }
        for await status in job.$status where status == .canceling { break }
        gate.open()
        #expect(await cancelling.value)
        #expect(server.requests(place + "/cancel").count == 1)
        #expect(job.serverJobID == "j1")
    }

    @Test func `job JSON of another kind, version or scheme is refused by name`() async throws {
        let text = try await job().toJSON()
        let kind = #expect(throws: CairnError.self) { try ExportTileCacheJob.fromJSON(text) }
        #expect(kind?.description.contains("GeoprocessingJob") == true)
        #expect(kind?.description.contains("ExportTileCacheJob") == true)
        for (from, to) in [
            (#""formatVersion":1"#, #""formatVersion":99"#), ("http://", "ftp://"),
            (#""kind":"Geoprocessing""#, #""kind":"Bake""#), ("{", "["),
        ] {
            let changed = text.replacingOccurrences(of: from, with: to)
            #expect(changed != text)
            #expect(throws: CairnError.self) { try Job.fromJSON(changed) }
        }
        #expect(throws: CairnError.self) { try Job.fromJSON(Data([0xFF])) }
    }

    @Test func `a lost network is passed over for a while, then said`() async throws {
        server.on(
            place,
            inTurn: Array(repeating: .unreachable, count: 20) + [Self.status("esriJobSucceeded")])
        let job = try await job()
        job.start()
        _ = try await job.output
        #expect(job.status == .succeeded)
    }

    @Test func `a submission whose answer was lost is not sent twice to another server`()
        async throws
    {
        server.on("/Jobs/GPServer/Clip/submitJob", .json(#"{"jobId":"j1"}"#).cut(after: 4))
        let job = try await job()
        job.start()
        await #expect(throws: CairnError.self) { try await job.output }
        #expect(server.requests("/Jobs/GPServer/Clip/submitJob").count == 1)
    }

    @Test func `a cancelled waiting task stops waiting, and the job goes on`() async throws {
        server.on(place, Self.status("esriJobExecuting", 10))
        let job = try await job()
        job.start()
        let waiting = Task { try await job.output }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(job.status == .started)
        server.on(place, Self.status("esriJobSucceeded", 100))
        _ = try await job.output
    }

    @Test func `a stream of changes brings news where it is served, each once`() async throws {
        let data: @Sendable (String, String) -> String = { word, messages in
            #"{"jobStatus":"\#(word)","progress":{"percent":50},"messages":[\#(messages)],"#
                + #""results":{"out":{"paramUrl":"results/out"}}}"#
        }
        let one = #"{"type":"esriJobMessageTypeInformative","description":"one"}"#
        let two = #"{"type":"esriJobMessageTypeInformative","description":"two"}"#
        server.on(place + "/changes") { request in
            request.headers["last-event-id"] == "5"
                ? .events([("job", "6", data("esriJobSucceeded", two))])
                : .events([("job", "5", data("esriJobExecuting", one))])
        }
        let job = try await job()
        job.start()
        _ = try await job.output
        #expect(job.allMessages.map(\.text) == ["one", "two"])
        #expect(server.requests(place).isEmpty)
    }

    @Test func `tiles are exported in Esri's forms, and a failed job leaves no file`() async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let target = folder.appending(path: "a (1) b.tpkx")
        server.on(
            "/Base/MapServer",
            json: Sample.tiledService.replacingOccurrences(
                of: #""layers":[]"#, with: #""layers":[],"exportTilesAllowed":true"#))
        server.on("/Base/MapServer/exportTiles", json: #"{"jobId":"j1"}"#)
        server.on(
            "/Base/MapServer/jobs/j1",
            json:
                #"{"jobStatus":"esriJobSucceeded","results":{"out_service_url":"#
                + #"{"paramUrl":"results/out_service_url"}}}"#
        )
        server.on(
            "/Base/MapServer/jobs/j1/results/out_service_url",
            json: #"{"paramName":"out_service_url","value":"\#(server.url)/files/a.tpkx"}"#)
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        server.on(
            "/files/a.tpkx",
            .bytes(bytes, type: "application/octet-stream", headers: [("ETag", "\"1\"")])
                .cut(after: 40_000))
        let task = ExportTileCacheTask(url: server.url.appending(path: "Base/MapServer"))
        let parameters = try await task.makeDefaultExportTileCacheParameters(
            areaOfInterest: Envelope(
                xMin: 0, yMin: 0, xMax: 10, yMax: 10, spatialReference: .webMercator),
            minScale: 0, maxScale: 0)
        #expect(parameters.levelIDs == [0, 1])
        CairnEnvironment.jobNetworkPatience = .seconds(600)
        // The first answer breaks off; it is continued where it ended.
        server.on("/files/a.tpkx") { request in
            guard let range = request.headers["range"] else {
                return .bytes(
                    bytes, type: "application/octet-stream", headers: [("ETag", "\"1\"")]
                ).cut(after: 40_000)
            }
            #expect(range == "bytes=40000-")
            #expect(request.headers["if-range"] == "\"1\"")
            return .bytes(bytes.dropFirst(40_000), type: "application/octet-stream", status: 206)
        }
        let job = task.makeExportTileCacheJob(parameters: parameters, downloadFileURL: target)
        job.start()
        let cache = try await job.output
        #expect(try Data(contentsOf: cache.fileURL) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)

        try FileManager.default.removeItem(at: target)
        server.on("/files/a.tpkx", .error(500, "the file is gone"))
        let failing = task.makeExportTileCacheJob(parameters: parameters, downloadFileURL: target)
        failing.start()
        await #expect(throws: ServiceError.self) { try await failing.output }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
