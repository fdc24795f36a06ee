// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import CoreMetrics
internal import Glibc
internal import Logging
internal import Platform
internal import Site
internal import Synchronization

/// Writes the metrics of a process into the site's run folder, every few seconds until it ends.
final class MetricsPublication: Sendable {
    private struct State {
        var isEnded = false
        var hasFailed = false
        var task: Task<Void, Never>?
    }

    private let registry: MetricsRegistry
    private let folder: MetricsFolder
    private let process: String
    private let logger: Logger
    private let state = Mutex(State())

    init(_ registry: MetricsRegistry, in folder: MetricsFolder, process: String, logger: Logger) {
        self.registry = registry
        self.folder = folder
        self.process = process
        self.logger = logger
        let resident = registry.meter(
            "cairn_process_resident_bytes", "Memory that the process holds.")
        registry.meter(
            "cairn_process_start_time_seconds", "When the process started, in seconds since 1970."
        ).set(Double(WallClock.microseconds()) / 1e6)
        registry.beforeWriting { resident.set(ProcessLimits.residentByteCount()) }
    }

    /// Begins, with a first text a second from now.
    func start() {
        let task = Task { [self] in
            var pause = Duration.seconds(1)
            while (try? await Task.sleep(for: pause)) != nil {
                let text = await registry.text(labels: [
                    ("process", process), ("pid", "\(getpid())"),
                ])
                write(text)
                pause = MetricsFolder.interval
            }
        }
        state.withLock { $0.task = task }
    }

    /// Removes the text; none is written any more.
    func stop() {
        state.withLock { state in
            state.isEnded = true
            state.task?.cancel()
            folder.remove(process, getpid())
        }
    }

    private func write(_ text: String) {
        state.withLock { state in
            guard !state.isEnded else { return }
            do throws(Failure) {
                try folder.write(text, of: process, getpid())
                state.hasFailed = false
            } catch {
                if !state.hasFailed {
                    logger.warning("metrics not written", metadata: ["reason": "\(error)"])
                }
                state.hasFailed = true
            }
        }
    }
}
