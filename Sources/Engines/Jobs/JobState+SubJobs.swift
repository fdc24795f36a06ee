// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

extension JobState {
    /// Delegates chunks to sub-jobs, up to the limit of concurrently open ones.
    ///
    /// Lease and job id are derived from chunk and attempt: a repeated decision names the same job.
    func decideDelegations(at now: Timestamp) -> [JobChange] {
        guard isRunning, stages.indices.contains(currentStage) else { return [] }
        var openCount = running.values.count { $0.subJob != nil }
        var changes: [JobChange] = []
        for number in stages[currentStage][stageCursor...]
        where isWaiting(number) && !isResting(number, at: now) {
            guard let subJob = chunks[number].description.subJob else { continue }
            guard openCount < subJob.sideBySide else { break }
            openCount += 1
            let name = "\(number)/\(chunks[number].attemptCount + 1)"
            let attempt = ChunkAttempt(
                chunk: number, number: chunks[number].attemptCount + 1,
                lease: id.rawValue.named("delegation/" + name))
            let child = JobID(rawValue: id.rawValue.named("job/" + name))
            changes.append(
                change(
                    .chunkDelegated(JobChunkDelegated(attempt: attempt, job: child)),
                    "leased/" + name))
        }
        return changes
    }

    /// The submission for a delegated chunk; nil for a chunk of a worker.
    public func subJobSubmission(chunk number: Int) -> JobSubmission? {
        guard let child = running[number]?.subJob,
            let subJob = chunks[number].description.subJob
        else { return nil }
        return JobSubmission(
            id: child, kind: subJob.kind, parameters: subJob.parameters, input: subJob.input,
            actor: submission.actor, stallLimitSeconds: submission.stallLimitSeconds,
            priority: submission.priority,
            parent: JobParent(
                job: id, chunk: number, depth: (submission.parent?.depth ?? 0) + 1))
    }

    /// A failed sub-job has exhausted its own retries, so it is not repeated.
    func failed(
        _ attempt: ChunkAttempt, _ subJob: SubJob, _ error: Failure, _ policy: JobPolicy
    ) -> [JobChange] {
        let child = running[attempt.chunk]?.subJob.map { " (job \($0))" } ?? ""
        let sentence = policy.trim(
            "\(subJob.kind.rawValue) of chunk \(attempt.chunk)\(child) failed: \(error.message)")
        let why = Failure(error.code, sentence, details: policy.trim(error).details)
        if subJob.mayFail,
            let changes = try? complete(
                attempt, ChunkOutcome(messages: [JobMessage(.warning, sentence)]), policy)
        {
            return changes
        }
        let event = JobEvent.chunkFailed(
            JobChunkFailed(attempt: attempt, error: why, retryAfterMilliseconds: nil))
        return [change(event, attempt.endName), change(.failed(JobFailed(error: why)), "over")]
    }

    func checkSubJobs(
        in stages: [[ChunkDescription]], _ policy: JobPolicy
    ) throws(Failure) {
        let subJobs = stages.joined().compactMap(\.subJob)
        guard !subJobs.isEmpty else { return }
        guard (submission.parent?.depth ?? 0) < policy.maximumDepth else {
            throw Failure(
                .tooLarge,
                "a sub-job may start sub-jobs \(policy.maximumDepth) deep at most; this one is "
                    + "\(submission.parent?.depth ?? 0) deep")
        }
        let known = chunks.count { $0.description.subJob != nil }
        guard known + subJobs.count <= policy.maximumSubJobCount else {
            throw Failure(
                .tooLarge,
                "the job needs \(known + subJobs.count) sub-jobs; at most "
                    + "\(policy.maximumSubJobCount) are allowed")
        }
        for subJob in subJobs
        where !(1...policy.maximumOpenSubJobCount).contains(subJob.sideBySide) {
            throw Failure(
                .invalidParameter,
                "\(subJob.sideBySide) sub-jobs side by side: expected 1 to "
                    + "\(policy.maximumOpenSubJobCount)")
        }
    }
}
