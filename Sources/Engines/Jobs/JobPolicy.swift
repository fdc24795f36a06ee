// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Limits and retry rules of jobs.
public struct JobPolicy: Hashable, Sendable {
    /// Errors of one chunk that fail the job.
    public var maximumErrors = 3
    /// The limit on errors while the disk is full: with the delays between them some ten minutes.
    public var maximumErrorsOfFullDisk = 22
    /// Worker deaths that quarantine a chunk.
    public var maximumDeaths = 3
    /// Retry delay after a chunk's first error, in milliseconds; each further error multiplies it
    /// by four, up to the longest.
    public var firstRetryDelayMilliseconds = 1_000
    /// The longest retry delay, in milliseconds.
    public var longestRetryDelayMilliseconds = 30_000
    /// Limit of chunks in a job, all stages together.
    public var maximumChunkCount = 5_000
    /// Limit of sub-jobs of a job.
    public var maximumSubJobCount = 500
    /// Limit of a job's concurrently open sub-jobs.
    public var maximumOpenSubJobCount = 16
    /// Limit of a job's ancestors.
    public var maximumDepth = 3
    /// Size limit of a chunk's input, in bytes.
    public var maximumChunkInputByteCount = 16 << 10
    /// Size limit of a job's parameters in UTF-8 bytes, names and values together.
    public var maximumParametersByteCount = 16 << 10
    /// Limit of messages kept of a job; further ones are counted only.
    public var maximumMessageCount = 200
    /// Limit of messages from one chunk.
    public var maximumMessagesPerChunk = 20
    /// Limit of characters in a message; the rest is cut.
    public var maximumTextLength = 500
    /// The shortest interval between two recorded progress values, in microseconds.
    public var progressIntervalMicroseconds: Int64 = 1_000_000
    /// The smallest recorded step of progress in percent, which bounds the number of such events.
    public var progressStep = 0.05

    /// The default limits, used by every site.
    public init() {}

    /// The retry delay after the n-th error (n ≥ 1) in milliseconds; nil when the chunk is not
    /// retried.
    func retryDelayMilliseconds(after error: Failure, errorCount: Int) -> Int? {
        let limit = error.code == .noSpace ? maximumErrorsOfFullDisk : maximumErrors
        guard errorCount < limit, !Self.permanent.contains(error.code) else { return nil }
        return min(
            firstRetryDelayMilliseconds << (2 * min(errorCount - 1, 10)),
            longestRetryDelayMilliseconds)
    }

    /// Errors that the same input would cause again.
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
