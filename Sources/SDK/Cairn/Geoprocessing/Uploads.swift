// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Uploads of a service.
enum Uploads {
    /// Uploads a file; the value of the parameter that names it.
    static func upload(_ file: URL, to service: URL) async throws -> String {
        var question = Question(service.below("uploads/upload"), ["f": "json"])
        question.file = (file, "file", nil)
        let json = try await Requester.json(question)
        guard let id = json["item"]?.text("itemID") ?? json["item"]?.text("itemId") else {
            throw TransportError(
                .invalidAnswer,
                "\(service.withoutQuery.absoluteString)/uploads/upload: expected an itemID")
        }
        return JSON.object([(name: "itemID", value: .string(id))]).jsonText
    }
}
