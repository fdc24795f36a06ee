// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Dataset
import FedSite
import Foundation
import Geometry
import MapState
import Platform
import Remote
import Site
import Synchronization
import TestKit
import Testing

@testable import Worker
@testable import WorkerPools

extension FedSite {
    fileprivate func operations(
        isStale: Bool = false, askTimeout: Duration = RemoteServices.askTimeout
    ) throws -> IdentifyOperations {
        try IdentifyOperations(
            follower: follower, isStale: { isStale },
            shelf: DatasetCache(directory: site.datasetsDirectory),
            rasters: site.rastersDirectory,
            remotes: RemoteServices(credentials: site.credentials, askTimeout: askTimeout)
        ) { [self] request throws(Failure) in read(request) }
    }
}

/// Asks on a thread of its own, as the worker's host does: the answer may have to wait for tasks.
private func ask(
    _ operations: IdentifyOperations, _ request: IdentifyRequest,
    until deadline: ContinuousClock.Instant? = nil
) async throws -> IdentifyAnswer {
    let result: Result<IdentifyAnswer, Failure> = try await withCheckedThrowingContinuation {
        continuation in
        do {
            _ = try PinnedThread(name: "asking") {
                do throws(Failure) {
                    let answer = try operations.identify(request, until: deadline)
                    continuation.resume(returning: .success(answer))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        } catch {
            continuation.resume(throwing: error)
        }
    }
    return try result.get()
}

@Suite(.timeLimit(.minutes(5))) struct IdentifyOperationsTests {
    private let history: FedSite

    init() throws {
        history = try FedSite()
        try history.addSquare("below", as: 0)
    }

    @Test func `a request is answered from the newest maps`() async throws {
        let operations = try history.operations(isStale: true)

        let answer = try await ask(operations, history.map.request())

        #expect(answer.results.map(\.value) == [.string("below")])
        #expect(answer.sequence == 4 && answer.isStale)
        try history.addSquare("above", as: 1)
        let next = try await ask(operations, history.map.request())
        #expect(next.results.map(\.value) == [.string("above"), .string("below")])
        #expect(next.sequence == 7)
    }

    @Test func `a map that has not come here yet is looked for in the log`() async throws {
        let late = MapFollower()
        let operations = try IdentifyOperations(
            follower: late, isStale: { false },
            shelf: DatasetCache(directory: history.site.datasetsDirectory),
            rasters: history.site.rastersDirectory,
            remotes: RemoteServices(credentials: history.site.credentials)
        ) { [history] request throws(Failure) in
            let events = history.read(request)
            // They arrive here after their publication by the log.
            Task { for event in events { late.ingest([event], upTo: event.globalPosition) } }
            return events
        }

        let answer = try await ask(operations, history.map.request())

        #expect(answer.results.map(\.value) == [.string("below")])
        #expect(answer.sequence == 4)
        #expect(history.readCount.load(ordering: .relaxed) == 1)
        var other = history.map.request()
        other.map = try #require(MapName(rawValue: "Other"))
        let failure = await #expect(throws: Failure.self) { try await ask(operations, other) }
        #expect(failure == Failure(.notFound, "there is no map 'Other'"))
        #expect(history.readCount.load(ordering: .relaxed) == 2)
        #expect(try await ask(operations, history.map.request()) == answer)
        #expect(history.readCount.load(ordering: .relaxed) == 2)
    }

    @Test func `the past is answered as it was, and is never stale`() async throws {
        try history.addSquare("above", as: 1)
        let operations = try history.operations(isStale: true)
        func answer(at position: Int64) async throws -> IdentifyAnswer {
            try await ask(operations, history.map.request { $0.at = position })
        }

        #expect(try await answer(at: 4).results.map(\.value) == [.string("below")])
        #expect(try await answer(at: 4).sequence == 4)
        #expect(try await !answer(at: 4).isStale)
        #expect(try await answer(at: 3).layers.isEmpty)
        #expect(try await answer(at: 6).results.map(\.layerID) == [0])
        #expect(try await answer(at: 7).results.map(\.layerID) == [1, 0])
        let early = await #expect(throws: Failure.self) { try await answer(at: 0) }
        #expect(early?.code == .notFound)
        let negative = await #expect(throws: Failure.self) { try await answer(at: -1) }
        #expect(negative?.code == .invalidParameter)
    }

    @Test func `a time is answered as of the last change until then`() async throws {
        try history.addSquare("above", as: 1)
        let operations = try history.operations()
        func answer(atSeconds seconds: Double) async throws -> IdentifyAnswer {
            let time = Timestamp(microseconds: Int64(seconds * 1_000_000))
            return try await ask(operations, history.map.request { $0.atTime = time })
        }

        #expect(try await answer(atSeconds: 4.5).results.map(\.value) == [.string("below")])
        #expect(try await answer(atSeconds: 4.5).sequence == 4)
        #expect(try await answer(atSeconds: 7).results.map(\.layerID) == [1, 0])
        #expect(try await answer(atSeconds: 1e9).sequence == 7)
        let early = await #expect(throws: Failure.self) { try await answer(atSeconds: 0.9) }
        #expect(early?.code == .notFound)
        #expect(early?.message.contains("1970-01-01T00:00:00.900Z") == true)
        let both = await #expect(throws: Failure.self) {
            try await ask(
                operations,
                history.map.request {
                    $0.at = 4
                    $0.atTime = Timestamp(microseconds: 4_000_000)
                })
        }
        #expect(both?.code == .invalidParameter)
    }

    @Test func `the past is read from the log once for each state of the map`() async throws {
        try history.addSquare("above", as: 1)
        let operations = try history.operations()
        for _ in 0..<3 {
            for position in [5, 4, 6] as [Int64] {
                _ = try await ask(operations, history.map.request { $0.at = position })
            }
        }
        #expect(history.readCount.load(ordering: .relaxed) == 3)
    }

    @Test func `a request waits for the sequence number it must know`() async throws {
        let operations = try history.operations()
        let request = history.map.request { $0.minSequence = 7 }
        async let waiting = ask(operations, request)

        try history.addSquare("above", as: 1)

        let answer = try await waiting
        #expect(answer.sequence == 7 && answer.results.count == 2)
    }

    @Test func `a sequence number that does not come ends with the deadline`() async throws {
        let operations = try history.operations()

        let failure = await #expect(throws: Failure.self) {
            try await ask(
                operations, history.map.request { $0.minSequence = 1_000_000 },
                until: .now + .milliseconds(20))
        }

        #expect(failure?.code == .timedOut)
    }

    @Test func `an unknown map is not found`() async throws {
        let other = try MapName(parsing: "Other")

        let failure = await #expect(throws: Failure.self) {
            try await ask(try history.operations(), history.map.request { $0.map = other })
        }

        #expect(failure == Failure(.notFound, "there is no map 'Other'"))
    }

    @Test func `many threads get one and the same answer`() async throws {
        let operations = try history.operations()
        let request = history.map.request { $0.spatialReference = SpatialReference(wkid: 3395) }
        let expected = try await ask(operations, request)
        let wrong = Atomic<Int>(0)
        let threads = try (0..<4).map { number in
            try PinnedThread(name: "asking-\(number)") {
                for _ in 0..<25 where (try? operations.identify(request)) != expected {
                    wrong.add(1, ordering: .relaxed)
                }
            }
        }

        for thread in threads { thread.join() }

        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(expected.results.count == 1)
    }

    @Test func `a query that waits for a server holds up no other and can be ended`() async throws {
        let server = try PlayedServer()
        let far = ArcGISSource(url: server.url + "/features/hang/FeatureServer/0")
        let loader = RemoteServices(credentials: history.site.credentials)
        try history.map.add(.featureService(far), try loader.load(.featureService(far)), as: 1)
        // No wait times out while the test runs.
        let operations = try history.operations(askTimeout: .seconds(1_000))
        let (results, feed) = AsyncStream.makeStream(of: Result<Data, Failure>?.self)
        let threads = try ComputeThreads(
            name: "one", count: 1, capacity: 100,
            handlers: operations.handlers(blobs: history.site.blobs).handlers
        ) { _, result, _ in
            feed.yield(result)
        }
        defer { threads.close() }
        func ask(_ layer: LayerID) throws -> Work {
            let request = QueryRequest(map: history.map.request().map, layer: layer)
            let work = Work(task: "query", try CairnJSON.encode(request))
            #expect(threads.take(work))
            return work
        }

        var waiting: [Work] = []
        for _ in 0..<5 { waiting.append(try ask(1)) }
        try await waitUntil("the server has five requests") {
            try server.log().count { $0.contains("/query") } >= 5
        }
        for _ in 0..<10 { _ = try ask(0) }

        var answers = results.makeAsyncIterator()
        for _ in 0..<10 {
            let data = try #require(await answers.next() ?? nil).get()
            let answer = try QueryAnswer(wireForm: data)
            #expect(String(decoding: answer.body, as: UTF8.self).contains("below"))
        }
        for work in waiting { work.control.cancel() }
        for _ in waiting {
            let outcome = try #require(await answers.next() ?? nil)
            let failure = #expect(throws: Failure.self) { try outcome.get() }
            #expect(failure?.code == .cancelled)
        }
    }

    @Test func `one thread answers clicks while others wait for a server`() async throws {
        let server = try PlayedServer()
        let far = WMSSource(url: server.url + "/half", layers: ["roads"])
        let loader = RemoteServices(credentials: history.site.credentials)
        try history.map.add(.wms(far), try loader.load(.wms(far)), as: 1)
        // No wait times out while the test runs.
        let operations = try history.operations(askTimeout: .seconds(1_000))
        let (results, feed) = AsyncStream.makeStream(of: Data.self)
        let threads = try ComputeThreads(
            name: "one", count: 1, capacity: 100,
            handlers: operations.handlers(blobs: history.site.blobs).handlers
        ) { _, result, _ in
            if let data = try? result?.get() { feed.yield(data) }
        }
        defer { threads.close() }
        func ask(_ request: IdentifyRequest) throws -> Work {
            let work = Work(task: "identify", try CairnJSON.encode(request))
            #expect(threads.take(work))
            return work
        }

        var waiting: [Work] = []
        for _ in 0..<5 { waiting.append(try ask(history.map.request())) }
        try await waitUntil("the server has five requests") {
            try server.log().count { $0.contains("GetFeatureInfo") } >= 5
        }
        for _ in 0..<10 {
            _ = try ask(history.map.request { $0.layers = LayerSelection(.all, ids: [0]) })
        }

        var answers = results.makeAsyncIterator()
        for _ in 0..<10 {
            let data = try #require(await answers.next())
            let answer = try CairnJSON.decode(IdentifyAnswer.self, from: data)
            #expect(answer.results.map(\.value) == [.string("below")] && answer.failures == nil)
        }
        for work in waiting { work.control.cancel() }
    }
}
