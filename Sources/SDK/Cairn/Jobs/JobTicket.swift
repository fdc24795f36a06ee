// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Everything of a job that outlives its process.
struct JobTicket: Sendable {
    static let formatVersion = 1

    struct Message: Sendable {
        var message: JobMessage

        init(_ message: JobMessage) { self.message = message }

        init?(_ json: JSON) {
            guard let text = json.text("text"),
                let severity = json.text("severity").flatMap({ JobMessage.Severity(rawValue: $0) })
            else { return nil }
            message = JobMessage(
                text: text, severity: severity,
                timestamp: Date(millisecondsSince1970: json["timestamp"]?.number ?? 0))
        }

        var json: JSON {
            .object(of: [
                "text": .string(message.text), "severity": .string(message.severity.rawValue),
                "timestamp": .integer(message.timestamp.millisecondsSince1970),
            ])
        }
    }

    /// An error as JSON can keep it.
    struct Failure: Error, Sendable, CustomStringConvertible {
        var isUserCancelled: Bool
        var description: String

        init(_ error: any Error) {
            isUserCancelled = (error as? CocoaError)?.code == .userCancelled
            description = "\(error)"
        }

        init(isUserCancelled: Bool, description: String) {
            self.isUserCancelled = isUserCancelled
            self.description = description
        }

        var restored: any Error {
            isUserCancelled ? CocoaError(.userCancelled) : CairnError(.jobFailed, description)
        }
    }

    enum Ending: Sendable {
        case succeeded(JSON)
        case failed(Failure)
    }

    var kind: String
    /// The service or task that it is submitted to.
    var url: URL
    var parameters: [(name: String, value: String)]
    /// What the kind alone knows: files, options.
    var details: JSON = .object([])
    /// Parameters that were made for the submission, as the ids of uploads.
    var prepared: [(name: String, value: String)]?
    /// An id of the client's own, by which a repeated submission is known.
    var clientID = UUID().uuidString.lowercased()
    var serverJobID: String?
    var wasSent = false
    var messages: [Message] = []
    /// How many of them the SDK said itself.
    var ownMessageCount = 0
    var lastEventID: String?
    /// How many of the server's messages had come with that event and those before it; an answer
    /// to a question may have brought more.
    var lastEventMessageCount = 0
    var percent = 0
    var ended: Ending?

    /// What is submitted: the parameters, and those that were made, in the place of others of their
    /// names.
    var form: [(name: String, value: String)] {
        let prepared = prepared ?? []
        return parameters.filter { known in !prepared.contains { $0.name == known.name } }
            + prepared
    }

    /// How many of ``messages`` are the server's.
    var serverMessageCount: Int { messages.count - ownMessageCount }

    init(
        kind: String, url: URL, parameters: [(name: String, value: String)] = [],
        details: JSON = .object([])
    ) {
        self.kind = kind
        self.url = url
        self.parameters = parameters
        self.details = details
    }

    /// Reads a ticket; throws ``CairnError`` (`invalidDocument`).
    init(_ json: JSON) throws {
        func fault(_ what: String) -> CairnError {
            CairnError(.invalidDocument, "the JSON of a job: \(what)")
        }
        guard let version = json["formatVersion"]?.int else {
            throw fault("expected a formatVersion")
        }
        guard version <= Self.formatVersion else {
            throw fault(
                "its version is \(version), this release reads up to \(Self.formatVersion)")
        }
        guard let kind = json.text("kind"), let text = json.text("url"),
            let url = URL(string: text)
        else { throw fault("expected kind and url") }
        guard url.origin != nil else {
            throw fault(
                "'\(url.withoutQuery.absoluteString.prefix(200))' is neither http nor https")
        }
        func pairs(_ name: String) -> [(name: String, value: String)] {
            (json[name]?.members ?? []).compactMap { member in
                member.value.text.map { (member.name, $0) }
            }
        }
        self.init(
            kind: kind, url: url, parameters: pairs("parameters"),
            details: json.member("details") ?? .object([]))
        prepared = json.member("prepared") == nil ? nil : pairs("prepared")
        clientID = json.text("clientID") ?? clientID
        serverJobID = json.text("serverJobID")
        wasSent = json["wasSent"]?.flag ?? false
        messages = (json["messages"]?.elements ?? []).compactMap { Message($0) }
        ownMessageCount = min(max(json["ownMessageCount"]?.int ?? 0, 0), messages.count)
        lastEventID = json.text("lastEventID")
        lastEventMessageCount = max(
            json["lastEventMessageCount"]?.int ?? (lastEventID == nil ? 0 : serverMessageCount), 0)
        percent = min(max(json["percent"]?.int ?? 0, 0), 100)
        if let answer = json.member("output") {
            ended = .succeeded(answer)
        } else if let error = json.member("error") {
            ended = .failed(
                Failure(
                    isUserCancelled: error["isUserCancelled"]?.flag ?? false,
                    description: error.text("message") ?? ""))
        }
    }

    func json(_ status: Job.Status) -> JSON {
        func object(_ pairs: [(name: String, value: String)]) -> JSON {
            .object(pairs.map { ($0.name, .string($0.value)) })
        }
        var output: JSON?
        var error: JSON?
        switch ended {
        case .succeeded(let answer)?: output = answer
        case .failed(let failure)?:
            error = .object(of: [
                "isUserCancelled": .bool(failure.isUserCancelled),
                "message": .string(failure.description),
            ])
        case nil: break
        }
        return .object(of: [
            "formatVersion": .integer(Int64(Self.formatVersion)), "kind": .string(kind),
            "status": .string(status.rawValue), "url": .string(url.withoutQuery.absoluteString),
            "parameters": object(parameters), "details": details,
            "prepared": prepared.map(object), "clientID": .string(clientID),
            "serverJobID": serverJobID.map { .string($0) }, "wasSent": .bool(wasSent),
            "messages": .array(messages.map(\.json)),
            "ownMessageCount": .integer(Int64(ownMessageCount)),
            "lastEventID": lastEventID.map { .string($0) },
            "lastEventMessageCount": .integer(Int64(lastEventMessageCount)),
            "percent": .integer(Int64(percent)), "output": output, "error": error,
        ]).withoutTokens
    }
}

extension JSONTree {
    /// The value without the parameter `token` of the URLs in its texts, also where a text is JSON.
    fileprivate var withoutTokens: JSONTree {
        switch self {
        case .string(let text): .string(text.withoutTokens)
        case .array(let elements): .array(elements.map(\.withoutTokens))
        case .object(let members): .object(members.map { ($0.name, $0.value.withoutTokens) })
        default: self
        }
    }
}

extension String {
    private static let endsOfParameter: Set<Character> = ["&", "#", "\"", "'", "<", ">", " ", "\\"]

    fileprivate var withoutTokens: String {
        guard contains("://") else { return self }
        var kept = ""
        var rest = self[...]
        while let mark = rest.firstIndex(where: { $0 == "?" || $0 == "&" }) {
            let name = rest[rest.index(after: mark)...]
            guard name.prefix(6).lowercased() == "token=" else {
                kept += rest[...mark]
                rest = name
                continue
            }
            let isFirst = rest[mark] == "?"
            kept += rest[..<mark]
            let end = name.firstIndex { Self.endsOfParameter.contains($0) } ?? name.endIndex
            rest = name[end...]
            // What follows the first parameter becomes the first.
            if isFirst, rest.first == "&" { rest = Substring("?" + rest.dropFirst()) }
        }
        return kept + rest
    }
}
