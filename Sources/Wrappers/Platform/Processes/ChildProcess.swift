// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// A process that this one started, and may signal until it has seen its end.
///
/// Used from the thread that started it: an attached child gets SIGTERM when that *thread* ends.
public struct ChildProcess: ~Copyable, Sendable {
    /// The end of a process.
    public enum End: Hashable, Sendable {
        /// An exit with a status.
        case status(Int32)
        /// A signal killed it.
        case signal(Int32)
    }

    /// A request to end.
    public enum Demand: Sendable {
        /// SIGTERM: end in your own time.
        case end
        /// SIGKILL.
        case kill
    }

    /// The number; another process may have it once ``end()`` was not nil.
    public let processID: Int32
    private var seen: End?

    /// Starts a program with empty standard input, and standard output and error appended to the
    /// file at `logPath` (created with mode 0600).
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: Its arguments, the program's own name left out.
    ///   - logPath: The file for its output.
    ///   - isDetached: Whether it has a session of its own and outlives the caller.
    public init(
        path: String, arguments: [String], logPath: String, isDetached: Bool = false
    ) throws(PlatformError) {
        let log = unsafe open(logPath, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else { throw PlatformError(operation: "open", subject: logPath) }
        defer { close(log) }
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) }
        unsafe words.append(nil)
        defer { unsafe words.forEach { unsafe free($0) } }
        let started = unsafe cairn_spawn(path, words, log, isDetached ? 1 : 0)
        guard started > 0 else { throw PlatformError(operation: "exec", subject: path) }
        processID = started
        seen = nil
    }

    /// The end of the process; nil while it runs.
    ///
    /// Never blocks.
    public mutating func end() -> End? {
        if let seen { return seen }
        var status: Int32 = 0
        let found = unsafe waitpid(processID, &status, WNOHANG)
        guard found == processID else { return nil }
        let number = status & 0x7F
        seen = number == 0 ? .status((status >> 8) & 0xFF) : .signal(number)
        return seen
    }

    /// Sends SIGTERM or SIGKILL; does nothing once its end was observed.
    public func demand(_ demand: Demand) {
        guard seen == nil else { return }
        kill(processID, demand == .end ? SIGTERM : SIGKILL)
    }

    /// Sends SIGTERM to a process that is not a child; false when absent or not permitted.
    public static func askToEnd(processID: Int32) -> Bool { kill(processID, SIGTERM) == 0 }
}

/// Waiting for whatever comes first, on a thread that may block.
public enum Waiting {
    /// Returns when a watched process ends, a signal is raised, or the time is over.
    ///
    /// The signal is not drained. At most 1,000 processes.
    public static func forEnd(
        of processes: [ProcessWatch], or signal: WakeSignal, milliseconds: Int
    ) {
        var entries = processes.prefix(1000).map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        entries.append(pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0))
        unsafe _ = poll(&entries, nfds_t(entries.count), Int32(clamping: milliseconds))
    }
}
