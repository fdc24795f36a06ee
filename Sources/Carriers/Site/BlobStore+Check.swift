// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Platform
internal import Synchronization

/// The states of files that this process has read whole and found intact.
private final class SoundFiles: Sendable {
    private let known = Mutex<[String: FileStamp]>([:])

    /// Most files remembered.
    private static let limit = 10_000

    func contains(_ path: String, _ stamp: FileStamp) -> Bool {
        known.withLock { $0[path] == stamp }
    }

    func insert(_ path: String, _ stamp: FileStamp) {
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll() }
            known[path] = stamp
        }
    }
}

extension BlobStore {
    private static let sound = SoundFiles()

    /// Verifies a blob by reading it whole, unless this process has done so and its file has the
    /// same inode, size and time of change.
    ///
    /// `step` is called after each piece read, 256 KiB at most. Throws the errors of `step`, and
    /// `Failure`: `notFound`, `unreadable`, `corrupt` when the bytes do not match its id.
    public func check(
        _ blob: BlobReference, _ step: () throws(Failure) -> Void = {}
    ) throws(Failure) {
        let path = path(blob.id)
        let stamp = FileSystem.stamp(of: path)
        if let stamp, FileSystem.byteCount(of: path) == blob.byteCount,
            Self.sound.contains(path, stamp)
        {
            return
        }
        try read(blob) { _ throws(Failure) in try step() }
        guard let stamp, FileSystem.stamp(of: path) == stamp else { return }
        Self.sound.insert(path, stamp)
    }

    func isSound(_ blob: BlobReference) -> Bool {
        do throws(Failure) {
            try check(blob)
            return true
        } catch {
            return false
        }
    }
}
