// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Standard output or standard error of a command, unbuffered.
public enum StandardStream: Int32, Sendable {
    /// Standard output, for answers.
    case output = 1
    /// Standard error, for diagnostics.
    case error = 2

    /// Writes everything, waiting while the reader is slow; false when the reader has gone or the
    /// disk is full.
    @discardableResult
    public func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = unsafe Glibc.write(
                    rawValue, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
    }

    /// Whether it is a terminal.
    public var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Whether standard input is a terminal.
    public static var isInputTerminal: Bool { isatty(0) == 1 }
}

/// The program that runs, and its surroundings.
public enum OwnProgram {
    /// The path of the running program's file, links resolved; nil when unknown.
    public static func path() -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The number of the process it runs in.
    public static func processID() -> Int32 { getpid() }

    /// The name of the process's user; nil when the system has none.
    public static func userName() -> String? {
        guard let entry = unsafe getpwuid(geteuid()) else { return nil }
        return unsafe String(cString: entry.pointee.pw_name)
    }
}
