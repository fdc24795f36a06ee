// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension JobEvent {
    /// The event's messages with the time of its record.
    public func messages(recordedAt time: Timestamp) -> [JobMessage] {
        messages.map { message in
            var message = message
            message.recordedAt = time
            return message
        }
    }

    /// Whether its messages come from a chunk, and not from the supervisor.
    var isSaidByAChunk: Bool {
        switch self {
        case .chunkCompleted, .messagePosted: true
        default: false
        }
    }

    /// The event's messages to the job's user, in order; those of a job are the sum of its events'.
    public var messages: [JobMessage] {
        switch self {
        case .chunkCompleted(let payload): return payload.messages
        case .messagePosted(let payload): return [payload.message]
        case .chunkLost(let payload):
            let attempt = payload.attempt
            return [
                JobMessage(
                    .warning,
                    "attempt \(attempt.number) of chunk \(attempt.chunk) was lost: "
                        + "\(payload.reason)"
                )
            ]
        case .chunkFailed(let payload):
            let attempt = payload.attempt
            let rest = payload.retryAfterMilliseconds.map { "; it is tried again in \($0) ms" }
            func sentence(_ error: Failure) -> String {
                "attempt \(attempt.number) of chunk \(attempt.chunk) failed: " + error.message
                    + (rest ?? "")
            }
            return [
                JobMessage(
                    rest == nil ? .error : .warning, sentence(payload.error),
                    outside: sentence(payload.error.outside))
            ]
        case .chunkQuarantined(let payload):
            return [
                JobMessage(
                    .error,
                    "chunk \(payload.chunk) ended \(payload.deathCount) worker processes and is "
                        + "kept for 'cairn job autopsy'")
            ]
        case .failed(let payload):
            let error = payload.error
            return [
                JobMessage(.error, error.description, outside: error.outside.description)
            ]
        case .timedOut(let payload):
            return [
                JobMessage(
                    .error, "the job took longer than its limit of \(payload.limitSeconds) s")
            ]
        case .cancelled: return [JobMessage(.error, Failure.jobCancelled.message)]
        case .submitted, .stagePlanned, .chunkLeased, .chunkDelegated, .chunkReleased, .paused,
            .resumed, .cancelRequested, .progressed, .succeeded:
            return []
        }
    }
}

extension Failure {
    /// The failure of a cancelled job.
    static let jobCancelled = Failure(.cancelled, "the job was cancelled by its user")
}
