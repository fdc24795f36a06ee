// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Site

/// What a backup of a site holds: `backup.json` in its folder, written last.
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
    /// The hash of the site's state at that number.
    var stateHash: StateHash
    /// Whether the site had access rules: without them every client may do everything.
    var hasAccessRules: Bool
    /// Whether users, the key of tokens and the credentials for other servers are in the backup.
    var hasSecrets: Bool
    /// Every file of data, relative to the folder, with its size.
    var files: [File]

    /// A file of the backup.
    struct File: Codable, Hashable {
        var path: String
        var byteCount: Int64
    }

    /// Name of the file.
    static let fileName = "backup.json"

    /// The folders of a site whose files never change once written.
    static let immutableFolders = ["datasets", "rasters", "locators", "blobs", "log/archives"]

    /// The files and folders of a site that hold secrets.
    static let secretFiles = ["access.json", "token.key", "credentials"]

    /// Reads the manifest of a backup's folder; throws `Failure`: `notFound`, `newerVersion`,
    /// `corrupt`.
    init(of folder: String) throws(Failure) {
        let path = folder + "/" + Self.fileName
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .notFound,
                "'\(folder)' has no \(Self.fileName): it is no backup, or one that did not end")
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
    }

    init(
        release: String, madeAt: Timestamp, log: String, head: Int64, stateHash: StateHash,
        hasAccessRules: Bool, hasSecrets: Bool, files: [File]
    ) {
        self.release = release
        self.madeAt = madeAt
        self.log = log
        self.head = head
        self.stateHash = stateHash
        self.hasAccessRules = hasAccessRules
        self.hasSecrets = hasSecrets
        self.files = files
    }

    /// Throws `corrupt` unless every file is there with its size.
    func check(in folder: String) throws(Failure) {
        for file in files {
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: folder + "/" + file.path)
            let size = (attributes?[.size] as? any BinaryInteger).map { Int64(clamping: $0) }
            guard size == file.byteCount else {
                throw Failure(
                    .corrupt,
                    "backup '\(folder)': '\(file.path)' has \(size.map { "\($0)" } ?? "no") bytes, "
                        + "expected \(file.byteCount)")
            }
        }
    }
}
