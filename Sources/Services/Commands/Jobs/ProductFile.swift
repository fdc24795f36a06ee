// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import Site

/// The destination of a product: a file that is replaced atomically, or any other kind of path.
struct ProductFile {
    let path: String

    /// Replaces a regular file, also through a symbolic link; writes into a pipe or a device.
    ///
    /// Throws `Failure`: `corrupt` for a damaged blob, before anything but a temporary file is
    /// written, and `conflict` for a directory.
    func write(_ blob: BlobReference, of blobs: BlobStore) throws {
        let end = URL(filePath: path).resolvingSymlinksInPath().path
        switch Self.type(of: end) {
        case nil where !FileManager.default.fileExists(atPath: path), .typeRegular?:
            try replace(Self.type(of: path) == .typeSymbolicLink ? end : path, blob, blobs)
        case .typeDirectory?: throw Failure(.conflict, "'\(path)' is a directory")
        default: try writeThrough(blob, blobs)
        }
    }

    private static func type(of path: String) -> FileAttributeType? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType
    }

    private func replace(_ path: String, _ blob: BlobReference, _ blobs: BlobStore) throws {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        var file = try StagedFile(inDirectory: directory.isEmpty ? "/" : directory)
        try file.write(contentsOfFile: blobs.path(blob.id))
        guard ContentID(file.digest) == blob.id else {
            throw Failure(.corrupt, "the product's bytes no longer have the hash they are named by")
        }
        try file.publish(as: path)
    }

    private func writeThrough(_ blob: BlobReference, _ blobs: BlobStore) throws {
        try blobs.check(blob)
        let source = try ByteSource(path: blobs.path(blob.id))
        var target = try AppendedFile(path: path)
        while true {
            let bytes = try source.read(upTo: 256 << 10)
            if bytes.isEmpty { return }
            guard target.append(bytes) else {
                throw Failure(.unreadable, "'\(path)' cannot be written")
            }
        }
    }
}
