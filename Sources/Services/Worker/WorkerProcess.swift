// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
package import CairnModel
package import Daemon
internal import Logging
internal import Site

/// The lifecycle of a worker process.
package enum WorkerProcess {
    /// The version that workers report.
    package static let version = Release.version

    /// Serves a pool until a shutdown is requested, then drains for at most five seconds; or
    /// executes one chunk alone.
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
