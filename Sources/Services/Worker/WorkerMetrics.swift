// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import CoreMetrics
internal import Daemon

/// What a worker counts.
struct WorkerMetrics: Sendable {
    /// One record for each task.
    let taskSeconds: CoreMetrics.Timer
    let refusedTasks: Counter
    /// One record for each chunk.
    let chunkSeconds: CoreMetrics.Timer
    private let completedChunks: Counter
    private let failedChunks: Counter
    private let releasedChunks: Counter

    init(_ registry: MetricsRegistry) {
        taskSeconds = registry.timer(
            "cairn_worker_task_seconds", "How long tasks took a thread of the worker.")
        refusedTasks = registry.counter(
            "cairn_worker_refused_tasks_total", "Tasks handed back to the supervisor.")
        chunkSeconds = registry.timer(
            "cairn_worker_chunk_seconds", "How long attempts at chunks took.")
        func chunks(_ result: String) -> Counter {
            registry.counter(
                "cairn_worker_chunks_total", "Attempts at chunks that ended, by result.",
                [("result", result)])
        }
        completedChunks = chunks("completed")
        failedChunks = chunks("failed")
        releasedChunks = chunks("released")
    }

    func count(_ report: ChunkReport) {
        switch report {
        case .completed: completedChunks.increment()
        case .failed: failedChunks.increment()
        case .released: releasedChunks.increment()
        }
    }
}
