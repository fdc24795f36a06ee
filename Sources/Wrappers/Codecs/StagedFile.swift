// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc
public import Platform

/// A file that becomes visible complete or not at all.
///
/// Until published it has no name (`O_TMPFILE`): one that is dropped, or whose process is killed,
/// leaves nothing behind. On file systems without such files it has a hidden name, `.staged-…`,
/// which a killed process leaves and no process opens. Bytes are hashed as they are written.
/// `publish` syncs the file, gives it its name, and syncs the directory. Used from one thread.
@safe
public struct StagedFile: ~Copyable {
    private let descriptor: Int32
    private let directory: String
    /// Its hidden name; nil when it has none.
    private let hiddenPath: String?
    private var hash = SHA256()
    private var isPublished = false
    /// Number of bytes written.
    public private(set) var byteCount: Int64 = 0

    /// Creates an empty file, mode 0600, in a directory of the file system it shall stay on.
    public init(inDirectory directory: String) throws(PlatformError) {
        try self.init(inDirectory: directory, isNameless: true)
    }

    /// With a hidden name where `isNameless` is false.
    package init(inDirectory directory: String, isNameless: Bool) throws(PlatformError) {
        self.directory = directory
        let nameless = isNameless ? unsafe cairn_open_nameless(directory) : -1
        guard nameless < 0 else {
            hiddenPath = nil
            descriptor = nameless
            return
        }
        let path = Self.hiddenPath(in: directory)
        hiddenPath = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
    }

    private static func hiddenPath(in directory: String) -> String {
        var random = SystemRandomNumberGenerator()
        return directory + "/.staged-\(getpid())-" + String(random.next(), radix: 36)
    }

    /// Appends bytes; throws with `isNoSpace` on a full disk.
    public mutating func write(_ bytes: RawSpan) throws(PlatformError) {
        let failure = unsafe bytes.withUnsafeBytes { buffer -> PlatformError? in
            var offset = 0
            while offset < buffer.count {
                let written = unsafe Glibc.write(
                    descriptor, buffer.baseAddress.map { unsafe $0 + offset }, buffer.count - offset
                )
                if written < 0 {
                    if errno == EINTR { continue }
                    return PlatformError(operation: "write", subject: hiddenPath ?? directory)
                }
                offset += written
            }
            return nil
        }
        if let failure { throw failure }
        hash.update(bytes)
        byteCount += Int64(bytes.byteCount)
    }

    /// Appends bytes.
    public mutating func write(_ bytes: [UInt8]) throws(PlatformError) {
        unsafe try write(bytes.span.bytes)
    }

    /// Appends another file's bytes, read in pieces of 256 KiB.
    public mutating func write(contentsOfFile path: String) throws(PlatformError) {
        let source = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw PlatformError(operation: "open", subject: path) }
        defer { close(source) }
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { buffer in
                unsafe read(source, buffer.baseAddress, buffer.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw PlatformError(operation: "read", subject: path) }
            guard count > 0 else { return }
            unsafe try write(piece.span.extracting(0..<count).bytes)
        }
    }

    /// The SHA-256 of the bytes written so far.
    public var digest: SHA256.Digest { hash.finish() }

    /// Makes the bytes durable and gives them their name, on the same file system.
    ///
    /// - Parameters:
    ///   - path: The file's name from now on.
    ///   - replacing: Whether a file of that name is replaced; otherwise it is left as it is.
    /// - Returns: Whether the name now stands for these bytes; false only when `replacing` is false
    ///   and the file existed.
    @discardableResult
    public consuming func publish(
        as path: String, replacing: Bool = true
    ) throws(PlatformError) -> Bool {
        guard fsync(descriptor) == 0 else {
            throw PlatformError(operation: "fsync", subject: hiddenPath ?? directory)
        }
        if replacing {
            // Only a rename replaces a file, and it needs a name to rename.
            let hidden = if let hiddenPath { hiddenPath } else { try named() }
            guard unsafe rename(hidden, path) == 0 else {
                let error = PlatformError(operation: "rename", subject: path)
                _ = unsafe unlink(hidden)
                throw error
            }
            isPublished = true
        } else if link(as: path) != 0 {
            if errno == EEXIST { return false }
            throw PlatformError(operation: "link", subject: path)
        }
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try Self.syncDirectory(directory.isEmpty ? "/" : directory)
        return true
    }

    private borrowing func link(as path: String) -> Int32 {
        guard let hiddenPath else { return unsafe cairn_name_file(descriptor, path) }
        return unsafe Glibc.link(hiddenPath, path)
    }

    /// Gives it a hidden name.
    private borrowing func named() throws(PlatformError) -> String {
        let path = Self.hiddenPath(in: directory)
        guard link(as: path) == 0 else { throw PlatformError(operation: "link", subject: path) }
        return path
    }

    /// Makes a file durable that another writer has written and closed, and gives it its name, on
    /// the same file system; a file of that name is replaced.
    public static func publish(_ staged: String, as path: String) throws(PlatformError) {
        try sync(staged)
        guard unsafe rename(staged, path) == 0 else {
            throw PlatformError(operation: "rename", subject: path)
        }
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try syncDirectory(directory.isEmpty ? "/" : directory)
    }

    /// Makes the bytes of a file durable that another writer has written and closed.
    public static func sync(_ path: String) throws(PlatformError) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw PlatformError(operation: "open", subject: path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw PlatformError(operation: "fsync", subject: path) }
    }

    /// Makes the names in a directory durable.
    public static func syncDirectory(_ path: String) throws(PlatformError) {
        let directory = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw PlatformError(operation: "open", subject: path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw PlatformError(operation: "fsync", subject: path) }
    }

    deinit {
        close(descriptor)
        if !isPublished, let hiddenPath { _ = unsafe unlink(hiddenPath) }
    }
}
