// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Fetches the files that results name, each to its place.
enum ResultFiles {
    /// Where a result's value is a file: its URL, also of a list or folder with one file.
    private static func url(_ json: JSON?, _ base: URL) async throws -> URL? {
        guard let json else { return nil }
        let text =
            json.text ?? json.text("url") ?? json.elements.first?.text
            ?? json.elements.first?.text("url")
        guard let text, let url = URL(string: text, relativeTo: base)?.absoluteURL else {
            return nil
        }
        guard url.pathExtension.isEmpty, !url.absoluteString.hasSuffix("/file") else { return url }
        // A folder of the server's output: its description lists files.
        guard let listed = try? await Requester.json(Question(url)),
            let file = listed["files"]?.elements.first?.text("url")
        else { return url }
        return URL(string: file, relativeTo: url)?.absoluteURL
    }

    /// `names` are those of a result, the first that the server has is taken, and of the ticket's
    /// member with its place.
    static func collect(
        _ names: [(result: [String], file: String)]
    ) -> ResultCollector {
        { ticket, answer, _ in
            let place = ticket.url.below("jobs/\(ticket.serverJobID ?? "")")
            for (names, file) in names {
                guard let path = ticket.details.text(file) else { continue }
                let results = answer.json["results"]
                var value: JSON?
                for name in names where value == nil {
                    guard let entry = results?[name] else { continue }
                    value = entry.member("value")
                    if value == nil {
                        let part = entry.text("paramUrl") ?? "results/\(name)"
                        value = try await Requester.json(Question(place.below(part)))
                            .member("value")
                    }
                }
                guard let url = try await url(value ?? answer.json.member("output"), place) else {
                    throw TransportError(
                        .invalidAnswer,
                        "\(place.withoutQuery.absoluteString): expected the result \(names[0])")
                }
                try await Download.fetch(Question(url), to: URL(filePath: path))
            }
            return ticket.details
        }
    }
}

extension Job {
    /// A job whose results become files.
    convenience init(
        kind: String, url: URL, _ parameters: [(name: String, value: String)],
        to files: KeyValuePairs<String, URL>, work: any JobWork
    ) {
        var ticket = JobTicket(kind: kind, url: url, parameters: parameters)
        ticket.details = .object(
            files.map { ($0.key, .string($0.value.path(percentEncoded: false))) })
        self.init(ticket: ticket, work: work)
    }
}
