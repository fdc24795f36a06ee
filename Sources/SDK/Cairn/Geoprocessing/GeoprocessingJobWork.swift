// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A job whose local files are uploaded before it is submitted.
struct TaskWork: JobWork {
    let base: GeoprocessingWork

    func prepare(_ ticket: JobTicket) async throws -> [(name: String, value: String)] {
        if let prepared = ticket.prepared { return prepared }
        var prepared: [(name: String, value: String)] = []
        for (name, path) in ticket.details["files"]?.members ?? [] {
            let file = URL(filePath: path.text ?? "")
            guard FileManager.default.isReadableFile(atPath: file.path(percentEncoded: false))
            else {
                throw TransportError(
                    .file, "parameter '\(name)': '\(path.text ?? "")' cannot be read")
            }
            prepared.append((name, try await Uploads.upload(file, to: ticket.url.above)))
        }
        return prepared
    }

    func submit(_ ticket: JobTicket) async throws -> String { try await base.submit(ticket) }
    func isSubmittedOnce(_ ticket: JobTicket) async throws -> Bool {
        try await base.isSubmittedOnce(ticket)
    }
    func poll(_ ticket: JobTicket) async throws -> JobAnswer { try await base.poll(ticket) }
    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer { try await base.news(ticket, deliver: deliver) }
    func cancel(_ ticket: JobTicket) async throws { try await base.cancel(ticket) }
    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON { try await base.finish(ticket, answer, say: say) }
}

/// A task that answers in one request.
struct SynchronousWork: JobWork {
    func submit(_ ticket: JobTicket) async throws -> String { "execute" }
    func isSubmittedOnce(_ ticket: JobTicket) async throws -> Bool { true }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer {
        var question = Question(ticket.url.below("execute"))
        question.parameters = ticket.parameters
        for (name, path) in ticket.details["files"]?.members ?? [] {
            question.set(
                name, try await Uploads.upload(URL(filePath: path.text ?? ""), to: ticket.url.above)
            )
        }
        (question.isPost, question.isIdempotent) = (true, false)
        let json = try await Requester.json(question)
        let messages = (json["messages"]?.elements ?? []).compactMap { $0.text("description") }
        return JobAnswer(
            state: .succeeded, percent: 100,
            messages: messages.map {
                JobMessage(text: $0, severity: .info, timestamp: SDKTime.date)
            }, json: json)
    }

    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer { try await poll(ticket) }

    func cancel(_ ticket: JobTicket) async throws {
        throw CairnError.unsupported("cancel of a synchronous execution", by: ticket.url)
    }

    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON { answer.json["results"] ?? .array([]) }
}
