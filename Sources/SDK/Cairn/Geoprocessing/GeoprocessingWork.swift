// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A job of a geoprocessing service, or of an operation that is one: `submitJob`, `jobs/{id}`.
struct GeoprocessingWork: JobWork {
    /// The operation that begins it, below the task's URL.
    var operation = "submitJob"
    /// Fetches the results of a job that succeeded.
    var collect: ResultCollector

    private static let following = FollowingState()

    func submit(_ ticket: JobTicket) async throws -> String {
        var question = Question(ticket.url.below(operation))
        question.parameters = ticket.form
        // Cairn knows a repeated submission by it; others ignore what they do not know.
        question.set("clientId", ticket.clientID)
        (question.isPost, question.isIdempotent) = (true, false)
        let json = try await Requester.json(question)
        guard let id = json.text("jobId"), !id.isEmpty else {
            throw TransportError(
                .invalidAnswer,
                "\(ticket.url.withoutQuery.absoluteString)/\(operation): expected a jobId")
        }
        return id
    }

    func isSubmittedOnce(_ ticket: JobTicket) async throws -> Bool {
        do {
            try await CairnService.require("an id of the client's", of: ticket.url)
            return true
        } catch is CairnError {
            return false
        }
    }

    private func place(_ ticket: JobTicket) -> URL {
        ticket.url.below("jobs/\(ticket.serverJobID ?? "")")
    }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer {
        let json = try await Requester.json(
            Question(place(ticket), ["returnMessages": "true"]))
        return try Self.answer(json, firstMessage: 0)
    }

    func cancel(_ ticket: JobTicket) async throws {
        // The whole first: a part that is cancelled before it fails the whole.
        var question = Question(place(ticket).below("cancel"))
        question.isPost = true
        _ = try await Requester.json(question)
        let status = try await Requester.json(Question(place(ticket)))
        for part in status["subJobs"]?.elements ?? [] {
            guard let id = part.text("jobId"),
                !Self.isEndedOrEnding(part.text("jobStatus") ?? "")
            else { continue }
            let task = part.text("taskName").map { ticket.url.above.below($0) } ?? ticket.url
            var question = Question(task.below("jobs/\(id)/cancel"))
            question.isPost = true
            _ = try await Requester.json(question)
        }
    }

    private static func isEndedOrEnding(_ word: String) -> Bool {
        [
            "esriJobSucceeded", "esriJobFailed", "esriJobTimedOut", "esriJobCancelling",
            "esriJobCancelled", "esriJobDeleting", "esriJobDeleted",
        ].contains(word)
    }

    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON {
        try await collect(ticket, answer, say)
    }

    // MARK: News

    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer {
        if Self.following.mayStream(ticket.url) {
            if let answer = try await streamed(ticket, deliver) { return answer }
            Self.following.noteNoStream(ticket.url)
        }
        var rest = CairnEnvironment.settings.current.jobPolling.first
        let known = ticket.serverMessageCount
        var percent = ticket.percent
        var patience = UnknownStatusPatience()
        // The first question of a job is asked at once.
        var isFirst = ticket.messages.isEmpty && ticket.percent == 0
        while true {
            if !isFirst { try await SDKTime.sleep(for: rest) }
            isFirst = false
            let answer = try await poll(ticket)
            try patience.note(answer, ticket)
            let hasNews =
                answer.state.isEnded || answer.messages.count > known
                || (answer.percent ?? 0) > percent
            percent = max(percent, answer.percent ?? 0)
            if hasNews { return answer }
            rest = min(rest * 2, CairnEnvironment.settings.current.jobPolling.longest)
        }
    }

    /// By server-sent events; nil where none are served.
    private func streamed(
        _ ticket: JobTicket, _ deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer? {
        var question = Question(place(ticket).below("changes"))
        question.headers = [("Accept", "text/event-stream")]
        if let id = ticket.lastEventID { question.headers.append(("Last-Event-ID", id)) }
        let response: Response
        do {
            response = try await Requester.stream(question, accepting: [200, 204])
        } catch let error as ServiceError
            where ![498, 499, 401, 403, 429, 502, 503, 504].contains(error.code)
        {
            return nil
        } catch let error as TransportError where error.kind == .invalidAnswer {
            return nil
        }
        // The job has ended, and everything was said before.
        if response.status == 204 { return try await poll(ticket) }
        guard response.header("content-type")?.lowercased().hasPrefix("text/event-stream") == true
        else { return nil }
        var events = EventStreamReader(response.body)
        var count = ticket.lastEventMessageCount
        while let event = try await events.next() {
            if event.name == "error" {
                throw ServiceError(code: 403, message: event.data, url: ticket.url)
            }
            guard let json = JSON(Array(event.data.utf8)) else { continue }
            var answer = try Self.answer(json, firstMessage: count)
            answer.eventID = event.id
            count += answer.messages.count
            if answer.state.isEnded { return answer }
            // What comes of it is asked for, with a bound.
            if case .unknown = answer.state { return nil }
            deliver(answer)
        }
        // The stream broke off: what is left is asked for by the next.
        throw TransportError(
            .unreachable, "\(ticket.url.origin ?? ""): the stream of changes ended")
    }

    // MARK: Reading

    static func answer(_ json: JSON, firstMessage: Int) throws -> JobAnswer {
        guard let word = json.text("jobStatus") else {
            throw TransportError(.invalidAnswer, "expected a jobStatus in the answer")
        }
        let messages = (json["messages"]?.elements ?? []).map(message)
        let failure =
            messages.last { $0.severity == .error }?.text ?? "the server's job failed (\(word))"
        let state: JobAnswer.State =
            switch word {
            case "esriJobSucceeded": .succeeded
            case "esriJobCancelled": .cancelled
            case "esriJobFailed": .failed(failure)
            case "esriJobTimedOut": .failed("the job took longer than it may: \(failure)")
            case "esriJobDeleted": .failed("the job was deleted on the server")
            case "esriJobNew", "esriJobSubmitted", "esriJobWaiting", "esriJobExecuting",
                "esriJobCancelling", "esriJobDeleting":
                .working
            default: .unknown(word)
            }
        let percent =
            json["progress"]?["percentage"]?.number ?? json["progress"]?["percent"]?.number
            ?? json["percentComplete"]?.number
        return JobAnswer(
            state: state, percent: percent.map { Int(min(max($0, 0), 100)) },
            firstMessage: firstMessage, messages: messages, json: json)
    }

    private static func message(_ json: JSON) -> JobMessage {
        let severity: JobMessage.Severity =
            switch json.text("type") {
            case "esriJobMessageTypeError", "esriJobMessageTypeAbort": .error
            case "esriJobMessageTypeWarning": .warning
            default: .info
            }
        return JobMessage(
            text: json.text("description") ?? "", severity: severity,
            timestamp: json.member("timestamp")?.number.map { Date(millisecondsSince1970: $0) }
                ?? SDKTime.date)
    }
}

/// The servers that serve no stream of a job's changes.
final class FollowingState: Sendable {
    private let withoutStream = Guarded<Set<String>>([])

    func mayStream(_ url: URL) -> Bool {
        withoutStream.withLock { !$0.contains(url.origin ?? "") }
    }

    func noteNoStream(_ url: URL) {
        withoutStream.withLock { _ = $0.insert(url.origin ?? "") }
    }
}
