// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// A pending action between a job and its sub-jobs.
public enum FamilyDuty: Hashable, Sendable {
    /// Submit the sub-job of a leased chunk.
    case submit(JobSubmission)
    /// Pass on the end of a sub-job, a cancel or a pause.
    case act(JobAction, on: JobID)
}

extension JobTable {
    /// The pending actions between a job, its parent and its sub-jobs.
    ///
    /// A function of the states alone, so it is the same after a crash between any two appends;
    /// actions are idempotent. Nothing is left when `submit` and `decide` return no events.
    public func duties(of id: JobID) -> [FamilyDuty] {
        guard let state = jobs[id] else { return [] }
        var duties = duties(asParent: state)
        if let parent = state.submission.parent?.job, let above = jobs[parent] {
            duties += self.duties(asParent: above)
        }
        return duties
    }

    private func duties(asParent state: JobState) -> [FamilyDuty] {
        let open = (subJobs[state.id] ?? []).compactMap { jobs[$0] }
            .filter { !$0.status.isTerminal }.sorted { $0.submittedSequence < $1.submittedSequence }
        guard !state.status.isTerminal, state.status != .cancelling else {
            return open.filter { $0.status != .cancelling }.map { cancel($0, by: state) }
                + ended(in: state)
        }
        var duties = ended(in: state)
        for child in open where child.status != .cancelling {
            if child.isPaused != state.isPaused, child.pauseSequence < state.pauseSequence {
                duties.append(pause(child, by: state))
            }
        }
        for number in state.running.keys.sorted() {
            guard let submission = state.subJobSubmission(chunk: number),
                jobs[submission.id] == nil
            else { continue }
            duties.append(.submit(submission))
        }
        if state.hasSubJobsToStart { duties.append(.act(.delegate, on: state.id)) }
        return duties
    }

    /// Whether an ancestor of this job has ended or is ending, so that nothing of it is started any
    /// more.
    public func isBelowAnEnd(_ id: JobID) -> Bool {
        var above = jobs[id]?.submission.parent?.job
        while let parent = above.flatMap({ jobs[$0] }) {
            if parent.status.isTerminal || parent.status == .cancelling { return true }
            above = parent.submission.parent?.job
        }
        return false
    }

    /// Ended sub-jobs whose chunk is still open, and sub-jobs that need not be started any more.
    private func ended(in state: JobState) -> [FamilyDuty] {
        state.running.values.sorted { $0.attempt.chunk < $1.attempt.chunk }.compactMap { running in
            guard let child = running.subJob else { return nil }
            guard let known = jobs[child] else {
                guard state.status == .cancelling else { return nil }
                return .act(
                    .report(running.attempt, .released(reason: "the sub-job was not begun")),
                    on: state.id)
            }
            guard known.status.isTerminal else { return nil }
            return .act(.report(running.attempt, known.report), on: state.id)
        }
    }

    private func cancel(_ child: JobState, by parent: JobState) -> FamilyDuty {
        .act(.command(.cancel, id: child.id.rawValue.named("cancel by parent")), on: child.id)
    }

    private func pause(_ child: JobState, by parent: JobState) -> FamilyDuty {
        let command = parent.isPaused ? JobCommand.pause : .resume
        let name = "\(command.rawValue) by parent at \(parent.pauseSequence)"
        return .act(.command(command, id: child.id.rawValue.named(name)), on: child.id)
    }
}

extension JobState {
    /// Whether the stage has a chunk that waits for a sub-job.
    var hasSubJobsToStart: Bool {
        guard isRunning, stages.indices.contains(currentStage) else { return false }
        return stages[currentStage][stageCursor...].contains {
            chunks[$0].phase == .pending && chunks[$0].description.subJob != nil
        }
    }

    /// The end of the job, as a report on its parent's chunk.
    fileprivate var report: ChunkReport {
        guard status == .succeeded else {
            return .failed(
                description.failure ?? Failure(.internal, "it ended as \(status.rawValue)"))
        }
        let done = JobMessage(.informative, "\(submission.kind.rawValue) (job \(id)) succeeded")
        return .completed(ChunkOutcome(blob: result, messages: [done]))
    }
}
