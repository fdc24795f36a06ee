// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Glibc
import Site
import Synchronization

/// The cases.
struct Bench {
    let site: String
    let seconds: Double
    let clients: Int
    let question: Question
    let expected: [[Hit]]?

    private var checked: String { expected == nil ? "the first answers" : "GEOS" }

    // MARK: HTTP

    func http(port: Int) throws {
        var load = HTTPLoad(question: question, port: port)
        try load.collect()
        let wrong = try expected.map { try Self.wrongCount(load.bodies, $0) } ?? 0
        for count in [1, clients] {
            let before = ProcessTimes.read(site: site)
            var (measured, wall) = try load.run(clients: count, seconds: seconds)
            let cpu = ProcessTimes.read(site: site).merging(before) { $0 - $1 }
            measured.wrongCount += wrong
            measured.report(
                "http", question, clients: count, wall: wall, cpu: cpu, checked: checked)
        }
    }

    private struct Body: Decodable {
        struct Result: Decodable {
            var layerName: String
            var attributes: [String: String?]
        }
        var results: [Result]
    }

    private static func wrongCount(_ bodies: [[UInt8]], _ expected: [[Hit]]) throws -> Int {
        try zip(bodies, expected).filter { body, hits in
            let results = try JSONDecoder().decode(Body.self, from: Data(body)).results
            let found = results.map { result in
                Hit(
                    layer: result.layerName,
                    id: (result.attributes["OBJECTID"] ?? nil).flatMap { Int($0) } ?? -1)
            }
            return found.sorted() != hits
        }.count
    }

    // MARK: Bus

    /// Each point as a click, checked; through client, supervisor and worker.
    func bus() async throws {
        try await withClient { client in
            let requests = try question.points.map { point throws(Failure) in
                try question.request(.point(point), at: point)
            }
            var answers: [IdentifyAnswer] = []
            for request in requests { answers.append(try await client.identify(request)) }
            let wrong =
                expected.map { expected in
                    zip(answers, expected).filter { answer, hits in
                        answer.results.map { Hit(layer: $0.layerName, id: Int($0.objectID)) }
                            .sorted() != hits
                    }.count
                } ?? 0
            for count in [1, clients] {
                try await measure(
                    "bus", client, requests, answers, clients: count, wrong: wrong,
                    checked: checked)
            }
        }
    }

    /// No layer is asked, so only the way there and back remains: the ceiling of the hub.
    func emptyWork() async throws {
        try await withClient { client in
            var request = try question.request(
                .point(question.points[0]), at: question.points[0])
            request.layers = LayerSelection(.all, ids: [])
            let answer = try await client.identify(request)
            for count in [1, clients, 64, 256] {
                try await measure(
                    "empty work", client, [request], [answer], clients: count,
                    checked: "the first answers")
            }
        }
    }

    /// Query polygons of 4,000 vertices over a third of the box.
    private func heavyRequests() throws -> [IdentifyRequest] {
        try question.points.prefix(32).map { point in
            let radius = question.resolution * 3_000
            let ring = (0...4_000).map { step -> Coordinate in
                let angle = Double(step % 4_000) / 4_000 * 2 * Double.pi
                let length = radius * (1 + 0.05 * sin(angle * 90))
                return Coordinate(
                    x: point.x + length * cos(angle), y: point.y + length * sin(angle))
            }
            return try question.request(.polygon(rings: [ring]), at: point)
        }
    }

    /// Work that takes milliseconds each: how it scales with workers.
    func heavyWork() async throws {
        try await withClient { client in
            let requests = try heavyRequests()
            var answers: [IdentifyAnswer] = []
            for request in requests { answers.append(try await client.identify(request)) }
            try await measure(
                "heavy work", client, requests, answers, clients: 16, checked: "the first answers")
        }
    }

    /// Clicks while an identify worker is killed again and again; the site starts new ones.
    func chaos() async throws {
        try await withClient { client in
            let requests = try question.points.map { point throws(Failure) in
                try question.request(.point(point), at: point)
            }
            var answers: [IdentifyAnswer] = []
            for request in requests { answers.append(try await client.identify(request)) }
            let killed = Mutex(0)
            let killer = Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(700))
                    let workers = ProcessTimes.identifiers(of: "cairn-identify", site: site)
                    guard workers.count > 1, let victim = workers.randomElement() else { continue }
                    kill(victim, SIGKILL)
                    killed.withLock { $0 += 1 }
                }
            }
            try await measure(
                "workers killed", client, requests, answers, clients: clients,
                checked: "the first answers")
            killer.cancel()
            print("{\"case\":\"workers killed\",\"kills\":\(killed.withLock { $0 })}")
        }
    }

    private func withClient(_ body: (CairnClient) async throws -> Void) async throws {
        let client = try CairnClient(site: Site(opening: site))
        defer { client.close() }
        try await body(client)
    }

    private func measure(
        _ name: String, _ client: CairnClient, _ requests: [IdentifyRequest],
        _ answers: [IdentifyAnswer], clients: Int, wrong: Int = 0, checked: String
    ) async throws {
        let before = ProcessTimes.read(site: site)
        let start = HTTPLoad.now()
        let load = BusLoad(
            client: client, requests: requests, answers: answers,
            end: start + Int64(seconds * 1e9))
        var measured = await load.run(clients: clients)
        let wall = Double(HTTPLoad.now() - start) / 1e9
        let cpu = ProcessTimes.read(site: site).merging(before) { $0 - $1 }
        measured.wrongCount += wrong
        measured.report(
            name, question, clients: clients, wall: wall, cpu: cpu, checked: checked)
    }
}

/// Closed loops over the bus: each answer asks the next question, on the client's bus thread.
final class BusLoad: Sendable {
    private struct State {
        var measured = Measured()
        var next = 0
        var openCount = 0
        var done: CheckedContinuation<Void, Never>?
    }

    private let client: CairnClient
    private let requests: [IdentifyRequest]
    private let answers: [IdentifyAnswer]
    private let end: Int64
    private let state = Mutex(State())

    init(client: CairnClient, requests: [IdentifyRequest], answers: [IdentifyAnswer], end: Int64) {
        self.client = client
        self.requests = requests
        self.answers = answers
        self.end = end
    }

    func run(clients: Int) async -> Measured {
        await withCheckedContinuation { continuation in
            state.withLock {
                $0.openCount = clients
                $0.done = continuation
            }
            for _ in 0..<clients { ask() }
        }
        return state.withLock { $0.measured }
    }

    private func ask() {
        let index = state.withLock { state in
            defer { state.next += 1 }
            return state.next % requests.count
        }
        let since = HTTPLoad.now()
        do throws(Failure) {
            _ = try client.askIdentify(requests[index], timeout: .seconds(30)) { [self] outcome in
                finish(index, since, outcome)
            }
        } catch {
            close(isFailed: true)
        }
    }

    private func finish(_ index: Int, _ since: Int64, _ outcome: IdentifyQuestion.Outcome) {
        let now = HTTPLoad.now()
        let answer = try? outcome.answer()
        state.withLock { state in
            state.measured.nanoseconds.append(now - since)
            if answer == nil { state.measured.failedCount += 1 }
            if let answer, answer.layers != answers[index].layers { state.measured.wrongCount += 1 }
        }
        if now < end { ask() } else { close(isFailed: false) }
    }

    private func close(isFailed: Bool) {
        let done = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if isFailed { state.measured.failedCount += 1 }
            state.openCount -= 1
            return state.openCount == 0 ? state.done.take() : nil
        }
        done?.resume()
    }
}
