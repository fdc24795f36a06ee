// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Watches the files of one directory: inotify(7).
///
/// It reports a file that is created, removed, renamed, changes its mode, or is closed after a
/// write. Subdirectories are not watched. File systems whose files change elsewhere (FUSE, NFS) may
/// report nothing.
@safe
public final class DirectoryWatch: Sendable {
    private let descriptor: Int32

    /// Begins to watch; throws the system's error: no such directory, or too many watches.
    public init(_ path: String) throws(PlatformError) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else {
            throw PlatformError(operation: "inotify_init", subject: path)
        }
        let events =
            IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
        guard unsafe inotify_add_watch(descriptor, path, UInt32(events)) >= 0 else {
            // `deinit` closes the descriptor, since the object is fully initialised.
            throw PlatformError(operation: "inotify_add_watch", subject: path)
        }
    }

    deinit { close(descriptor) }

    /// Blocks until something has happened since the last call, the signal is raised, or the time
    /// is over.
    ///
    /// Events that came together are one. Used from one thread at a time.
    public func wait(or wake: WakeSignal, milliseconds: Int32) {
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe poll(&watched, 2, milliseconds) > 0, watched[0].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
