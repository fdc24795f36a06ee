// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// The bytes of a file, pipe or terminal, read from front to back as they come; one thread at a
/// time.
public final class ByteSource: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens a path; `-` is standard input.
    public init(path: String) throws(PlatformError) {
        self.path = path
        descriptor = path == "-" ? dup(0) : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
    }

    deinit { close(descriptor) }

    /// The next bytes, waiting for one at least; empty at the end.
    ///
    /// Blocks.
    public func read(upTo byteCount: Int) throws(PlatformError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        while true {
            let count = unsafe Glibc.read(descriptor, &bytes, byteCount)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw PlatformError(operation: "read", subject: path) }
            bytes.removeLast(byteCount - count)
            return bytes
        }
    }
}
