// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The state of a request with its retries and redirections, up to its answer.
///
/// A value without effects. Its parts of libcurl are used on the client's thread alone.
struct Exchange: Sendable {
    let request: WebRequest
    /// The deadline.
    let end: ContinuousClock.Instant
    /// The bound that sets the deadline, for the error.
    private let bound: String
    /// The current URL.
    private(set) var url: String
    /// The current form to post.
    private(set) var form: String?
    /// The earliest time of the next attempt.
    private(set) var notBefore: ContinuousClock.Instant
    /// On its way.
    var transfer: Transfer?
    /// Number of attempts at ``url``.
    private var attempt = 0
    /// Whether no slot has been free so far.
    var isHeldBack = false
    var result: Result<WebResponse, WebError>?
    private var redirectCount = 0
    private var droppedByteCount = 0
    private var lastTrouble: WebError?

    /// Its deadline is the timeout of the request, or the deadline of its caller.
    init(_ request: WebRequest, until deadline: ContinuousClock.Instant?) {
        self.request = request
        notBefore = .now
        end = min(notBefore + request.timeout, deadline ?? notBefore + request.timeout)
        let allowed = max(.zero, end - notBefore)
        let whole = Duration.milliseconds(Int64(allowed / .milliseconds(1)))
        bound =
            allowed == request.timeout
            ? "within \(allowed)" : "in the \(whole) that its caller waits"
        url = request.url
        form = request.form
    }

    /// Bytes that may still be received: those of redirections count too.
    var byteLimit: Int { max(0, request.byteLimit - droppedByteCount) }

    /// The error for an exceeded deadline.
    var lateness: WebError {
        if isHeldBack {
            return WebError(.busy, "too many requests to the server are under way already")
        }
        return lastTrouble
            ?? WebError(.timedOut, "there was no complete answer \(bound)")
    }

    /// Whether it may be sent now.
    func isDue(_ now: ContinuousClock.Instant) -> Bool {
        transfer == nil && result == nil && notBefore <= now
    }

    mutating func sent(_ transfer: Transfer) {
        self.transfer = transfer
        attempt += 1
        isHeldBack = false
    }

    /// The outcome of one attempt.
    enum Outcome {
        case answered(WebResponse)
        /// A redirection, with the size of its body, which is ignored.
        case redirected(status: Int, to: String, byteCount: Int)
        case failed(WebError, isRetriable: Bool)
    }

    mutating func take(_ outcome: Outcome, at now: ContinuousClock.Instant) {
        switch outcome {
        case .answered(let response): result = .success(response)
        case .redirected(let status, let target, let byteCount):
            droppedByteCount += byteCount
            follow(status, target)
        case .failed(let error, let isRetriable):
            lastTrouble = error
            guard isRetriable, attempt < WebClient.attempts else {
                result = .failure(error)
                return
            }
            notBefore = now + WebClient.firstRest * (1 << (attempt - 1))
            if notBefore >= end { result = .failure(error) }
        }
    }

    private mutating func follow(_ status: Int, _ target: String) {
        redirectCount += 1
        guard redirectCount <= WebClient.redirections else {
            result = .failure(
                WebError(.refused, "it was redirected more than \(WebClient.redirections) times"))
            return
        }
        guard let there = WebRequest.origin(of: target) else {
            result = .failure(
                WebError(.refused, "it was redirected to what is neither http nor https"))
            return
        }
        if request.isConfidential, there != WebRequest.origin(of: url) {
            result = .failure(
                WebError(
                    .refused,
                    "it was redirected to another server, which must not see the credential"))
            return
        }
        guard !url.lowercased().hasPrefix("https:") || there.hasPrefix("https:") else {
            result = .failure(
                WebError(.refused, "it was redirected from https to http, which others can read"))
            return
        }
        url = target
        if status == 303 { form = nil }
        attempt = 0
    }
}
