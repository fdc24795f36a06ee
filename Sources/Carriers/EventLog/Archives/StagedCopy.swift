// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import Platform

/// A copy of a log, or of a part of it, in the making: `.staged-<id>` in the folder where it gets
/// its name, with SQLite's own files beside it.
///
/// In the folders of a log only the holder of its lock makes any.
enum StagedCopy {
    private static let prefix = ".staged-"
    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    /// The path of a new one.
    static func path(in folder: String) -> String {
        folder + "/" + prefix + UUID().uuidString.lowercased()
    }

    /// Removes one, if it has not got its name.
    static func remove(_ path: String) {
        for suffix in suffixes { OutputFile.remove(path + suffix) }
    }

    /// Removes the staged copies of killed processes from the folders of the log at `path`, whose
    /// lock the caller holds.
    static func removeAbandoned(ofLog path: String) {
        for folder in [LogBackup.folder(of: path), LogArchive.folder(ofLog: path)] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for name in names where isStaged(name) { OutputFile.remove(folder + "/" + name) }
        }
    }

    private static func isStaged(_ name: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let rest = name.dropFirst(prefix.count)
        return UUID(uuidString: String(rest.prefix(36))) != nil
            && suffixes.contains(String(rest.dropFirst(36)))
    }
}
