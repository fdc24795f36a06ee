// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Glibc
internal import Platform

/// A site: the directory of one Cairn installation's data.
///
/// ```
/// site/ cairn.json · log.json · access.json · token.key · run/ · log/events.sqlite
///       datasets/<sha256>/layer.fgb
///       rasters/<sha256>/raster.json
///       locators/<sha256>/locator.bin
///       networks/<sha256>/network.bin, topology-<sha256>.bin
///       blobs/<sha256> · uploads/<user>/<sha256> · jobs/<job>/
///       snapshots/<state>/<incarnation>-<sequence>.snapshot
/// ```
/// A value: it holds names, not handles, and may be used on any thread and in any process.
public struct Site: Hashable, Sendable {
    /// The absolute path of the directory, without a trailing slash.
    public let path: String
    /// The contents of `cairn.json`.
    public let identity: SiteIdentity
    /// The directory of sockets and locks, readable by its owner only.
    ///
    /// It is `run/` in the site,
    /// or, when that path is too long for a Unix socket's name, a directory in `/tmp` named after
    /// the user and the site's path.
    public let runDirectory: String

    /// Opens an existing site; throws `Failure`: `notFound` without a `cairn.json`, `newerVersion`
    /// for an unknown format, `corrupt` or `unreadable` for a malformed or unreadable file.
    public init(opening path: String) throws(Failure) {
        try self.init(reading: path)
        try makeDirectories()
    }

    /// Opens an existing site read-only: nothing is created in it.
    ///
    /// Throws as `init(opening:)`.
    public init(reading path: String) throws(Failure) {
        self.path = Self.absolute(path)
        identity = try SiteIdentity(readingFrom: self.path + "/cairn.json", site: self.path)
        runDirectory = Self.runDirectory(of: self.path)
    }

    /// Opens the site, or creates it if absent.
    ///
    /// Two processes may do so at once: they get the same site. Throws as `init(opening:)`, and
    /// `noSpace`.
    public init(openingOrCreating path: String) throws(Failure) {
        let site = Self.absolute(path)
        if !FileManager.default.fileExists(atPath: site + "/cairn.json") {
            try Self.makeDirectory(site)
            try SiteIdentity(
                formatVersion: 1, siteID: UUID(),
                createdAt: Timestamp(microseconds: WallClock.microseconds())
            )
            .write(to: site + "/cairn.json", inDirectory: site)
        }
        try self.init(opening: site)
    }

    /// The event log's file.
    public var logFile: String { logDirectory + "/events.sqlite" }
    /// The directory of the event log.
    public var logDirectory: String { path + "/log" }
    /// The directory of datasets.
    public var datasetsDirectory: String { path + "/datasets" }
    /// The directory of rasters.
    public var rastersDirectory: String { path + "/rasters" }
    /// The secrets for requests to other servers.
    public var credentials: CredentialStore { CredentialStore(directory: path + "/credentials") }
    /// The access rules of the site's gateways.
    public var access: AccessStore { AccessStore(directory: path) }
    /// The directory of locators.
    public var locatorsDirectory: String { path + "/locators" }
    /// The directory of road networks, which exists once there is one.
    public var networksDirectory: String { path + "/networks" }
    /// The directory of recorded requests, which exists once there is one.
    public var recordingsDirectory: String { path + "/recordings" }
    /// The directory of the audit, which exists once there is one.
    public var auditDirectory: String { path + "/audit" }
    /// The snapshots of a folded state, in a directory that exists once there is one.
    public func snapshots(of state: String) -> SnapshotStore {
        SnapshotStore(directory: path + "/snapshots/" + state)
    }

    /// The directory of jobs' scratch files.
    public var jobsDirectory: String { path + "/jobs" }
    /// The site's blobs.
    public var blobs: BlobStore { BlobStore(directory: path + "/blobs") }

    /// The users that uploaded them.
    public var uploads: UploadLedger { UploadLedger(directory: path + "/uploads", blobs: blobs) }

    /// The file of a dataset, whether it exists or not.
    public func datasetPath(_ id: ContentID) -> String {
        datasetsDirectory + "/" + id.rawValue + "/layer.fgb"
    }

    /// The file of a locator, whether it exists or not.
    public func locatorPath(_ id: ContentID) -> String {
        locatorsDirectory + "/" + id.rawValue + "/locator.bin"
    }

    /// The scratch directory of a job, whether it exists or not; nothing in it is a record.
    public func jobDirectory(_ id: JobID) -> String { jobsDirectory + "/" + id.description }

    /// The file with the position of the last committed event of any map, which the log sets.
    public var mapHeadPath: String { runDirectory + "/map-head" }

    /// The lock that a process named `name` takes when there may be only one per site.
    public func lockPath(_ name: String) -> String { runDirectory + "/" + name + ".lock" }

    /// Creates a directory and its parents if absent, closed to other users; throws `Failure`
    /// (`noSpace`, `unreadable`).
    public static func makeDirectory(_ path: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw Failure(.noSpace, "cannot make the directory '\(path)': no space left")
        } catch {
            throw Failure(.unreadable, "cannot make the directory '\(path)': \(error)")
        }
    }

    /// Makes a directory that only its owner may enter, never for a moment with a wider mode, in
    /// one that exists; throws `Failure` (`noSpace`, `unreadable`).
    public static func makePrivateDirectory(_ path: String) throws(Failure) {
        do throws(PlatformError) { try PrivateDirectory.make(at: path) } catch {
            throw Failure(error)
        }
    }

    /// Creates the site's directories.
    ///
    /// It also closes a site whose files and directories an earlier build left readable to other
    /// users.
    private func makeDirectories() throws(Failure) {
        for directory in [
            logDirectory, datasetsDirectory, rastersDirectory, locatorsDirectory, path + "/blobs",
            jobsDirectory,
        ] where !FileManager.default.fileExists(atPath: directory) {
            try Self.makeDirectory(directory)
        }
        if !FileManager.default.fileExists(atPath: runDirectory) {
            try Self.makePrivateDirectory(runDirectory)
        }
        if let fault = PrivateDirectory.fault(at: runDirectory) {
            throw Failure(.conflict, "the directory of sockets and locks is not safe: " + fault)
        }
        if PrivateFiles.isOpenAtTop(path) { PrivateFiles.close(below: path) }
    }

    private static func absolute(_ path: String) -> String {
        var text =
            path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        while text.count > 1 && text.hasSuffix("/") { text.removeLast() }
        return text
    }

    /// A Unix socket's name has room for 107 bytes; the longest of ours is `lane-` and a UUID.
    private static func runDirectory(of site: String) -> String {
        let own = site + "/run"
        if own.utf8.count + "/lane-".utf8.count + 36 <= 107 { return own }
        return "/tmp/cairn-\(geteuid())-"
            + SHA256.digest(site).hexadecimal.prefix(16)
    }
}
