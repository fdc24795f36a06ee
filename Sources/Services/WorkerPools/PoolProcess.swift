// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import CoreMetrics
package import Daemon
package import Recording
internal import Worker

/// The lifecycle of a worker pool's process.
package struct PoolProcess: Sendable {
    /// Start options of a process.
    struct Start: Sendable {
        /// Number of requests it records.
        let recording: RecordingRate
        /// The chunk to execute alone instead of serving the pool.
        let scratch: ScratchChunk?
    }

    package let pool: WorkerPool
    /// Freed memory that a single shared heap keeps; nil for the default of a heap per thread.
    package let keptHeapByteCount: Int?
    private let serve: @Sendable (Daemon, Start) async throws -> Void

    init(
        _ pool: WorkerPool, keptHeapByteCount: Int? = nil,
        serve: @escaping @Sendable (Daemon, Start) async throws -> Void
    ) {
        self.pool = pool
        self.keptHeapByteCount = keptHeapByteCount
        self.serve = serve
    }

    /// The processes of all pools.
    package static let all = [identify, locator, work, router]

    /// The process of a pool; nil if it is missing in ``all``.
    package init?(of pool: WorkerPool) {
        guard let process = Self.all.first(where: { $0.pool == pool }) else { return nil }
        self = process
    }

    /// Serves the pool until a shutdown is requested; or, with the path of a work order, executes
    /// that one chunk.
    ///
    /// Throws `Failure` (`notFound`, `invalidParameter`) for an unreadable work order.
    package func run(
        _ daemon: Daemon, recording rate: RecordingRate, alone path: String? = nil
    ) async throws {
        let scratch = try path.map { path throws(Failure) in try ScratchChunk(path: path) }
        try await serve(daemon, Start(recording: rate, scratch: scratch))
    }
}

extension Daemon {
    /// Shows how far a worker has followed the log.
    func showKnown(
        _ sequence: @escaping @Sendable () -> Int64, isStale: @escaping @Sendable () -> Bool
    ) {
        let known = metrics.meter(
            "cairn_worker_known_sequence", "The sequence number up to which the log is known.")
        let stale = metrics.meter("cairn_worker_stale", "1 while the log cannot be heard.")
        metrics.beforeWriting {
            known.set(sequence())
            stale.set(isStale() ? 1 : 0)
        }
    }
}

extension Recording.Recorder {
    /// Records the answers of a pool's process.
    convenience init(_ daemon: Daemon, _ pool: WorkerPool, rate: RecordingRate) throws {
        try self.init(
            site: daemon.site, process: pool.settings.recordedName ?? daemon.name,
            version: WorkerProcess.version, rate: rate)
    }
}
