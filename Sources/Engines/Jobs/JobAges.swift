// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Ages of open jobs, by a monotonic clock.
///
/// The log's clock may step while a job is open, so it is used only for jobs that were submitted
/// before this process started. Times are monotonic, in nanoseconds.
public struct JobAges: Sendable {
    private var starts: [JobID: Int64] = [:]

    /// No jobs.
    public init() {}

    /// Starts the age of a new job.
    public mutating func begin(_ job: JobID, at now: Int64) { starts[job] = now }

    /// Starts the age of an older job from its submission by the log's clock, which shows `logTime`
    /// now.
    ///
    /// A clock behind the submission counts as showing that time.
    public mutating func begin(
        _ job: JobID, submittedAt: Timestamp, logTime: Timestamp, at now: Int64
    ) {
        let age = max(0, logTime.microseconds - submittedAt.microseconds)
        starts[job] = now - min(age, .max / 2_000) * 1_000
    }

    /// Removes a job.
    public mutating func end(_ job: JobID) { starts[job] = nil }

    /// The time since the job's submission; zero for an unknown job.
    public func age(of job: JobID, at now: Int64) -> Duration {
        starts[job].map { .nanoseconds(max(0, now - $0)) } ?? .zero
    }
}
