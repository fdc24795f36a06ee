// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A failed system call: its name, its subject, and the reason.
public struct PlatformError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's error number (`errno`).
    public let code: Int32
    /// The call, `open`, `mmap`.
    public let operation: String
    /// The path or thing it was called on; may be empty.
    public let subject: String

    /// Makes an error; `code` is an `errno` value.
    public init(code: Int32, operation: String, subject: String) {
        self.code = code
        self.operation = operation
        self.subject = subject
    }

    /// Takes the calling thread's `errno`.
    public init(operation: String, subject: String) {
        self.init(code: errno, operation: operation, subject: subject)
    }

    /// Whether the disk or the quota is full.
    public var isNoSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the path does not exist.
    public var isNotFound: Bool { code == ENOENT }

    /// Whether the caller's user may not do that.
    public var isPermission: Bool { code == EACCES || code == EPERM }

    /// `open '/x/y': No such file or directory`.
    public var description: String {
        let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return subject.isEmpty ? "\(operation): \(reason)" : "\(operation) '\(subject)': \(reason)"
    }
}
