// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
public import FoundationEssentials
internal import Platform

/// Snapshots of folded states, so that the next process need not fold the whole log: files that can
/// all be deleted without changing an answer.
///
/// A file is a line of JSON (its ``Label``), a line for each piece of the state, and the SHA-256 of
/// all that. A value; may be used on any thread and in any process, by one writer at a time. Calls
/// block on the disk.
public struct SnapshotStore: Hashable, Sendable {
    /// The header of a snapshot file.
    public struct Label: Hashable, Sendable, Codable {
        /// The name of the state: `maps`.
        public var state: String
        /// The form of the snapshot; files of another form are skipped.
        public var form: String
        /// The incarnation of the folded log.
        public var incarnation: UUID
        /// The last event folded in.
        public var sequence: Int64
        /// The end of the commit that holds that event.
        public var committedThrough: Int64
        /// The log's hash chain there, 64 hexadecimal digits.
        public var chainHash: String
        /// The hash of the state.
        public var stateHash: ContentID

        /// Makes a label.
        public init(
            state: String, form: String, incarnation: UUID, sequence: Int64,
            committedThrough: Int64, chainHash: String, stateHash: ContentID
        ) {
            self.state = state
            self.form = form
            self.incarnation = incarnation
            self.sequence = sequence
            self.committedThrough = committedThrough
            self.chainHash = chainHash
            self.stateHash = stateHash
        }
    }

    /// A file of the folder, by its name.
    public struct Name: Hashable, Sendable {
        /// The incarnation of the folded log.
        public var incarnation: UUID
        /// The last event folded in.
        public var sequence: Int64

        /// Names a file.
        public init(incarnation: UUID, sequence: Int64) {
            self.incarnation = incarnation
            self.sequence = sequence
        }

        fileprivate var file: String {
            let digits = String(sequence)
            let zeros = String(repeating: "0", count: max(0, 12 - digits.count))
            return "\(incarnation.uuidString.lowercased())-\(zeros)\(digits).snapshot"
        }

        fileprivate init?(file: String) {
            guard file.hasSuffix(".snapshot"), file.count > 46,
                let incarnation = UUID(uuidString: String(file.prefix(36))),
                let sequence = Int64(file.dropFirst(37).dropLast(9))
            else { return nil }
            self.init(incarnation: incarnation, sequence: sequence)
            guard self.file == file else { return nil }
        }
    }

    /// The largest file that is written or read.
    public static let byteBound: Int64 = 4 << 30

    /// The folder, whether it exists or not.
    public let directory: String

    /// The retention policy.
    public var ladder: SnapshotLadder

    /// Names a store.
    public init(directory: String, ladder: SnapshotLadder = .usual) {
        self.directory = directory
        self.ladder = ladder
    }

    /// The file of that name, whether it exists or not.
    public func path(_ name: Name) -> String { directory + "/" + name.file }

    /// The files there are, the latest first; none where the folder cannot be read.
    public func names() -> [Name] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.compactMap(Name.init(file:)).sorted { $0.sequence > $1.sequence }
    }

    /// The label of a file, and the pieces of its state.
    ///
    /// Throws `Failure`: `notFound`, `unreadable`, `tooLarge`, and `corrupt` for damaged bytes or a
    /// label other than that of `name`.
    public func read(_ name: Name) throws(Failure) -> (label: Label, pieces: [Data]) {
        let path = path(name)
        guard let size = FileSystem.byteCount(of: path) else {
            throw Failure(.notFound, "it is not there any more")
        }
        guard size <= Self.byteBound else { throw Failure(.tooLarge, "it has \(size) bytes") }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(.unreadable, "it cannot be read")
        }
        let body = bytes.dropLast(Self.digestByteCount)
        guard SHA256.digest(body.bytes).bytes.elementsEqual(bytes.suffix(Self.digestByteCount))
        else { throw Failure(.corrupt, "its bytes are not those that were written") }
        var lines = body.split(separator: UInt8(ascii: "\n"))
        guard let first = lines.first else { throw Failure(.corrupt, "it is empty") }
        let label = try CairnJSON.decode(Label.self, from: Data(first))
        guard Name(incarnation: label.incarnation, sequence: label.sequence) == name else {
            throw Failure(.corrupt, "it has the name of another")
        }
        lines.removeFirst()
        return (label, lines)
    }

    /// Writes a file, whole or not at all, and removes obsolete ones: those of other logs and
    /// forms, those after this one, and of the earlier ones those that its ``ladder`` drops.
    ///
    /// On return the file is on the disk. Throws `Failure` (`noSpace`, `unreadable`, `tooLarge`);
    /// then nothing has changed.
    public func write(_ label: Label, _ pieces: [Data]) throws(Failure) {
        try Site.makeDirectory(directory)
        let name = Name(incarnation: label.incarnation, sequence: label.sequence)
        let head = try CairnJSON.encode(label)
        let size = pieces.reduce(Int64(head.count)) { $0 + Int64($1.count) + 1 }
        guard size < Self.byteBound else { throw Failure(.tooLarge, "it would have \(size) bytes") }
        do throws(PlatformError) {
            try Self.write(head, pieces, as: path(name), in: directory)
        } catch {
            throw Failure(error)
        }
        removeOthers(than: name, form: label.form)
    }

    private static func write(
        _ head: Data, _ pieces: [Data], as path: String, in directory: String
    ) throws(PlatformError) {
        var file = try StagedFile(inDirectory: directory)
        var waiting = head
        waiting.append(UInt8(ascii: "\n"))
        for piece in pieces {
            waiting += piece
            waiting.append(UInt8(ascii: "\n"))
            guard waiting.count >= pieceByteCount else { continue }
            try file.write(waiting.bytes)
            waiting.removeAll(keepingCapacity: true)
        }
        try file.write(waiting.bytes)
        let digest = file.digest
        try file.write(digest.bytes)
        try file.publish(as: path)
    }

    private func removeOthers(than name: Name, form: String) {
        var rungs: [SnapshotLadder.Rung] = []
        for other in names() {
            let isOfUse =
                other.incarnation == name.incarnation && other.sequence <= name.sequence
                && (other == name || self.form(of: other) == form)
            guard isOfUse, let size = FileSystem.byteCount(of: path(other)) else {
                try? FileManager.default.removeItem(atPath: path(other))
                continue
            }
            rungs.append(SnapshotLadder.Rung(sequence: other.sequence, byteCount: size))
        }
        for sequence in ladder.removed(of: rungs) {
            let other = Name(incarnation: name.incarnation, sequence: sequence)
            try? FileManager.default.removeItem(atPath: path(other))
        }
        // Leftovers of a killed process; this process is the only writer here.
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for file in files where file.hasPrefix(".staged-") {
            try? FileManager.default.removeItem(atPath: directory + "/" + file)
        }
    }

    /// The form that the first line of a file states, unchecked; nil where there is no such line.
    private func form(of name: Name) -> String? {
        guard let file = try? MappedFile(path: path(name)) else { return nil }
        let head = file.copy(0..<min(file.byteCount, Self.labelByteCount))
        guard let end = head.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return try? CairnJSON.decode(Label.self, from: Data(head[..<end])).form
    }

    /// More than any label takes.
    private static let labelByteCount = 4 << 10
    private static let digestByteCount = 32
    private static let pieceByteCount = 256 << 10
}
