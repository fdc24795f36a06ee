// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A file of which parts are copied from anywhere.
///
/// Unlike those of a ``MappedFile``, of whose pages the kernel may map some megabytes at a touch,
/// none of its bytes stay in the memory of the process. Any thread may read.
public final class RandomAccessFile: Sendable {
    /// The path it was opened with.
    public let path: String
    /// Its size when it was opened.
    public let byteCount: Int
    private let descriptor: Int32

    /// Opens a regular file.
    public init(path: String) throws(PlatformError) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else {
            let failure = PlatformError(operation: "lseek", subject: path)
            close(descriptor)
            throw failure
        }
        byteCount = Int(end)
    }

    deinit { close(descriptor) }

    /// A copy of some of the bytes; throws `EIO` where the file ends before them.
    public func read(_ range: Range<Int>) throws(PlatformError) -> [UInt8] {
        try Self.read(range, of: descriptor, subject: path)
    }

    /// A copy of bytes of an open file; throws `EIO` where it ends before them.
    static func read(
        _ range: Range<Int>, of descriptor: Int32, subject: String
    ) throws(PlatformError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var offset = 0
        while offset < bytes.count {
            let wanted = bytes.count - offset
            let count = unsafe bytes.withUnsafeMutableBytes { target in
                unsafe pread(
                    descriptor, target.baseAddress.map { unsafe $0 + offset }, wanted,
                    off_t(range.lowerBound + offset))
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw PlatformError(operation: "read", subject: subject) }
            guard count > 0 else {
                throw PlatformError(code: EIO, operation: "read", subject: subject)
            }
            offset += count
        }
        return bytes
    }
}
