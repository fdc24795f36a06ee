// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// Queries and operations on paths.
public enum FileSystem {
    /// The file's byte count; nil when absent or inaccessible.
    public static func byteCount(of path: String) -> Int64? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// The last change of a file's content, in microseconds since 1970; nil when absent or
    /// inaccessible.
    public static func modified(_ path: String) -> Int64? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1_000
    }

    /// Replaces a file by one with these bytes: readers find the one or the other, whole.
    ///
    /// Not synced: for what may be lost with the machine.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(PlatformError) {
        let staged = path + ".new"
        OutputFile.remove(staged)
        do throws(PlatformError) {
            let file = try OutputFile(creating: staged)
            try file.write(bytes, at: 0)
        } catch {
            OutputFile.remove(staged)
            throw error
        }
        guard unsafe Glibc.rename(staged, path) == 0 else {
            throw PlatformError(operation: "rename", subject: path)
        }
    }

    /// The kind of a path's target.
    public enum Kind: Hashable, Sendable {
        /// A plain file.
        case file
        /// A directory.
        case directory
        /// A symbolic link; only where links are not followed.
        case link
        /// A device, a pipe, a socket.
        case other
    }

    /// The kind of the file at a path; nil when absent or inaccessible.
    public static func kind(of path: String, followingLinks: Bool = true) -> Kind? {
        var status = stat()
        let result =
            followingLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
        guard result == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .directory
        case S_IFLNK: return .link
        default: return .other
        }
    }

    /// The path from the root; links in it stay.
    public static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(directory) }
        return unsafe String(cString: directory) + "/" + path
    }

    /// The absolute path without links, `.` and `..`; nil for a missing file.
    public static func real(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The magic number statfs(2) gives for a path; throws its error.
    public static func type(of path: String) throws(PlatformError) -> Int {
        let type = unsafe cairn_filesystem_type(path)
        guard type >= 0 else { throw PlatformError(operation: "statfs", subject: path) }
        return type
    }

    /// Whether a file system of that number is remote, where neither locks nor memory shared
    /// between processes are reliable: NFS, SMB (three numbers), AFS (two), Ceph, Coda, NCP,
    /// Lustre, GPFS.
    public static func isRemote(type: Int) -> Bool {
        switch type {
        case 0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x5346_414f, 0x6b41_4653, 0x00c3_6400,
            0x7375_7245, 0x564c, 0x0bd0_0bd0, 0x4750_4653:
            true
        default: false
        }
    }

    /// The stamp of a file's state; nil when absent or inaccessible.
    public static func stamp(of path: String) -> FileStamp? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return FileStamp(
            inode: UInt64(status.st_ino), byteCount: Int64(status.st_size),
            modifiedNanoseconds: Int64(status.st_mtim.tv_sec) * 1_000_000_000
                + Int64(status.st_mtim.tv_nsec),
            isPrivate: status.st_mode & 0o077 == 0)
    }

    /// Sets a file's times to now; false when absent or not writable.
    public static func touch(_ path: String) -> Bool {
        unsafe utimensat(AT_FDCWD, path, nil, 0) == 0
    }

    /// Gives a file another name on the same file system, in the place of a file that has it; false
    /// where there is no such file.
    public static func rename(_ path: String, to other: String) throws(PlatformError) -> Bool {
        if unsafe Glibc.rename(path, other) == 0 { return true }
        if errno == ENOENT { return false }
        throw PlatformError(operation: "rename", subject: path)
    }

    /// Removes a file's name; false where there is no such file.
    public static func remove(_ path: String) throws(PlatformError) -> Bool {
        if unsafe unlink(path) == 0 { return true }
        if errno == ENOENT { return false }
        throw PlatformError(operation: "unlink", subject: path)
    }
}

/// One state of a file, by its metadata.
public struct FileStamp: Hashable, Sendable {
    let inode: UInt64
    /// Byte count.
    public let byteCount: Int64
    /// Time of the last change, in nanoseconds since 1970.
    public let modifiedNanoseconds: Int64
    /// Whether only its owner may read or write it.
    public let isPrivate: Bool

    /// Whether both are states of the same file, not of one put in its place.
    public func isSameFile(as other: FileStamp) -> Bool { inode == other.inode }
}
