// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Dataset
internal import EventLog
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Replay
internal import Routing
internal import Site
internal import Terminal

/// A backup put together as a site, in a folder of its own.
private struct RestoredSite {
    let manifest: BackupManifest
    let log: LogBackup.Restored
    /// Whether the site is closed to everybody because the backup lacks its users.
    let isClosed: Bool

    /// Builds the site in a folder, replacing what an interrupted restore left there.
    ///
    /// Every file is compared with the manifest's hash, the log's chain is verified, and its state
    /// compared with the manifest's. Throws `Failure`: `corrupt`, `notFound`, `noSpace`,
    /// `unreadable`.
    init(of backup: String, in folder: String) throws(Failure) {
        manifest = try BackupManifest(of: backup)
        try? FileManager.default.removeItem(atPath: folder)
        try Site.makeDirectory(folder + "/log")
        isClosed = manifest.hasAccessRules && !manifest.hasSecrets
        if isClosed { try AccessStore(directory: folder).change { _ throws(Failure) in } }
        var copies = FileCopies(from: backup, to: folder)
        defer { copies.end() }
        for file in manifest.files { try copies.copy(file) }
        log = try LogBackup.restore(
            backup + "/" + manifest.log, to: folder + "/log/events.sqlite")
        guard log.missingArchives.isEmpty else {
            throw Failure(
                .corrupt,
                "'\(backup)' lacks archives of the log: "
                    + log.missingArchives.joined(separator: ", "))
        }
        let hash = try SiteState(ofLog: folder + "/log/events.sqlite").hash()
        guard hash.form != manifest.stateHash.form || hash.hash == manifest.stateHash.hash else {
            throw Failure(
                .corrupt,
                "the state of '\(backup)' has hash \(hash.hash) at sequence number "
                    + "\(manifest.head); expected \(manifest.stateHash.hash)")
        }
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Make a site from a folder of 'cairn backup'.",
        discussion: """
            The site's directory must be missing or empty. Every file is compared with the \
            backup's list, the log is verified, and its state compared with the hash in the \
            backup; the site appears when all is well. It has the users, rules and tokens of the \
            site that was backed up; from a backup without secrets it is closed to everybody \
            until users are added. Its log is a new incarnation, so that programs that follow the \
            one before stop. --erasures erases again what was erased after the backup: lines of \
            'cairn erase --list --json', MAP/LAYER/ID or user:NAME. JSON: one line with head, \
            incarnation, fileCount, byteCount, hasAccessRules, isClosed and erasureCount.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The folder of the backup.", completion: .directory) var backup: String
    @Option(help: "A list of what to erase from it again.", completion: .file())
    var erasures: String?

    private struct Line: Encodable {
        var head: Int64
        var incarnation: Int64
        var fileCount: Int
        var byteCount: Int64
        var hasAccessRules: Bool
        var isClosed: Bool
        var erasureCount: Int
    }

    func run() async throws { try await withExitCodes { try await restore() } }

    private func restore() async throws {
        let target = URL(filePath: try common.sitePath()).standardizedFileURL.path
        let files = FileManager.default
        let names = try? files.contentsOfDirectory(atPath: target)
        guard names?.isEmpty ?? (FileSystem.kind(of: target) == nil) else {
            throw Failure(
                .conflict, "'\(target)' is not empty: a backup becomes a site in a new directory")
        }
        let erasures = try erasures.map { try ErasureList(readingFrom: $0).data } ?? []
        let staged = target + ".restoring"
        let site = try RestoredSite(
            of: URL(filePath: backup).standardizedFileURL.path, in: staged)
        let output = Output(isJSON: common.json)
        let session = Session(site: try Site(opening: staged), output: output)
        for data in erasures {
            try await session.record(
                try SiteErasure(site: session.site, data).run(), in: .siteErasures)
        }
        session.close()
        do {
            if names != nil { try files.removeItem(atPath: target) }
            try files.moveItem(atPath: staged, toPath: target)
        } catch {
            throw Failure(.unreadable, "'\(staged)' cannot become '\(target)': \(error)")
        }
        let manifest = site.manifest
        if output.isJSON {
            try output.record(
                Line(
                    head: manifest.head, incarnation: site.log.incarnation,
                    fileCount: manifest.files.count, byteCount: manifest.byteCount,
                    hasAccessRules: manifest.hasAccessRules, isClosed: site.isClosed,
                    erasureCount: erasures.count))
        } else {
            try output.line(
                "\(target) has \(manifest.head) events and \(manifest.files.count) files of "
                    + "\(manifest.byteCount.byteText), as of \(manifest.madeAt.displayText)")
        }
        if site.isClosed {
            Output.diagnose(
                "the backup has no users: the site is closed until 'cairn user' opens it")
        } else if !manifest.hasAccessRules {
            Output.diagnose("the site is open to every client, as it was")
        }
    }
}

struct DrillCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drill", abstract: "Practise for the day that something is lost.",
        subcommands: [DrillRestore.self])
}

struct DrillRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Prove a backup: restore it beside, check, remove it.",
        discussion: """
            Does what 'cairn restore' does, in a folder that is removed afterwards, then opens \
            every dataset, raster and locator that the maps need. Nothing is written to the \
            backup or to a site. Status 0 only for a backup that a site can be made from. JSON: \
            one line with head, stateHash, fileCount, byteCount, checkedCount, seconds, \
            hasAccessRules and hasSecrets.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The folder of the backup.", completion: .directory) var backup: String
    @Option(help: "A folder with room for the site; beside the backup otherwise.")
    var scratch: String?

    private struct Line: Encodable {
        var head: Int64
        var stateHash: ContentID
        var fileCount: Int
        var byteCount: Int64
        var checkedCount: Int
        var seconds: Double
        var hasAccessRules: Bool
        var hasSecrets: Bool
    }

    func run() async throws { try await withExitCodes { try drill() } }

    private func drill() throws {
        let start = ContinuousClock.now
        let backup = URL(filePath: backup).standardizedFileURL.path
        let folder = scratch.map { $0 + "/cairn-drill" } ?? backup + ".drill"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let manifest = try RestoredSite(of: backup, in: folder).manifest
        let count = try Self.open(Site(reading: folder))
        let spent = ContinuousClock.now - start
        let output = Output(isJSON: common.json)
        if output.isJSON {
            return try output.record(
                Line(
                    head: manifest.head, stateHash: manifest.stateHash.hash,
                    fileCount: manifest.files.count, byteCount: manifest.byteCount,
                    checkedCount: count, seconds: spent / .seconds(1),
                    hasAccessRules: manifest.hasAccessRules, hasSecrets: manifest.hasSecrets))
        }
        try output.line(
            "the backup of \(manifest.madeAt.displayText) is whole: "
                + "\(manifest.head) events lead to state \(manifest.stateHash.hash), "
                + "\(manifest.files.count) files have their hashes, "
                + "\(count) datasets, rasters, locators and networks open")
    }

    /// Opens all data that the present maps, locators and networks need; returns how many.
    private static func open(_ site: Site) throws(Failure) -> Int {
        let all = try SiteState(ofLog: site.logFile)
        let state = all.maps
        let shelf = DatasetCache(directory: site.datasetsDirectory)
        var count = 0
        for name in state.mapNames {
            for layer in state.map(named: name)?.layers ?? [] {
                switch layer.kind.source {
                case .dataset(let id)?: _ = try shelf.dataset(id)
                case .raster(let id)?: try require(site.rastersDirectory + "/" + id.rawValue)
                default: continue
                }
                count += 1
            }
        }
        for name in state.locatorNames {
            guard let locator = state.locator(named: name) else { continue }
            try require(site.locatorPath(locator.locator))
            count += 1
        }
        for name in all.networks.names {
            guard let network = all.networks.network(named: name) else { continue }
            for path in RoutableNetwork.paths(of: network.published, in: site.networksDirectory) {
                try require(path)
            }
            count += 1
        }
        return count
    }

    private static func require(_ path: String) throws(Failure) {
        guard FileSystem.kind(of: path) != nil else {
            throw Failure(.corrupt, "the site restored from the backup lacks '\(path)'")
        }
    }
}
