// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Daemon
internal import JobKinds
internal import Site
internal import Worker

extension PoolProcess {
    /// Runs chunks of jobs that need neither a map nor a locator, one at a time.
    static let work = PoolProcess(.work) { daemon, start in
        try await WorkerProcess.run(
            daemon, pool: .work,
            handlers: TaskHandlers(
                ChunkOperations.hosted(
                    JobKinds.operations(in: .work, with: JobCapabilities()),
                    blobs: start.scratch?.blobs ?? daemon.site.blobs)),
            slots: WorkerSlots(taskCredit: 0, taskThreadCount: 0, chunkCount: 1),
            alone: start.scratch)
    }
}
