// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Codecs
internal import EventLog
internal import FoundationEssentials
internal import Platform
internal import Replay
internal import Site

struct BackupCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the whole site into a folder, up or down.",
        discussion: """
            The log, its archives, datasets, rasters, locators, networks, results and uploads of \
            jobs, recordings, access rules with users, the key of tokens and the credentials for \
            other servers. A second backup into the same folder copies what is new, and replaces \
            the log when all else is there; one that is interrupted leaves the backup before it. \
            The folder is closed to other users: it holds secrets, unless --without-secrets leaves \
            them out. 'cairn drill restore' proves a backup, 'cairn restore' puts it in a site's \
            place. JSON: one line with folder, head, stateHash, fileCount, byteCount, copiedCount, \
            copiedBytes, hasAccessRules and hasSecrets.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "A folder, new, empty or of an earlier backup.", completion: .directory)
    var folder: String
    @Flag(help: "Leave out users, the key of tokens and credentials.") var withoutSecrets = false

    private struct Line: Encodable {
        var folder: String
        var head: Int64
        var stateHash: ContentID
        var fileCount: Int
        var byteCount: Int64
        var copiedCount: Int
        var copiedBytes: Int64
        var hasAccessRules: Bool
        var hasSecrets: Bool
    }

    func perform(_ session: Session) async throws {
        let folder = URL(filePath: folder).standardizedFileURL.path
        let earlier = try Self.prepare(folder, for: session.site)
        let rules = try session.site.access.rules()
        let madeAt = Timestamp(microseconds: WallClock.microseconds())
        let log = "log/events-\(madeAt.microseconds).sqlite"
        let head = try await session.copyLog(to: folder + "/" + log)
        var copies = FileCopies(from: session.site.path, to: folder)
        let files: [BackupManifest.File]
        do {
            files = try copyFiles(&copies, earlier)
        } catch {
            copies.end()
            OutputFile.remove(folder + "/" + log)
            throw error
        }
        copies.end()
        let stateHash = try SiteState(ofLog: folder + "/" + log).hash()
        for suffix in ["-wal", "-shm"] { OutputFile.remove(folder + "/" + log + suffix) }
        let manifest = BackupManifest(
            log: log, head: head, stateHash: stateHash, madeAt: madeAt,
            hasAccessRules: rules != nil, hasSecrets: !withoutSecrets,
            files: files)
        try Self.publish(manifest, in: folder)
        if let earlier { OutputFile.remove(folder + "/" + earlier.log) }
        try show(manifest, copies, folder, session.output)
    }

    private func copyFiles(
        _ copies: inout FileCopies, _ earlier: BackupManifest?
    ) throws -> [BackupManifest.File] {
        var known: [String: BackupManifest.File] = [:]
        for file in earlier?.files ?? [] { known[file.path] = file }
        var files: [BackupManifest.File] = []
        for path in try BackupManifest.immutableFolders.flatMap({ try copies.files(below: $0) }) {
            if let file = known[path],
                FileSystem.byteCount(of: copies.source + "/" + path) == file.byteCount,
                FileSystem.byteCount(of: copies.target + "/" + path) == file.byteCount
            {
                files.append(file)
            } else if let file = try copies.copy(path) {
                files.append(file)
            }
        }
        let others = BackupManifest.otherFiles + (withoutSecrets ? [] : BackupManifest.secretFiles)
        for path in try others.flatMap({ try copies.files(below: $0) }) {
            if let file = try copies.copy(path) { files.append(file) }
        }
        return files
    }

    /// Makes the folder; returns the manifest of the backup in it.
    private static func prepare(
        _ folder: String, for site: Site
    ) throws(Failure) -> BackupManifest? {
        let (inside, outside) = (folder + "/", site.path + "/")
        guard !inside.hasPrefix(outside), !outside.hasPrefix(inside) else {
            throw Failure(
                .invalidParameter, "'\(folder)': expected a folder outside the site's and not above"
            )
        }
        try Site.makeDirectory(folder)
        if BackupManifest.exists(in: folder) { return try BackupManifest(of: folder) }
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        // A first backup that was interrupted begins like this.
        guard let names, Set(names).isSubset(of: Set(folders)) else {
            throw Failure(
                .conflict, "'\(folder)' has other files: expected a new folder, or a backup's")
        }
        return nil
    }

    private static var folders: [String] {
        ["log"] + BackupManifest.immutableFolders + BackupManifest.otherFiles
            + BackupManifest.secretFiles
    }

    private static func publish(
        _ manifest: BackupManifest, in folder: String
    ) throws(Failure) {
        let bytes = Array(try CairnJSON.encode(manifest))
        do throws(PlatformError) {
            var file = try StagedFile(inDirectory: folder)
            try file.write(bytes)
            try file.publish(as: folder + "/" + BackupManifest.fileName)
        } catch {
            throw Failure(error)
        }
    }

    private func show(
        _ manifest: BackupManifest, _ copies: FileCopies, _ folder: String, _ output: Output
    ) throws {
        if output.isJSON {
            return try output.record(
                Line(
                    folder: folder, head: manifest.head, stateHash: manifest.stateHash.hash,
                    fileCount: manifest.files.count, byteCount: manifest.byteCount,
                    copiedCount: copies.copiedCount, copiedBytes: copies.copiedBytes,
                    hasAccessRules: manifest.hasAccessRules, hasSecrets: manifest.hasSecrets))
        }
        try output.lines([
            "\(manifest.head) events and \(manifest.files.count) files of "
                + "\(manifest.byteCount.byteText) are in \(folder); "
                + "\(copies.copiedCount) files of \(copies.copiedBytes.byteText) were new",
            "state hash \(manifest.stateHash.hash) at sequence number \(manifest.head)",
        ])
        if withoutSecrets {
            Output.diagnose(
                "users, the key of tokens and credentials are not in the backup: "
                    + (manifest.hasAccessRules
                        ? "a site restored from it is closed until users are added"
                        : "layers on servers that ask for credentials will not answer"))
        }
    }
}

extension Session {
    /// Copies the log into a new file, by the process that serves it or, where the site is down,
    /// here; returns the last sequence number in it.
    fileprivate func copyLog(to path: String) async throws -> Int64 {
        let folder = path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        try Site.makeDirectory(folder)
        if isUp || supervisor != nil { return try await log().backup(to: path) }
        return try withStoppedLog { _ throws(Failure) in
            try LogBackup.write(of: site.logFile, to: path)
        }
    }

    /// Runs `body` with the log of a site that is down, which no process can serve meanwhile.
    ///
    /// Throws `Failure`: `conflict` where a process has it open, `notFound` for a log that is lost.
    func withStoppedLog<Value>(
        _ body: (SQLiteEventStore) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try site.missLog()
        try Site.makeDirectory(site.logDirectory)
        let store = try SQLiteEventStore(path: site.logFile) {
            Timestamp(microseconds: WallClock.microseconds())
        }
        return try body(store)
    }
}

extension SiteState {
    /// The state at the end of a log's file, with the archives beside it.
    init(ofLog path: String) throws(Failure) {
        self.init()
        let log = try ArchivedLogReader(path: path)
        let head = try log.head()
        while sequence < head {
            let page = try log.read(ReadRange(after: sequence, limit: 1_000))
            guard !page.events.isEmpty else {
                throw Failure(.corrupt, "'\(path)' ends at event \(sequence), expected \(head)")
            }
            for event in page.events { try apply(event) }
        }
    }
}
