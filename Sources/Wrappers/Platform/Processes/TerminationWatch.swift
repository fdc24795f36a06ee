// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// Handling of termination signals.
public enum TerminationWatch {
    /// Runs `onFirst` on a thread of its own at the first SIGTERM or SIGINT; a second one ends the
    /// process at once with status 128 + its number, whatever else the process is doing.
    ///
    /// Once per process; throws when the system has no descriptor or thread left.
    public static func start(_ onFirst: @escaping @Sendable () -> Void) throws(PlatformError) {
        let signal = try WakeSignal()
        guard cairn_watch_termination(signal.descriptor) == 0 else {
            throw PlatformError(operation: "sigaction", subject: "SIGTERM")
        }
        _ = try PinnedThread(name: "signals") {
            var entry = pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0)
            while unsafe poll(&entry, 1, -1) < 0 && errno == EINTR {}
            onFirst()
            // The handler keeps writing to the descriptor, so it stays open as long as the process.
            withExtendedLifetime(signal) { while true { pause() } }
        }
    }

    /// Ignores SIGHUP from now on, which a closed terminal and `logrotate` send.
    public static func ignoreHangUp() { _ = Glibc.signal(SIGHUP, SIG_IGN) }
}
