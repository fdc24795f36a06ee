// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CoreMetrics
internal import Platform

/// Durations of interactive tasks between heartbeats.
struct TaskTimes {
    private let seconds: CoreMetrics.Timer
    private var count: Int64 = 0
    private var nanoseconds: Int64 = 0

    /// Begins; each task is also recorded in `seconds`.
    init(_ seconds: CoreMetrics.Timer) { self.seconds = seconds }

    /// Runs an attempt, and counts it if it has an answer.
    mutating func measure<Answer>(_ attempt: () -> Answer?) -> Answer? {
        let since = MonotonicClock.nanoseconds()
        let answer = attempt()
        if answer != nil { add(MonotonicClock.nanoseconds() - since) }
        return answer
    }

    /// Counts a task that took that many nanoseconds.
    mutating func add(_ nanoseconds: Int64) {
        seconds.recordNanoseconds(nanoseconds)
        count += 1
        self.nanoseconds += nanoseconds
    }

    /// Mean duration of a task in microseconds, rounded up, since the last call; nil without tasks.
    mutating func takeMean() -> Int? {
        defer { (count, nanoseconds) = (0, 0) }
        guard count > 0 else { return nil }
        return Int((nanoseconds / count + 999) / 1_000)
    }
}
