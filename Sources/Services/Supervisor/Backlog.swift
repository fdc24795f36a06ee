// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Jobs

/// The interactive tasks that a worker has, as far as the hub knows.
struct Backlog {
    /// How long a task has taken the worker of late; nil where it has not said.
    let taskNanoseconds: Int64?
    let count: Int
    /// How long the worker has had the oldest.
    let oldestNanoseconds: Int64

    /// Whether the worker is awake, and will have done them and one more before it would have paid
    /// to wake another.
    ///
    /// A task that has been there for longer shows that these are others than those of which it has
    /// spoken.
    var isBrief: Bool {
        guard let taskNanoseconds, count > 0 else { return false }
        let (nanoseconds, isFar) = taskNanoseconds.multipliedReportingOverflow(
            by: Int64(count) + 1)
        return !isFar && nanoseconds <= Self.briefNanoseconds
            && oldestNanoseconds <= Pool.recallAge.wholeNanoseconds
    }

    /// As measured: with half of it a part of what eight clients ask wakes another worker up
    /// (decision 0155).
    static let briefNanoseconds: Int64 = 300_000
}
