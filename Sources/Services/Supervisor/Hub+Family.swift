// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Jobs

extension Hub {
    /// Propagates state between a job, its parent and its sub-jobs, after every event of theirs and
    /// after the log has been read.
    ///
    /// What was in progress when an earlier supervisor died is due again and repeated under the
    /// same ids.
    func tend(_ job: JobID) {
        for duty in table.duties(of: job) {
            switch duty {
            case .submit(let submission): begin(submission)
            case .act(let action, on: let id):
                guard !isBeingSubmitted(action, of: id) else { continue }
                perform(action, on: id)
            }
        }
    }

    /// Submits a sub-job; one that exceeds a bound fails its parent's chunk with that error.
    private func begin(_ submission: JobSubmission) {
        guard let parent = submission.parent, ledger.writers[submission.id] == nil else { return }
        let entry = LedgerState.Entry(action: .submit(submission)) { hub, result in
            guard case .failure(let failure) = result,
                let running = hub.table[parent.job]?.running[parent.chunk],
                running.subJob == submission.id
            else { return }
            hub.perform(.report(running.attempt, .failed(failure)), on: parent.job)
        }
        enqueue(entry, on: submission.id)
    }

    /// Whether an action returns a chunk whose sub-job may be in the process of submission.
    private func isBeingSubmitted(_ action: JobAction, of id: JobID) -> Bool {
        guard case .report(let attempt, .released) = action,
            let child = table[id]?.running[attempt.chunk]?.subJob
        else { return false }
        return ledger.writers[child] != nil
    }
}
