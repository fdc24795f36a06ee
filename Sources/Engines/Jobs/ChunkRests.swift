// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Retry delays of chunks after an error, by a monotonic clock.
///
/// The log's clock may step during a delay, and the retry would then come at once, or an hour late;
/// so that clock is used only for delays that began before this process. Times are monotonic, in
/// nanoseconds.
public struct ChunkRests: Sendable {
    private var ends: [JobID: [Int: Int64]] = [:]

    /// No delays.
    public init() {}

    /// Starts the retry delay of a chunk.
    public mutating func begin(_ chunk: Int, of job: JobID, milliseconds: Int, at now: Int64) {
        ends[job, default: [:]][chunk] = now + Int64(milliseconds) * 1_000_000
    }

    /// Resumes the delays of a job read from the log, whose clock shows `logTime` now; none exceeds
    /// its full length.
    public mutating func begin(_ state: JobState, logTime: Timestamp, at now: Int64) {
        for (number, chunk) in state.chunks.enumerated() where chunk.phase == .pending {
            guard let rest = chunk.rest else { continue }
            let over = max(0, logTime.microseconds - rest.since.microseconds) / 1_000
            let left = rest.milliseconds - Int(min(over, Int64(rest.milliseconds)))
            if left > 0 { begin(number, of: state.id, milliseconds: left, at: now) }
        }
    }

    /// Removes the delays of an ended job.
    public mutating func end(_ job: JobID) { ends[job] = nil }

    /// Whether the chunk's retry delay is still running.
    public func isResting(_ chunk: Int, of job: JobID, at now: Int64) -> Bool {
        ends[job]?[chunk].map { now < $0 } ?? false
    }
}
