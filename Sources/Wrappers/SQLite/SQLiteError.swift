// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSQLite
internal import Glibc

/// A call of SQLite that failed.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code (`SQLITE_CONSTRAINT_UNIQUE` is 2067).
    public let extendedCode: Int32
    /// The operation: `open`, `prepare` or `step`.
    public let operation: String
    /// SQLite's own sentence.
    public let reason: String

    /// The `errno` of an input or output error; 0 without one.
    public let systemCode: Int32

    /// Makes an error.
    public init(extendedCode: Int32, operation: String, reason: String, systemCode: Int32 = 0) {
        self.systemCode = systemCode
        self.extendedCode = extendedCode
        self.operation = operation
        self.reason = reason
    }

    /// The result code without its extension (`SQLITE_CONSTRAINT` is 19).
    public var code: Int32 { extendedCode & 0xff }

    /// Whether the disk, a quota, or a limit set on the file's size, is full.
    public var isNoSpace: Bool {
        code == SQLITE_FULL || code == SQLITE_IOERR && [ENOSPC, EDQUOT].contains(systemCode)
    }

    /// Whether the file is not a database or its pages do not hold together.
    public var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// Whether a UNIQUE, PRIMARY KEY or other constraint was violated.
    public var isConstraint: Bool { code == SQLITE_CONSTRAINT }

    /// Whether another connection holds the file.
    public var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

    /// One sentence: `SQLite, step: database or disk is full (13)`.
    public var description: String { "SQLite, \(operation): \(reason) (\(extendedCode))" }
}
