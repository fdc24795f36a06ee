// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// A descriptor that becomes readable when a process ends: pidfd_open(2).
///
/// It names that very process, never a later one with the same number.
public final class ProcessWatch: Sendable {
    /// Readable once the process has ended; for `poll` only.
    public let descriptor: Int32
    /// The watched process.
    public let processID: Int32

    /// Throws ESRCH when there is no such process.
    public init(processID: Int32) throws(PlatformError) {
        self.processID = processID
        descriptor = cairn_pidfd_open(processID)
        guard descriptor >= 0 else {
            throw PlatformError(operation: "pidfd_open", subject: "process \(processID)")
        }
    }

    deinit { close(descriptor) }
}

/// Checks and creation of directories private to one user.
public enum PrivateDirectory {
    /// Creates the directory, closed to others from its first moment; throws the error of mkdir(2).
    public static func make(at path: String) throws(PlatformError) {
        guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw PlatformError(operation: "mkdir", subject: path)
    }

    /// Creates a directory with an unpredictable name, closed to others from its first moment;
    /// returns its path: `prefix` and six characters.
    public static func makeTemporary(prefix: String) throws(PlatformError) -> String {
        var path = Array((prefix + "XXXXXX").utf8CString)
        guard unsafe mkdtemp(&path) != nil else {
            throw PlatformError(operation: "mkdtemp", subject: prefix)
        }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The fault of a directory, as half a sentence; nil when it exists, is a directory, belongs to
    /// the caller's user and is closed to all others (0700 or stricter).
    public static func fault(at path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            return PlatformError(operation: "stat", subject: path).description
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return "'\(path)' is not a directory" }
        guard status.st_uid == geteuid() else {
            return "'\(path)' belongs to user \(status.st_uid), not to user \(geteuid())"
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            return "'\(path)' has mode 0\(mode); it must be 0700, closed to other users"
        }
        return nil
    }
}
