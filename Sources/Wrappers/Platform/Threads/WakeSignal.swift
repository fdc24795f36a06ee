// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// Wakes one polling thread from any other: an eventfd(2).
///
/// Signals before a drain melt into one.
public final class WakeSignal: Sendable {
    /// Readable while a signal is waiting; for `poll` only, never read or closed by others.
    public let descriptor: Int32

    /// Makes a signal that is not raised; throws when the process has no descriptor left.
    public init() throws(PlatformError) {
        descriptor = cairn_eventfd()
        guard descriptor >= 0 else { throw PlatformError(operation: "eventfd", subject: "") }
    }

    deinit { close(descriptor) }

    /// Raises the signal.
    ///
    /// Never blocks; any thread.
    public func raise() {
        // The counter can only refuse at 2^64 - 2, when the reader is awake anyway.
        var one: UInt64 = 1
        while unsafe write(descriptor, &one, 8) < 0 && errno == EINTR {}
    }

    /// Blocks until the signal is raised or the time is over.
    public func wait(milliseconds: Int32) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&watched, 1, milliseconds)
    }

    /// Takes the signal down.
    ///
    /// Never blocks.
    public func drain() {
        var count: UInt64 = 0
        while unsafe read(descriptor, &count, 8) < 0 && errno == EINTR {}
    }
}
