// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import CoreMetrics
package import Daemon
package import Recording
internal import Worker

/// The process of a worker pool, from its start to its end.
package struct PoolProcess: Sendable {
    /// What a process was started with.
    struct Start: Sendable {
        /// How many requests it records.
        let recording: RecordingRate
        /// The chunk it does alone instead of serving the pool.
        let scratch: ScratchChunk?
    }

    /// The pool it belongs to.
    package let pool: WorkerPool
    /// How much freed memory its one heap keeps; nil for a heap per thread, as usual.
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

    /// Those of every pool.
    package static let all = [identify, locator, work]

    /// That of a pool; nil for a pool that is missing in ``all``.
    package init?(of pool: WorkerPool) {
        guard let process = Self.all.first(where: { $0.pool == pool }) else { return nil }
        self = process
    }

    /// Serves the pool until the process is asked to end; or, with the path of a work order, does
    /// that one chunk alone.
    ///
    /// Throws `Failure` (`notFound`, `invalidParameter`) for a work order that cannot be read.
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
    /// Records what a process of a pool answers.
    convenience init(_ daemon: Daemon, _ pool: WorkerPool, rate: RecordingRate) throws {
        try self.init(
            site: daemon.site, process: pool.settings.recordedName ?? daemon.name,
            version: WorkerProcess.version, rate: rate)
    }
}
