// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
package import FoundationEssentials
internal import Jobs

/// News of a job since the last delivery.
public struct JobNews: Hashable, Sendable {
    /// The present state; its progress never falls below that of an earlier delivery.
    public let job: JobDescription
    /// Its new messages, oldest first, each delivered once.
    public let messages: [JobMessage]
    /// Where to resume once this news has been handled; keep it together with the derived state.
    public let ticket: JobTicket
}

/// Follows one job from a ticket to its end across outages and restarts of the site.
///
/// It has no clock and no socket; `CairnClient.follow` supplies them.
package struct JobFollow {
    /// Its dependencies.
    package struct Outside: Sendable {
        /// Submits a job; idempotent.
        package var submit: @Sendable (JobSubmission) async throws(Failure) -> Void
        /// Sends a command; idempotent.
        package var command: @Sendable (JobCommandRequest) async throws(Failure) -> Void
        /// Reads a page of the log.
        package var read: @Sendable (ReadRequest) async throws(Failure) -> ReadPage
        /// Waits for a published state of the job, up to a limit; nil for none.
        package var wait: @Sendable (Duration) async throws(Failure) -> JobDescription?
        /// The monotonic time.
        package var now: @Sendable () -> Duration
        /// The incarnation of the log; nil for a log that has none.
        package var incarnation: @Sendable () async throws(Failure) -> UUID?

        /// Creates the dependencies.
        package init(
            submit: @escaping @Sendable (JobSubmission) async throws(Failure) -> Void,
            command: @escaping @Sendable (JobCommandRequest) async throws(Failure) -> Void,
            read: @escaping @Sendable (ReadRequest) async throws(Failure) -> ReadPage,
            wait: @escaping @Sendable (Duration) async throws(Failure) -> JobDescription?,
            now: @escaping @Sendable () -> Duration,
            incarnation: @escaping @Sendable () async throws(Failure) -> UUID? = {
                () async throws(Failure) in nil
            }
        ) {
            self.submit = submit
            self.command = command
            self.read = read
            self.wait = wait
            self.now = now
            self.incarnation = incarnation
        }
    }

    /// Interval of log reads while no message arrives.
    package static let readInterval = Duration.seconds(1)
    private static let pauses = (first: Duration.milliseconds(100), longest: Duration.seconds(5))

    /// The present position.
    package private(set) var ticket: JobTicket
    private let patience: Duration
    private let outside: Outside
    private var state: JobState?
    private var read: Int64 = 0
    private var progress = 0.0

    /// Starts at a ticket; `patience` is the limit of one outage.
    package init(_ ticket: JobTicket, patience: Duration, outside: Outside) {
        self.ticket = ticket
        self.patience = patience
        self.outside = outside
    }

    /// Delivers news until the job has ended or `handle` returns false.
    ///
    /// Throws what `handle` throws, and `Failure`: `unavailable` after an outage of `patience`,
    /// `notFound`, `conflict` when the log ends before the ticket, or has been restored since.
    package mutating func run(
        _ handle: (JobNews) async throws -> Bool
    ) async throws -> JobDescription {
        try await send()
        if ticket.lastSequence > 0, ticket.incarnation != nil { try await checkLog() }
        while true {
            let request = ReadRequest(after: read, limit: 1_000, stream: .job(ticket.jobID))
            let page = try await riding { [outside] () async throws(Failure) in
                try await outside.read(request)
            }
            // Asked after the page: an incarnation never recurs, so the page was of this one.
            if page.events.contains(where: { $0.globalPosition > ticket.lastSequence }) {
                try await checkLog()
            }
            let news = try fold(page)
            let isOver = state?.status.isTerminal == true
            if let news, try await !handle(news) || isOver { return news.job }
            guard page.through >= page.head else { continue }
            guard let state else {
                throw Failure(.notFound, "the site has no job \(ticket.jobID)")
            }
            // The end has been delivered before.
            if isOver { return state.description }
            let shown = try await riding { [outside] () async throws(Failure) in
                try await outside.wait(Self.readInterval)
            }
            if let shown, let news = live(shown), try await !handle(news) { return news.job }
        }
    }

    /// Sends the submission or command that the ticket may not have delivered.
    private mutating func send() async throws {
        if let submission = ticket.submission {
            try await riding { [outside] () async throws(Failure) in
                try await outside.submit(submission)
            }
            ticket.submission = nil
        }
        if let command = ticket.command, let id = ticket.commandID {
            let request = JobCommandRequest(id: id, job: ticket.jobID, command: command)
            try await riding { [outside] () async throws(Failure) in
                try await outside.command(request)
            }
            ticket.command = nil
            ticket.commandID = nil
        }
    }

    /// Checks that the ticket's number is of this log.
    private mutating func checkLog() async throws {
        let found = try await riding { [outside] () async throws(Failure) in
            try await outside.incarnation()
        }
        guard let found else { return }
        if ticket.lastSequence > 0, let known = ticket.incarnation, known != found {
            throw Failure(
                .conflict,
                "the ticket has seen event \(ticket.lastSequence) of incarnation "
                    + "\(known.uuidString.lowercased()) of the site's log, which has been restored "
                    + "from "
                    + "a backup since and is \(found.uuidString.lowercased()): watch the job by "
                    + "its id, "
                    + "from its beginning")
        }
        ticket.incarnation = found
    }

    /// Folds a page; nil when it holds nothing new.
    private mutating func fold(_ page: ReadPage) throws(Failure) -> JobNews? {
        guard page.head >= ticket.lastSequence else {
            throw Failure(
                .conflict,
                "the ticket has seen event \(ticket.lastSequence), and the site's log ends at "
                    + "\(page.head): it is an older copy")
        }
        var messages: [JobMessage] = []
        var last = ticket.lastSequence
        for record in page.events {
            if state == nil {
                state = try JobState(first: record)
            } else {
                try state?.apply(record)
            }
            guard record.globalPosition > ticket.lastSequence else { continue }
            messages += try JobEvent(record.event).messages(recordedAt: record.recordedAt)
            last = record.globalPosition
        }
        read = max(read, page.through)
        guard last > ticket.lastSequence, let state else { return nil }
        ticket.lastSequence = last
        return JobNews(job: described(state, 0), messages: messages, ticket: ticket)
    }

    /// Progress that is published before it is recorded.
    private mutating func live(_ shown: JobDescription) -> JobNews? {
        guard let state, shown.id == ticket.jobID, shown.progress > progress,
            !shown.status.isTerminal
        else { return nil }
        return JobNews(job: described(state, shown.progress), messages: [], ticket: ticket)
    }

    private mutating func described(_ state: JobState, _ shown: Double) -> JobDescription {
        var job = state.description
        progress = max(progress, job.progress, shown)
        job.progress = progress
        return job
    }

    /// Retries until there is an answer, or the outage has lasted for `patience`.
    private func riding<Answer: Sendable>(
        _ question: @Sendable () async throws(Failure) -> Answer
    ) async throws -> Answer {
        var awaySince: Duration?
        var pause = Self.pauses.first
        while true {
            let failure: Failure
            do throws(Failure) {
                return try await question()
            } catch {
                failure = error
            }
            guard failure.isRetriable else { throw failure }
            let since = awaySince ?? outside.now()
            awaySince = since
            guard outside.now() - since < patience else {
                throw Failure(
                    .unavailable,
                    "the site has not answered for \(patience.components.seconds) s; job "
                        + "\(ticket.jobID) may go on there, and its ticket is still good",
                    details: [failure.message])
            }
            _ = try await outside.wait(pause)
            pause = min(pause * 2, Self.pauses.longest)
        }
    }
}
