// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform

/// The record of which user uploaded which blobs: an empty file `user-NAME/<sha256>`,
/// `anonymous/<sha256>` or `everybody/<sha256>` for each.
///
/// A blob is named by the hash of its bytes, and knowing a hash grants no right to them: a user may
/// name only blobs recorded here. Entries keep no blob from a sweep. A value; any thread, any
/// process; calls block on the disk.
public struct UploadLedger: Hashable, Sendable {
    /// The owner of an upload.
    public enum Owner: Hashable, Sendable {
        /// A user of the site.
        case user(String)
        /// Everybody without a token, where the site has rules.
        case anonymous
        /// Everybody, where it has none.
        case everybody

        fileprivate var folder: String {
            switch self {
            // The prefix keeps user names apart from other folders, `..` among them.
            case .user(let name): "user-" + name
            case .anonymous: AccessRules.anonymousName
            case .everybody: "everybody"
            }
        }
    }

    /// Least charge of an entry, in bytes, so that their number has a bound.
    public static let leastByteCount: Int64 = 64 << 10

    private let directory: String
    let blobs: BlobStore

    /// Names the ledger of those blobs; the directory is made with the first entry, in one that
    /// exists.
    public init(directory: String, blobs: BlobStore) {
        self.directory = directory
        self.blobs = blobs
    }

    func path(of owner: Owner) -> String { directory + "/" + owner.folder }
    private func path(_ id: ContentID, of owner: Owner) -> String {
        path(of: owner) + "/" + id.rawValue
    }

    /// Notes that a blob was uploaded; when it returns that is on the disk.
    ///
    /// Throws `Failure` (`noSpace`, `unreadable`).
    public func note(_ id: ContentID, of owner: Owner) throws(Failure) {
        do throws(PlatformError) {
            try makeFolder(of: owner)
            let file = try StagedFile(inDirectory: path(of: owner))
            try file.publish(as: path(id, of: owner))
        } catch {
            throw Failure(error)
        }
    }

    func makeFolder(of owner: Owner) throws(PlatformError) {
        let folder = path(of: owner)
        guard FileSystem.stamp(of: folder) == nil else { return }
        try PrivateDirectory.make(at: directory)
        try PrivateDirectory.make(at: folder)
        try StagedFile.syncDirectory(directory + "/..")
        try StagedFile.syncDirectory(directory)
    }

    /// The blob, if it is here and that owner has uploaded it.
    public func find(_ id: ContentID, of owner: Owner) -> BlobReference? {
        guard FileSystem.stamp(of: path(id, of: owner)) != nil else { return nil }
        return blobs.find(id)
    }

    /// The total charge of an owner's blobs that are present and of parts that await their commit,
    /// each ``leastByteCount`` at least.
    ///
    /// Cost: one file lookup for each. Throws `Failure` (`unreadable`).
    public func byteCount(of owner: Owner) throws(Failure) -> Int64 {
        var sum: Int64 = 0
        for name in try Self.names(in: path(of: owner)) {
            if name.hasPrefix(Self.partialPrefix) {
                sum += try partsByteCount(in: path(of: owner) + "/" + name)
            } else if let blob = ContentID(rawValue: name).flatMap(blobs.find) {
                sum += Self.charge(blob.byteCount)
            }
        }
        return sum
    }

    /// The charge of an upload of so many bytes.
    public static func charge(_ byteCount: Int64) -> Int64 { max(byteCount, leastByteCount) }

    /// Removes an owner's entries; the blobs stay until they are swept.
    ///
    /// Throws `Failure` (`unreadable`).
    public func forget(_ owner: Owner) throws(Failure) {
        let folder = path(of: owner)
        guard FileSystem.stamp(of: folder) != nil else { return }
        do { try FileManager.default.removeItem(atPath: folder) } catch {
            throw Failure(.unreadable, "'\(folder)' cannot be removed: \(error)")
        }
    }

    /// Removes the entries from before a moment whose blobs are absent, and the uploads in parts
    /// that have not changed since, after a sweep.
    ///
    /// Throws `Failure` (`unreadable`).
    public func forgetSwept(before moment: Timestamp) throws(Failure) {
        for folder in try Self.names(in: directory) {
            for name in try Self.names(in: directory + "/" + folder) {
                let entry = directory + "/" + folder + "/" + name
                if name.hasPrefix(Self.partialPrefix) {
                    try Self.removePartial(at: entry, ifBefore: moment)
                    continue
                }
                guard let id = ContentID(rawValue: name), !blobs.contains(id),
                    let stamp = FileSystem.stamp(of: entry),
                    stamp.modifiedNanoseconds / 1_000 < moment.microseconds
                else { continue }
                do throws(PlatformError) { _ = try FileSystem.remove(entry) } catch {
                    throw Failure(error)
                }
            }
        }
    }

    /// The file names in a directory; empty if absent.
    static func names(in directory: String) throws(Failure) -> [String] {
        guard FileSystem.stamp(of: directory) != nil else { return [] }
        do { return try FileManager.default.contentsOfDirectory(atPath: directory) } catch {
            throw Failure(.unreadable, "'\(directory)' cannot be listed: \(error)")
        }
    }
}
