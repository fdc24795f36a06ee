// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import Platform
internal import Synchronization

/// A blob that comes in pieces: kept when it is whole, gone when this goes before.
///
/// Any thread, one call at a time; calls block on the disk.
public final class BlobWriter: Sendable {
    let file: Mutex<StagedFile?>
    let directory: String

    /// Begins one; throws `Failure` (`noSpace`, `unreadable`).
    public convenience init(_ store: BlobStore) throws(Failure) {
        try self.init(inDirectory: store.directory)
    }

    init(inDirectory directory: String) throws(Failure) {
        self.directory = directory
        do throws(PlatformError) {
            file = Mutex(try StagedFile(inDirectory: directory))
        } catch {
            throw Failure(error)
        }
    }

    /// Appends bytes; throws `Failure` (`noSpace`, `unreadable`).
    public func write(_ bytes: [UInt8]) throws(Failure) {
        do throws(PlatformError) {
            try file.withLock { file throws(PlatformError) in try file?.write(bytes) }
        } catch {
            throw Failure(error)
        }
    }

    /// Keeps the bytes written; on return they are on the disk.
    ///
    /// Throws `Failure` (`noSpace`, `unreadable`); a second call throws `conflict`.
    public func keep(mediaType: String) throws(Failure) -> BlobReference {
        let kept: BlobReference?
        do throws(PlatformError) {
            kept = try file.withLock { file throws(PlatformError) in
                guard let staged = file.take() else { return nil }
                return try BlobStore.keep(staged, in: directory, mediaType: mediaType)
            }
        } catch {
            throw Failure(error)
        }
        guard let kept else { throw Failure(.conflict, "the blob is kept already") }
        return kept
    }
}
