// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// The process's terminal in raw mode on its alternate screen, put back by ``leave()``, by
/// `deinit`, and by any fatal signal.
///
/// There is one terminal per process, so make one of these at a time. Every method but ``wake()``
/// belongs to the thread that reads keys; ``wake()`` may be called from any.
public struct RawTerminal: ~Copyable, Sendable {
    /// The reasons why ``wait(milliseconds:)`` returned.
    public struct Wakes: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int32
        /// Wraps bits.
        public init(rawValue: Int32) { self.rawValue = rawValue }
        /// Bytes can be read, or the terminal has gone.
        public static let input = Wakes(rawValue: 1)
        /// The size has changed.
        public static let resized = Wakes(rawValue: 2)
        /// SIGTERM, SIGINT or SIGHUP arrived.
        public static let ending = Wakes(rawValue: 4)
        /// ``RawTerminal/wake()`` was called.
        public static let woken = Wakes(rawValue: 8)
    }

    private let descriptor: Int32

    /// Enters raw mode on standard input; nil when standard input or output is not a terminal.
    public init?() {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1,
            cairn_terminal_enter(STDIN_FILENO) == 0
        else { return nil }
        descriptor = STDIN_FILENO
    }

    deinit { cairn_terminal_leave() }

    /// Restores the terminal; idempotent.
    public func leave() { cairn_terminal_leave() }

    /// Hands the terminal back to the shell as Ctrl-Z does; returns when the process is continued.
    public func suspend() { cairn_terminal_suspend() }

    /// Waits at most that long (negative: for ever); empty when the time is over.
    ///
    /// Also returns ``Wakes/input`` when the terminal has gone, so that reading finds the end.
    public func wait(milliseconds: Int) -> Wakes {
        let bits = cairn_terminal_wait(Int32(clamping: milliseconds))
        return bits < 0 ? [.ending] : Wakes(rawValue: bits)
    }

    /// Makes the present or next wait return; any thread.
    public static func wake() { cairn_terminal_wake() }

    /// The available input after ``Wakes/input``, at most 4,096 bytes; nil when the terminal has
    /// gone.
    public func read() -> [UInt8]? {
        var isGone = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            let found = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            isGone = found == 0 || (found < 0 && errno != EINTR && errno != EAGAIN)
            count = max(0, found)
        }
        return isGone ? nil : bytes
    }

    /// Writes everything, waiting while the terminal is slow; false when it has gone.
    public func write(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let written = unsafe Glibc.write(
                    STDOUT_FILENO, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                if written < 0 && errno != EINTR && errno != EAGAIN { return false }
                offset += max(0, written)
            }
            return true
        }
    }

    /// Columns and rows in character cells; 80 by 24 when unknown.
    public func size() -> (columns: Int, rows: Int) { Self.outputSize() ?? (80, 24) }

    /// The size of the terminal on standard output, raw or not; nil without a terminal.
    public static func outputSize() -> (columns: Int, rows: Int)? {
        var columns: Int32 = 0
        var rows: Int32 = 0
        guard unsafe cairn_terminal_size(STDOUT_FILENO, &columns, &rows) == 0, columns > 0, rows > 0
        else { return nil }
        return (Int(columns), Int(rows))
    }
}
