// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import MapState
import Synchronization
import Testing

/// A log that answers requests, and publishes no heads; except for those of the test its events are
/// of jobs.
private final class QuietLog: Sendable {
    private struct State {
        var head: Int64
        var headQuestionCount = 0
        var held: [IncomingRequest]?
    }

    private let directory = "/tmp/cairn-quiet-" + UUID().uuidString.prefix(8).lowercased()
    private let state: Mutex<State>
    private let (server, client): (BusThread, BusThread)
    private let publisher: Publisher
    /// Has an element for each subscribed topic.
    private let subscriptions = AsyncStream<String>.makeStream()
    /// Has an element for each question that is held.
    private let holds = AsyncStream<Void>.makeStream()

    /// Starts with that many events.
    init(head: Int64) throws {
        state = Mutex(State(head: head))
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        server = try BusThread(name: "log", runDirectory: directory)
        client = try BusThread(name: "reader", runDirectory: directory)
        publisher = try server.bindPublisher(.logTail) { [subscriptions] topic in
            subscriptions.continuation.yield(topic)
        }
        try server.bindRouter(.logRequests) { [weak self] request in self?.answer(request) }
    }

    func reader() throws -> LogReader { try LogReader(bus: client) }

    /// A follower of its maps that is caught up.
    func follower(
        _ reader: LogReader, hasLocators: Bool = false
    ) async throws -> MapFollower {
        let follower = try MapFollower(following: client, log: reader, hasLocators: hasLocators)
        let head = state.withLock { $0.head }
        // It sends no request that a later count would include.
        var known = follower.current
        while known.sequence < head {
            known = try await follower.snapshot(beyond: known, timeout: .seconds(60))
        }
        return follower
    }

    private func answer(_ request: IncomingRequest) {
        let isHead = (try? request.message.requestMetadata())?.operation == "head"
        let head: Int64? = state.withLock { state in
            guard isHead else { return state.head }
            state.headQuestionCount += 1
            guard state.held != nil else { return state.head }
            state.held?.append(request)
            return nil
        }
        if let head, isHead {
            request.reply(encoding: Self.told(head))
        } else if let head {
            request.reply(encoding: ReadPage(events: [], through: head, head: head))
        } else {
            holds.continuation.yield()
        }
    }

    private static func told(_ head: Int64) -> LogHead {
        LogHead(head: head, categories: ["job": head])
    }

    /// Publishes the first event of a map's stream as the next of the log, once there is a
    /// subscription to maps.
    func publish(_ event: some EventPayload, of map: MapName) async throws {
        let topic = "e/map/"
        for await announced in subscriptions.stream where announced == topic { break }
        let head = state.withLock { state in
            state.head += 1
            return state.head
        }
        let record = RecordedEvent(
            globalPosition: head, stream: .map(map), streamPosition: 0,
            recordedAt: Timestamp(microseconds: 1),
            event: try event.newEvent(id: .timeOrdered(), metadata: EventMetadata()))
        let message = Message(
            header: MessageHeader(kind: .event, sequence: head, previousInCategory: 0),
            payload: try CairnJSON.encode(record))
        try publisher.publish(topic: topic, message)
    }

    func grow(to head: Int64) { state.withLock { $0.head = head } }

    var headQuestionCount: Int { state.withLock { $0.headQuestionCount } }

    /// From now on requests for the length of the log are not answered.
    func holdHeads() { state.withLock { $0.held = [] } }

    /// Waits for the next request.
    func untilAsked() async { for await _ in holds.stream { break } }

    /// Sends the earlier state as the answer, and answers normally from now on.
    func letGo(saying head: Int64) {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for request in held { request.reply(encoding: Self.told(head)) }
    }

    func end() {
        client.stop()
        server.stop()
        try? FileManager.default.removeItem(atPath: directory)
    }
}

@Suite(.timeLimit(.minutes(5))) struct HeadQuestionTests {
    @Test(arguments: [false, true])
    func `a reader that waits for a number beyond its events asks the log, and for no next head`(
        hasLocators: Bool
    ) async throws {
        let log = try QuietLog(head: 3)
        defer { log.end() }
        let follower = try await log.follower(try log.reader(), hasLocators: hasLocators)

        log.grow(to: 7)

        let state = try await follower.snapshot(minSequence: 7, timeout: .seconds(20))
        #expect(state.sequence == 7)
    }

    @Test func `one of many waiting readers asks, and once more for those that came meanwhile`()
        async throws
    {
        let log = try QuietLog(head: 3)
        defer { log.end() }
        let follower = try await log.follower(try log.reader())
        let before = log.headQuestionCount
        log.holdHeads()
        let (results, told) = AsyncStream<Result<MapsState, Failure>>.makeStream()
        func wait() { follower.whenReached(9, timeout: .seconds(20)) { told.yield($0) } }

        wait()
        await log.untilAsked()
        for _ in 1..<100 { wait() }
        log.grow(to: 9)
        log.letGo(saying: 8)

        var sequences: [Int64] = []
        for await result in results.prefix(100) { sequences.append(try result.get().sequence) }
        #expect(sequences == Array(repeating: 9, count: 100))
        #expect(log.headQuestionCount == before + 2)
    }

    @Test
    func
        `a map's event is handed on at once, though a locator's event may lie before it`()
        async throws
    {
        let log = try QuietLog(head: 3)
        defer { log.end() }
        let follower = try await log.follower(try log.reader(), hasLocators: true)
        let map = try MapName(parsing: "A")
        let before = follower.current

        try await log.publish(MapCreated(name: map), of: map)

        let state = try await follower.snapshot(beyond: before, timeout: .seconds(20))
        #expect(state.mapNames == [map])
        #expect(state.sequence == 3)
    }

    @Test func `a reader that waits for the next event asks nothing`() async throws {
        let log = try QuietLog(head: 3)
        defer { log.end() }
        let reader = try log.reader()
        let follower = try await log.follower(reader, hasLocators: true)
        let before = log.headQuestionCount

        await #expect(throws: Failure.self) {
            try await follower.snapshot(beyond: follower.current, timeout: .milliseconds(20))
        }

        // After all earlier requests.
        _ = try await reader.head()
        #expect(log.headQuestionCount == before + 1)
    }
}
