// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZlib
internal import Glibc
internal import Platform

/// Files compressed with gzip.
public enum GzipFile {
    /// Writes the expanded bytes of a gzip file to a new file, mode 0600, in pieces of 256 KiB.
    ///
    /// Throws ``TextError`` for damaged or cut data, for more bytes than `limit`, and when the
    /// target cannot be written (with ``TextError/isNoSpace`` on a full disk); the target may then
    /// hold a part.
    ///
    /// - Parameter limit: How many bytes the target may get.
    public static func expand(
        _ source: String, to target: String, limit: Int64 = .max
    ) throws(TextError) {
        var room = limit
        guard let file = unsafe gzopen(source, "rb") else { throw systemError(source) }
        defer { _ = unsafe gzclose_r(file) }
        let output = unsafe open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw systemError(target) }
        defer { close(output) }
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { buffer in
                unsafe gzread(file, buffer.baseAddress, UInt32(buffer.count))
            }
            var code: Int32 = Z_OK
            let message = unsafe gzerror(file, &code)
            guard count >= 0, code == Z_OK || code == Z_STREAM_END else {
                let reason = unsafe message.map { unsafe String(cString: $0) } ?? "error \(code)"
                throw TextError(path: source, reason: reason)
            }
            guard count > 0 else { return }
            room -= Int64(count)
            guard room >= 0 else {
                throw TextError(path: source, reason: "it expands to more than \(limit) bytes")
            }
            var offset = 0
            while offset < Int(count) {
                let written = unsafe piece.withUnsafeBytes { buffer in
                    unsafe write(
                        output, buffer.baseAddress.map { unsafe $0 + offset }, Int(count) - offset)
                }
                if written < 0 && errno == EINTR { continue }
                guard written >= 0 else { throw systemError(target) }
                offset += written
            }
        }
    }

    /// The first bytes of a file, expanded where it is gzip: `count`, fewer where it is shorter,
    /// none where it cannot be read.
    public static func beginning(of path: String, count: Int) -> [UInt8] {
        guard let file = unsafe gzopen(path, "rb") else { return [] }
        defer { _ = unsafe gzclose_r(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe gzread(file, buffer.baseAddress, UInt32(buffer.count))
        }
        return Array(bytes.prefix(max(0, Int(found))))
    }

    /// Whether the file starts with gzip's two magic bytes; false when it cannot be read.
    public static func isGzip(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var magic: [UInt8] = [0, 0]
        return unsafe read(descriptor, &magic, 2) == 2 && magic == [0x1f, 0x8b]
    }

    private static func systemError(_ path: String) -> TextError {
        let isNoSpace = errno == ENOSPC || errno == EDQUOT
        return TextError(
            path: path, reason: unsafe String(cString: strerror(errno)), isNoSpace: isNoSpace)
    }
}
