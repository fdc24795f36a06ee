// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A whole file mapped read-only into memory, lent as bytes; any thread may read.
///
/// Meant for immutable files: the bytes must not change, and the file must not be cut short, while
/// it is mapped (the kernel answers a read past a new end with SIGBUS). Deleting or replacing its
/// name does no harm.
@safe
public final class MappedFile: Sendable {
    // Never written after init, unmapped in deinit only.
    @usableFromInline nonisolated(unsafe) let base: UnsafeRawPointer?
    /// Number of bytes.
    public let byteCount: Int
    /// The path it was opened with.
    public let path: String
    /// Whether the kernel can read the bytes again.
    private let isFile: Bool

    /// Maps a regular file; an empty one gives zero bytes.
    public init(path: String) throws(MappingError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw MappingError(path: path, errorNumber: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw MappingError(path: path, errorNumber: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw MappingError(path: path, errorNumber: EISDIR)
        }
        let count = Int(status.st_size)
        var mapped: UnsafeRawPointer?
        if count > 0 {
            let address = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0)
            guard unsafe address != MAP_FAILED else {
                throw MappingError(path: path, errorNumber: errno)
            }
            unsafe mapped = UnsafeRawPointer(address)
        }
        unsafe base = mapped
        byteCount = count
        self.path = path
        isFile = true
    }

    /// Bytes in memory without a file, read-only from now on; `path` is their name in messages.
    public init(copying bytes: [UInt8], path: String) throws(MappingError) {
        var mapped: UnsafeRawPointer?
        if !bytes.isEmpty {
            let address = unsafe mmap(
                nil, bytes.count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard unsafe address != MAP_FAILED, let start = unsafe address else {
                throw MappingError(path: path, errorNumber: errno)
            }
            unsafe UnsafeMutableRawBufferPointer(start: start, count: bytes.count)
                .copyBytes(from: bytes)
            unsafe mprotect(start, bytes.count, PROT_READ)
            unsafe mapped = UnsafeRawPointer(start)
        }
        unsafe base = mapped
        byteCount = bytes.count
        self.path = path
        isFile = false
    }

    /// Lends the bytes for the length of the call.
    @inlinable
    @inline(__always)
    public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try body(
            unsafe RawSpan(
                _unsafeBytes: UnsafeRawBufferPointer(start: base, count: byteCount)))
    }

    /// A copy of some of the bytes; the range is cut to the file.
    public func copy(_ range: Range<Int>) -> [UInt8] {
        let range = range.clamped(to: 0..<byteCount)
        guard !range.isEmpty, let start = unsafe base else { return [] }
        return unsafe [UInt8](
            UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count))
    }

    /// Whether the bytes occur in the file; no bytes occur everywhere.
    public func contains(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        guard let start = unsafe base else { return false }
        var place = 0
        while place + bytes.count <= byteCount,
            let found = unsafe memchr(
                start + place, Int32(first), byteCount - place - bytes.count + 1)
        {
            if unsafe memcmp(found, bytes, bytes.count) == 0 { return true }
            place = unsafe UnsafeRawPointer(found) - start + 1
        }
        return false
    }

    /// The expected access pattern.
    public enum Access: Sendable {
        /// Random: read nothing ahead.
        case random
        /// Sequential, from front to back.
        case sequential
        /// All of it soon: read ahead now.
        case willNeed
    }

    /// Advises the kernel of the access pattern; a hint, so it cannot fail.
    public func advise(_ access: Access) {
        guard let address = unsafe base else { return }
        let advice =
            switch access {
            case .random: MADV_RANDOM
            case .sequential: MADV_SEQUENTIAL
            case .willNeed: MADV_WILLNEED
            }
        unsafe _ = madvise(UnsafeMutableRawPointer(mutating: address), byteCount, advice)
    }

    /// Takes the bytes out of this process's resident memory.
    ///
    /// What is read again comes from the kernel's cache or the disk. Without effect on a copy of
    /// bytes.
    public func evict() {
        guard isFile, let address = unsafe base else { return }
        unsafe _ = madvise(UnsafeMutableRawPointer(mutating: address), byteCount, MADV_DONTNEED)
    }

    deinit {
        if let address = unsafe base {
            _ = unsafe munmap(UnsafeMutableRawPointer(mutating: address), byteCount)
        }
    }
}

/// A failure to map a file.
public struct MappingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// The `errno`.
    public let errorNumber: Int32

    /// Whether the file does not exist.
    public var isNotFound: Bool { errorNumber == ENOENT }

    /// One sentence with the path and the system's reason.
    public var description: String {
        let reason = unsafe String(cString: strerror(errorNumber))
        return "cannot read '\(path)': \(reason)"
    }
}
