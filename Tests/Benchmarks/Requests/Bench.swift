// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Glibc
import Synchronization

/// The cases in which Cairn is alone.
struct Bench {
    let site: String
    let seconds: Double
    let rounds: Int
    let clients: Int
    let question: Question
    let client: CairnClient

    private static let checked = "the first answers"

    // MARK: The hub

    /// No layer is queried, so only the round trip remains: the ceiling of the hub.
    func emptyWork() async throws -> Bool {
        var request = try question.clicks()[0]
        request.layers = LayerSelection(.all, ids: [])
        let answer = try await client.ask(.identify, request)
        var isRight = true
        for count in [1, clients, 64, 256] {
            let measured = await measure([request], [answer], clients: count)
            isRight = write("empty work", measured, clients: count) && isRight
        }
        return isRight
    }

    // MARK: Scaling

    /// Counts in stars of 1,000 vertices over much of the box: milliseconds of work between a small
    /// request and a small answer.
    private func heavyRequests() throws -> [IdentifyRequest] {
        try question.points.prefix(32).map { point in
            let radius = question.resolution * 9_000
            let ring = (0...1_000).map { step -> Coordinate in
                let angle = Double(step % 1_000) / 1_000 * 2 * Double.pi
                let length = radius * (1 + 0.6 * sin(angle * 45))
                return Coordinate(
                    x: point.x + length * cos(angle), y: point.y + length * sin(angle))
            }
            var request = try question.request(.polygon(rings: [ring]), at: point)
            request.maximumResultsPerLayer = 0
            return request
        }
    }

    /// One worker, then one more, in turns.
    func heavyWork() async throws -> Bool {
        let requests = try heavyRequests()
        let answers = try await self.answers(to: requests)
        let workers = IdentifyWorkers(site: site, client: client)
        defer { workers.endAll() }
        var one = Measured()
        var two = Measured()
        for _ in 0..<rounds {
            try await workers.wait(for: 1)
            one.add(await measure(requests, answers, clients: clients, part: rounds))
            try workers.start()
            try await workers.wait(for: 2)
            // The new one opens the files.
            _ = await measure(requests, answers, clients: clients, part: 4 * rounds)
            two.add(await measure(requests, answers, clients: clients, part: rounds))
            workers.endAll()
        }
        var line = Line("heavy work", question, one, clients: clients, checked: Self.checked)
        line.workers = 1
        line.write()
        line = Line("heavy work", question, two, clients: clients, checked: Self.checked)
        line.workers = 2
        line.ratio = (two.perSecond / one.perSecond).rounded(to: 2)
        line.asked = "≥ 1.8"
        line.passes =
            two.perSecond >= 1.8 * one.perSecond
            && one.wrongCount + one.failedCount + two.wrongCount + two.failedCount == 0
        line.write()
        return line.passes == true
    }

    // MARK: Memory

    /// One worker, then four, after each has answered every question.
    func memory() async throws -> Bool {
        let requests = try question.clicks()
        let answers = try await self.answers(to: requests)
        let workers = IdentifyWorkers(site: site, client: client)
        defer { workers.endAll() }
        try await workers.wait(for: 1)
        try await ask(requests, answers, until: workers)
        let one = Memory.of(workers.processes)
        for _ in 0..<3 { try workers.start() }
        try await workers.wait(for: 4)
        try await ask(requests, answers, until: workers)
        let four = Memory.of(workers.processes)
        struct MemoryLine: Encodable {
            var `case` = "memory"
            var map: String
            var oneWorkerKilobytes: Memory
            var fourWorkersKilobytes: Memory
            var ratio: Double
            /// Additional memory per further worker.
            var furtherWorkerKilobytes: Int
            var asked = "≤ 1.2"
            var passes: Bool
        }
        let ratio = Double(four.compared) / Double(max(1, one.compared))
        let further = (four.compared - one.compared) / 3
        let line = MemoryLine(
            map: question.map, oneWorkerKilobytes: one, fourWorkersKilobytes: four,
            ratio: ratio.rounded(to: 2), furtherWorkerKilobytes: further, passes: ratio <= 1.2)
        Report.write(line)
        return line.passes
    }

    /// Asks until every worker has answered as many questions as there are.
    private func ask(
        _ requests: [IdentifyRequest], _ answers: [IdentifyAnswer], until workers: IdentifyWorkers
    ) async throws {
        let before = Dictionary(
            try await workers.descriptions().map { ($0.instance, $0.doneCount) },
            uniquingKeysWith: { first, _ in first })
        while true {
            _ = await measure(requests, answers, clients: 64, part: rounds)
            let isDone = try await workers.descriptions().allSatisfy {
                $0.doneCount - (before[$0.instance] ?? 0) >= requests.count
            }
            if isDone { return }
        }
    }

    // MARK: Workers that come and go

    /// Clicks while identify workers are started, ended and killed.
    func chaos() async throws -> Bool {
        let requests = try question.clicks()
        let answers = try await self.answers(to: requests)
        let workers = IdentifyWorkers(site: site, client: client)
        defer { workers.endAll() }
        let isOver = Mutex(false)
        let load = Task {
            // Long enough for many of them.
            let measured = await measure(requests, answers, clients: clients, times: 5)
            isOver.withLock { $0 = true }
            return measured
        }
        var (started, ended, killed) = (0, 0, 0)
        for turn in 0... {
            try await Task.sleep(for: .milliseconds(100))
            if isOver.withLock({ $0 }) { break }
            let running = workers.processes
            if running.count < 4 {
                try workers.start()
                started += 1
            } else if turn.isMultiple(of: 4), let one = workers.own.randomElement() {
                kill(one, SIGTERM)
                ended += 1
            } else if let one = running.randomElement() {
                kill(one, SIGKILL)
                killed += 1
            }
        }
        var measured = await load.value
        // The usage of the killed ones is lost with them.
        measured.times = ProcessTimes()
        var line = Line(
            "workers come and go", question, measured, clients: clients, checked: Self.checked)
        (line.started, line.ended, line.killed) = (started, ended, killed)
        line.asked = "none wrong, none failed"
        line.passes = measured.wrongCount + measured.failedCount == 0
        line.write()
        return line.passes == true
    }

    // MARK: Parts

    private func answers(to requests: [IdentifyRequest]) async throws -> [IdentifyAnswer] {
        var answers: [IdentifyAnswer] = []
        for request in requests { answers.append(try await client.ask(.identify, request)) }
        return answers
    }

    private func write(_ name: String, _ measured: Measured, clients count: Int) -> Bool {
        var line = Line(name, question, measured, clients: count, checked: Self.checked)
        let isRight = measured.wrongCount + measured.failedCount == 0
        line.passes = isRight
        line.write()
        return isRight
    }

    private func measure(
        _ requests: [IdentifyRequest], _ answers: [IdentifyAnswer], clients: Int, part: Int = 1,
        times: Int = 1
    ) async -> Measured {
        let before = ProcessTimes.site(site)
        let own = ProcessTimes.own()
        let duration = seconds * Double(times) / Double(part)
        var measured = await BusLoad(
            client: client, requests: requests, answers: answers,
            end: HTTPLoad.now() + Int64(duration * 1e9)
        ).run(clients: clients)
        measured.clientTime = ProcessTimes.own() - own
        measured.times = ProcessTimes.site(site) - before
        return measured
    }
}
