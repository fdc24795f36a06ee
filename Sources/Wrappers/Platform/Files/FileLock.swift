// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// An exclusive lock between processes: flock(2) on a file that holds the owner's process id.
///
/// It ends with the process, in any way.
public struct FileLock: ~Copyable, Sendable {
    private let descriptor: Int32
    /// The lock file.
    public let path: String

    /// Takes the lock without waiting; nil when another process (or another lock in this one) has
    /// it.
    ///
    /// Creates the file if missing, mode 0600. Throws the errors of open, flock or fstat.
    public static func tryAcquire(_ path: String) throws(PlatformError) -> FileLock? {
        while true {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw PlatformError(operation: "open", subject: path) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let error = PlatformError(operation: "flock", subject: path)
                Glibc.close(descriptor)
                if error.code == EWOULDBLOCK { return nil }
                if error.code == EINTR { continue }
                throw error
            }
            // A release with `removingFile` may have unlinked the file just locked.
            guard isStillAt(path, descriptor) else {
                Glibc.close(descriptor)
                continue
            }
            let note = Array("\(getpid())\n".utf8)
            ftruncate(descriptor, 0)
            unsafe _ = pwrite(descriptor, note, note.count, 0)
            return FileLock(descriptor: descriptor, path: path)
        }
    }

    /// The process id written by the present or last owner; nil when unreadable.
    public static func owner(of path: String) -> Int32? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 24)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let digits = buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }
        return Int32(String(decoding: digits, as: UTF8.self))
    }

    private static func isStillAt(_ path: String, _ descriptor: Int32) -> Bool {
        var opened = stat()
        var named = stat()
        guard unsafe fstat(descriptor, &opened) == 0, unsafe stat(path, &named) == 0 else {
            return false
        }
        return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Whether the locked file is still the one at its path; false once it has been removed or
    /// replaced, so that others can lock that path.
    public var isInPlace: Bool { Self.isStillAt(path, descriptor) }

    /// Gives the lock back; with `removingFile` the file goes too.
    public consuming func release(removingFile: Bool = false) {
        if removingFile { unsafe _ = unlink(path) }
    }

    deinit {
        // A child that has just been forked holds the descriptor too, until its program begins: to
        // close it here would not give the lock back.
        flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
    }
}
