// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A file without a name, for what does not fit into memory: bytes are appended, read anywhere, and
/// overwritten.
///
/// Its name is removed as soon as it is open, so it ends with its owner. Used from one thread.
public final class ScratchFile {
    private let descriptor: Int32
    private let directory: String
    private var buffer: [UInt8] = []
    /// Bytes in the file; those of the buffer come behind.
    private var flushedCount = 0
    private static let bufferCount = 256 << 10

    /// Creates an empty file in a directory.
    public init(inDirectory directory: String) throws(PlatformError) {
        self.directory = directory
        var random = SystemRandomNumberGenerator()
        let path = directory + "/.scratch-\(getpid())-" + String(random.next(), radix: 36)
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
        _ = unsafe unlink(path)
    }

    deinit { close(descriptor) }

    /// Number of bytes appended.
    public var byteCount: Int { flushedCount + buffer.count }

    /// Appends bytes and returns the place of the first; throws with `isNoSpace` on a full disk.
    @discardableResult
    public func append(_ bytes: [UInt8]) throws(PlatformError) -> Int {
        let place = byteCount
        buffer += bytes
        if buffer.count >= Self.bufferCount { try flush() }
        return place
    }

    /// Overwrites bytes that were appended; traps outside of them.
    public func overwrite(_ bytes: [UInt8], at place: Int) throws(PlatformError) {
        precondition(place >= 0 && place + bytes.count <= byteCount, "no such bytes")
        try flush()
        try write(bytes, at: place)
    }

    /// A copy of bytes that were appended; traps outside of them.
    public func read(_ range: Range<Int>) throws(PlatformError) -> [UInt8] {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "no such bytes")
        if range.upperBound > flushedCount { try flush() }
        return try RandomAccessFile.read(range, of: descriptor, subject: directory)
    }

    private func flush() throws(PlatformError) {
        try write(buffer, at: flushedCount)
        flushedCount += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8], at place: Int) throws(PlatformError) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { source in
                unsafe pwrite(
                    descriptor, source.baseAddress.map { unsafe $0 + offset },
                    bytes.count - offset, off_t(place + offset))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw PlatformError(operation: "write", subject: directory) }
            offset += count
        }
    }
}
