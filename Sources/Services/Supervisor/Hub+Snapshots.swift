// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Jobs
internal import Logging
internal import Site

/// The jobs written down, and found again.
extension Hub {
    /// Takes the jobs of the last snapshot, if there is one, and reads the log from there on.
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

    /// Has the jobs written down while they are read, in steps that get shorter towards the end of
    /// the log, as those that are kept of a site that was never without them.
    ///
    /// Nothing is appended before they are read, so what is known is the fold of the log up to one
    /// place.
    func keepOnTheWay(towards head: Int64) {
        guard !ledger.isKeeping,
            Int64(ledger.unkeptCount) >= (head - table.sequence) / Self.stepDivisor,
            pace.isDue(after: ledger.unkeptCount, table)
        else { return }
        keep()
    }

    /// A step is this part of what is left to read.
    private static let stepDivisor: Int64 = 4

    /// Begins to write the jobs down as they are.
    private func keep() {
        ledger.isKeeping = true
        ledger.unkeptCount = 0
        Task { [table, snapshots] in
            await snapshots.keep(table)
            ledger.isKeeping = false
        }
    }

    /// Has the jobs written down when enough has happened to them.
    ///
    /// Answers to appends may come in another order than that of the log, so a copy is the fold of
    /// the log up to one place only while none is awaited: until then no further append is begun,
    /// for the time that the log takes to answer.
    func keepIfDue() {
        guard !ledger.isKeeping, pace.isDue(after: ledger.unkeptCount, table) else { return }
        ledger.isResting = true
        guard ledger.writers.values.allSatisfy({ $0.underWay == nil }) else { return }
        ledger.isResting = false
        keep()
        for job in Array(ledger.writers.keys) { pump(job) }
    }
}
