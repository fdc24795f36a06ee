// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Geometry
import Synchronization
import TestKit
import Testing

/// A run directory with scripted services.
private final class FakeSite: Sendable {
    let directory = "/tmp/cairn-client-" + UUID().uuidString.prefix(8).lowercased()
    private let services = Mutex<[BusThread]>([])

    init() throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    @discardableResult
    func serve(
        _ endpoint: Endpoint, _ handler: @escaping @Sendable (IncomingRequest) -> Void
    ) throws -> BusThread {
        let bus = try BusThread(name: endpoint.name, runDirectory: directory)
        try bus.bindRouter(endpoint, handler)
        services.withLock { $0.append(bus) }
        return bus
    }

    func client(patience: Duration = .seconds(60)) throws -> CairnClient {
        try CairnClient(runDirectory: directory, patience: patience)
    }

    func end() {
        for service in services.withLock({ $0 }) { service.stop() }
        try? FileManager.default.removeItem(atPath: directory)
    }
}

private func failure(_ body: () async throws(Failure) -> some Any) async -> Failure? {
    do throws(Failure) {
        _ = try await body()
        Issue.record("nothing was thrown")
        return nil
    } catch {
        return error
    }
}

private struct Seen: Sendable {
    var header: MessageHeader
    var metadata: RequestMetadata?
}

@Suite(.timeLimit(.minutes(5))) struct CairnClientTests {
    @Test func `a task goes to the supervisor with its pool, operation and map`() async throws {
        let site = try FakeSite()
        defer { site.end() }
        let seen = Mutex<[Seen]>([])
        try site.serve(.supervisorRequests) { request in
            seen.withLock {
                $0.append(
                    Seen(header: request.message.header, metadata: try? request.metadata()))
            }
            do throws(Failure) {
                let asked = try request.message.decode(SuggestRequest.self)
                request.reply(
                    encoding: SuggestAnswer(suggestions: [
                        Suggestion(text: asked.text + "!", magicKey: "k", isCollection: false)
                    ]))
            } catch {
                request.reply(
                    encoding: IdentifyAnswer(
                        layers: [], spatialReference: .webMercator, sequence: 7, isStale: false))
            }
        }
        let client = try site.client()
        defer { client.close() }
        let map = try MapName(parsing: "World")

        let suggested = try await client.ask(.suggest, SuggestRequest(text: "Par"))
        let identified = try await client.ask(
            .identify,
            IdentifyRequest(
                map: map, geometry: .point(Coordinate(x: 1, y: 2)), tolerance: 3,
                mapExtent: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1),
                imageDisplay: ImageDisplay(width: 100, height: 100)), timeout: .seconds(60))

        #expect(suggested.suggestions.map(\.text) == ["Par!"])
        #expect(identified.sequence == 7)
        let questions = seen.withLock { $0 }
        #expect(questions.map(\.header.kind) == [.task, .task])
        #expect(questions.map(\.header.pool) == [2, 1])
        #expect(questions.map(\.metadata?.operation) == ["suggest", "identify"])
        #expect(questions.map(\.metadata?.map) == [nil, "World"])
        #expect(1_000...60_000 ~= Int(questions[1].header.ttlMilliseconds))
    }

    @Test func `a command is asked again with the same id after its service died`() async throws {
        let site = try FakeSite()
        defer { site.end() }
        let asked = Mutex<[UUID]>([])
        let held = Mutex<[IncomingRequest]>([])
        let first = try site.serve(.mapRequests) { request in
            asked.withLock { $0.append(request.message.header.messageID) }
            held.withLock { $0.append(request) }
        }
        let client = try site.client()
        defer { client.close() }
        let map = try MapName(parsing: "World")

        async let result = client.command(map: map, .createMap)
        try await waitUntil("the service has the command") { !asked.withLock { $0.isEmpty } }
        first.stop()
        try site.serve(.mapRequests) { request in
            asked.withLock { $0.append(request.message.header.messageID) }
            request.reply(encoding: MapCommandResult(sequence: 12))
        }

        #expect(try await result == MapCommandResult(sequence: 12))
        let ids = asked.withLock { $0 }
        #expect(ids.count == 2)
        #expect(Set(ids).count == 1)
    }

    @Test(.slow) func `a request whose service stays silent goes out again in time`() async throws {
        let site = try FakeSite()
        defer { site.end() }
        let held = Mutex<[IncomingRequest]>([])
        try site.serve(.logRequests) { request in
            let isFirst = held.withLock { held in
                held.append(request)
                return held.count == 1
            }
            if !isFirst { request.reply(Data("[1,2]".utf8)) }
        }
        let client = try site.client()
        defer { client.close() }

        let answer: [Int] = try await client.ask(
            CairnModel.Operation<Nothing, [Int]>("read", at: .log), Nothing(),
            timeout: .seconds(15))

        #expect(answer == [1, 2])
        #expect(Set(held.withLock { $0.map(\.message.header.messageID) }).count == 1)
    }

    @Test func `a log that was silent is waited for twice as long at the next attempt`()
        async throws
    {
        let site = try FakeSite()
        defer { site.end() }
        let held = Mutex<[IncomingRequest]>([])
        try site.serve(.logRequests) { request in
            let isFirst = held.withLock { held in
                held.append(request)
                return held.count == 1
            }
            if !isFirst { request.reply(encoding: LogHead(head: 7)) }
        }
        let client = try site.client()
        defer { client.close() }

        let head = try await LogReader(client).head(timeout: .seconds(40))

        #expect(head.head == 7)
        let waits = held.withLock { $0.map(\.message.header.ttlMilliseconds) }
        #expect(waits == [2_000, 4_000])
    }

    @Test func `a service that stays away is given up after the patience`() async throws {
        let site = try FakeSite()
        defer { site.end() }
        let client = try site.client(patience: .milliseconds(150))
        defer { client.close() }
        let start = ContinuousClock.now

        let got = await failure { () throws(Failure) in try await client.jobs(timeout: .seconds(50))
        }

        #expect(got?.code == .unavailable)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func `a refusal is not asked again`() async throws {
        let site = try FakeSite()
        defer { site.end() }
        let count = Mutex(0)
        try site.serve(.supervisorRequests) { request in
            count.withLock { $0 += 1 }
            request.reply(failure: Failure(.notFound, "there is no such job"))
        }
        let client = try site.client()
        defer { client.close() }

        let got = await failure { () throws(Failure) in
            try await client.job(JobID(rawValue: .timeOrdered()))
        }

        #expect(got == Failure(.notFound, "there is no such job"))
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `an answer of another form is called corrupt, with its place`() async throws {
        let site = try FakeSite()
        defer { site.end() }
        try site.serve(.supervisorRequests) { $0.reply(Data(#"{"suggestions":7}"#.utf8)) }
        let client = try site.client()
        defer { client.close() }

        let got = await failure { () throws(Failure) in
            try await client.ask(.suggest, SuggestRequest(text: "x"))
        }

        #expect(got?.code == .corrupt)
        #expect(got?.message.contains("suggestions") == true)
    }

    @Test func `a live stream brings what is published under its topics`() async throws {
        let site = try FakeSite()
        defer { site.end() }
        let service = try BusThread(name: "live", runDirectory: site.directory)
        defer { service.stop() }
        let publisher = try service.bindPublisher(.supervisorLive)
        let client = try site.client()
        defer { client.close() }
        let stream = try client.live(topics: ["result/"])
        let ticks = service.schedule(every: .milliseconds(5)) {
            for topic in ["workers", "result/World"] {
                try? publisher.publish(
                    topic: topic,
                    Message(header: MessageHeader(kind: .live), payload: Data(topic.utf8)))
            }
        }
        defer { ticks.cancel() }

        var topics: [String] = []
        for await live in stream {
            topics.append(live.topic)
            #expect(live.message.payload == Data(live.topic.utf8))
            if topics.count == 3 { break }
        }

        #expect(topics == ["result/World", "result/World", "result/World"])
    }

    @Test func `a client on a shared bus leaves it running`() async throws {
        let site = try FakeSite()
        defer { site.end() }
        let bus = try site.serve(.supervisorRequests) { $0.reply(Data("[]".utf8)) }
        for _ in 0..<2 {
            let client = CairnClient(sharing: bus)
            #expect(try await client.jobs().isEmpty)
            client.close()
        }
    }
}
