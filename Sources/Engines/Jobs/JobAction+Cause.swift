// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

extension JobAction {
    /// The command or event that the action reacts to: the command's id, or the lease of the ended
    /// attempt; nil for actions due to the job's state and the time alone.
    ///
    /// A function of job and action, so that a repeated decision gives the same bytes.
    public func cause(in job: JobID) -> UUID? {
        switch self {
        case .command(_, let id): id
        case .report(let attempt, _), .lose(let attempt, _):
            job.rawValue.named("leased/\(attempt.chunk)/\(attempt.number)")
        case .lease, .delegate, .progress, .tick: nil
        }
    }
}
