// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
public import FoundationEssentials
internal import Platform

/// Bytes kept under their SHA-256: written once, complete or not at all, never changed.
///
/// A value; may be used on any thread and in any process. Calls block on the disk.
public struct BlobStore: Hashable, Sendable {
    /// The blobs' directory.
    public let directory: String

    /// Names a store; the directory must exist when something is put.
    public init(directory: String) { self.directory = directory }

    /// The file of a blob, whether it exists or not.
    public func path(_ id: ContentID) -> String { directory + "/" + id.rawValue }

    /// Whether the blob is here.
    public func contains(_ id: ContentID) -> Bool {
        FileManager.default.fileExists(atPath: path(id))
    }

    /// A reference to the blob with this id, without its media type; nil when it is absent.
    public func find(_ id: ContentID) -> BlobReference? {
        guard let size = FileSystem.byteCount(of: path(id)) else { return nil }
        return BlobReference(id: id, byteCount: size, mediaType: "application/octet-stream")
    }

    /// Where the work of a job keeps files on their way to becoming blobs.
    public var stagingDirectory: String { directory + "/.staging" }

    /// Keeps bytes; when it returns they are on the disk.
    ///
    /// Throws `Failure` (`noSpace`,
    /// `unreadable`).
    public func put(_ bytes: Data, mediaType: String) throws(Failure) -> BlobReference {
        do {
            var file = try StagedFile(inDirectory: directory)
            try file.write(bytes.bytes)
            return try keep(file, mediaType: mediaType)
        } catch {
            throw Failure(error)
        }
    }

    /// Stores the output of `body`, written piece by piece, without holding it in memory; nothing
    /// when it throws.
    ///
    /// Throws the errors of `body`, and `Failure` as `put(_:mediaType:)`.
    public func put(
        mediaType: String, _ body: (_ write: (Data) throws -> Void) throws -> Void
    ) throws -> BlobReference {
        do {
            var file = try StagedFile(inDirectory: directory)
            var waiting = Data()
            try body { bytes in
                waiting += bytes
                guard waiting.count >= Self.pieceByteCount else { return }
                try file.write(waiting.bytes)
                waiting.removeAll(keepingCapacity: true)
            }
            try file.write(waiting.bytes)
            return try keep(file, mediaType: mediaType)
        } catch let error as PlatformError {
            throw Failure(error)
        }
    }

    private static let pieceByteCount = 256 << 10

    /// Keeps a copy of a file's bytes, as they are read now; otherwise as `put(_:mediaType:)`.
    public func put(file path: String, mediaType: String) throws(Failure) -> BlobReference {
        do {
            var file = try StagedFile(inDirectory: directory)
            try file.write(contentsOfFile: path)
            return try keep(file, mediaType: mediaType)
        } catch {
            throw Failure(error)
        }
    }

    /// Stores some bytes followed by other blobs, in order, without loading those into memory.
    ///
    /// Throws as `put(_:mediaType:)`, `notFound` for an absent blob, and `corrupt` for one whose
    /// bytes do not match its id when they are copied.
    public func put(
        _ bytes: Data, then blobs: [BlobReference], mediaType: String
    ) throws(Failure) -> BlobReference {
        var file = try begin(with: bytes)
        for blob in blobs {
            try read(blob) { piece throws(Failure) in
                do throws(PlatformError) { try file.write(piece) } catch { throw Failure(error) }
            }
        }
        do throws(PlatformError) {
            return try keep(file, mediaType: mediaType)
        } catch {
            throw Failure(error)
        }
    }

    private func begin(with bytes: Data) throws(Failure) -> StagedFile {
        do throws(PlatformError) {
            var file = try StagedFile(inDirectory: directory)
            try file.write(bytes.bytes)
            return file
        } catch {
            throw Failure(error)
        }
    }

    private func keep(
        _ file: consuming StagedFile, mediaType: String
    ) throws(PlatformError) -> BlobReference {
        try Self.keep(file, in: directory, mediaType: mediaType)
    }

    static func keep(
        _ file: consuming StagedFile, in directory: String, mediaType: String
    ) throws(PlatformError) -> BlobReference {
        let blob = BlobReference(
            id: ContentID(file.digest), byteCount: file.byteCount, mediaType: mediaType)
        let store = BlobStore(directory: directory)
        // The existing file may have been damaged since. One that a sweep removes meanwhile is put
        // again.
        if store.renew(blob.id), store.isSound(blob), store.contains(blob.id) { return blob }
        try file.publish(as: store.path(blob.id))
        return blob
    }

    /// Reads a whole blob of at most `maximumByteCount` bytes into memory.
    ///
    /// Throws `Failure`: `notFound`, `tooLarge`, `unreadable`, `corrupt` when the bytes do not
    /// match its id.
    public func read(
        _ blob: BlobReference, maximumByteCount: Int64 = 1 << 30
    ) throws(Failure) -> Data {
        guard blob.byteCount <= maximumByteCount else {
            throw Failure(
                .tooLarge,
                "blob \(blob.id) has \(blob.byteCount) bytes; at most \(maximumByteCount) are read "
                    + "at once")
        }
        var bytes = Data(capacity: Int(blob.byteCount))
        try read(blob) { bytes += $0 }
        return bytes
    }

    /// Reads a blob's bytes piece by piece, to its end or to the first piece beyond the bound.
    ///
    /// Throws as ``read(_:maximumByteCount:)``, `corrupt` after the last piece, and the errors of
    /// `body`.
    func read(
        _ blob: BlobReference, _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        guard contains(blob.id) else {
            throw Failure(
                .notFound, "there is no blob \(blob.id): it was never put here, or has been swept")
        }
        var hash = SHA256()
        var byteCount: Int64 = 0
        let source: ByteSource
        do throws(PlatformError) { source = try ByteSource(path: path(blob.id)) } catch {
            throw Failure(.unreadable, "blob \(blob.id) cannot be read: \(error)")
        }
        while true {
            let piece: [UInt8]
            do throws(PlatformError) { piece = try source.read(upTo: Self.pieceByteCount) } catch {
                throw Failure(.unreadable, "blob \(blob.id) cannot be read: \(error)")
            }
            byteCount += Int64(piece.count)
            if piece.isEmpty || byteCount > blob.byteCount { break }
            hash.update(piece)
            try body(piece)
        }
        guard byteCount == blob.byteCount else {
            let size = FileSystem.byteCount(of: path(blob.id)) ?? byteCount
            throw Failure(
                .corrupt, "blob \(blob.id) has \(size) bytes; it was put with \(blob.byteCount)")
        }
        guard ContentID(hash.finish()) == blob.id else {
            throw Failure(
                .corrupt, "blob \(blob.id) is damaged: its bytes are not those it is named by")
        }
    }
}
