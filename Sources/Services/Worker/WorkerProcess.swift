// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
package import CairnModel
package import Daemon
internal import Logging
internal import Site

/// A whole worker process, from its start to its end.
package enum WorkerProcess {
    /// The version that workers say they are.
    package static let version = Release.version

    /// Serves a pool until the process is asked to end, then drains for at most five seconds; or
    /// does one chunk alone.
    package static func run(
        _ daemon: Daemon, pool: WorkerPool, handlers: TaskHandlers, slots: WorkerSlots,
        alone scratch: ScratchChunk? = nil
    ) async throws {
        if let scratch { return try await scratch.run(handlers.handlers) }
        let host = WorkerHost(
            pool: pool, handlers: handlers, slots: slots, bus: daemon.bus,
            build: "\(WorkerPool.program)/\(version)", logger: daemon.logger,
            metrics: daemon.metrics)
        try await host.start()
        await daemon.untilShutdown()
        await host.drain()
    }
}
