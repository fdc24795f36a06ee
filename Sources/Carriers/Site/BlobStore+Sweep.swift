// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform

extension BlobStore {
    /// Grace period in seconds in which a sweep spares a blob that was put or renewed: longer than
    /// it takes until the log names it.
    public static let graceSeconds = 3_600

    /// A stored blob, with the time of its put or last renewal by the file system's clock.
    public struct Entry: Hashable, Sendable {
        /// Its name.
        public let id: ContentID
        /// Its size.
        public let byteCount: Int64
        /// The time of the put or of the last renewal.
        public let renewedAt: Timestamp
    }

    /// Every stored blob, in no order; files with other names are skipped.
    ///
    /// Throws `Failure` (`unreadable`).
    public func entries() throws(Failure) -> [Entry] {
        try names().compactMap { name in ContentID(rawValue: name).flatMap(entry) }
    }

    private func names() throws(Failure) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: directory) } catch {
            throw Failure(.unreadable, "'\(directory)' cannot be listed: \(error)")
        }
    }

    private func entry(_ id: ContentID) -> Entry? {
        guard let stamp = FileSystem.stamp(of: path(id)) else { return nil }
        return Entry(
            id: id, byteCount: stamp.byteCount,
            renewedAt: Timestamp(microseconds: stamp.modifiedNanoseconds / 1_000))
    }

    /// Renews a blob, so that a sweep that has not removed it yet spares it; false when it is
    /// absent.
    ///
    /// The file's time changes at most twice in ``graceSeconds``; each change also invalidates a
    /// check of its bytes.
    @discardableResult
    public func renew(_ id: ContentID) -> Bool {
        guard let entry = entry(id) else { return false }
        let age = WallClock.microseconds() - entry.renewedAt.microseconds
        guard age > Int64(Self.graceSeconds) * 500_000 else { return true }
        return FileSystem.touch(path(id))
    }

    /// Gives blobs their names back that a sweep has taken aside when it was killed.
    ///
    /// Throws `Failure` (`unreadable`).
    public func restoreAside() throws(Failure) {
        for name in try names() where name.hasPrefix(Self.asideMark) {
            do throws(PlatformError) {
                _ = try FileSystem.rename(
                    directory + "/" + name,
                    to: directory + "/" + name.dropFirst(Self.asideMark.count))
            } catch {
                throw Failure(.unreadable, "'\(name)' cannot be put back: \(error)")
            }
        }
    }

    private static let asideMark = ".swept-"

    /// Removes a blob unless it was put or renewed at or after a moment; whether it did.
    ///
    /// A concurrent renewal either finds it gone or keeps it. Throws `Failure` (`unreadable`).
    public func remove(_ id: ContentID, unlessRenewedSince moment: Timestamp) throws(Failure)
        -> Bool
    {
        let aside = directory + "/" + Self.asideMark + id.rawValue
        do throws(PlatformError) {
            guard let entry = entry(id), entry.renewedAt < moment,
                try FileSystem.rename(path(id), to: aside)
            else { return false }
            let stamp = FileSystem.stamp(of: aside)
            guard let stamp, stamp.modifiedNanoseconds / 1_000 < moment.microseconds else {
                // Renewed between the look and the rename; put again since, it has the same bytes.
                _ = try FileSystem.rename(aside, to: path(id))
                return false
            }
            // Not there where another sweep has put it back, as if this one had been killed.
            return try FileSystem.remove(aside)
        } catch {
            throw Failure(.unreadable, "blob \(id) cannot be removed: \(error)")
        }
    }
}
