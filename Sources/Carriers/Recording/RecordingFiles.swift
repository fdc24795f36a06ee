// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site

/// Bounds on the size and age of recordings.
public struct RecordingLimits: Hashable, Sendable {
    /// A file is ended at this size, in bytes.
    public var segmentByteCount: Int64 = 8 << 20
    /// Total size of a site's recordings, which one file of each process may exceed for moments.
    ///
    /// The oldest go first.
    public var totalByteCount: Int64 = 128 << 20
    /// Longest age of a file, from its beginning, in seconds.
    public var ageSeconds: Int64 = 7 * 24 * 3600

    /// The defaults of every site.
    public init() {}
}

/// The files of a site's recordings: `<microseconds since 1970>-<process>-<process id>.jsonl`, so
/// that the order of names is that of time.
///
/// Used by one thread.
struct RecordingFiles {
    private struct Segment: ~Copyable {
        var file: OutputFile
        let path: String
        /// The stamp of the file at its creation; nil when inaccessible.
        let made: FileStamp?
        var byteCount = 0
        var begunAt: Int64
    }

    /// A segment in a box, because an optional of a noncopyable cannot lie in a copyable struct.
    private final class Open {
        var segment: Segment
        init(_ segment: consuming Segment) { self.segment = segment }

        /// Whether the file still has its name: it, or its directory, may be removed at any time.
        var isInPlace: Bool {
            guard let made = segment.made, let now = FileSystem.stamp(of: segment.path) else {
                return false
            }
            return now.isSameFile(as: made)
        }
    }

    private let directory: String
    private let process: String
    private let limits: RecordingLimits
    private var open: Open?

    init(directory: String, process: String, limits: RecordingLimits) {
        self.directory = directory
        self.process = process
        self.limits = limits
    }

    /// False when the bytes could not be written; the next ones go into a new file.
    mutating func append(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return true }
        do {
            let open = try segment(for: bytes.count)
            try open.segment.file.write(bytes, at: open.segment.byteCount)
            open.segment.byteCount += bytes.count
            return true
        } catch {
            open = nil
            return false
        }
    }

    mutating func close() { open = nil }

    private mutating func segment(for byteCount: Int) throws -> Open {
        let now = WallClock.microseconds()
        if let open, Int64(open.segment.byteCount + byteCount) <= limits.segmentByteCount,
            (0..<3_600_000_000).contains(now - open.segment.begunAt), open.isInPlace
        {
            return open
        }
        open = nil
        try Site.makePrivateDirectory(directory)
        RecordingDirectory(path: directory).trim(to: limits, at: now)
        let path = directory + "/\(now)-\(process)-\(OwnProgram.processID()).jsonl"
        let file = try OutputFile(creating: path)
        let made = Open(
            Segment(file: file, path: path, made: FileSystem.stamp(of: path), begunAt: now))
        open = made
        return made
    }
}

/// A site's recordings, as seen by readers and by trimming.
public struct RecordingDirectory: Sendable {
    /// The directory.
    public let path: String

    /// Names a directory, which need not exist.
    public init(path: String) { self.path = path }

    /// Its files, oldest first.
    public var files: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter(Self.isRecording)
            .sorted { (Self.beginning(of: $0) ?? 0, $0) < (Self.beginning(of: $1) ?? 0, $1) }
            .map { path + "/" + $0 }
    }

    /// File names in it that are not recordings, in byte order.
    public var otherNames: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { !Self.isRecording($0) }.sorted()
    }

    private static func isRecording(_ name: String) -> Bool {
        name.hasSuffix(".jsonl") && beginning(of: name) != nil
    }

    private static func beginning(of name: String) -> Int64? {
        Int64(name.split(separator: "/").last?.prefix { $0 != "-" } ?? "")
    }

    /// Removes files that are too old, and the oldest until the rest is small enough.
    public func trim(to limits: RecordingLimits, at now: Int64) {
        var left: [(path: String, byteCount: Int64)] = []
        for path in files {
            let begun = Self.beginning(of: path) ?? 0
            if now - begun > limits.ageSeconds * 1_000_000 {
                OutputFile.remove(path)
                continue
            }
            left.append((path, FileSystem.byteCount(of: path) ?? 0))
        }
        var total = left.reduce(0) { $0 + $1.byteCount }
        for (path, byteCount) in left where total > limits.totalByteCount {
            OutputFile.remove(path)
            total -= byteCount
        }
    }
}
