// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
public import MapState

/// An answer or output of this build that differs from the recorded one.
public struct Difference: Hashable, Sendable, Encodable {
    /// The kind of a re-execution.
    public enum Kind: String, Hashable, Sendable, Encodable {
        /// A request.
        case request
        /// A chunk of a job.
        case chunk
    }

    /// The cause of a difference, as far as it can be determined.
    public enum Cause: String, Hashable, Sendable, Encodable {
        /// The recorded answer is of another build of the same program.
        case otherBuild
        /// The recorded answer is of the same build: it depends on something that is not recorded,
        /// or the data were changed from outside.
        case sameBuild
        /// A dataset, raster, locator or blob is gone.
        case dataMissing
        /// The kept answer does not match the recorded digest: the recording was changed.
        case recordingChanged
        /// This build fails where the recorded one answered.
        case failed
        /// The build of the recorded answer is not recorded, or this build has no such program.
        case unknownBuild

        static func between(recorded: String?, _ build: String?) -> Cause {
            guard let recorded, let build else { return .unknownBuild }
            return recorded == build ? .sameBuild : .otherBuild
        }
    }

    /// The kind of the re-execution.
    public var kind: Kind
    /// The sequence number of the state it was executed on; of a chunk, of its completion.
    public var sequence: Int64
    /// Its operation, such as `identify` or `BatchGeocode.geocodeRows`.
    public var operation: String
    /// The cause, as far as it can be determined.
    public var cause: Cause
    /// One sentence.
    public var message: String
    /// When a request was answered; nil for chunks.
    public var at: Timestamp?
    /// The job of a chunk.
    public var job: JobID?
    /// The number of a chunk.
    public var chunk: Int?
    /// The build of the recorded answer, where that is recorded.
    public var recordedBuild: String?
    /// The present build, where it is the same program.
    public var build: String?
    /// The differing fields, `before` as recorded and `after` as of this build; the first hundred.
    public var changes: [FieldChange]

    /// Limit of fields in one difference.
    static let changeLimit = 100
}

/// The totals of a comparison.
public struct ComparisonSummary: Hashable, Sendable, Encodable {
    /// Re-executed requests and chunks.
    public var comparedCount = 0
    /// Number of differences.
    public var differingCount = 0
    /// Number of incomparable requests and chunks.
    public var incomparableCount = 0
    /// Skipped requests, answered on other incarnations of the log: their number by incarnation.
    public var otherIncarnations: [String: Int] = [:]
    /// The lowest sequence number of a difference.
    public var firstSequence: Int64?

    /// No comparison yet.
    public init() {}

    /// Counts a request answered on another incarnation of the log.
    public mutating func note(ofAnotherLog incarnation: UUID) {
        otherIncarnations[incarnation.uuidString.lowercased(), default: 0] += 1
    }

    /// Counts a comparison.
    public mutating func note(_ difference: Difference?) {
        comparedCount += 1
        guard let difference else { return }
        differingCount += 1
        firstSequence = min(firstSequence ?? .max, difference.sequence)
    }
}
