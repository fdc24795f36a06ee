// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Logging
internal import NIOCore
internal import OpenSSL
internal import Platform
internal import Synchronization

/// The certificate for new connections, reloaded when its files are replaced.
///
/// Files that do not match (for example while only one has been replaced) leave the last
/// certificate in use until they change again.
final class ServedCertificate: Sendable {
    private struct State {
        var context: TLSContext
        var stamps: [FileStamp?]
        /// Time of the next check for changes.
        var nextLook: Int64
    }

    private let files: TLSFiles
    private let interval: Int64
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads the files; connections check them for changes once `interval` has passed.
    ///
    /// Throws `Failure` (`unreadable`) that names the offending file.
    init(_ files: TLSFiles, interval: TimeAmount, logger: Logger) throws(Failure) {
        self.files = files
        self.interval = interval.nanoseconds
        self.logger = logger
        let stamps = files.stamps
        state = Mutex(
            State(
                context: try files.context(), stamps: stamps,
                nextLook: MonotonicClock.nanoseconds() + self.interval))
    }

    /// The TLS context for a new connection.
    ///
    /// Callable on any thread; reads the files itself when they have changed.
    func context() -> TLSContext {
        let now = MonotonicClock.nanoseconds()
        return state.withLock { state in
            guard now >= state.nextLook else { return state.context }
            state.nextLook = now + interval
            // Stat before reading, so that a concurrent change is detected by the next check.
            let stamps = files.stamps
            guard stamps != state.stamps else { return state.context }
            state.stamps = stamps
            do throws(Failure) {
                state.context = try files.context()
                logger.info("certificate reloaded", metadata: ["file": "\(files.certificate)"])
            } catch {
                logger.error("certificate not reloaded: \(error.message)")
            }
            return state.context
        }
    }
}

extension TLSFiles {
    fileprivate var stamps: [FileStamp?] {
        [FileSystem.stamp(of: certificate), FileSystem.stamp(of: key)]
    }
}
