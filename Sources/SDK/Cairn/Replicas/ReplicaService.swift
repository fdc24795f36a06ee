// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The replica operations of a feature service: an answer at once, or a status URL.
struct ReplicaService: Sendable {
    let operation: String
    /// An answer that came with the submission; of this process alone.
    private let immediate = Guarded<JSON?>(nil)
    /// A status URL that came with a repetition.
    private let repeated = Guarded<URL?>(nil)

    init(_ operation: String) { self.operation = operation }

    /// The id of a job that the server answered at once.
    private static let answered = "answered"

    func fault(_ ticket: JobTicket, _ what: String) -> TransportError {
        TransportError(
            .invalidAnswer, "\(ticket.url.withoutQuery.absoluteString)/\(operation): \(what)")
    }

    /// Asks for the operation; the id of the job: its status URL, or a word for an answer that is
    /// here.
    func submit(
        _ ticket: JobTicket, _ parameters: [(name: String, value: String)]
    ) async throws -> String {
        var question = Question(ticket.url.below(operation))
        question.parameters = parameters
        (question.isPost, question.isIdempotent) = (true, false)
        let json = try await Requester.json(question)
        guard let text = json.text("statusUrl") ?? json.text("statusURL") else {
            immediate.current = json
            return Self.answered
        }
        guard let target = URL(string: text, relativeTo: ticket.url)?.absoluteURL,
            target.origin == ticket.url.origin
        else { throw fault(ticket, "its statusUrl is on another server") }
        return target.absoluteString
    }

    /// Asks again, for a job whose answer went with another process.
    func repeats(_ ticket: JobTicket, _ parameters: [(name: String, value: String)]) async throws {
        let id = try await submit(ticket, parameters)
        repeated.current = id == Self.answered ? nil : URL(string: id)
    }

    /// Whether the answer came at once, in another process.
    func isLost(_ ticket: JobTicket) -> Bool {
        ticket.serverJobID == Self.answered && immediate.current == nil && repeated.current == nil
    }

    /// Nil for an answer that came at once.
    private func statusURL(_ ticket: JobTicket) throws -> URL? {
        if ticket.serverJobID == Self.answered { return repeated.current }
        guard let url = URL(string: ticket.serverJobID ?? ""), url.origin == ticket.url.origin
        else {
            throw CairnError(.invalidDocument, "the job's status URL is on another server")
        }
        return url
    }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer {
        guard let url = try statusURL(ticket) else {
            return JobAnswer(state: .succeeded, json: immediate.current ?? .object([]))
        }
        let json = try await Requester.json(Question(url))
        let word = json.text("status") ?? json.text("responseType") ?? ""
        let state: JobAnswer.State =
            switch word {
            case "Completed", "CompletedWithErrors": .succeeded
            case "Failed", "UnRegistered":
                .failed(
                    json["error"]?.text("description") ?? json["error"]?.text("message")
                        ?? "the server's job failed")
            case "Cancelled": .cancelled
            case "Pending", "InProgress", "ImportChanges", "ExportChanges", "ExportingData",
                "ExportingSnapshot", "ImportAttachments", "ExportAttachments",
                "ProvisioningReplica", "UnRegisteringReplica", "":
                Self.place(json) != nil && word.isEmpty ? .succeeded : .working
            default: .unknown(word)
            }
        return JobAnswer(
            state: state, percent: json["percentComplete"]?.int, json: json)
    }

    func news(_ ticket: JobTicket) async throws -> JobAnswer {
        var rest = CairnEnvironment.settings.current.jobPolling.first
        var patience = UnknownStatusPatience()
        while true {
            let answer = try await poll(ticket)
            try patience.note(answer, ticket)
            if answer.state.isEnded || (answer.percent ?? 0) > ticket.percent { return answer }
            try await SDKTime.sleep(for: rest)
            rest = min(rest * 2, CairnEnvironment.settings.current.jobPolling.longest)
        }
    }

    func cancel(_ ticket: JobTicket) async throws {
        // What was answered at once has ended there.
        guard let url = try statusURL(ticket) else { return }
        var question = Question(url.below("cancel"))
        question.isPost = true
        _ = try await Requester.json(question)
    }

    private static func place(_ json: JSON) -> String? {
        ["resultUrl", "responseUrl", "URL", "url"].lazy.compactMap { json.text($0) }
            .first { !$0.isEmpty }
    }

    /// Where the product is; nil where the answer is the product.
    func productURL(_ ticket: JobTicket, _ json: JSON) -> URL? {
        Self.place(json).flatMap { URL(string: $0, relativeTo: ticket.url)?.absoluteURL }
    }
}

/// What a feature service says of synchronisation.
struct ReplicaCapabilities {
    private let json: JSON?

    init(_ description: JSON) { json = description["syncCapabilities"] }

    var isAsynchronous: Bool {
        (json?["supportsAsync"] ?? json?["supportsASync"])?.flag ?? true
    }
    var hasDirections: Bool { json?["supportsSyncDirectionControl"]?.flag ?? true }
    var hasAttachmentDirections: Bool {
        json?["supportsAttachmentsSyncDirection"]?.flag ?? true
    }
    var rollsBack: Bool { json?["supportsRollbackOnFailure"]?.flag ?? true }
    var isPerReplica: Bool { json?["supportsPerReplicaSync"]?.flag ?? true }
    var isPerLayer: Bool { json?["supportsPerLayerSync"]?.flag ?? false }
}
