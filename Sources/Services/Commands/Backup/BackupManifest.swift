// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site

/// What a backup of a site holds: `backup.json` in its folder, which has the form of a site's, is
/// written last and names every file.
struct BackupManifest: Codable {
    /// Format version of the folder; this build knows 1.
    var formatVersion = 1
    /// The release that wrote it.
    var release: String
    /// When the log was copied.
    var madeAt: Timestamp
    /// The log's file, relative to the folder.
    var log: String
    /// The last sequence number in it.
    var head: Int64
    /// The hash of the site's state at that number, without its parts.
    var stateHash: StateHash
    /// Whether the site had access rules: without them every client may do everything.
    var hasAccessRules: Bool
    /// Whether users, the key of tokens and the credentials for other servers are in the backup.
    var hasSecrets: Bool
    /// Every file but the log's, by path.
    var files: [File]

    /// A file of the backup.
    struct File: Codable, Hashable {
        /// Relative to the folder.
        var path: String
        var byteCount: Int64
        /// SHA-256 of its bytes.
        var hash: ContentID
    }

    /// Name of the manifest's file.
    static let fileName = "backup.json"

    /// The folders of a site whose files never change once written.
    static let immutableFolders = [
        "log/archives", "datasets", "rasters", "locators", "networks", "blobs",
    ]

    /// The files and folders of a site that change, and are copied anew each time.
    static let otherFiles = [
        "cairn.json", "up-options.json", "internal-servers.json", "uploads", "recordings", "audit",
    ]

    /// The files and folders of a site that hold secrets.
    static let secretFiles = ["access.json", "token.key", "credentials"]

    /// Whether a folder has a manifest.
    static func exists(in folder: String) -> Bool {
        FileSystem.kind(of: folder + "/" + fileName) == .file
    }

    /// Reads the manifest of a backup's folder; throws `Failure`: `notFound`, `newerVersion`,
    /// `corrupt`.
    init(of folder: String) throws(Failure) {
        let path = folder + "/" + Self.fileName
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .notFound,
                "'\(folder)' has no \(Self.fileName): it is not a backup, or one that did not end")
        }
        do throws(Failure) {
            self = try CairnJSON.decode(Self.self, from: data)
        } catch {
            throw Failure(.corrupt, "'\(path)' cannot be understood: \(error.message)")
        }
        guard formatVersion == 1 else {
            throw Failure(
                .newerVersion,
                "'\(path)' has format version \(formatVersion); this build knows 1")
        }
        // The paths are joined to a folder that is written to.
        for path in [log] + files.map(\.path) {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
                throw Failure(.corrupt, "'\(folder)': its manifest names the file '\(path)'")
            }
        }
    }

    init(
        log: String, head: Int64, stateHash: StateHash, madeAt: Timestamp, hasAccessRules: Bool,
        hasSecrets: Bool, files: [File]
    ) {
        release = Release.version
        self.madeAt = madeAt
        self.log = log
        self.head = head
        self.stateHash = stateHash
        self.stateHash.parts = []
        self.hasAccessRules = hasAccessRules
        self.hasSecrets = hasSecrets
        self.files = files
    }

    /// Bytes of all files but the log's.
    var byteCount: Int64 { files.reduce(0) { $0 + $1.byteCount } }
}
