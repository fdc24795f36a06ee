// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Synchronization

/// Has SIGTERM, SIGINT and SIGHUP end a replay as `quit` does, so that its temporary site is
/// removed.
///
/// While a terminal's controls are active, they handle these signals themselves.
final class ReplayEnding: Sendable {
    private struct State {
        var isAsked = false
        var controls: ReplayControls?
    }

    private let state = Mutex(State())

    /// Starts handling the signals; once per process.
    init() throws(PlatformError) {
        try TerminationWatch.start { [self] in
            let controls = state.withLock { state in
                state.isAsked = true
                return state.controls
            }
            controls?.quit()
        }
        // An ignored SIGHUP, as with nohup, remains ignored.
        guard !Self.ignoresHangUp() else { return }
        _ = signal(SIGHUP) { _ in _ = kill(getpid(), SIGTERM) }
    }

    /// Sets the controls to notify; immediately, if a signal has arrived before.
    func tell(_ controls: ReplayControls) {
        let isAsked = state.withLock { state in
            state.controls = controls
            return state.isAsked
        }
        if isAsked { controls.quit() }
    }

    private static func ignoresHangUp() -> Bool {
        let status = FileManager.default.contents(atPath: "/proc/self/status") ?? Data()
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        let mask = lines.first { $0.hasPrefix("SigIgn:") }?.split(separator: "\t").last
        return mask.flatMap { UInt64($0, radix: 16) }.map { $0 & 1 << UInt64(SIGHUP - 1) != 0 }
            ?? false
    }
}
