// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Files that other processes append their output to, kept from growing without end.
public enum LogFile {
    /// Renames `path` to `path.1`, replacing an older one; does nothing without a file.
    public static func rotate(_ path: String) {
        unsafe _ = rename(path, path + ".1")
    }

    /// Rotates a file longer than `limit` bytes: keeps its bytes as `path.1` and empties it, while
    /// its writers (which must append) go on.
    ///
    /// Lines written in between may be lost.
    public static func bound(_ path: String, to limit: Int64) {
        let source = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard source >= 0 else { return }
        defer { close(source) }
        guard lseek(source, 0, SEEK_END) > limit else { return }
        let kept = unsafe open(path + ".1", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard kept >= 0 else { return }
        defer { close(kept) }
        lseek(source, 0, SEEK_SET)
        while copyPiece(to: kept, from: source) > 0 {}
        ftruncate(source, 0)
    }

    private static func copyPiece(to target: Int32, from source: Int32) -> Int {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe read(source, &piece, piece.count)
        return count > 0 ? unsafe write(target, piece, count) : count
    }

    /// Appends a line, between those of other writers; does nothing without a file.
    public static func append(_ line: String, to path: String) {
        let target = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard target >= 0 else { return }
        defer { close(target) }
        let bytes = Array((line + "\n").utf8)
        unsafe _ = write(target, bytes, bytes.count)
    }

    /// The last non-empty line of the file, at most 2,000 bytes of it; nil for none.
    public static func lastLine(_ path: String) -> String? {
        let source = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { return nil }
        defer { close(source) }
        let end = lseek(source, 0, SEEK_END)
        lseek(source, max(0, end - 2000), SEEK_SET)
        var piece = [UInt8](repeating: 0, count: 2000)
        let count = unsafe read(source, &piece, piece.count)
        guard count > 0 else { return nil }
        return String(decoding: piece[..<count], as: UTF8.self)
            .split(whereSeparator: \.isNewline).last.map(String.init)
    }
}
