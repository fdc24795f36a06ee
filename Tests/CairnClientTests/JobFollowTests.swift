// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Synchronization
import TestKit
import Testing

/// A site whose job advances under a clock that waiting moves, with occasional outages.
private final class PlayedSite: Sendable {
    struct State {
        var random: SeededGenerator
        var now = Duration.zero
        var log: [RecordedEvent] = []
        /// Remaining events of the job.
        var future: [JobEvent]
        /// Away until then.
        var awayUntil = Duration.zero
        var submitted = 0
        var commands: [UUID] = []
        var isFlaky = false
        var shown = 0.0
        var incarnation: UUID?
    }

    static let job = JobID(rawValue: UUID(words: (1, 0x8000_0000_0000_0001)))
    static let site = UUID(words: (2, 2))
    let state: Mutex<State>

    init(seed: UInt64, isRecorded: Bool = true) throws {
        state = Mutex(State(random: SeededGenerator(seed: seed), future: Self.life(seed)))
        if isRecorded { state.withLock { $0.record() } }
    }

    static var submission: JobSubmission {
        JobSubmission(id: job, kind: .batchGeocode, parameters: [:])
    }

    /// The events of a job of some chunks, with messages.
    static func life(_ seed: UInt64) -> [JobEvent] {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...9, using: &random)
        let chunks = (0..<count).map { _ in
            ChunkDescription(pool: .work, operation: "x", input: Data(), weight: 5)
        }
        var events: [JobEvent] = [
            .submitted(JobSubmitted(submission: submission)),
            .stagePlanned(JobStagePlanned(stage: 0, firstChunk: 0, chunks: chunks)),
        ]
        for chunk in 0..<count {
            for number in 1...Int.random(in: 1...3, using: &random) {
                let attempt = ChunkAttempt(
                    chunk: chunk, number: number,
                    lease: UUID(words: (UInt64(chunk), UInt64(number)))
                )
                events.append(
                    .chunkLeased(
                        JobChunkLeased(attempt: attempt, worker: UUID(words: (3, 3)), processID: 1))
                )
                events.append(.chunkLost(JobChunkLost(attempt: attempt, reason: "it died")))
            }
            guard case .chunkLost(let lost) = events.removeLast() else { continue }
            let messages = (0..<Int.random(in: 0...3, using: &random)).map {
                JobMessage(.informative, "message \($0) of chunk \(chunk)")
            }
            events.append(
                .chunkCompleted(
                    JobChunkCompleted(attempt: lost.attempt, blob: nil, messages: messages)))
        }
        return events + [.succeeded(JobSucceeded(result: nil))]
    }

    /// Every message of the job, in order.
    static func messages(_ seed: UInt64) -> [JobMessage] {
        life(seed).flatMap { event -> [JobMessage] in
            switch event {
            case .chunkCompleted(let payload): payload.messages
            case .chunkLost(let payload):
                [
                    JobMessage(
                        .warning,
                        "attempt \(payload.attempt.number) of chunk \(payload.attempt.chunk) was "
                            + "lost: it died")
                ]
            default: []
            }
        }
    }

    var outside: JobFollow.Outside {
        JobFollow.Outside(
            submit: { [self] submission throws(Failure) in
                try state.withLock { state throws(Failure) in
                    // The answer may be lost after the site has recorded the job.
                    if state.log.isEmpty { state.record() }
                    state.submitted += 1
                    try state.answer()
                }
            },
            command: { [self] request throws(Failure) in
                try state.withLock { state throws(Failure) in
                    state.commands.append(request.id)
                    try state.answer()
                }
            },
            read: { [self] request throws(Failure) in
                try state.withLock { state throws(Failure) in
                    try state.answer()
                    return state.page(request)
                }
            },
            wait: { [self] limit throws(Failure) in
                state.withLock { state in state.wait(limit) }
            },
            now: { [self] in state.withLock { $0.now } },
            incarnation: { [self] () async throws(Failure) in
                try state.withLock { state throws(Failure) in
                    try state.answer()
                    return state.incarnation
                }
            })
    }
}

extension PlayedSite.State {
    mutating func answer() throws(Failure) {
        let isAway = now < awayUntil || (isFlaky && Bool.random(using: &random))
        if isAway { throw Failure(.unavailable, "nobody listens") }
    }

    /// The job's next event.
    mutating func record() {
        guard !future.isEmpty,
            let stream = StreamName(rawValue: StreamName.job(PlayedSite.job).rawValue),
            let event = try? future.removeFirst().payload.newEvent(
                id: UUID(words: (9, UInt64(future.count))), metadata: EventMetadata())
        else { return }
        let last = log.last?.globalPosition ?? 0
        log.append(
            RecordedEvent(
                globalPosition: last + Int64.random(in: 1...3, using: &random), stream: stream,
                streamPosition: Int64(log.count), recordedAt: Timestamp(microseconds: 0),
                event: event))
    }

    mutating func page(_ request: ReadRequest) -> ReadPage {
        let matching = log.filter { $0.globalPosition > request.after }
        let events = Array(matching.prefix(Int.random(in: 1...4, using: &random)))
        let head = log.last?.globalPosition ?? 0
        return ReadPage(
            events: events,
            through: events.count == matching.count ? head : events.last?.globalPosition ?? head,
            head: head)
    }

    /// Advances the time and the job, during outages as well.
    mutating func wait(_ limit: Duration) -> JobDescription? {
        now += limit
        if !log.isEmpty, Bool.random(using: &random) { record() }
        guard Int.random(in: 0..<4, using: &random) == 0, now >= awayUntil else { return nil }
        shown = Double.random(in: 0...60, using: &random)
        return JobDescription(
            id: PlayedSite.job, kind: .batchGeocode, parameters: [:], status: .executing,
            isPaused: false, progress: shown, chunkCount: 0, completedChunkCount: 0,
            lostAttemptCount: 0, messages: [], result: nil, failure: nil,
            submittedAt: Timestamp(microseconds: 0), endedAt: nil, sequence: 0)
    }
}

@Suite struct JobFollowTests {
    private var ticket: JobTicket { JobTicket(site: PlayedSite.site, jobID: PlayedSite.job) }

    private func overJSON(_ ticket: JobTicket) throws -> JobTicket {
        try JobTicket(parsing: try CairnJSON.encode(ticket))
    }

    @Test func `a job's messages come once and in order, however often its ticket is handed over`()
        async throws
    {
        var handOvers = 0
        for seed in UInt64(0)..<150 {
            let site = try PlayedSite(seed: seed)
            site.state.withLock { $0.isFlaky = seed % 2 == 0 }
            var random = SeededGenerator(seed: seed + 1)
            var ticket = ticket
            var told: [JobMessage] = []
            var isOver = false
            while !isOver {
                var follow = JobFollow(ticket, patience: .seconds(600), outside: site.outside)
                var left = Int.random(in: 1...4, using: &random)
                var progress = 0.0
                _ = try await follow.run { news in
                    told += news.messages
                    ticket = news.ticket
                    isOver = news.job.status.isTerminal
                    #expect(news.job.progress >= progress, "seed \(seed)")
                    progress = news.job.progress
                    left -= 1
                    return left > 0
                }
                // The next reader is another process: it has the JSON and nothing else.
                ticket = try overJSON(ticket)
                handOvers += 1
            }

            #expect(
                told.map(\.text) == PlayedSite.messages(seed).map(\.text), "seed \(seed)")
            #expect(told.allSatisfy { $0.recordedAt != nil }, "seed \(seed)")
        }
        #expect(handOvers > 300)
    }

    @Test func `a site that is away is waited for, for ten minutes`() async throws {
        for seconds in [1, 60, 590] {
            let site = try PlayedSite(seed: 5)
            site.state.withLock { $0.awayUntil = .seconds(seconds) }
            var follow = JobFollow(ticket, patience: CairnClient.outage, outside: site.outside)
            var told: [JobMessage] = []
            let job = try await follow.run { news in
                told += news.messages
                return true
            }
            #expect(job.status == .succeeded)
            #expect(told.map(\.text) == PlayedSite.messages(5).map(\.text))
        }
    }

    @Test func `a site that stays away is given up after ten minutes, with a sentence`()
        async throws
    {
        let site = try PlayedSite(seed: 5)
        var follow = JobFollow(ticket, patience: CairnClient.outage, outside: site.outside)
        var count = 0
        let failure = await #expect(throws: Failure.self) {
            _ = try await follow.run { _ in
                count += 1
                site.state.withLock { $0.awayUntil = $0.now + .seconds(100_000) }
                return true
            }
        }

        #expect(failure?.code == .unavailable)
        #expect(failure?.message.contains("600 s") == true)
        let gone = site.state.withLock { $0.now }
        #expect((.seconds(600)...Duration.seconds(610)).contains(gone))
        #expect(count == 1)
        // The same ticket resumes once the site is back.
        site.state.withLock { $0.awayUntil = .zero }
        var told: [JobMessage] = []
        var again = JobFollow(follow.ticket, patience: CairnClient.outage, outside: site.outside)
        let job = try await again.run { news in
            told += news.messages
            return true
        }
        #expect(job.status == .succeeded)
        #expect(PlayedSite.messages(5).map(\.text).suffix(told.count) == told.map(\.text)[...])
    }

    @Test func `two outages of nine minutes do not add up to one of eighteen`() async throws {
        let site = try PlayedSite(seed: 7)
        site.state.withLock { $0.awayUntil = .seconds(540) }
        var follow = JobFollow(ticket, patience: CairnClient.outage, outside: site.outside)
        var first = true
        let job = try await follow.run { _ in
            if first { site.state.withLock { $0.awayUntil = $0.now + .seconds(540) } }
            first = false
            return true
        }
        #expect(job.status == .succeeded)
    }

    @Test func `a job that was not submitted yet is, and a command goes out under its id`()
        async throws
    {
        let site = try PlayedSite(seed: 11, isRecorded: false)
        site.state.withLock { $0.isFlaky = true }
        let command = UUID(words: (4, 4))
        let start = JobTicket(site: PlayedSite.site, submitting: PlayedSite.submission)
            .sending(.pause, id: command)
        var follow = JobFollow(
            try overJSON(start), patience: CairnClient.outage, outside: site.outside)
        let job = try await follow.run { news in
            #expect(news.ticket.submission == nil && news.ticket.commandID == nil)
            return true
        }

        #expect(job.status == .succeeded)
        let (submitted, commands) = site.state.withLock { ($0.submitted, $0.commands) }
        #expect(submitted >= 1)
        #expect(Set(commands) == [command])
    }

    @Test func `a log that is older than the ticket, and an unknown job, are refused`()
        async throws
    {
        let site = try PlayedSite(seed: 3)
        var ahead = ticket
        ahead.lastSequence = 1_000
        var follow = JobFollow(ahead, patience: CairnClient.outage, outside: site.outside)
        let refusal = await #expect(throws: Failure.self) { _ = try await follow.run { _ in true } }
        #expect(refusal?.code == .conflict && refusal?.message.contains("older copy") == true)

        let empty = try PlayedSite(seed: 3, isRecorded: false)
        var lost = JobFollow(ticket, patience: CairnClient.outage, outside: empty.outside)
        let unknown = await #expect(throws: Failure.self) { _ = try await lost.run { _ in true } }
        #expect(unknown?.code == .notFound)
    }

    @Test func `a ticket of a log that was restored since is refused, there and then or later`()
        async throws
    {
        let (before, restored) = (UUID(), UUID())
        let site = try PlayedSite(seed: 3)
        site.state.withLock { state in
            state.incarnation = before
            state.isFlaky = true
            for _ in 0..<4 { state.record() }
        }
        var ticket = ticket
        var follow = JobFollow(ticket, patience: CairnClient.outage, outside: site.outside)
        _ = try await follow.run { news in
            ticket = try overJSON(news.ticket)
            return false
        }
        #expect(ticket.incarnation == before && ticket.lastSequence > 0)

        // While it is followed: what is next is of another history, though it would follow.
        var count = 0
        var going = JobFollow(ticket, patience: CairnClient.outage, outside: site.outside)
        let later = await #expect(throws: Failure.self) {
            _ = try await going.run { _ in
                count += 1
                site.state.withLock { $0.incarnation = restored }
                return true
            }
        }
        #expect(later?.code == .conflict && count == 1)
        // At the start: before any delivery.
        var again = JobFollow(ticket, patience: CairnClient.outage, outside: site.outside)
        let refusal = await #expect(throws: Failure.self) {
            _ = try await again.run { _ in
                Issue.record("nothing is told")
                return true
            }
        }
        #expect(refusal?.code == .conflict)
        #expect(refusal?.message.contains(before.uuidString.lowercased()) == true)
        // A ticket that has seen nothing is of no log.
        ticket.lastSequence = 0
        var anew = JobFollow(ticket, patience: CairnClient.outage, outside: site.outside)
        #expect(try await anew.run { _ in true }.status == .succeeded)
    }

    @Test func `a ticket has the keys it promises, and a bad one is named`() throws {
        var ticket = ticket
        ticket.lastSequence = 42
        let text = String(decoding: try CairnJSON.encode(ticket), as: UTF8.self)
        #expect(
            text == """
                {"jobId":"j00000000000000018000000000000001","lastSequence":42,\
                "site":"00000000-0000-0002-0000-000000000002","version":1}
                """)
        #expect(try overJSON(ticket) == ticket)
        func code(_ text: String) -> Failure.Code? {
            do {
                _ = try JobTicket(parsing: Data(text.utf8))
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(text) == nil)
        #expect(
            code(text.replacingOccurrences(of: "\"version\":1", with: "\"version\":2"))
                == .newerVersion)
        #expect(code(text.replacingOccurrences(of: "42", with: "-1")) == .invalidParameter)
        #expect(
            code(text.replacingOccurrences(of: "}", with: ",\"command\":\"pause\"}"))
                == .invalidParameter)
        #expect(code("{}") == .invalidParameter)
        #expect(code("") == .invalidParameter)
    }
}
