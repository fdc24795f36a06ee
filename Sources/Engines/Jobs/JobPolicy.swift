// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The numbers by which jobs are run and bounded.
public struct JobPolicy: Hashable, Sendable {
    /// Attempts whose operation may throw before the job fails.
    public var maximumErrors = 3
    /// The same while the disk is full: with the rests between them some ten minutes.
    public var maximumErrorsOfFullDisk = 22
    /// Workers that may die of a chunk before it is quarantined.
    public var maximumDeaths = 3
    /// The rest after a chunk's first error; every further one is four times as long, up to the
    /// longest.
    public var firstRetryDelayMilliseconds = 1_000
    /// The longest rest after an error.
    public var longestRetryDelayMilliseconds = 30_000
    /// Chunks of a job, all stages together.
    public var maximumChunkCount = 5_000
    /// Sub-jobs of a job.
    public var maximumSubJobCount = 500
    /// Sub-jobs of a job that may be open side by side.
    public var maximumOpenSubJobCount = 16
    /// How many jobs may stand above another.
    public var maximumDepth = 3
    /// Bytes of a chunk's input.
    public var maximumChunkInputByteCount = 16 << 10
    /// UTF-8 bytes of a job's parameters, names and values together.
    public var maximumParametersByteCount = 16 << 10
    /// Messages kept of a job; later ones are counted only.
    public var maximumMessageCount = 200
    /// Messages taken from one chunk.
    public var maximumMessagesPerChunk = 20
    /// Characters of a message or sentence; the rest is cut.
    public var maximumTextLength = 500
    /// The shortest time between two recorded figures of progress, in microseconds.
    public var progressIntervalMicroseconds: Int64 = 1_000_000
    /// The smallest recorded step of progress in percent: it bounds the number of such events.
    public var progressStep = 0.05

    /// The numbers every site uses.
    public init() {}

    /// How long a chunk rests after its n-th error (n ≥ 1); nil when it is not tried again.
    func retryDelayMilliseconds(after error: Failure, errorCount: Int) -> Int? {
        let limit = error.code == .noSpace ? maximumErrorsOfFullDisk : maximumErrors
        guard errorCount < limit, !Self.permanent.contains(error.code) else { return nil }
        return min(
            firstRetryDelayMilliseconds << (2 * min(errorCount - 1, 10)),
            longestRetryDelayMilliseconds)
    }

    /// What the same input would meet again.
    private static let permanent: Set<Failure.Code> = [
        .invalidParameter, .notFound, .conflict, .tooLarge, .newerVersion, .unreadable,
    ]

    func trim(_ text: String) -> String { String(text.prefix(maximumTextLength)) }

    func trim(_ error: Failure) -> Failure {
        Failure(error.code, trim(error.message), details: error.details.prefix(10).map(trim))
    }

    func trim(_ messages: [JobMessage]) -> [JobMessage] {
        var kept = messages.prefix(maximumMessagesPerChunk).map {
            JobMessage($0.severity, trim($0.text))
        }
        if messages.count > maximumMessagesPerChunk {
            kept[maximumMessagesPerChunk - 1] = JobMessage(
                .informative,
                "\(messages.count - maximumMessagesPerChunk + 1) further messages are left out")
        }
        return kept
    }
}
