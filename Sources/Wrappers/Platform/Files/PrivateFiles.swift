// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Files and directories that only their owner may read, write or enter.
public enum PrivateFiles {
    /// A file or directory that others than its owner may read, write or enter.
    public struct Opening: Hashable, Sendable {
        /// Its path.
        public let path: String
        /// The permission bits, 0 to 0o7777.
        public let mode: UInt32
        /// The number of the user that owns it.
        public let owner: UInt32

        /// Whether the calling process may change the mode, as the owner or as root.
        fileprivate var canClose: Bool { geteuid() == owner || geteuid() == 0 }
    }

    /// Largest depth of directories visited; deeper ones are neither listed nor closed.
    public static let depthLimit = 32

    /// Sets the process's umask to 077: whatever it makes from now on, through any library, is its
    /// user's alone.
    ///
    /// For programs, once, before other threads run.
    public static func makeNewFilesPrivate() { _ = umask(0o077) }

    /// Whether the path, or a directory directly in it, is open to others; links are not followed.
    ///
    /// One `lstat` for each entry of the directory.
    public static func isOpenAtTop(_ path: String) -> Bool {
        let path = resolved(path)
        return opening(at: path) != nil
            || names(in: path).contains { name in
                let entry = path + "/" + name
                return isDirectory(entry) && opening(at: entry) != nil
            }
    }

    /// Calls `body` with everything open to others in a directory and below it, contents before
    /// their directory.
    ///
    /// Links are neither followed nor listed, and files that vanish meanwhile are skipped.
    public static func forEachOpening(below path: String, _ body: (Opening) -> Void) {
        visit(resolved(path), depth: 0, body)
    }

    /// Removes all permissions of others from the results of ``forEachOpening(below:_:)``.
    ///
    /// The directory itself comes last, so that an interrupted pass is seen and repeated. Files
    /// that the process may not change stay as they are.
    public static func close(below path: String) {
        forEachOpening(below: path) { opening in
            guard opening.canClose else { return }
            _ = unsafe fchmodat(
                AT_FDCWD, opening.path, opening.mode & ~0o077, AT_SYMLINK_NOFOLLOW)
        }
    }

    /// The target directory of a path that is a link.
    private static func resolved(_ path: String) -> String {
        guard let name = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(name) }
        return unsafe String(cString: name)
    }

    private static func visit(_ path: String, depth: Int, _ body: (Opening) -> Void) {
        if depth < depthLimit, isDirectory(path) {
            for name in names(in: path) { visit(path + "/" + name, depth: depth + 1, body) }
        }
        if let opening = opening(at: path) { body(opening) }
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    private static func isDirectory(_ path: String) -> Bool {
        status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    private static func opening(at path: String) -> Opening? {
        guard let status = status(of: path), status.st_mode & S_IFMT != S_IFLNK,
            status.st_mode & 0o077 != 0
        else { return nil }
        return Opening(path: path, mode: status.st_mode & 0o7777, owner: status.st_uid)
    }

    private static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(
                    cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
