// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Chunks that rest after an error, counted by a clock that never goes back.
///
/// The log's clock may step while a chunk rests, and then it would be tried again at once, or in an
/// hour; so that clock is asked only about rests that began before one began to count. Times are
/// nanoseconds of the steady clock.
public struct ChunkRests: Sendable {
    private var ends: [JobID: [Int: Int64]] = [:]

    /// No chunk rests.
    public init() {}

    /// A chunk begins to rest.
    public mutating func begin(_ chunk: Int, of job: JobID, milliseconds: Int, at now: Int64) {
        ends[job, default: [:]][chunk] = now + Int64(milliseconds) * 1_000_000
    }

    /// The chunks of a job that was read from the log, whose clock shows `logTime` now, rest on;
    /// none longer than its whole rest.
    public mutating func begin(_ state: JobState, logTime: Timestamp, at now: Int64) {
        for (number, chunk) in state.chunks.enumerated() where chunk.phase == .pending {
            guard let rest = chunk.rest else { continue }
            let over = max(0, logTime.microseconds - rest.since.microseconds) / 1_000
            let left = rest.milliseconds - Int(min(over, Int64(rest.milliseconds)))
            if left > 0 { begin(number, of: state.id, milliseconds: left, at: now) }
        }
    }

    /// The job has ended.
    public mutating func end(_ job: JobID) { ends[job] = nil }

    /// Whether the chunk still rests.
    public func isResting(_ chunk: Int, of job: JobID, at now: Int64) -> Bool {
        ends[job]?[chunk].map { now < $0 } ?? false
    }
}
