// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs
import Testing

@Suite struct JobStateTests {
    @Test func `a job runs its stages one after the other and names its product`() throws {
        var job = try JobFixture()
        #expect(job.state.status == .waiting)
        #expect(job.state.runnableChunks(in: .work, at: job.now, limit: 9) == [0])
        #expect(job.state.runnableChunks(in: .locator, at: job.now, limit: 9).isEmpty)

        try job.plan(rows: 3)

        #expect(job.state.status == .executing)
        #expect(job.state.progress == 0)
        #expect(job.state.runnableChunks(in: .locator, at: job.now, limit: 9) == [1, 2, 3])
        #expect(job.state.runnableChunks(in: .work, at: job.now, limit: 9).isEmpty)

        for chunk in [3, 1, 2] {
            let attempt = try job.lease(chunk)
            try job.perform(
                .report(attempt, .completed(ChunkOutcome(blob: JobFixture.blob(chunk)))))
        }
        #expect(job.state.progress == 100 * 300.0 / 310)
        let attempt = try job.lease(4)
        let assignment = try #require(job.state.assignment(chunk: 4))
        #expect(assignment.gathered == [1, 2, 3].map(JobFixture.blob))
        #expect(assignment.operation == "BatchGeocode.assemble")
        try job.perform(.report(attempt, .completed(ChunkOutcome(blob: JobFixture.blob(99)))))

        #expect(job.state.status == .succeeded)
        #expect(job.state.description.result == JobFixture.blob(99))
        #expect(job.state.description.progress == 100)
        #expect(try job.refolded() == job.state)
    }

    @Test(arguments: [
        (Failure(.internal, "the disk coughed"), [1_000, 4_000]),
        (
            Failure(.noSpace, "the disk is full"),
            [1_000, 4_000, 16_000] + Array(repeating: 30_000, count: 18)
        ),
    ])
    func `an error is tried again after a rest, three times in all, a full disk for ten minutes`(
        _ error: Failure, _ rests: [Int]
    ) throws {
        var job = try JobFixture()
        for rest in rests {
            let attempt = try job.lease(0)
            try job.perform(.report(attempt, .failed(error)))
            #expect(job.state.runnableChunks(in: .work, at: job.now, limit: 1).isEmpty)
            job.now.microseconds += Int64(rest) * 1000 - 1
            #expect(job.state.runnableChunks(in: .work, at: job.now, limit: 1).isEmpty)
            job.now.microseconds += 1
            #expect(job.state.runnableChunks(in: .work, at: job.now, limit: 1) == [0])
        }

        let attempt = try job.lease(0)
        try job.perform(.report(attempt, .failed(error)))

        #expect(job.state.status == .failed)
        #expect(job.state.description.failure == error)
    }

    @Test func `a rest is as long as it is whatever the log's clock shows`() throws {
        var job = try JobFixture()
        let second: Int64 = 1_000_000_000
        var rests = ChunkRests()
        try job.perform(.report(try job.lease(0), .failed(Failure(.internal, "x"))))
        rests.begin(0, of: job.state.id, milliseconds: 1_000, at: 50 * second)
        for (now, isResting) in [(50, true), (51, false), (9_999, false)] as [(Int64, Bool)] {
            #expect(rests.isResting(0, of: job.state.id, at: now * second) == isResting)
        }
        #expect(!rests.isResting(1, of: job.state.id, at: 50 * second))

        // Read from the log by a later supervisor: what is left, and never more than the whole.
        for (later, left) in [
            (-3_600_000, 1_000), (0, 1_000), (400, 600), (1_000, 0), (3_600_000, 0),
        ] {
            var again = ChunkRests()
            let logTime = Timestamp(microseconds: job.now.microseconds + Int64(later) * 1_000)
            again.begin(job.state, logTime: logTime, at: 0)
            let end = Int64(left) * 1_000_000
            #expect(!again.isResting(0, of: job.state.id, at: end), "\(later) ms later")
            if left > 0 { #expect(again.isResting(0, of: job.state.id, at: end - 1)) }
        }
        rests.end(job.state.id)
        #expect(!rests.isResting(0, of: job.state.id, at: 50 * second))
    }

    @Test func `an error the input would cause again ends the job at once`() throws {
        var job = try JobFixture()
        let error = Failure(.invalidParameter, "there is no column 'address'")

        try job.perform(.report(try job.lease(0), .failed(error)))

        #expect(job.state.status == .failed)
        #expect(job.state.failure == error)
    }

    @Test func `a clock set back does not lengthen a rest`() throws {
        var job = try JobFixture()
        try job.perform(.report(try job.lease(0), .failed(Failure(.internal, "x"))))

        job.now.microseconds -= 3_600_000_000

        #expect(job.state.runnableChunks(in: .work, at: job.now, limit: 1) == [0])
    }

    @Test func `a chunk that ends three workers is quarantined and the job says so`() throws {
        var job = try JobFixture()
        for _ in 1...2 {
            try job.perform(.lose(try job.lease(0), reason: "process 42 died"))
            #expect(job.state.status == .executing)
            job.state = try job.refolded()
        }

        try job.perform(.lose(try job.lease(0), reason: "process 42 died"))

        #expect(job.state.status == .failed)
        #expect(job.log.contains { $0.event.type == JobChunkQuarantined.eventType })
        #expect(job.state.description.lostAttemptCount == 3)
        #expect(job.state.failure?.message.contains("3 worker processes") == true)
    }

    @Test func `a released attempt does not count as lost`() throws {
        var job = try JobFixture()
        for number in 1...10 {
            let attempt = try job.lease(0)
            #expect(attempt.number == number)
            try job.perform(.report(attempt, .released(reason: "the worker stops")))
        }

        #expect(job.state.runnableChunks(in: .work, at: job.now, limit: 1) == [0])
        #expect(job.state.description.lostAttemptCount == 0)
    }

    @Test func `a result is taken from the lease holder only, and once`() throws {
        var job = try JobFixture()
        let first = try job.lease(0)
        try job.perform(.lose(first, reason: "silent for 3 s"))
        let second = try job.lease(0)

        let refusal = #expect(throws: Failure.self) {
            try job.perform(.report(first, .completed(ChunkOutcome())))
        }
        #expect(refusal?.code == .conflict)
        let outcome = JobFixture.outcome(planning: 1)
        #expect(try job.perform(.report(second, .completed(outcome))).count == 3)
        #expect(try job.perform(.report(second, .completed(outcome))).isEmpty)
        #expect(throws: Failure.self) {
            try job.perform(.report(first, .completed(ChunkOutcome())))
        }
    }

    @Test func `a paused job gives no lease, and ends what runs`() throws {
        var job = try JobFixture()
        try job.plan(rows: 2)
        let running = try job.lease(1)

        try job.perform(.command(.pause, id: UUID()))

        #expect(job.state.runnableChunks(in: .locator, at: job.now, limit: 9).isEmpty)
        #expect(throws: Failure.self) { try job.lease(2) }
        try job.perform(.report(running, .completed(ChunkOutcome())))
        #expect(job.state.running.isEmpty)
        #expect(job.state.description.isPaused)
        try job.perform(.command(.resume, id: UUID()))
        #expect(job.state.runnableChunks(in: .locator, at: job.now, limit: 9) == [2])
    }

    @Test func `a command sent twice is carried out once`() throws {
        var job = try JobFixture()
        let pause = UUID()
        try job.perform(.command(.pause, id: pause))
        try job.perform(.command(.resume, id: UUID()))

        #expect(try job.perform(.command(.pause, id: pause)).isEmpty)

        #expect(!job.state.isPaused)
        #expect(job.state.hasSeen(command: pause))
    }

    @Test func `cancelling waits for the last attempt that could still write`() throws {
        var job = try JobFixture()
        try job.plan(rows: 3)
        let (one, two) = (try job.lease(1), try job.lease(2))

        try job.perform(.command(.cancel, id: UUID()))
        #expect(job.state.status == .cancelling)
        try job.perform(.report(one, .completed(ChunkOutcome(blob: JobFixture.blob(1)))))
        #expect(job.state.status == .cancelling)
        try job.perform(.lose(two, reason: "killed"))

        #expect(job.state.status == .cancelled)
        #expect(job.state.description.completedChunkCount == 1)
        #expect(job.state.description.endedAt == job.now)
    }

    @Test func `a job without a running chunk is cancelled at once`() throws {
        var job = try JobFixture()
        let events = try job.perform(.command(.cancel, id: UUID()))
        #expect(events == [.cancelRequested(JobCancelRequested()), .cancelled(JobCancelled())])
    }

    @Test(arguments: [JobCommand.pause, .resume, .cancel])
    func `a job that ended cannot be changed`(_ command: JobCommand) throws {
        var job = try JobFixture()
        try job.perform(.report(try job.lease(0), .failed(Failure(.notFound, "no such file"))))

        let refusal = #expect(throws: Failure.self) {
            try job.perform(.command(command, id: UUID()))
        }

        #expect(refusal?.code == .conflict)
        let late = RecordedEvent(
            globalPosition: 1 << 40, stream: .job(JobFixture.job),
            streamPosition: job.state.streamPosition + 1, recordedAt: job.now,
            event: try JobPaused().newEvent(id: UUID(), metadata: EventMetadata()))
        #expect(throws: Failure.self) { try job.state.apply(late) }
    }

    @Test func `progress is real, monotone and recorded at most once a second`() throws {
        var job = try JobFixture()
        try job.plan(rows: 2)
        let attempt = try job.lease(1)

        #expect(try job.perform(.progress([1: 0.5])).count == 1)
        #expect(job.state.progress == 100 * 50.0 / 210)
        job.now.microseconds += 999_999
        #expect(try job.perform(.progress([1: 0.9])).isEmpty)
        job.now.microseconds += 1
        #expect(try job.perform(.progress([1: 0.9])).count == 1)
        try job.perform(.lose(attempt, reason: "died"))
        #expect(job.state.progress(running: [:]) == 100 * 90.0 / 210)
        #expect(job.state.progress(running: [2: 1]) == 100 * 90.0 / 210)
    }

    @Test func `a time limit ends the job, and only when one was set`() throws {
        var free = try JobFixture()
        var bound = try JobFixture(timeLimitSeconds: 60)
        #expect(try bound.perform(.tick(age: .nanoseconds(59_999_999_999))).isEmpty)

        #expect(try bound.perform(.tick(age: .seconds(60))).count == 1)

        #expect(bound.state.status == .timedOut)
        #expect(bound.state.failure?.code == .timedOut)
        #expect(try bound.perform(.tick(age: .seconds(61))).isEmpty)
        #expect(try free.perform(.tick(age: .seconds(1_000_000))).isEmpty)
    }

    @Test(arguments: [-3_600, 0, 3_600] as [Int64])
    func `a time limit is counted steadily, whatever the log's clock does`(step: Int64) throws {
        var job = try JobFixture(timeLimitSeconds: 60)
        var ages = JobAges()
        let start: Int64 = 7_000_000_000
        ages.begin(JobFixture.job, at: start)
        job.now.microseconds += step * 1_000_000
        func tick(after seconds: Int64) throws -> Int {
            let age = ages.age(of: JobFixture.job, at: start + seconds * 1_000_000_000)
            return try job.perform(.tick(age: age)).count
        }

        #expect(try tick(after: 59) == 0)
        #expect(try tick(after: 60) == 1)
    }

    @Test func `a job of an earlier supervisor is as old as the log's clock says`() throws {
        var ages = JobAges()
        let submitted = Timestamp(microseconds: 1_000_000_000)
        let times: [Int64: Duration] = [
            1_005_000_000: .seconds(5), 1_000_000_000: .zero, 5_000_000: .zero,
            .max: .nanoseconds(Int64.max / 2_000 * 1_000),
        ]
        for (time, age) in times {
            ages.begin(
                JobFixture.job, submittedAt: submitted, logTime: Timestamp(microseconds: time),
                at: 42)
            #expect(ages.age(of: JobFixture.job, at: 42) == age, "\(time)")
            #expect(ages.age(of: JobFixture.job, at: 41) >= .zero)
        }
        ages.end(JobFixture.job)
        #expect(ages.age(of: JobFixture.job, at: .max) == .zero)
    }

    @Test func `a long stage is split into events of at most 64 KiB`() throws {
        var job = try JobFixture()
        let chunks = (0..<4_000).map {
            ChunkDescription(
                pool: .locator, operation: "geocodeRows",
                input: Data(String(repeating: "\($0 % 10)", count: 60).utf8), weight: 1)
        }
        try job.perform(
            .report(try job.lease(0), .completed(ChunkOutcome(nextStage: chunks))))

        #expect(job.state.chunks.count == 4_001)
        #expect(job.log.map(\.event.data.count).max() ?? 0 <= 65_536)
        #expect(job.log.count > 10)
        #expect(try job.refolded() == job.state)
    }

    @Test func `too many chunks fail the job with a sentence`() throws {
        var job = try JobFixture()
        let chunk = ChunkDescription(pool: .work, operation: "x", input: Data(), weight: 1)
        let outcome = ChunkOutcome(nextStage: Array(repeating: chunk, count: 5_000))

        try job.perform(.report(try job.lease(0), .completed(outcome)))

        #expect(job.state.failure?.code == .tooLarge)
    }

    @Test func `messages are bounded and say how many are left out`() throws {
        var job = try JobFixture()
        try job.plan(rows: 30)
        for chunk in 1...30 {
            let messages = (0..<25).map { JobMessage(.warning, "row \($0) is ragged") }
            try job.perform(
                .report(try job.lease(chunk), .completed(ChunkOutcome(messages: messages))))
        }

        let messages = job.state.description.messages
        #expect(messages.count == 201)
        #expect(messages[19].text == "6 further messages are left out")
        let times = Set(job.log.map { Optional($0.recordedAt) })
        #expect(messages.dropLast().allSatisfy { times.contains($0.recordedAt) })
        #expect(messages.last?.text == "400 further messages are left out")
    }

    @Test func `the same submission twice is one job, a different one is refused`() throws {
        let fixture = try JobFixture()
        var table = JobTable()
        for record in fixture.log { try table.apply(record) }

        #expect(try table.decide(submit: fixture.state.submission).isEmpty)
        var other = fixture.state.submission
        other.parameters["query"] = "place"
        let refusal = #expect(throws: Failure.self) { try table.decide(submit: other) }
        #expect(refusal?.code == .conflict)
        #expect(table.descriptions.map(\.id) == [JobFixture.job])
    }

    @Test func `a record out of order is corrupt`() throws {
        let fixture = try JobFixture()
        var state = try JobState(first: fixture.log[0])
        try state.apply(fixture.log[1])

        #expect(throws: Failure.self) { try state.apply(fixture.log[1]) }
        #expect(throws: Failure.self) { try JobState(first: fixture.log[1]) }
    }
}
