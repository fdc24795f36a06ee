// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Jobs
internal import Logging
internal import Site

/// Writing and restoring snapshots of the jobs.
extension Hub {
    /// Restores the last snapshot of the jobs, if there is one, and reads the log from there on.
    func restoreJobs() {
        Task {
            do throws(Failure) {
                if table.sequence == 0, let kept = try await snapshots.restore() { table = kept }
                loadJobs()
            } catch {
                logger.notice("jobs not restored yet", metadata: ["reason": "\(error)"])
                after(.milliseconds(500)) { $0.restoreJobs() }
            }
        }
    }

    /// Writes snapshots while the log is read, in steps that get shorter towards its end, like
    /// those of a site that always had them.
    ///
    /// Nothing is appended before the jobs are loaded, so the state is the fold of the log up to
    /// one position.
    func keepOnTheWay(towards head: Int64) {
        guard !ledger.isKeeping,
            Int64(ledger.unkeptCount) >= (head - table.sequence) / Self.stepDivisor,
            pace.isDue(after: ledger.unkeptCount, table)
        else { return }
        keep()
    }

    /// A step is this fraction of what remains to be read.
    private static let stepDivisor: Int64 = 4

    /// Starts a snapshot of the current state.
    private func keep() {
        ledger.isKeeping = true
        ledger.unkeptCount = 0
        Task { [table, snapshots] in
            await snapshots.keep(table)
            ledger.isKeeping = false
        }
    }

    /// Starts a snapshot when enough events have been folded.
    ///
    /// Answers to appends may arrive in another order than that of the log, so the state is the
    /// fold of the log up to one position only while none is outstanding: until then further
    /// appends are held back, for as long as the log takes to answer.
    func keepIfDue() {
        guard !ledger.isKeeping, pace.isDue(after: ledger.unkeptCount, table) else { return }
        ledger.isResting = true
        guard ledger.writers.values.allSatisfy({ $0.underWay == nil }) else { return }
        ledger.isResting = false
        keep()
        for job in Array(ledger.writers.keys) { pump(job) }
    }
}
