// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc
internal import Synchronization

/// A file of entries that is written by writing to memory: an entry costs no system call and
/// outlives the process, however that ends; a power cut may take the last seconds.
///
/// The file has its whole size from the beginning, so that a full disk shows when it is made.
/// Layout: the header's bytes, then entries of a length (4 bytes, little-endian) and their bytes,
/// each at a multiple of 4; the length 0, or the end of the file, ends them. Any thread may append.
@safe
public final class MappedJournal: Sendable {
    /// The file.
    public let path: String
    // Bytes below the offset are never written again; those above only under the lock.
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let byteCount: Int
    private let offset: Mutex<Int>

    /// Makes a file of that size, mode 0600; throws where one of that name exists, and on a full
    /// disk.
    ///
    /// The header has a multiple of 4 bytes, fewer than the file.
    public init(
        creating path: String, byteCount: Int, header: [UInt8]
    ) throws(PlatformError) {
        self.path = path
        self.byteCount = byteCount
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
        defer { Glibc.close(descriptor) }
        errno = posix_fallocate(descriptor, 0, off_t(byteCount))
        guard errno == 0 else {
            let error = PlatformError(operation: "fallocate", subject: path)
            _ = unsafe unlink(path)
            throw error
        }
        let address = unsafe mmap(
            nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard unsafe address != MAP_FAILED, let start = unsafe address else {
            let error = PlatformError(operation: "mmap", subject: path)
            _ = unsafe unlink(path)
            throw error
        }
        unsafe base = start
        offset = Mutex(header.count)
        unsafe UnsafeMutableRawBufferPointer(start: start, count: byteCount)
            .copyBytes(from: header)
    }

    /// Appends an entry of at least one byte; false where the file has no room for it.
    public func append(_ entry: [UInt8]) -> Bool {
        offset.withLock { offset in
            let end = offset + 4 + (entry.count + 3) & ~3
            guard end <= byteCount else { return false }
            unsafe UnsafeMutableRawBufferPointer(start: base + offset + 4, count: entry.count)
                .copyBytes(from: entry)
            // Last, so that a killed process leaves a whole entry or none.
            unsafe cairn_store_shared_length(base + offset, UInt32(entry.count))
            offset = end
            return true
        }
    }

    /// Gives back the room that no entry needs; to be called once, after the last entry.
    public func close() {
        let used = offset.withLock { offset in
            defer { offset = byteCount }
            return offset
        }
        guard used < byteCount else { return }
        _ = unsafe truncate(path, off_t(used))
    }

    deinit { unsafe munmap(base, byteCount) }
}

/// The entries of a `MappedJournal`'s file, which a process may still append to.
public struct JournalEntries: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    /// Where the next entry's length is.
    public private(set) var offset: Int

    /// Reads the file behind a header of that many bytes; throws its error.
    public init(of path: String, after headerByteCount: Int) throws(PlatformError) {
        let file: MappedFile
        do { file = try MappedFile(path: path) } catch {
            throw PlatformError(code: error.errorNumber, operation: "map", subject: path)
        }
        bytes = file.copy(0..<file.byteCount)
        offset = headerByteCount
    }

    /// The file's first bytes.
    public func header(_ count: Int) -> [UInt8] { Array(bytes.prefix(count)) }

    /// The next entry; nil at the end, and from a damaged length on.
    public mutating func next() -> [UInt8]? {
        guard offset + 4 <= bytes.count else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
        guard length > 0, offset + 4 + length <= bytes.count else { return nil }
        defer { offset += 4 + (length + 3) & ~3 }
        return Array(bytes[(offset + 4)..<(offset + 4 + length)])
    }
}
