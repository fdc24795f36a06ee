// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs
import TestKit
import Testing

/// Long jobs, hanging operations and dying pools under a clock that the test moves.
@Suite struct LivenessTests {
    private let second: Int64 = 1_000_000_000
    private var stall: Int64 { 60 * second }
    private var grace: Int64 { 10 * second }

    @Test(.slow) func `a chunk of twenty-four hours runs once`() throws {
        var job = try JobFixture()
        try job.plan(rows: 1)
        let attempt = try job.lease(1)
        var watch = AttemptWatch(since: 0)
        let start = job.now
        for beat in 1...86_400 {
            let now = Int64(beat) * second
            job.now = Timestamp(microseconds: start.microseconds + now / 1_000)
            // A beat every second; the operation has news once a minute.
            watch.beat(counter: beat / 59, fraction: Double(beat) / 86_400, at: now)
            let verdict = watch.verdict(at: now, stall: stall, grace: grace)
            try job.perform(.tick(age: .nanoseconds(now)))
            try job.perform(.progress([1: watch.fraction]))
            guard verdict == .fine,
                job.state.runnableChunks(in: .locator, at: job.now, limit: 9).isEmpty
            else {
                Issue.record("\(verdict) after \(beat) s")
                return
            }
        }
        try job.perform(
            .report(attempt, .completed(ChunkOutcome(blob: JobFixture.blob(1)))))
        try job.perform(.report(try job.lease(2), .completed(ChunkOutcome())))

        #expect(job.state.status == .succeeded)
        #expect(job.log.count { $0.event.type == JobChunkLeased.eventType } == 3)
        #expect(job.log.count { $0.event.type == JobProgressed.eventType } <= 2_000)
    }

    /// A watch with its verdicts.
    private struct Watched {
        var watch = AttemptWatch(since: 0)
        var stall: Int64

        mutating func verdict(_ now: Int64) -> AttemptWatch.Verdict {
            watch.verdict(at: now, stall: stall, grace: 10_000_000_000)
        }
    }

    @Test(arguments: [1, 60, 3_600] as [Int64])
    func `an operation that hangs is told to stop, then its worker is ended`(limit: Int64) {
        var watched = Watched(stall: limit * second)
        let last = 5 * second
        watched.watch.beat(counter: 1, fraction: 0.1, at: last)
        // Heartbeats continue; their counter stands still.
        for part in 0...7 as ClosedRange<Int64> {
            let now = last + part * watched.stall / 7
            watched.watch.beat(counter: 1, fraction: 0.1, at: now)
            let verdict = watched.verdict(now)
            #expect(verdict == .fine)
        }
        let told = last + watched.stall + 1
        var verdicts = [watched.verdict(told)]
        watched.watch.cancel(at: told)
        for now in [told + grace, told + grace + 1, told + 9 * grace] {
            verdicts.append(watched.verdict(now))
        }
        #expect(verdicts == [.cancel, .fine, .kill, .fine])
    }

    @Test func `five deaths in a minute begin a rest, further ones double it, a success ends it`() {
        var health = PoolHealth()
        let begun = (1...5).map { health.died(at: Int64($0) * second, with: 0) }
        #expect(begun == [false, false, false, false, true])
        #expect(health.restLeft(at: 5 * second) == second)
        #expect(health.restLeft(at: 6 * second) == 0)
        var (now, rests) = (6 * second, [Int64]())
        for _ in 1...8 {
            _ = health.died(at: now, with: now)
            rests.append(health.restLeft(at: now) / second)
            now += health.restLeft(at: now)
        }
        #expect(rests == [2, 4, 8, 16, 32, 60, 60, 60])
        #expect(health.deathCount == 13)
        health.succeeded()
        #expect(health.restLeft(at: now - second) == 0)
        #expect(health.deathCount == 0)
    }

    @Test func `deaths that are far apart, or have successes between them, begin no rest`() {
        var slow = PoolHealth()
        let far = (0..<20).map { slow.died(at: Int64($0) * 16 * second, with: 0) }
        #expect(!far.contains(true))
        var mixed = PoolHealth()
        let near = (0..<40).map { number in
            defer { if number % 4 == 3 { mixed.succeeded() } }
            return mixed.died(at: Int64(number) * second / 10, with: 0)
        }
        #expect(!near.contains(true))
    }

    @Test func `many deaths at once begin one rest, and count again once work is given after it`() {
        var health = PoolHealth()
        let begun = (0..<40).map { _ in health.died(at: 10 * second, with: 9 * second) }
        #expect(begun.count(where: \.self) == 1)
        #expect(health.restLeft(at: 10 * second) == second)
        // A late detection of a death, with an assignment from before the rest.
        let late = health.died(at: 13 * second, with: 10 * second)
        #expect(!late && health.restLeft(at: 13 * second) == 0)
        let again = health.died(at: 13 * second, with: 11 * second)
        #expect(again && health.restLeft(at: 13 * second) == 2 * second)
    }
}
