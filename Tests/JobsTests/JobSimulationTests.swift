// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs
import TestKit
import Testing

/// A supervisor and its workers as one random story: deaths, errors, drains, results that come
/// twice, late or after a lease was lost, restarts between commit and fold, pauses and cancels.
struct JobSimulation {
    var random: SeededGenerator
    var job: JobFixture
    /// Results on their way: some for leases that are gone.
    var mail: [(attempt: ChunkAttempt, report: ChunkReport)] = []
    var fractions: [Int: Double] = [:]
    var lastProgress = 0.0
    var refusedCount = 0
    var repeatedCount = 0
    var restartCount = 0
    var lossCount = 0
    let rows: Int

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        job = try JobFixture()
        job.policy.maximumDeaths = 1_000
        job.policy.maximumErrors = 1_000
        rows = Int.random(in: 1...12, using: &random)
    }

    mutating func step() throws {
        job.now.microseconds += Int64.random(in: 0...2_000_000, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: try lease()
        case 35..<55: finish()
        case 55..<75: try deliver()
        case 75..<82: try kill()
        case 82..<90: try progress()
        case 90..<93: try restart()
        case 93..<97: try command(Bool.random(using: &random) ? .pause : .resume)
        default: try command(.resume)
        }
        check()
    }

    mutating func lease() throws {
        let pool = WorkerPool.allCases.randomElement(using: &random) ?? .work
        for chunk in job.state.runnableChunks(in: pool, at: job.now, limit: 3) {
            let attempt = try job.lease(chunk)
            fractions[chunk] = 0
            if Int.random(in: 0..<20, using: &random) == 0 {
                mail.append((attempt, .released(reason: "not mine")))
            }
        }
    }

    func outcome(_ chunk: Int) -> ChunkReport {
        chunk == 0
            ? .completed(JobFixture.outcome(planning: rows))
            : .completed(ChunkOutcome(blob: JobFixture.blob(chunk)))
    }

    /// A running attempt comes to its end; its result may be sent several times.
    mutating func finish() {
        let running = job.state.running.values.sorted { $0.attempt.chunk < $1.attempt.chunk }
        guard let attempt = running.randomElement(using: &random)?.attempt else { return }
        let report: ChunkReport =
            Int.random(in: 0..<7, using: &random) == 0
            ? .failed(Failure(.internal, "oops")) : outcome(attempt.chunk)
        for _ in 0..<Int.random(in: 1...3, using: &random) { mail.append((attempt, report)) }
    }

    mutating func deliver() throws {
        mail.shuffle(using: &random)
        guard let letter = mail.popLast() else { return }
        let held = job.state.holds(letter.attempt)
        do {
            let before = job.state.sequence
            try job.perform(.report(letter.attempt, letter.report))
            if !held {
                #expect(job.state.sequence == before)
                repeatedCount += 1
            }
        } catch let failure as Failure {
            #expect(!held && failure.code == .conflict, "\(failure)")
            refusedCount += 1
        }
    }

    /// A worker dies: its results may still be on their way.
    mutating func kill() throws {
        let running = job.state.running.values.sorted { $0.attempt.chunk < $1.attempt.chunk }
        guard let attempt = running.randomElement(using: &random)?.attempt else { return }
        if Bool.random(using: &random) { mail.append((attempt, outcome(attempt.chunk))) }
        try job.perform(.lose(attempt, reason: "killed"))
        fractions[attempt.chunk] = nil
        lossCount += 1
    }

    mutating func progress() throws {
        for chunk in job.state.running.keys.sorted() {
            fractions[chunk, default: 0] += Double.random(in: 0...0.3, using: &random)
        }
        try job.perform(.progress(fractions))
    }

    /// The supervisor dies, perhaps between a commit and its fold; the next one decides the same.
    mutating func restart() throws {
        restartCount += 1
        if let attempt = job.state.running.values.map(\.attempt).min(by: { $0.chunk < $1.chunk }) {
            let action = JobAction.report(attempt, outcome(attempt.chunk))
            let changes = try job.state.decide(action, at: job.now, policy: job.policy)
            let records = try JobFixture.record(
                changes, after: job.state, log: &job.log, at: job.now)
            #expect(
                try JobFixture.record(changes, after: job.state, log: &job.log, at: job.now)
                    == records)
            mail.append((attempt, outcome(attempt.chunk)))
        }
        job.state = try job.refolded()
        fractions = [:]
    }

    mutating func command(_ command: JobCommand) throws {
        guard !job.state.status.isTerminal, job.state.status != .cancelling else { return }
        let id = UUID()
        try job.perform(.command(command, id: id))
        if command == .pause { #expect(!job.state.isRunning) }
        #expect(try job.perform(.command(command, id: id)).isEmpty)
    }

    mutating func check() {
        let shown = job.state.progress(running: fractions)
        #expect(job.state.progress >= lastProgress)
        #expect(shown >= job.state.progress && shown <= 100)
        lastProgress = job.state.progress
        #expect(job.state.running.isEmpty || !job.state.status.isTerminal)
    }

    func count(_ type: String) -> Int { job.log.count { $0.event.type == type } }
}

@Suite struct JobSimulationTests {
    @Test(.slow, arguments: 1...10)
    func `every chunk is completed once and the job ends, whatever happens`(_ block: Int) throws {
        for seed in UInt64(block * 25)..<UInt64(block * 25 + 25) {
            var story = try JobSimulation(seed: seed)
            for _ in 0..<3_000 where !story.job.state.status.isTerminal { try story.step() }

            let log = story.job.log
            #expect(story.job.state.status == .succeeded, "seed \(seed)")
            #expect(story.job.state.result == JobFixture.blob(story.rows + 1), "seed \(seed)")
            #expect(story.count(JobChunkCompleted.eventType) == story.rows + 2, "seed \(seed)")
            #expect(story.count(JobSucceeded.eventType) == 1, "seed \(seed)")
            #expect(log.last?.event.type == JobSucceeded.eventType, "seed \(seed)")
            #expect(Set(log.map(\.event.id)).count == log.count, "seed \(seed)")
            let ends = [
                JobChunkCompleted.eventType, JobChunkLost.eventType, JobChunkFailed.eventType,
                JobChunkReleased.eventType,
            ].reduce(0) { $0 + story.count($1) }
            #expect(story.count(JobChunkLeased.eventType) == ends, "seed \(seed)")
            #expect(try story.job.refolded() == story.job.state, "seed \(seed)")
        }
    }

    @Test func `cancelling at any step ends in cancelled, with no attempt left`() throws {
        for seed in UInt64(5_000)..<5_150 {
            var story = try JobSimulation(seed: seed)
            let cancelStep = Int(seed % 60)
            for step in 0..<3_000 where !story.job.state.status.isTerminal {
                if step == cancelStep { try story.command(.cancel) }
                if step > cancelStep, story.job.state.status == .cancelling {
                    #expect(
                        story.job.state.runnableChunks(in: .locator, at: story.job.now, limit: 9)
                            .isEmpty)
                    story.finish()
                    try story.deliver()
                } else {
                    try story.step()
                }
            }

            #expect(
                [.cancelled, .succeeded].contains(story.job.state.status), "seed \(seed)")
            #expect(story.job.state.running.isEmpty, "seed \(seed)")
        }
    }

    @Test func `the stories contain what they are about`() throws {
        var (refused, repeated, restarts, losses) = (0, 0, 0, 0)
        for seed in UInt64(9_000)..<9_050 {
            var story = try JobSimulation(seed: seed)
            for _ in 0..<3_000 where !story.job.state.status.isTerminal { try story.step() }
            refused += story.refusedCount
            repeated += story.repeatedCount
            restarts += story.restartCount
            losses += story.lossCount
        }

        #expect(refused > 50 && repeated > 20 && restarts > 50 && losses > 100)
    }
}
