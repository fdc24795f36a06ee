// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// A whole number in a file that processes of one machine map: one process sets it, others read it,
/// which is an access to memory.
///
/// Any thread may read and set. The file must not be cut short while it is mapped.
@safe
public final class SharedNumber: Sendable {
    // Never written after init, unmapped in deinit only.
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer

    private static let byteCount = 8

    /// Maps the file to set the number, which is 0 in a new file; creates it if absent.
    public convenience init(settingIn path: String) throws(MappingError) {
        try self.init(path, PROT_READ | PROT_WRITE)
    }

    /// Maps the file to read the number, which is 0 in a new file; creates it if absent, so that
    /// either process may be the first.
    public convenience init(readingFrom path: String) throws(MappingError) {
        try self.init(path, PROT_READ)
    }

    private init(_ path: String, _ protection: Int32) throws(MappingError) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw MappingError(path: path, errorNumber: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw MappingError(path: path, errorNumber: errno)
        }
        guard
            status.st_size >= Self.byteCount || ftruncate(descriptor, off_t(Self.byteCount)) == 0
        else { throw MappingError(path: path, errorNumber: errno) }
        let address = unsafe mmap(nil, Self.byteCount, protection, MAP_SHARED, descriptor, 0)
        guard unsafe address != MAP_FAILED, let start = unsafe address else {
            throw MappingError(path: path, errorNumber: errno)
        }
        unsafe base = start
    }

    /// The number; setting it in a process that only reads ends the process.
    public var value: Int64 {
        get { unsafe cairn_load_shared(base) }
        set { unsafe cairn_store_shared(base, newValue) }
    }

    deinit { unsafe munmap(base, Self.byteCount) }
}
