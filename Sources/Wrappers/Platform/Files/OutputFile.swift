// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A file that is written here and there; closed when it is dropped.
///
/// Used from one thread at a time.
public struct OutputFile: ~Copyable, Sendable {
    private let descriptor: Int32
    private let path: String

    /// Creates the file, which must not exist, mode 0600.
    public init(creating path: String) throws(PlatformError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
    }

    /// Opens a file that exists.
    public init(existing path: String) throws(PlatformError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
    }

    /// Writes bytes from a byte of the file on; throws with `isNoSpace` on a full disk.
    public func write(_ bytes: RawSpan, at place: Int) throws(PlatformError) {
        let failure = unsafe bytes.withUnsafeBytes { buffer -> PlatformError? in
            var offset = 0
            while offset < buffer.count {
                let written = unsafe pwrite(
                    descriptor, buffer.baseAddress.map { unsafe $0 + offset },
                    buffer.count - offset, off_t(place + offset))
                if written < 0 {
                    if errno == EINTR { continue }
                    return PlatformError(operation: "write", subject: path)
                }
                offset += written
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// Writes bytes from a byte of the file on.
    public func write(_ bytes: [UInt8], at place: Int) throws(PlatformError) {
        unsafe try write(bytes.span.bytes, at: place)
    }

    /// Removes the name of a file; open descriptors and mappings stay valid.
    public static func remove(_ path: String) { _ = unsafe unlink(path) }

    deinit { close(descriptor) }
}
