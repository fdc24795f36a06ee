// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// How a kind of job talks to its server.
protocol JobWork: Sendable {
    /// What has to be there before the submission, as uploads; the parameters that name it.
    func prepare(_ ticket: JobTicket) async throws -> [(name: String, value: String)]
    /// Submits the job; the server's id of it.
    func submit(_ ticket: JobTicket) async throws -> String
    /// Whether a submission that is sent again runs once; throws where that cannot be found out
    /// now.
    func isSubmittedOnce(_ ticket: JobTicket) async throws -> Bool
    /// Asks how far it is, now.
    func poll(_ ticket: JobTicket) async throws -> JobAnswer
    /// Waits for something new; hands over what comes before the last.
    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer
    /// Asks to cancel the job and its parts.
    func cancel(_ ticket: JobTicket) async throws
    /// Fetches what the job made; what the output is made of, as JSON.
    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON
    /// The job has ended, whatever way: what was held for it is let go.
    func ended()
}

extension JobWork {
    func ended() {}
    func prepare(_ ticket: JobTicket) async throws -> [(name: String, value: String)] { [] }
    func isSubmittedOnce(_ ticket: JobTicket) async throws -> Bool { false }
}

/// Fetches what a job made: its ticket, the server's last answer, and where sentences go.
typealias ResultCollector =
    @Sendable (JobTicket, JobAnswer, @escaping @Sendable (String) -> Void) async throws -> JSON

/// What a server says of a job.
struct JobAnswer: Sendable {
    enum State: Sendable {
        case working
        case succeeded
        case cancelled
        case failed(String)
        /// By a word that is not known here.
        case unknown(String)

        var isEnded: Bool {
            switch self {
            case .working, .unknown: false
            default: true
            }
        }
    }

    var state: State
    var percent: Int?
    /// The number of the first of ``messages`` among all of the job's.
    var firstMessage = 0
    var messages: [JobMessage] = []
    var eventID: String?
    /// The whole answer.
    var json: JSON
}
