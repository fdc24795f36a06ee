// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import Site

/// Copies files from one folder to the same places of another, durable and whole, readable by
/// their owner alone.
struct FileCopies {
    let source: String
    let target: String
    private(set) var copiedCount = 0
    private(set) var copiedBytes: Int64 = 0
    private var progress = ProgressLine()
    private var made: Set<String> = []

    init(from source: String, to target: String) {
        self.source = source
        self.target = target
    }

    /// The plain files below a path of the source, or the file that it is, relative to the source,
    /// in byte order; hidden ones, which are not whole yet, and links are left out.
    func files(below path: String) throws(Failure) -> [String] {
        switch FileSystem.kind(of: source + "/" + path, followingLinks: false) {
        case .file?: return [path]
        case .directory?: break
        default: return []
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: source + "/" + path)
        } catch {
            throw Failure(.unreadable, "'\(source)/\(path)' cannot be read: \(error)")
        }
        var found: [String] = []
        for name in names.sorted() where !name.hasPrefix(".") {
            found += try files(below: path + "/" + name)
        }
        return found
    }

    /// Copies a file, replacing one; nil where the source has been removed meanwhile.
    ///
    /// Throws `Failure`: `noSpace`, `unreadable`.
    mutating func copy(_ path: String) throws(Failure) -> BackupManifest.File? {
        let folder = (target + "/" + path).split(separator: "/").dropLast().reduce("") {
            $0 + "/" + $1
        }
        if made.insert(folder).inserted { try Site.makeDirectory(folder) }
        do throws(PlatformError) {
            var file = try StagedFile(inDirectory: folder)
            try file.write(contentsOfFile: source + "/" + path)
            let copy = BackupManifest.File(
                path: path, byteCount: file.byteCount, hash: ContentID(file.digest))
            try file.publish(as: target + "/" + path)
            copiedCount += 1
            copiedBytes += copy.byteCount
            progress.show("\(copiedCount) files, \(copiedBytes.byteText): \(path)")
            return copy
        } catch {
            guard FileSystem.kind(of: source + "/" + path) != nil else { return nil }
            throw Failure(error)
        }
    }

    /// Copies a file of a manifest; throws `corrupt` where its bytes are others.
    mutating func copy(_ file: BackupManifest.File) throws(Failure) {
        let copy = try copy(file.path)
        guard copy == file else {
            throw Failure(
                .corrupt,
                "'\(source)/\(file.path)': "
                    + (copy.map { "it has \($0.byteCount) bytes, SHA-256 \($0.hash)" }
                        ?? "it is missing")
                    + "; expected \(file.byteCount) bytes, SHA-256 \(file.hash)")
        }
    }

    /// Erases the line of progress.
    func end() { progress.clear() }
}
