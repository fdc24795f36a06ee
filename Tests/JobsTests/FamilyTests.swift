// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs
import TestKit
import Testing

/// A parent with sub-jobs over a log of several streams; a crash forgets everything but the log.
struct FamilySimulation {
    static let parent = JobID(
        rawValue: UUID(uuid: (9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9)))
    var random: SeededGenerator
    var table = JobTable()
    var log: [RecordedEvent] = []
    var ids: Set<UUID> = []
    var now = Timestamp(microseconds: 1_000_000_000)
    let childCount: Int
    let mayFail: Bool
    let sideBySide: Int
    /// Children whose chunks throw.
    var failing: Set<Int> = []
    var crashCount = 0
    var mostOpen = 0
    var parentProgress = 0.0

    init(seed: UInt64, mayFail: Bool = false) throws {
        random = SeededGenerator(seed: seed)
        childCount = Int.random(in: 1...7, using: &random)
        sideBySide = Int.random(in: 1...4, using: &random)
        self.mayFail = mayFail
        try submit(JobSubmission(id: Self.parent, kind: .batch, parameters: [:], actor: "ada"))
    }

    var state: JobState? { table[Self.parent] }
    var children: [JobState] {
        table.jobs.values.filter { $0.submission.parent != nil }
    }

    /// Appends as the log does: a repeat is answered with what is there.
    mutating func append(_ changes: [JobChange], to job: JobID) throws {
        let append = try JobChange.append(
            changes, to: job, at: table[job]?.streamPosition ?? -1, metadata: EventMetadata())
        for (offset, event) in append.events.enumerated() {
            if !ids.insert(event.id).inserted { Issue.record("\(event.type) is appended twice") }
            let position = (table[job]?.streamPosition ?? -1) + 1 + Int64(offset)
            log.append(
                RecordedEvent(
                    globalPosition: Int64(log.count + 1), stream: append.stream,
                    streamPosition: position, recordedAt: now, event: event))
        }
        for record in log.suffix(append.events.count) { try table.apply(record) }
        mostOpen = max(mostOpen, children.count { !$0.status.isTerminal })
    }

    mutating func submit(_ submission: JobSubmission) throws {
        let changes = try table.decide(submit: submission)
        if !changes.isEmpty { try append(changes, to: submission.id) }
    }

    mutating func perform(_ action: JobAction, on job: JobID) throws {
        guard let state = table[job] else { return }
        let changes: [JobChange]
        do { changes = try state.decide(action, at: now) } catch { return }
        if !changes.isEmpty { try append(changes, to: job) }
    }

    /// Performs one pending action; false when none is left.
    mutating func oneDuty() throws -> Bool {
        let before = log.count
        for job in table.jobs.keys.sorted(by: { $0.description < $1.description }) {
            for duty in table.duties(of: job) {
                switch duty {
                case .submit(let submission): try submit(submission)
                case .act(let action, on: let id): try perform(action, on: id)
                }
                if log.count > before { return true }
            }
        }
        return false
    }

    /// A worker does something for a job.
    mutating func work() throws {
        let open = table.jobs.values.filter { !$0.status.isTerminal }
            .sorted { $0.id.description < $1.id.description }
        guard let state = open.randomElement(using: &random) else { return }
        let running = state.running.values.filter { $0.subJob == nil }
            .sorted { $0.attempt.chunk < $1.attempt.chunk }
        if let attempt = running.randomElement(using: &random)?.attempt {
            return try perform(.report(attempt, report(attempt, of: state)), on: state.id)
        }
        for pool in WorkerPool.allCases where !table.isBelowAnEnd(state.id) {
            guard let chunk = state.runnableChunks(in: pool, at: now, limit: 1).first else {
                continue
            }
            let grant = LeaseGrant(
                chunk: chunk, lease: UUID(words: (random.next(), random.next())),
                worker: UUID(words: (1, 1)), processID: 42)
            return try perform(.lease([grant]), on: state.id)
        }
    }

    private func report(_ attempt: ChunkAttempt, of state: JobState) -> ChunkReport {
        guard let parent = state.submission.parent else {
            guard attempt.chunk == 0 else {
                return .completed(ChunkOutcome(blob: JobFixture.blob(77)))
            }
            let subJobs = (0..<childCount).map { number in
                ChunkDescription(
                    pool: .work, operation: "job", input: Data(), weight: 100,
                    subJob: SubJob(
                        kind: .batchGeocode, parameters: ["number": "\(number)"],
                        mayFail: mayFail, sideBySide: sideBySide))
            }
            let list = ChunkDescription(
                pool: .work, operation: "list", input: Data(), weight: 1, gathers: true)
            return .completed(ChunkOutcome(nextStage: subJobs, laterStages: [[list]]))
        }
        if attempt.chunk == 0 {
            return .completed(
                ChunkOutcome(
                    nextStage: (0..<2).map { _ in
                        ChunkDescription(
                            pool: .locator, operation: "row", input: Data(), weight: 10)
                    }))
        }
        if failing.contains(parent.chunk) { return .failed(Failure(.invalidParameter, "bad row")) }
        return .completed(ChunkOutcome(blob: JobFixture.blob(parent.chunk)))
    }

    mutating func step() throws {
        now.microseconds += Int64.random(in: 0...1_000_000, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            crashCount += 1
            var table = JobTable()
            for record in log { try table.apply(record) }
            #expect(table.jobs == self.table.jobs)
            self.table = table
        case 1..<5: _ = try oneDuty()
        default: try work()
        }
        guard let state, !state.status.isTerminal, state.status != .cancelling else { return }
        let figure = state.progress(running: fractions)
        #expect(figure >= parentProgress)
        parentProgress = figure
    }

    /// Progress of the sub-jobs, as the supervisor sums it up.
    var fractions: [Int: Double] {
        (state?.running ?? [:]).compactMapValues { running in
            running.subJob.flatMap { table[$0] }.map { $0.progress / 100 }
        }
    }

    mutating func run(
        _ steps: Int = 5_000, each: (inout FamilySimulation, Int) throws -> Void = { _, _ in }
    )
        throws
    {
        for number in 0..<steps {
            try each(&self, number)
            try step()
            if table.jobs.values.allSatisfy(\.status.isTerminal), try !oneDuty() { return }
        }
    }
}

@Suite struct FamilyTests {
    @Test(.slow, arguments: 0..<6)
    func `a parent ends with every sub-job done once, whatever crashes`(block: Int) throws {
        for seed in UInt64(block * 15)..<UInt64(block * 15 + 15) {
            var story = try FamilySimulation(seed: seed)
            try story.run()

            let state = try #require(story.state)
            #expect(state.status == .succeeded, "seed \(seed)")
            #expect(state.result == JobFixture.blob(77), "seed \(seed)")
            #expect(story.children.count == story.childCount, "seed \(seed)")
            #expect(story.children.allSatisfy { $0.status == .succeeded }, "seed \(seed)")
            #expect(story.mostOpen <= story.sideBySide, "seed \(seed)")
            #expect(Set(story.children.map(\.submission.actor)) == ["ada"], "seed \(seed)")
            let given = story.log.count { $0.event.type == JobChunkDelegated.eventType }
            #expect(given == story.childCount, "seed \(seed)")
        }
    }

    @Test func `cancelling the parent at any step ends every sub-job first`() throws {
        for seed in UInt64(1_000)..<1_080 {
            var story = try FamilySimulation(seed: seed)
            let moment = Int(seed % 80)
            try story.run { story, number in
                guard number == moment else { return }
                try story.perform(
                    .command(.cancel, id: UUID(words: (7, 7))), on: FamilySimulation.parent)
            }

            let state = try #require(story.state)
            #expect(state.status == .cancelled || state.status == .succeeded, "seed \(seed)")
            #expect(story.table.jobs.values.allSatisfy { $0.status.isTerminal }, "seed \(seed)")
            if state.status == .cancelled {
                // No chunk is leased after the parent's end.
                let end = try #require(state.endedAt).microseconds
                let late = story.log.filter {
                    $0.recordedAt.microseconds > end && $0.event.type == JobChunkLeased.eventType
                }
                #expect(late.isEmpty, "seed \(seed)")
                #expect(story.log.last?.stream == .job(FamilySimulation.parent), "seed \(seed)")
            }
        }
    }

    @Test func `a sub-job that fails ends its parent and its siblings`() throws {
        for seed in UInt64(2_000)..<2_040 {
            var story = try FamilySimulation(seed: seed)
            story.failing = [1]
            try story.run()

            let state = try #require(story.state)
            #expect(state.status == .failed, "seed \(seed)")
            #expect(state.failure?.code == .invalidParameter, "seed \(seed)")
            #expect(state.failure?.message.contains("bad row") == true, "seed \(seed)")
            #expect(story.table.jobs.values.allSatisfy { $0.status.isTerminal }, "seed \(seed)")
        }
    }

    @Test func `a sub-job that may fail is a warning, and its chunk has no blob`() throws {
        for seed in UInt64(3_000)..<3_040 {
            var story = try FamilySimulation(seed: seed, mayFail: true)
            story.failing = [1]
            try story.run()

            let state = try #require(story.state)
            #expect(state.status == .succeeded, "seed \(seed)")
            let warnings = state.description.messages.filter { $0.severity == .warning }
            #expect(warnings.count == 1, "seed \(seed): \(warnings)")
            #expect(warnings.first?.text.contains("bad row") == true, "seed \(seed)")
        }
    }

    @Test(.slow) func `a pause of the parent reaches every sub-job and holds, a resume goes on`()
        throws
    {
        var reached = 0
        for seed in UInt64(4_000)..<4_060 {
            var story = try FamilySimulation(seed: seed)
            for _ in 0..<Int(20 + seed % 60) { try story.step() }
            guard story.state?.status.isTerminal == false else { continue }
            try story.perform(
                .command(.pause, id: UUID(words: (8, seed))), on: FamilySimulation.parent)
            for _ in 0..<400 { try story.step() }
            while try story.oneDuty() {}
            // The chunk that ran during the pause may have been the last one.
            guard story.state?.status.isTerminal == false else { continue }
            #expect(story.state?.isPaused == true, "seed \(seed)")
            let open = story.children.filter { !$0.status.isTerminal }
            reached += open.count
            #expect(open.allSatisfy { $0.isPaused }, "seed \(seed)")
            #expect(
                open.allSatisfy { $0.running.isEmpty }, "seed \(seed): a pause holds no worker")
            let length = story.log.count
            for _ in 0..<50 { try story.step() }
            #expect(story.log.count == length, "seed \(seed)")

            try story.perform(
                .command(.resume, id: UUID(words: (6, seed))), on: FamilySimulation.parent)
            try story.run()
            #expect(story.state?.status == .succeeded, "seed \(seed)")
        }
        #expect(reached > 20)
    }

    @Test func `sub-jobs too many, too deep or too broad fail the plan with a sentence`() throws {
        func failure(_ count: Int, sideBySide: Int, depth: Int) throws -> Failure? {
            var table = JobTable()
            let parent = JobParent(job: JobFixture.job, chunk: 1, depth: depth)
            let submission = JobSubmission(
                id: FamilySimulation.parent, kind: .batch, parameters: [:],
                parent: depth == 0 ? nil : parent)
            var log: [RecordedEvent] = []
            func record(_ changes: [JobChange], _ position: Int64) throws {
                let append = try JobChange.append(
                    changes, to: submission.id, at: position, metadata: EventMetadata())
                for event in append.events {
                    log.append(
                        RecordedEvent(
                            globalPosition: Int64(log.count + 1), stream: append.stream,
                            streamPosition: Int64(log.count),
                            recordedAt: Timestamp(microseconds: 0), event: event))
                    try table.apply(log[log.count - 1])
                }
            }
            try record(try table.decide(submit: submission), -1)
            let grant = LeaseGrant(
                chunk: 0, lease: UUID(words: (1, 2)), worker: UUID(words: (3, 4)), processID: 1)
            let now = Timestamp(microseconds: 0)
            try record(try #require(table[submission.id]).decide(.lease([grant]), at: now), 1)
            let chunk = ChunkDescription(
                pool: .work, operation: "job", input: Data(), weight: 1,
                subJob: SubJob(kind: .batch, parameters: [:], sideBySide: sideBySide))
            let state = try #require(table[submission.id])
            let attempt = try #require(state.running[0]?.attempt)
            let outcome = ChunkOutcome(nextStage: Array(repeating: chunk, count: count))
            try record(
                try state.decide(.report(attempt, .completed(outcome)), at: now),
                state.streamPosition)
            return table[submission.id]?.failure
        }
        #expect(try failure(500, sideBySide: 16, depth: 2) == nil)
        #expect(try failure(501, sideBySide: 16, depth: 0)?.message.contains("at most 500") == true)
        #expect(try failure(1, sideBySide: 17, depth: 0)?.message.contains("1 to 16") == true)
        #expect(try failure(1, sideBySide: 1, depth: 3)?.message.contains("3 deep") == true)
    }
}
