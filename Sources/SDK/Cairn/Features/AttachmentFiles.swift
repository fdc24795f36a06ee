// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// How many bytes an attachment may have: the environment's memory, unless a test says otherwise.
package enum AttachmentLimit {
    @TaskLocal package static var own: Int?
}

/// Files of attachments on their way, in a folder of their own.
struct AttachmentFiles: Sendable {
    private let folder: URL

    static var limit: Int {
        AttachmentLimit.own ?? CairnEnvironment.settings.current.memoryLimit
    }

    /// Gives `body` a folder, which is removed afterwards; throws ``TransportError`` (`file`) where
    /// it cannot be made, and what `body` throws.
    static func with<Result: Sendable>(
        _ body: @Sendable (AttachmentFiles) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "cairn-\(UUID().uuidString)", directoryHint: .isDirectory)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        } catch {
            throw TransportError(
                .file, "'\(folder.path(percentEncoded: false))' cannot be made: \(error)")
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(AttachmentFiles(folder: folder))
    }

    /// A file of the name with the bytes, for an upload.
    func file(_ content: Attachment.Content) throws -> URL {
        let file = folder.appending(path: content.name, directoryHint: .notDirectory)
        do { try content.data.write(to: file) } catch {
            throw TransportError(
                .file, "'\(file.path(percentEncoded: false))' cannot be written: \(error)")
        }
        return file
    }

    /// Fetches the bytes of an attachment into a file.
    ///
    /// Throws what requests throw, and ``TransportError``: `tooLarge` for more bytes than
    /// `limit`, `invalidAnswer` for HTML in the place of a file of another media type.
    func fetch(_ question: Question, named name: String, _ contentType: String) async throws -> URL
    {
        let file = folder.appending(path: UUID().uuidString, directoryHint: .notDirectory)
        let limit = Self.limit
        try await Download.fetch(question, to: file) { response, count in
            let type = response.header("content-type")?.lowercased() ?? ""
            guard !type.hasPrefix("text/html") || contentType.lowercased().contains("html") else {
                throw TransportError(
                    .invalidAnswer,
                    "\(question.url.withoutQuery.absoluteString): expected the attachment "
                        + "'\(name)' (\(contentType)), found a page of HTML")
            }
            guard count <= limit else {
                throw TransportError(
                    .tooLarge,
                    "the attachment '\(name)' has \(count) bytes at least, "
                        + "CairnEnvironment.memoryLimit is \(limit)")
            }
        }
        return file
    }

    static func bytes(_ file: URL) throws -> Data {
        do { return try Data(contentsOf: file) } catch {
            throw TransportError(
                .file, "'\(file.path(percentEncoded: false))' cannot be read: \(error)")
        }
    }

    /// The bytes of an attachment of a service.
    static func bytes(
        of question: Question, named name: String, _ contentType: String
    ) async throws -> Data {
        try await with { files in
            try bytes(try await files.fetch(question, named: name, contentType))
        }
    }
}
