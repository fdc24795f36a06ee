// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import Synchronization

/// An upload that arrives in parts.
public struct PartialUpload: Hashable, Sendable, Codable {
    /// The name that its uploader gave it.
    public var name: String
    /// The whole, once it is committed.
    public var blob: BlobReference?
}

// An upload in parts is a folder `parts-<uuid>` among the entries of its owner: `item.json`, and
// each part under its number. It outlives every process; a sweep takes it by the time of its last
// change.
extension UploadLedger {
    /// The numbers that parts may have.
    public static let partNumbers = 1...10_000
    /// Uploads in parts of one owner.
    public static let partialLimit = 256

    static let partialPrefix = "parts-"
    private static let itemFile = "/item.json"

    /// The folder of an upload that there may be; throws `notFound` for what is no id.
    func folder(ofPartial id: String, of owner: Owner) throws(Failure) -> String {
        guard let uuid = UUID(uuidString: id) else { throw Self.unknown(id) }
        return path(of: owner) + "/" + Self.partialPrefix + uuid.uuidString.lowercased()
    }

    private static func unknown(_ id: String) -> Failure {
        Failure(.notFound, "you have registered no upload '\(id.prefix(80))', or it was swept")
    }

    /// Begins an upload in parts; returns its id, which cannot be guessed.
    ///
    /// The oldest committed ones of the owner are forgotten at the limit. Throws `Failure`
    /// (`tooLarge` where none of them is committed, `noSpace`, `unreadable`).
    public func register(_ name: String, of owner: Owner) throws(Failure) -> String {
        do throws(PlatformError) { try makeFolder(of: owner) } catch { throw Failure(error) }
        try makeRoom(for: owner)
        let id = UUID.unguessable().uuidString.lowercased()
        let folder = path(of: owner) + "/" + Self.partialPrefix + id
        do throws(PlatformError) {
            try PrivateDirectory.make(at: folder)
            try StagedFile.syncDirectory(path(of: owner))
        } catch {
            throw Failure(error)
        }
        try Self.write(PartialUpload(name: name), in: folder)
        return id
    }

    private func makeRoom(for owner: Owner) throws(Failure) {
        let folders = try Self.names(in: path(of: owner)).filter {
            $0.hasPrefix(Self.partialPrefix)
        }.map { path(of: owner) + "/" + $0 }
        guard folders.count >= Self.partialLimit else { return }
        let committed = folders.filter { (try? Self.read($0))?.blob != nil }
        let oldest = committed.min {
            FileSystem.modified($0) ?? 0 < FileSystem.modified($1) ?? 0
        }
        guard let oldest else {
            throw Failure(
                .tooLarge,
                "\(folders.count) uploads in parts await their commit, which is the most: commit "
                    + "them, or wait until the site's operator sweeps ('cairn job sweep')")
        }
        try Self.remove(oldest)
    }

    /// An owner's upload in parts; throws `notFound`.
    public func partial(_ id: String, of owner: Owner) throws(Failure) -> PartialUpload {
        guard let found = try Self.read(folder(ofPartial: id, of: owner)) else {
            throw Self.unknown(id)
        }
        return found
    }

    /// The blob that an owner's upload in parts became; nil for any other id.
    public func committed(_ id: String, of owner: Owner) -> ContentID? {
        (try? partial(id, of: owner))?.blob?.id
    }

    /// The numbers of the parts that are here, rising; throws `notFound`.
    public func parts(of id: String, _ owner: Owner) throws(Failure) -> [Int] {
        _ = try partial(id, of: owner)
        return try Self.names(in: folder(ofPartial: id, of: owner)).compactMap { Int($0) }.sorted()
    }

    /// Joins parts into a blob of the owner, all of them by number where none are named; the parts
    /// are then gone.
    ///
    /// Another commit is answered as the first. Throws `Failure`: `notFound` for the upload or a
    /// part, `invalidParameter` for a part named twice and for none, `tooLarge` beyond `byteLimit`,
    /// `noSpace`, `unreadable`.
    public func commit(
        _ id: String, parts wanted: [Int]?, of owner: Owner, byteLimit: Int64
    ) throws(Failure) -> (upload: PartialUpload, blob: BlobReference) {
        var upload = try partial(id, of: owner)
        if let blob = upload.blob { return (upload, blob) }
        let present = try parts(of: id, owner)
        let numbers = wanted ?? present
        guard !numbers.isEmpty, Set(numbers).count == numbers.count else {
            throw Failure(
                .invalidParameter,
                numbers.isEmpty
                    ? "no part of upload '\(id)' has been uploaded"
                    : "a part is named twice: expected the number of each part once")
        }
        if let missing = Set(numbers).subtracting(present).min() {
            throw Failure(.notFound, "part \(missing) of upload '\(id)' has not been uploaded")
        }
        let folder = try folder(ofPartial: id, of: owner)
        let byteCount = numbers.reduce(Int64(0)) { sum, number in
            sum + (FileSystem.byteCount(of: folder + "/\(number)") ?? 0)
        }
        guard byteCount <= byteLimit else {
            throw Failure(
                .tooLarge,
                "the parts have \(byteCount) bytes; an upload has at most \(byteLimit)")
        }
        let writer = try BlobWriter(blobs)
        for number in numbers { try writer.write(contentsOfFile: folder + "/\(number)") }
        let blob = try writer.keep(mediaType: "application/octet-stream")
        try note(blob.id, of: owner)
        upload.blob = blob
        try Self.write(upload, in: folder)
        do throws(PlatformError) {
            for number in present { _ = try FileSystem.remove(folder + "/\(number)") }
        } catch {
            throw Failure(error)
        }
        return (upload, blob)
    }

    /// The charge of the parts in a folder.
    func partsByteCount(in folder: String) throws(Failure) -> Int64 {
        try Self.names(in: folder).reduce(0) { sum, name in
            guard Int(name) != nil, let count = FileSystem.byteCount(of: folder + "/" + name)
            else { return sum }
            return sum + Self.charge(count)
        }
    }

    // MARK: Files

    private static func read(_ folder: String) throws(Failure) -> PartialUpload? {
        guard let data = FileManager.default.contents(atPath: folder + itemFile) else { return nil }
        return try CairnJSON.decode(PartialUpload.self, from: data)
    }

    private static func write(_ upload: PartialUpload, in folder: String) throws(Failure) {
        let bytes = Array(try CairnJSON.encode(upload))
        do throws(PlatformError) {
            var file = try StagedFile(inDirectory: folder)
            try file.write(bytes)
            try file.publish(as: folder + itemFile)
        } catch {
            throw Failure(error)
        }
    }

    static func removePartial(
        at folder: String, ifBefore moment: Timestamp
    ) throws(Failure) {
        guard let stamp = FileSystem.stamp(of: folder),
            stamp.modifiedNanoseconds / 1_000 < moment.microseconds
        else { return }
        try remove(folder)
    }

    private static func remove(_ folder: String) throws(Failure) {
        do { try FileManager.default.removeItem(atPath: folder) } catch {
            throw Failure(.unreadable, "'\(folder)' cannot be removed: \(error)")
        }
    }
}

extension BlobWriter {
    /// Begins a part of an owner's upload; throws `Failure` (`notFound`, `conflict` for one that is
    /// committed, `noSpace`, `unreadable`).
    public convenience init(
        partOf id: String, of owner: UploadLedger.Owner, in ledger: UploadLedger
    ) throws(Failure) {
        guard try ledger.partial(id, of: owner).blob == nil else {
            throw Failure(.conflict, "upload '\(id)' is committed: it takes no further part")
        }
        try self.init(inDirectory: try ledger.folder(ofPartial: id, of: owner))
    }

    /// Keeps the bytes written as a part of that number, in place of an earlier one; on return they
    /// are on the disk.
    ///
    /// Throws `Failure` (`noSpace`, `unreadable`); a second call throws `conflict`.
    public func keep(asPart number: Int) throws(Failure) {
        do throws(PlatformError) {
            let isKept = try file.withLock { file throws(PlatformError) in
                guard let staged = file.take() else { return false }
                return try staged.publish(as: directory + "/\(number)")
            }
            guard !isKept else { return }
        } catch {
            throw Failure(error)
        }
        throw Failure(.conflict, "the part is kept already")
    }

    func write(contentsOfFile path: String) throws(Failure) {
        do throws(PlatformError) {
            try file.withLock { file throws(PlatformError) in
                try file?.write(contentsOfFile: path)
            }
        } catch {
            throw Failure(error)
        }
    }
}
