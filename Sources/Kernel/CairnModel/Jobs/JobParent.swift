// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The parent of a sub-job.
public struct JobParent: Hashable, Sendable, Codable {
    /// The job that started it.
    public var job: JobID
    /// The chunk it does there.
    public var chunk: Int
    /// Depth below the top-level job, from 1.
    public var depth: Int

    /// Names a place.
    public init(job: JobID, chunk: Int, depth: Int) {
        self.job = job
        self.chunk = chunk
        self.depth = depth
    }
}

/// A job's share of the workers among the jobs of the same actor.
///
/// It has no effect across actors, and every job gets its share: a low one is never starved.
public enum JobPriority: String, Hashable, Sendable, Codable, CaseIterable {
    /// One share.
    case low
    /// Two shares.
    case normal
    /// Four shares.
    case high

    /// The shares.
    public var weight: Double {
        switch self {
        case .low: 1
        case .normal: 2
        case .high: 4
        }
    }
}
