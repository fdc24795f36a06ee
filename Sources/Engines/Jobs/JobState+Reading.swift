// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension JobState {
    /// The public description of the job.
    public var description: JobDescription {
        var messages: [JobMessage] = []
        var next = notices[...]
        for (number, message) in self.messages.enumerated() {
            while let notice = next.first, notice.after <= number {
                messages.append(notice.message)
                next = next.dropFirst()
            }
            messages.append(message)
        }
        messages += next.map(\.message)
        if omittedMessageCount > 0 {
            messages.append(
                JobMessage(.informative, "\(omittedMessageCount) further messages are left out"))
        }
        return JobDescription(
            id: id, kind: submission.kind, parameters: submission.parameters, status: status,
            isPaused: isPaused, progress: progress, chunkCount: chunkCount,
            completedChunkCount: completedChunkCount, lostAttemptCount: lostAttemptCount,
            messages: messages, result: result,
            failure: failure ?? (status == .cancelled ? .jobCancelled : nil),
            submittedAt: submittedAt,
            endedAt: endedAt, sequence: sequence, parent: submission.parent?.job,
            input: submission.input, actor: submission.actor)
    }

    /// Progress including that of running attempts, 0…1 by chunk; never less than `progress`.
    public func progress(running fractions: [Int: Double]) -> Double {
        status.isTerminal ? progress : max(progress, workDone(running: fractions))
    }

    /// The chunks that may be leased now by the log's clock, lowest number first, at most `limit`.
    public func runnableChunks(in pool: WorkerPool, at now: Timestamp, limit: Int) -> [Int] {
        runnableChunks(in: pool, limit: limit) { isResting($0, at: now) }
    }

    /// The chunks that wait for a worker, lowest number first, at most `limit`.
    ///
    /// Cost: the unfinished chunks of the stage. `isHeld` excludes chunks in a retry delay, and
    /// those whose lease is being appended.
    public func runnableChunks(
        in pool: WorkerPool, limit: Int, isHeld: (Int) -> Bool
    ) -> [Int] {
        guard limit > 0, isRunning, stages.indices.contains(currentStage) else { return [] }
        var found: [Int] = []
        for number in stages[currentStage][stageCursor...]
        where chunks[number].description.pool == pool && chunks[number].description.subJob == nil
            && isWaiting(number) && !isHeld(number)
        {
            found.append(number)
            if found.count == limit { break }
        }
        return found
    }

    /// Whether chunks may be started: not paused, not cancelling, not ended.
    public var isRunning: Bool { !status.isTerminal && status != .cancelling && !isPaused }

    /// Whether a chunk waits for a worker, retry delay or not.
    func isWaiting(_ number: Int) -> Bool {
        chunks[number].phase == .pending && chunks[number].stage == currentStage
    }

    /// Whether a chunk is in a retry delay, by the log's clock.
    func isResting(_ number: Int, at now: Timestamp) -> Bool {
        guard let rest = chunks[number].rest else { return false }
        // A clock that was set back must not lengthen the delay: a time before its start counts as
        // over.
        let elapsed = now.microseconds - rest.since.microseconds
        return 0..<Int64(rest.milliseconds) * 1000 ~= elapsed
    }

    /// The assignment of a running attempt; nil when the chunk has no lease.
    public func assignment(chunk number: Int) -> ChunkAssignment? {
        guard let attempt = running[number]?.attempt else { return nil }
        let description = chunks[number].description
        let gathered =
            description.gathers && currentStage > 0
            ? stages[currentStage - 1].map { chunks[$0].blob } : []
        return ChunkAssignment(
            held: HeldAttempt(job: id, attempt: attempt), kind: submission.kind,
            parameters: submission.parameters, jobInput: submission.input, chunk: description,
            gathered: gathered, submittedSequence: submittedSequence,
            submittedAt: submittedAt)
    }

    /// Whether this attempt holds its chunk's lease.
    public func holds(_ attempt: ChunkAttempt) -> Bool {
        running[attempt.chunk]?.attempt == attempt
    }
}
