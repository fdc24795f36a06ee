// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension JobState {
    /// The job as anybody may read it.
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
            endedAt: endedAt, sequence: sequence, parent: submission.parent?.job)
    }

    /// Progress with what running attempts say of themselves, 0…1 by chunk; never less than
    /// `progress`.
    public func progress(running fractions: [Int: Double]) -> Double {
        status.isTerminal ? progress : max(progress, workDone(running: fractions))
    }

    /// The chunks that may be leased now, lowest number first, at most `limit`.
    ///
    /// Cost: the chunks of the stage that are not done. `isReserved` leaves out chunks whose lease is
    /// on its way to the log.
    public func runnableChunks(
        in pool: WorkerPool, at now: Timestamp, limit: Int,
        isReserved: (Int) -> Bool = { _ in false }
    ) -> [Int] {
        guard limit > 0, isRunning, stages.indices.contains(currentStage) else { return [] }
        var found: [Int] = []
        for number in stages[currentStage][stageCursor...]
        where chunks[number].description.pool == pool && chunks[number].description.subJob == nil
            && isRunnable(number, at: now) && !isReserved(number)
        {
            found.append(number)
            if found.count == limit { break }
        }
        return found
    }

    /// Whether chunks may be started: not paused, not cancelling, not ended.
    public var isRunning: Bool { !status.isTerminal && status != .cancelling && !isPaused }

    func isRunnable(_ number: Int, at now: Timestamp) -> Bool {
        let chunk = chunks[number]
        guard chunk.phase == .pending, chunk.stage == currentStage else { return false }
        guard let rest = chunk.rest else { return true }
        // A clock set back must not lengthen the rest: before its beginning counts as over.
        let elapsed = now.microseconds - rest.since.microseconds
        return elapsed < 0 || elapsed >= Int64(rest.milliseconds) * 1000
    }

    /// The whole work order for a running attempt; nil when the chunk holds no lease.
    public func assignment(chunk number: Int) -> ChunkAssignment? {
        guard let attempt = running[number]?.attempt else { return nil }
        let description = chunks[number].description
        let gathered =
            description.gathers && currentStage > 0
            ? stages[currentStage - 1].map { chunks[$0].blob } : []
        return ChunkAssignment(
            held: HeldAttempt(job: id, attempt: attempt), kind: submission.kind,
            parameters: submission.parameters, jobInput: submission.input, chunk: description,
            gathered: gathered, submittedSequence: submittedSequence)
    }

    /// Whether this attempt holds its chunk's lease.
    public func holds(_ attempt: ChunkAttempt) -> Bool {
        running[attempt.chunk]?.attempt == attempt
    }
}
