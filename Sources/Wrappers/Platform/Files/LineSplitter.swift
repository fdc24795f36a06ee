// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Splits chunks of bytes into lines; pure.
///
/// It keeps at most `limit` bytes: a longer line is dropped, and reported as too long at its end.
public struct LineSplitter: Sendable {
    /// A line, or its loss.
    public enum Line: Hashable, Sendable {
        /// Its bytes, without the line feed or carriage return at its end.
        case bytes([UInt8])
        /// Longer than this many bytes.
        case tooLong(Int)
    }

    private let limit: Int
    private var kept: [UInt8] = []
    private var isTooLong = false

    /// Starts empty.
    public init(limit: Int) { self.limit = limit }

    /// The lines that end in these bytes.
    public mutating func take(_ bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            keep(rest[..<end])
            lines.append(endLine())
            rest = rest[(end + 1)...]
        }
        keep(rest)
        return lines
    }

    /// The last line, without a line end; nil when empty.
    public mutating func finish() -> Line? { kept.isEmpty && !isTooLong ? nil : endLine() }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong, kept.count + bytes.count <= limit else {
            isTooLong = true
            kept = []
            return
        }
        kept += bytes
    }

    private mutating func endLine() -> Line {
        defer { (kept, isTooLong) = ([], false) }
        guard !isTooLong else { return .tooLong(limit) }
        if kept.last == UInt8(ascii: "\r") { kept.removeLast() }
        return .bytes(kept)
    }
}

/// Standard input that is not a terminal, read by one thread until it ends or is no longer needed.
public enum StandardInput {
    /// Up to 4,096 bytes as soon as there are any; nil at the end of the input, or once `stop` is
    /// raised.
    ///
    /// Blocks.
    public static func read(unless stop: WakeSignal) -> [UInt8]? {
        var entries = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&entries, 2, -1) < 0 { guard errno == EINTR else { return nil } }
        guard entries[1].revents == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe Glibc.read(STDIN_FILENO, &bytes, bytes.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            return count > 0 ? Array(bytes[..<count]) : nil
        }
    }
}
