// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// A file that lines are appended to, and that may be renamed meanwhile: the next line then goes
/// into a new one of its name.
///
/// Used from one thread.
public struct AppendedFile: ~Copyable, Sendable {
    /// Its name.
    public let path: String
    private var descriptor: Int32

    /// Opens the file, or creates it with mode 0600.
    public init(path: String) throws(PlatformError) {
        self.path = path
        descriptor = try Self.open(path)
    }

    /// Appends bytes; false when they could not be written, or not all of them.
    public mutating func append(_ bytes: [UInt8]) -> Bool {
        reopenWhenMoved()
        var offset = 0
        while offset < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor, buffer.baseAddress.map { unsafe $0 + offset },
                    buffer.count - offset)
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return false }
            offset += written
        }
        return true
    }

    private mutating func reopenWhenMoved() {
        var opened = stat()
        var named = stat()
        if unsafe fstat(descriptor, &opened) == 0, unsafe stat(path, &named) == 0,
            opened.st_ino == named.st_ino, opened.st_dev == named.st_dev
        {
            return
        }
        guard let fresh = try? Self.open(path) else { return }
        close(descriptor)
        descriptor = fresh
    }

    private static func open(_ path: String) throws(PlatformError) -> Int32 {
        let descriptor = unsafe Glibc.open(
            path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
        return descriptor
    }

    deinit { close(descriptor) }
}

/// Resource limits of this process.
public enum ProcessLimits {
    /// Raises the limit of open descriptors to `count`, as far as the process may; false when it
    /// stays below.
    public static func raiseDescriptors(to count: Int) -> Bool {
        var limits = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else {
            return false
        }
        guard limits.rlim_cur < UInt(count) else { return true }
        limits.rlim_cur = min(UInt(count), limits.rlim_max)
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0
            && limits.rlim_cur >= UInt(count)
    }

    /// Limits the allocator to a few heaps, shared by all threads, which return free memory.
    ///
    /// For processes whose threads make large values and release them soon. Call it before there
    /// are many threads.
    ///
    /// - Parameters:
    ///   - count: Number of heaps.
    ///   - keptByteCount: Free bytes at their end that they keep; they grow by an eighth of it, 128
    ///     KiB at most; values greater than it and than 256 KiB get pages of their own.
    public static func shareHeaps(_ count: Int = 2, keptByteCount: Int = 8 << 20) {
        cairn_limit_heaps(Int32(count), Int32(clamping: keptByteCount))
    }

    /// Returns the free pages of all heaps to the system.
    ///
    /// For what made large values that were let go, and is done seldom: it takes some ms, and other
    /// threads that allocate may wait for it.
    public static func releaseFreeMemory() { cairn_release_heaps() }

    /// Resident memory of this process in bytes; 0 when unknown.
    public static func residentByteCount() -> Int {
        var bytes = [UInt8](repeating: 0, count: 256)
        let file = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        let count = unsafe read(file, &bytes, bytes.count)
        guard count > 0 else { return 0 }
        let fields = bytes[..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 1 else { return 0 }
        return (Int(String(decoding: fields[1], as: UTF8.self)) ?? 0)
            * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
