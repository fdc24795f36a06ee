// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// How long ago open jobs were submitted, counted by a clock that never goes back.
///
/// The log's clock may step while a job is open, so it is asked only about jobs that were submitted
/// before one began to count. Times are nanoseconds of the steady clock.
public struct JobAges: Sendable {
    private var starts: [JobID: Int64] = [:]

    /// No job yet.
    public init() {}

    /// A job has just been submitted.
    public mutating func begin(_ job: JobID, at now: Int64) { starts[job] = now }

    /// A job was submitted earlier, at a time of the log's clock, which shows `logTime` now.
    ///
    /// A clock that shows an earlier time than the submission's counts as showing that.
    public mutating func begin(
        _ job: JobID, submittedAt: Timestamp, logTime: Timestamp, at now: Int64
    ) {
        let age = max(0, logTime.microseconds - submittedAt.microseconds)
        starts[job] = now - min(age, .max / 2_000) * 1_000
    }

    /// Its age no longer matters.
    public mutating func end(_ job: JobID) { starts[job] = nil }

    /// How long ago the job was submitted; zero for one that is not known.
    public func age(of job: JobID, at now: Int64) -> Duration {
        starts[job].map { .nanoseconds(max(0, now - $0)) } ?? .zero
    }
}
