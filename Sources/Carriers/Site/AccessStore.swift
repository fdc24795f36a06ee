// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
public import Platform
internal import Secrets

/// The two files of a site for authentication: `access.json`, and `token.key`, with which tokens
/// are signed.
///
/// Both must be readable by their owner only, and are refused otherwise.
public struct AccessStore: Hashable, Sendable {
    /// The directory of both.
    public let directory: String
    /// The file of ``AccessRules``.
    public var path: String { directory + "/access.json" }
    private var keyPath: String { directory + "/token.key" }
    private static let byteLimit = 4 << 20

    /// Names a store.
    public init(directory: String) { self.directory = directory }

    /// The rules; nil without a file.
    ///
    /// Throws `Failure`: `conflict` when others may read the file, `corrupt`, `newerVersion`,
    /// `unreadable`.
    public func rules() throws(Failure) -> AccessRules? {
        guard let bytes = try Self.privateBytes(path) else { return nil }
        do throws(Failure) {
            let rules = try CairnJSON.decode(AccessRules.self, from: Data(bytes))
            try rules.check()
            return rules
        } catch {
            throw Failure(
                error.code == .newerVersion ? .newerVersion : .corrupt,
                "'\(path)' cannot be understood: \(error.message)")
        }
    }

    /// The state of the rules' file; nil without a file.
    public var stamp: FileStamp? { FileSystem.stamp(of: path) }

    /// Changes the rules, starting from empty ones; one process at a time.
    ///
    /// Throws as ``rules()``, errors of `body`, `busy` while another process changes them, and
    /// `noSpace`.
    public func change(_ body: (inout AccessRules) throws(Failure) -> Void) throws(Failure) {
        let lock = try lock()
        var rules = try rules() ?? AccessRules()
        try body(&rules)
        try rules.check()
        rules.users.sort { $0.name < $1.name }
        try Self.publish(Array(try CairnJSON.encode(rules)), as: path, in: directory)
        lock.release()
    }

    private func lock() throws(Failure) -> FileLock {
        do throws(PlatformError) {
            if let lock = try FileLock.tryAcquire(directory + "/access.lock") { return lock }
        } catch {
            throw Failure(error)
        }
        throw Failure(.busy, "another command changes the users just now; try again")
    }

    /// The key of this site's tokens, 32 bytes; created on first use.
    ///
    /// Throws `Failure`: `conflict` when others may read the file, `corrupt`, `unreadable`,
    /// `noSpace`.
    public func tokenKey() throws(Failure) -> [UInt8] {
        if try Self.privateBytes(keyPath) == nil {
            let key = RandomBytes.make(KeyedHash.byteCount)
            try Self.publish(key, as: keyPath, in: directory, replacing: false)
        }
        guard let key = try Self.privateBytes(keyPath), key.count == KeyedHash.byteCount else {
            throw Failure(
                .corrupt,
                "'\(keyPath)' does not have \(KeyedHash.byteCount) bytes: remove it, and every "
                    + "token ends"
            )
        }
        return key
    }

    private static func publish(
        _ bytes: [UInt8], as path: String, in directory: String, replacing: Bool = true
    ) throws(Failure) {
        do {
            var file = try StagedFile(inDirectory: directory)
            try file.write(bytes)
            try file.publish(as: path, replacing: replacing)
        } catch {
            throw Failure(error)
        }
    }

    private static func privateBytes(_ path: String) throws(Failure) -> [UInt8]? {
        guard let stamp = FileSystem.stamp(of: path) else { return nil }
        guard stamp.isPrivate else {
            throw Failure(
                .conflict, "'\(path)' may be read by others than its owner: chmod 600 it")
        }
        guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= byteLimit
        else { throw Failure(.unreadable, "'\(path)' cannot be read, or is too large") }
        return Array(bytes)
    }
}
