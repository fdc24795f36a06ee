// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Logging
internal import NIOCore
internal import OpenSSL
internal import Platform
internal import Synchronization

/// The certificate that new connections are shown: the one in the files, which may be replaced
/// while they are served.
///
/// Files that do not fit (the second has not been replaced yet, say) leave it as it was until they
/// change again.
final class ServedCertificate: Sendable {
    private struct State {
        var context: TLSContext
        var stamps: [FileStamp?]
        /// When the files are looked at again.
        var nextLook: Int64
    }

    private let files: TLSFiles
    private let interval: Int64
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads the files, which a connection has looked at again once `interval` is over.
    ///
    /// Throws `Failure` (`unreadable`) that names the file at fault.
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

    /// For a connection that begins now.
    ///
    /// Any thread; it reads the files itself when they have changed.
    func context() -> TLSContext {
        let now = MonotonicClock.nanoseconds()
        return state.withLock { state in
            guard now >= state.nextLook else { return state.context }
            state.nextLook = now + interval
            // Looked at before they are read: what changes meanwhile has changed by the next look.
            let stamps = files.stamps
            guard stamps != state.stamps else { return state.context }
            state.stamps = stamps
            do throws(Failure) {
                state.context = try files.context()
                logger.info("new certificate", metadata: ["file": "\(files.certificate)"])
            } catch {
                logger.error("the certificate stays as it was: \(error.message)")
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
