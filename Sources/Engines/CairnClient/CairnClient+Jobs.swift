// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnModel
internal import Platform
internal import Synchronization

extension CairnClient {
    /// Default limit of one outage of a followed job's site.
    public static let outage = Duration.seconds(600)

    /// Follows a job from a ticket, in any process that reaches the site, until its end or until
    /// `handle` returns false.
    ///
    /// What the ticket has not sent yet is sent first. Every message after the ticket is delivered
    /// once, and progress never falls. Outages are waited out. Throws what `handle` throws, and
    /// `Failure`: `unavailable` after an outage of `patience` (the job may go on there, and the
    /// last ticket is still good), `notFound`, `conflict` when the site's log is an older copy or
    /// has been restored since the ticket was given, `cancelled`.
    ///
    /// ```swift
    /// let ticket = JobTicket(site: site.identity.siteID, submitting: submission)
    /// let job = try await client.follow(ticket) { news in
    ///     try save(news.messages, news.ticket)
    ///     return true
    /// }
    /// ```
    public func follow(
        _ ticket: JobTicket, patience: Duration = CairnClient.outage,
        _ handle: (JobNews) async throws -> Bool
    ) async throws -> JobDescription {
        let log = try LogReader(self)
        let latest = LatestJob()
        let subscriber = try subscribe(job: ticket.jobID) { latest.put($0) }
        defer { subscriber.close() }
        var follow = JobFollow(ticket, patience: patience, outside: outside(log, latest))
        return try await follow.run(handle)
    }

    private func outside(_ log: LogReader, _ latest: LatestJob) -> JobFollow.Outside {
        let start = ContinuousClock.now
        return JobFollow.Outside(
            submit: { [self] submission throws(Failure) in
                _ = try await submit(submission, timeout: .seconds(5))
            },
            command: { [self] request throws(Failure) in
                _ = try await command(
                    job: request.job, request.command, id: request.id, timeout: .seconds(5))
            },
            read: { request throws(Failure) in try await log.read(request, timeout: .seconds(5)) },
            wait: { limit throws(Failure) in try await latest.take(within: limit) },
            now: { start.duration(to: .now) },
            incarnation: { () async throws(Failure) in
                try await log.head(timeout: .seconds(5)).incarnation
            })
    }
}

/// Mailbox for the latest published state of a job.
private final class LatestJob: Sendable {
    private let job = Mutex<JobDescription?>(nil)
    private let signal = TaskSignal()

    func put(_ new: JobDescription) {
        job.withLock { $0 = new }
        signal.raise()
    }

    /// Waits up to `limit` for a state not taken before; throws `Failure` (`cancelled`).
    func take(within limit: Duration) async throws(Failure) -> JobDescription? {
        let end = ContinuousClock.now + limit
        while true {
            if let new = job.withLock({ $0.take() }) { return new }
            guard ContinuousClock.now < end else { return nil }
            guard await signal.wait(until: end) else { throw .requestCancelled }
        }
    }
}
