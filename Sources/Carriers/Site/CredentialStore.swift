// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform

/// A secret for requests to another server.
public struct Credential: Hashable, Sendable, Codable {
    /// The user for HTTP's basic scheme; nil when the secret is a token.
    public var user: String?
    /// The password or token.
    public var secret: String

    /// Makes a credential.
    public init(user: String? = nil, secret: String) {
        self.user = user
        self.secret = secret
    }
}

/// The credentials of a site: `credentials/<name>.json`, readable by their owner only.
///
/// Only names ever reach the log, an answer or a message.
public struct CredentialStore: Hashable, Sendable {
    /// The credentials' directory.
    public let directory: String
    private static let byteLimit = 65_536

    /// Names a store.
    public init(directory: String) { self.directory = directory }

    /// Keeps a credential under a name, in place of the one before.
    ///
    /// Throws `Failure` (`invalidParameter` for a name or secret that cannot be one, `noSpace`,
    /// `unreadable`).
    public func set(_ credential: Credential, as name: String) throws(Failure) {
        let path = try path(name)
        let texts = [credential.secret, credential.user ?? "-"]
        let isPlain = texts.allSatisfy { text in
            !text.isEmpty && text.utf8.count <= 8192 && text.utf8.allSatisfy { 32...126 ~= $0 }
        }
        guard isPlain, credential.user?.contains(":") != true else {
            throw Failure(
                .invalidParameter,
                "credential '\(name)': expected 1 to 8192 printable ASCII characters, and no ':' "
                    + "in "
                    + "the user's name")
        }
        try Site.makePrivateDirectory(directory)
        do {
            var file = try StagedFile(inDirectory: directory)
            try file.write(Array(try CairnJSON.encode(credential)))
            try file.publish(as: path)
        } catch {
            throw (error as? Failure) ?? (error as? PlatformError).map { Failure($0) }
                ?? Failure(.internal, "\(error)")
        }
    }

    /// The credential of that name; throws `Failure` (`notFound`, `unreadable`, `corrupt`).
    public func credential(named name: String) throws(Failure) -> Credential {
        let path = try path(name)
        let bytes: [UInt8]
        do throws(MappingError) {
            let file = try MappedFile(path: path)
            bytes = file.copy(0..<min(file.byteCount, Self.byteLimit))
        } catch {
            throw Failure(
                error.isNotFound ? .notFound : .unreadable,
                "the site has no credential '\(name)': set one with 'cairn credential set \(name)'")
        }
        do throws(Failure) {
            return try CairnJSON.decode(Credential.self, from: Data(bytes))
        } catch {
            throw Failure(.corrupt, "the file of credential '\(name)' is damaged")
        }
    }

    /// Removes a credential; false when it did not exist.
    public func remove(_ name: String) throws(Failure) -> Bool {
        let path = try path(name)
        guard FileManager.default.fileExists(atPath: path) else { return false }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            throw Failure(.unreadable, "cannot remove credential '\(name)'")
        }
        return true
    }

    /// The names of all credentials, sorted.
    public var names: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
            .map { String($0.dropLast(5)) }.sorted()
    }

    private func path(_ name: String) throws(Failure) -> String {
        guard Credential.isName(name) else {
            throw Failure(
                .invalidParameter,
                "credential name '\(name.prefix(80))': expected 1 to 64 letters, digits, '-' or '_'"
            )
        }
        return directory + "/" + name + ".json"
    }
}

extension Credential {
    /// Whether a text can name a credential.
    public static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
    }
}
