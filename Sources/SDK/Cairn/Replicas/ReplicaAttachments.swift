// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Which way attachments go with a synchronisation.
public enum AttachmentSyncDirection: String, Sendable, Hashable, CaseIterable {
    /// They stay as they are.
    case none
    /// Edits of the geodatabase go to the service, and none come from there.
    case upload
    /// Both ways.
    case bidirectional
}

/// The attachments of an answer to a replica's operations.
struct ReplicaAttachments: Sendable {
    /// Files of those whose bytes are elsewhere, by the URLs that the answer has.
    private let files: [String: URL]

    /// Fetches what an answer refers to by URL, and gives it to `body`; the files are gone
    /// afterwards.
    ///
    /// Throws what requests throw, and ``TransportError`` (`tooLarge`, `invalidAnswer`).
    static func of<Result: Sendable>(
        _ list: [JSON], from service: URL,
        _ body: @Sendable (ReplicaAttachments) async throws -> Result
    ) async throws -> Result {
        let places = list.compactMap { attachment in
            place(attachment).map { (url: $0, json: attachment) }
        }
        guard !places.isEmpty else { return try await body(ReplicaAttachments(files: [:])) }
        return try await AttachmentFiles.with { folder in
            var files: [String: URL] = [:]
            for (text, json) in places where files[text] == nil {
                let name = json.text("name") ?? ""
                guard let url = URL(string: text, relativeTo: service)?.absoluteURL,
                    url.origin != nil
                else {
                    throw TransportError(
                        .invalidAnswer,
                        "the attachment '\(name)': '\(text.prefix(200))' is no URL of a server")
                }
                files[text] = try await folder.fetch(
                    Question(url), named: name, json.text("contentType") ?? "")
            }
            return try await body(ReplicaAttachments(files: files))
        }
    }

    /// Where the bytes are; nil where they are in the answer.
    private static func place(_ json: JSON) -> String? {
        json.member("data") == nil
            ? (json.text("url") ?? json.text("URL") ?? json.text("dataUrl"))?.orNil : nil
    }

    /// The bytes of an attachment; throws ``TransportError`` (`invalidAnswer`, `tooLarge`).
    func bytes(_ json: JSON) throws -> Data {
        if let place = Self.place(json), let file = files[place] {
            return try AttachmentFiles.bytes(file)
        }
        let name = json.text("name") ?? ""
        guard let data = json.text("data").flatMap({ Data(base64Encoded: $0) }) else {
            throw TransportError(
                .invalidAnswer,
                "the attachment '\(name)': expected data in base64 or a url")
        }
        guard data.count <= AttachmentFiles.limit else {
            throw TransportError(
                .tooLarge,
                "the attachment '\(name)' has \(data.count) bytes, "
                    + "CairnEnvironment.memoryLimit is \(AttachmentFiles.limit)")
        }
        return data
    }

    /// Puts attachments of layers into a geodatabase that is being made.
    ///
    /// Those of features that it has not are left out.
    func write(
        _ layers: [(table: GeoPackage.Table, attachments: [JSON])], to store: GeoPackage
    ) throws {
        try store.file.transaction { file in
            for (table, attachments) in layers {
                for json in attachments {
                    let (id, parent) = try Self.ids(json, table.name)
                    guard try GeoPackage.row(of: parent, in: table, file) != nil else { continue }
                    try GeoPackage.put(json, id, parent, bytes(json), in: table, file)
                }
            }
        }
    }

    /// The global ids of an attachment and its feature.
    static func ids(_ json: JSON, _ table: String) throws -> (id: UUID, parent: UUID) {
        guard let id = json.text("globalId").flatMap({ UUID(globalID: $0) }),
            let parent = json.text("parentGlobalId").flatMap({ UUID(globalID: $0) })
        else {
            throw TransportError(
                .invalidAnswer,
                "'\(table)': the attachment '\(json.text("name") ?? "")' has no globalId and "
                    + "parentGlobalId")
        }
        return (id, parent)
    }
}
