// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// The credentials of a process, by server.
public final class ArcGISCredentialStore: Sendable {
    private struct State: Sendable {
        var credentials: [any ArcGISCredential] = []
        var file: String?
    }

    private let state = Guarded(State())
    private static let version: Int64 = 1

    init() {}

    /// A store whose credentials are in a file as well, for the next run of the app: it begins with
    /// those that are there.
    ///
    /// The file has tokens and passwords as they are, and is readable by its owner alone (mode
    /// 0600). Credentials of classes of the app's own are kept in memory. A change that cannot be
    /// written is logged. Throws ``CairnError``: `file` where it cannot be read, and
    /// `invalidDocument` for a file of another kind, or of a later version.
    public static func makePersistent(fileURL: URL) async throws -> ArcGISCredentialStore {
        guard fileURL.isFileURL else {
            throw CairnError(
                .invalidArgument, "'\(fileURL.withoutQuery.absoluteString)' is no URL of a file")
        }
        let path = fileURL.path(percentEncoded: false)
        let store = ArcGISCredentialStore()
        var credentials: [any ArcGISCredential] = []
        if FileManager.default.fileExists(atPath: path) {
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw CairnError(.file, "the credentials in '\(path)' cannot be read")
            }
            guard let json = JSON([UInt8](bytes)), let version = json["formatVersion"]?.whole,
                let list = json["credentials"]?.elements
            else {
                throw CairnError(.invalidDocument, "'\(path)' is no file of credentials")
            }
            guard version == Self.version else {
                throw CairnError(
                    .invalidDocument,
                    "'\(path)' has credentials of version \(version), known is \(Self.version)")
            }
            credentials = list.compactMap { TokenCredential(secretJSON: $0) }
        }
        store.state.current = State(credentials: credentials, file: path)
        return store
    }

    private func change(_ body: (inout [any ArcGISCredential]) -> Void) {
        state.withLock { state in
            body(&state.credentials)
            guard let file = state.file else { return }
            let document = JSON.object([
                ("formatVersion", .integer(Self.version)),
                (
                    "credentials",
                    .array(
                        state.credentials.compactMap { ($0 as? TokenCredential)?.secretJSON })
                ),
            ])
            do {
                try FileSystem.replace(file, with: Array(document.jsonText.utf8))
            } catch {
                CairnEnvironment.note(
                    .error, "the credentials could not be written: \(error)", ["file": file])
            }
        }
    }

    /// Adds a credential, in the place of one for the same server.
    public func add(_ credential: any ArcGISCredential) {
        change { credentials in
            credentials.removeAll { $0.url.origin == credential.url.origin }
            credentials.append(credential)
        }
    }

    /// Removes a credential.
    public func remove(_ credential: any ArcGISCredential) {
        change { $0.removeAll { $0 === credential } }
    }

    /// Removes all.
    public func removeAll() { change { $0 = [] } }

    /// The credential for the server of a URL, nil without one.
    public func credential(for url: URL) -> (any ArcGISCredential)? {
        state.withLock { $0.credentials.first { $0.url.origin == url.origin } }
    }
}
