// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Jobs

/// The interactive tasks outstanding at a worker, as estimated by the hub.
struct Backlog {
    /// Recent duration of a task at the worker; nil where it has reported none.
    let taskNanoseconds: Int64?
    let count: Int
    /// Age of the oldest task.
    let oldestNanoseconds: Int64

    /// Whether the worker is awake, and will finish its tasks and one more before another worker
    /// would have woken up.
    ///
    /// An older task shows that the reported durations do not apply to the present ones.
    var isBrief: Bool {
        guard let taskNanoseconds, count > 0 else { return false }
        let (nanoseconds, isFar) = taskNanoseconds.multipliedReportingOverflow(
            by: Int64(count) + 1)
        return !isFar && nanoseconds <= Self.briefNanoseconds
            && oldestNanoseconds <= Pool.recallAge.wholeNanoseconds
    }

    /// Measured: with half of it, some requests of eight clients wake another worker (decision
    /// 0155).
    static let briefNanoseconds: Int64 = 300_000
}
