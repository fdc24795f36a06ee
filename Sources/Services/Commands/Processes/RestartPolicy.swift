// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Back-off of restarts: 0.1 s, doubling to 5 s; reset once a process has run for ten seconds.
struct RestartPolicy: Hashable, Sendable {
    private static let first: Int64 = 100
    private static let longest: Int64 = 5_000
    private static let steady: Int64 = 10_000
    private var next = first
    /// Number of consecutive runs shorter than ten seconds.
    private(set) var crashesInRow = 0

    /// The delay in milliseconds after a run of `ranMilliseconds`.
    mutating func rest(afterRunning ranMilliseconds: Int64) -> Int64 {
        if ranMilliseconds >= Self.steady { (next, crashesInRow) = (Self.first, 0) }
        crashesInRow += 1
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
