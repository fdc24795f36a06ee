// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

/// Something that this build answers, or makes, otherwise than was recorded.
public struct Difference: Hashable, Sendable, Encodable {
    /// What was done again.
    public enum Kind: String, Hashable, Sendable, Encodable {
        /// A request.
        case request
        /// A chunk of a job.
        case chunk
    }

    /// Why it differs, as far as that can be told.
    public enum Cause: String, Hashable, Sendable, Encodable {
        /// Another build of the same program answered then.
        case otherBuild
        /// The same build answered then: the answer rests on something that is not recorded, or the
        /// data were changed behind Cairn's back.
        case sameBuild
        /// A dataset, raster, locator or blob is gone.
        case dataMissing
        /// The answer that was kept does not have the digest recorded with it: the recording was
        /// changed.
        case recordingChanged
        /// This build fails where the recorded one answered.
        case failed
        /// Which build answered then is not recorded, or this build has no such program.
        case unknownBuild

        static func between(recorded: String?, _ build: String?) -> Cause {
            guard let recorded, let build else { return .unknownBuild }
            return recorded == build ? .sameBuild : .otherBuild
        }
    }

    /// What was done again.
    public var kind: Kind
    /// The sequence number of the state it was done on; of a chunk, of its completion.
    public var sequence: Int64
    /// `identify`, `BatchGeocode.geocodeRows`.
    public var operation: String
    /// Why it differs.
    public var cause: Cause
    /// One sentence.
    public var message: String
    /// When a request was answered; nil for chunks.
    public var at: Timestamp?
    /// The job of a chunk.
    public var job: JobID?
    /// The number of a chunk.
    public var chunk: Int?
    /// The build that answered then, where that is recorded.
    public var recordedBuild: String?
    /// The build that was compared, where it is the same program.
    public var build: String?
    /// The fields that differ, `before` as recorded and `after` as of this build; the first
    /// hundred.
    public var changes: [FieldChange]

    /// The most fields of one difference.
    static let changeLimit = 100
}

/// What a comparison comes to.
public struct ComparisonSummary: Hashable, Sendable, Encodable {
    /// Requests and chunks that were done again.
    public var comparedCount = 0
    /// Those that differ.
    public var differingCount = 0
    /// Those that could not be compared.
    public var incomparableCount = 0
    /// Requests that were answered from other incarnations of the log, and passed over: how many of
    /// each.
    public var otherIncarnations: [String: Int] = [:]
    /// The lowest sequence number of a difference.
    public var firstSequence: Int64?

    /// Nothing was compared yet.
    public init() {}

    /// Counts one that was answered from another incarnation of the log.
    public mutating func note(ofAnotherLog incarnation: UUID) {
        otherIncarnations[incarnation.uuidString.lowercased(), default: 0] += 1
    }

    /// Counts one that was compared.
    public mutating func note(_ difference: Difference?) {
        comparedCount += 1
        guard let difference else { return }
        differingCount += 1
        firstSequence = min(firstSequence ?? .max, difference.sequence)
    }
}
