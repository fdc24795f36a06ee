// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How long a process that ended rests before it is started again: 0.1 s, doubling to 5 s; one that
/// has run for ten seconds begins anew.
struct RestartPolicy: Hashable, Sendable {
    private static let first: Int64 = 100
    private static let longest: Int64 = 5_000
    private static let steady: Int64 = 10_000
    private var next = first
    /// How often it ended without having run for ten seconds, since it last did.
    private(set) var crashesInRow = 0

    /// The rest in milliseconds after a run of `ranMilliseconds`.
    mutating func rest(afterRunning ranMilliseconds: Int64) -> Int64 {
        if ranMilliseconds >= Self.steady { (next, crashesInRow) = (Self.first, 0) }
        crashesInRow += 1
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
