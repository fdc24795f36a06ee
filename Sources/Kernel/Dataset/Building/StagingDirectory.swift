// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
import FoundationEssentials
import Platform

/// A hidden directory beside the datasets in which an import works; removed when it is released.
///
/// The directory of a killed import is recognised by its free lock and removed by the next one.
public struct StagingDirectory: ~Copyable {
    /// Path of the directory.
    public let path: String
    private let parent: String
    private let lock: FileLock
    private static let prefix = ".import-"
    private static let lockName = "/lock"

    /// Makes a directory inside `parent`, which is made too when it is missing.
    public init(in parent: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: parent, withIntermediateDirectories: true)
            Self.removeAbandoned(in: parent)
            let path = parent + "/" + Self.prefix + UUID().uuidString.lowercased()
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            guard let lock = try FileLock.tryAcquire(path + Self.lockName) else {
                throw Failure(.conflict, "'\(path)' is locked")
            }
            self.path = path
            self.parent = parent
            self.lock = lock
        } catch {
            throw Failure(importing: error)
        }
    }

    private static func removeAbandoned(in parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = parent + "/" + name
            // A directory without its lock file is still being created.
            guard FileManager.default.fileExists(atPath: path + lockName),
                let lock = try? FileLock.tryAcquire(path + lockName)
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
            lock.release()
        }
    }

    /// Makes an empty directory inside and returns its path.
    public func makeEntry() throws -> String {
        let entry = path + "/" + UUID().uuidString.lowercased()
        try FileManager.default.createDirectory(
            atPath: entry, withIntermediateDirectories: false)
        return entry
    }

    /// Makes the entry durable and moves it to `parent/<name>`; when that is there already, the
    /// entry is dropped and the old one stays, but gets the files that it lacks.
    public func publish(entry: String, as name: String) throws {
        let target = parent + "/" + name
        if FileManager.default.fileExists(atPath: target) {
            for file in try FileManager.default.contentsOfDirectory(atPath: entry)
            where !FileManager.default.fileExists(atPath: target + "/" + file) {
                try FileManager.default.moveItem(
                    atPath: entry + "/" + file, toPath: target + "/" + file)
                try StagedFile.syncDirectory(target)
            }
            return
        }
        try StagedFile.syncDirectory(entry)
        do {
            try FileManager.default.moveItem(atPath: entry, toPath: target)
        } catch {
            // Another import of the same bytes may have been faster.
            guard FileManager.default.fileExists(atPath: target) else { throw error }
        }
        try StagedFile.syncDirectory(parent)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
