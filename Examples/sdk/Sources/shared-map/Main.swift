// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Synchronization

/// Many tasks that share one map and one job, for the thread sanitizer: `shared-map [URL]`, with a
/// URL also many requests for it by libcurl.
@main struct Main {
    private static let taskCount = 64
    private static let roundCount = 6
    private static let fetchCount = 50

    static func main() async throws {
        let place = CommandLine.arguments.dropFirst().first.map { URL(string: $0) }
        if let place {
            guard let place else {
                print("usage: shared-map [URL]")
                exit(64)
            }
            try await fetch(place)
        }
        CairnEnvironment.jobPolling = JobPolling(first: .milliseconds(2), longest: .milliseconds(5))
        let server = StubServer()
        try await shareMap(server)
        try await shareJob(server)
    }

    private static func check(_ holds: Bool, _ statement: String) {
        guard !holds else { return }
        FileHandle.standardError.write(Data("shared-map: not true: \(statement)\n".utf8))
        exit(1)
    }

    /// Runs so many tasks side by side; the sum of what they return.
    private static func together(
        _ taskCount: Int = taskCount,
        _ work: @escaping @Sendable (_ number: Int) async throws -> Int
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<taskCount { group.addTask { try await work(number) } }
            return try await group.reduce(0, +)
        }
    }

    // MARK: A map

    private static let service = #"""
        {"mapName":"City","layers":[{"id":0,"name":"Places","parentLayerId":-1,
        "defaultVisibility":true},{"id":1,"name":"Parcels","parentLayerId":-1,
        "defaultVisibility":true}],"spatialReference":{"wkid":102100},
        "fullExtent":{"xmin":0,"ymin":0,"xmax":1000,"ymax":1000,
        "spatialReference":{"wkid":102100}}}
        """#
    private static let found = #"""
        {"results":[{"layerId":0,"layerName":"Places","attributes":{"OBJECTID":7,"owner":"a"},
        "geometryType":"esriGeometryPoint","geometry":{"x":500,"y":500}}]}
        """#

    private static func shareMap(_ server: StubServer) async throws {
        let blank = MapViewProxy(
            map: Map(spatialReference: .webMercator), size: CGSize(width: 32, height: 24))
        let picture = try await blank.exportImage()
        for name in ["City", "Land"] {
            server.on("/\(name)/MapServer", json: service)
            server.on("/\(name)/MapServer/*", json: #"{"fields":[]}"#)
            server.on("/\(name)/MapServer/identify", json: found)
            server.on("/\(name)/MapServer/export", .bytes(picture, type: "image/png"))
        }
        @Sendable func layer(_ name: String) -> ArcGISMapImageLayer {
            ArcGISMapImageLayer(url: server.url.appending(path: "\(name)/MapServer"))
        }
        let (map, city) = (Map(), layer("City"))
        map.addOperationalLayers([layer("Land"), city])
        let view = MapViewProxy(map: map, size: CGSize(width: 32, height: 24))
        let overlay = GraphicsOverlay()
        view.graphicsOverlays = [overlay]
        let hits = Atomic<Int>(0)
        let pictures = Atomic<Int>(0)
        let loads = Atomic<Int>(0)
        let changes = try await together { number in
            for round in 0..<roundCount {
                switch (number + round) % 6 {
                case 0:
                    let results = try await view.identifyLayers(
                        screenPoint: CGPoint(x: 16, y: 12), tolerance: 3)
                    hits.add(
                        results.flatMap(\.sublayerResults).flatMap(\.geoElements).count,
                        ordering: .relaxed)
                case 1:
                    let bytes = try await view.exportImage()
                    pictures.add(bytes.isEmpty ? 0 : 1, ordering: .relaxed)
                case 2:
                    let copy = try Map.fromJSON(map.toJSON())
                    check(copy.operationalLayers.count >= 2, "a copy has the layers of its map")
                    _ = await view.setViewpoint(
                        Viewpoint(
                            center: Point(x: 500, y: 500, spatialReference: .webMercator),
                            scale: Double(10_000 + number)))
                case 3:
                    try await city.load()
                    for sublayer in city.mapImageSublayers {
                        sublayer.isVisible.toggle()
                        sublayer.definitionExpression = "OBJECTID > \(number)"
                    }
                    city.opacity = Float(number) / Float(taskCount)
                    city.isVisible = true
                case 4:
                    let own = layer("Land")
                    map.insertOperationalLayer(own, at: number % 3)
                    let graphic = Graphic(
                        geometry: Point(x: 500, y: 500, spatialReference: .webMercator))
                    overlay.addGraphic(graphic)
                    try await own.load()
                    map.removeOperationalLayer(own)
                    overlay.removeGraphic(graphic)
                default:
                    async let loading: Void = map.load()
                    for await status in map.$loadStatus where status == .loaded {
                        loads.add(1, ordering: .relaxed)
                        break
                    }
                    try await loading
                }
            }
            return roundCount
        }
        check(changes == taskCount * roundCount, "every task has ended")
        check(map.operationalLayers.count == 2, "the map has its two layers again")
        check(overlay.graphics.isEmpty, "the overlay is empty again")
        // Each sort of work is done by every task, once for six rounds.
        check(loads.load(ordering: .relaxed) == taskCount, "every reader has seen the map loaded")
        check(pictures.load(ordering: .relaxed) == taskCount, "every picture was drawn")
        check(hits.load(ordering: .relaxed) > 0, "something was identified")
        print(
            "\(taskCount) tasks shared a map: \(hits.load(ordering: .relaxed)) features, "
                + "\(pictures.load(ordering: .relaxed)) pictures")
    }

    // MARK: A job

    private static func shareJob(_ server: StubServer) async throws {
        let place = "/Jobs/GPServer/Clip"
        server.on(
            place,
            json: #"{"name":"Clip","executionType":"esriExecutionTypeAsynchronous","#
                + #""parameters":[]}"#)
        server.on(place + "/submitJob", json: #"{"jobId":"j1","jobStatus":"esriJobSubmitted"}"#)
        let asked = Mutex((count: 0, isCancelled: false))
        server.on(place + "/jobs/j1/cancel") { _ in
            asked.withLock { $0.isCancelled = true }
            return .json(#"{"jobId":"j1","jobStatus":"esriJobCancelling"}"#)
        }
        // One more message at each question.
        server.on(place + "/jobs/j1") { _ in
            let (count, isCancelled) = asked.withLock { asked in
                if !asked.isCancelled { asked.count += 1 }
                return (asked.count, asked.isCancelled)
            }
            let messages = (1...max(count, 1)).map {
                #"{"type":"esriJobMessageTypeInformative","description":"\#($0)"}"#
            }.joined(separator: ",")
            return .json(
                #"""
                {"jobId":"j1","jobStatus":"esriJob\#(isCancelled ? "Cancelled" : "Executing")",
                "progress":{"percent":\#(min(count / 8, 99))},"messages":[\#(messages)]}
                """#)
        }
        let task = GeoprocessingTask(url: server.url.appending(path: "Jobs/GPServer/Clip"))
        let job = task.makeJob(parameters: try await task.makeDefaultParameters())
        async let read = together { _ in
            var texts: [String] = []
            for await message in job.messages { texts.append(message.text) }
            check(texts == (1...texts.count).map(String.init), "messages come in order, once")
            check(texts == job.allMessages.map(\.text), "a reader gets all messages")
            return texts.count
        }
        async let seen = together { _ in
            var last = Job.Status.notStarted
            var count = 0
            for await status in job.$status { (last, count) = (status, count + 1) }
            check(last == .failed, "the last status is that of the end")
            return count
        }
        let questions = try await together { number in
            job.start()
            while job.serverJobID.isEmpty { await Task.yield() }
            var percent = 0.0
            for _ in 0..<roundCount {
                try await job.checkStatus()
                let now = job.progress.fractionCompleted
                check(now >= percent, "the progress does not fall")
                percent = now
                let copy = try GeoprocessingJob.fromJSON(job.toJSON())
                check(copy.serverJobID == "j1" && copy.status == .paused, "a copy is paused")
            }
            return roundCount
        }
        let cancelled = try await together { _ in await job.cancel() ? 1 : 0 }
        check(cancelled > 0, "a cancel has succeeded")
        check(job.status == .failed, "a cancelled job has failed")
        check((job.error as? CocoaError)?.code == .userCancelled, "the user has cancelled it")
        check(server.requests(place + "/submitJob").count == 1, "the job was submitted once")
        check(server.requests(place + "/jobs/j1/cancel").count == 1, "it was cancelled once")
        print(
            "\(taskCount) tasks shared a job: \(questions) questions, \(try await read) messages, "
                + "\(try await seen) statuses")
    }

    // MARK: Requests by libcurl

    private static func fetch(_ url: URL) async throws {
        let outcomes = Mutex((whole: 0, cancelled: 0))
        // As many at once as the SDK asks of one server.
        let sent = try await together(8) { number in
            for round in 0..<fetchCount {
                let asking = Task {
                    let response = try await CurlTransport().send(Request(.get, url))
                    var count = 0
                    for try await piece in response.body { count += piece.count }
                    check(response.status == 200 && count > 0, "\(url) has an answer")
                }
                if (number + round) % 4 == 0 { asking.cancel() }
                do {
                    try await asking.value
                    outcomes.withLock { $0.whole += 1 }
                } catch is CancellationError {
                    outcomes.withLock { $0.cancelled += 1 }
                }
            }
            return fetchCount
        }
        let (whole, cancelled) = outcomes.withLock { $0 }
        check(whole + cancelled == sent, "every request has ended")
        check(whole >= sent * 3 / 4, "a request that is not cancelled has an answer")
        print("\(sent) requests by libcurl, \(cancelled) of them cancelled")
    }
}
