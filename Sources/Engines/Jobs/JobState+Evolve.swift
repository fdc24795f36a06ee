// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

extension JobState {
    mutating func evolve(_ event: JobEvent, id: UUID, at time: Timestamp) throws(Failure) {
        switch event {
        case .submitted: throw corrupt("is submitted twice")
        case .stagePlanned(let payload): try plan(payload)
        case .chunkLeased(let payload):
            try lease(
                payload.attempt, worker: payload.worker, processID: payload.processID, subJob: nil)
        case .chunkDelegated(let payload):
            try lease(
                payload.attempt, worker: payload.job.rawValue, processID: 0, subJob: payload.job)
        case .chunkCompleted(let payload): try complete(payload)
        case .chunkLost(let payload):
            try end(payload.attempt)
            chunks[payload.attempt.chunk].deathCount += 1
            lostAttemptCount += 1
        case .chunkFailed(let payload):
            try end(payload.attempt)
            chunks[payload.attempt.chunk].errorCount += 1
            chunks[payload.attempt.chunk].restingSince = time
            chunks[payload.attempt.chunk].restMilliseconds = payload.retryAfterMilliseconds ?? 0
        case .chunkReleased(let payload): try end(payload.attempt)
        case .chunkQuarantined(let payload):
            guard chunks.indices.contains(payload.chunk), chunks[payload.chunk].phase == .pending
            else { throw corrupt("quarantines chunk \(payload.chunk), which is not pending") }
            chunks[payload.chunk].phase = .quarantined
        case .paused:
            isPaused = true
            commands.insert(id)
        case .resumed:
            isPaused = false
            commands.insert(id)
        case .cancelRequested:
            status = .cancelling
            commands.insert(id)
        case .progressed(let payload):
            progress = max(progress, min(payload.progress, 100))
            lastProgressAt = time
        case .messagePosted: break
        case .succeeded(let payload):
            guard completedChunkCount == chunkCount else {
                throw corrupt("succeeds with chunks left to do")
            }
            result = payload.result
            progress = 100
            close(.succeeded, at: time)
        case .failed(let payload):
            failure = payload.error
            close(.failed, at: time)
        case .timedOut(let payload):
            failure = Failure(
                .timedOut, "the job took longer than its limit of \(payload.limitSeconds) s")
            close(.timedOut, at: time)
        case .cancelled:
            guard running.isEmpty else { throw corrupt("is cancelled while attempts run") }
            close(.cancelled, at: time)
        }
    }

    private func corrupt(_ what: String) -> Failure { Failure(.corrupt, "job \(self.id) \(what)") }

    private mutating func plan(_ payload: JobStagePlanned) throws(Failure) {
        guard payload.firstChunk == chunks.count, (0...stages.count).contains(payload.stage),
            payload.stage > currentStage || (payload.stage == 0 && stages.isEmpty)
        else {
            throw corrupt("plans stage \(payload.stage) from chunk \(payload.firstChunk) on")
        }
        if payload.stage == stages.count { stages.append([]) }
        for description in payload.chunks {
            stages[payload.stage].append(chunks.count)
            chunks.append(Chunk(description: description, stage: payload.stage))
            knownWeight += Double(description.weight)
            chunkCount += 1
        }
        if status == .submitted { status = .waiting }
    }

    private mutating func lease(
        _ attempt: ChunkAttempt, worker: UUID, processID: Int32, subJob: JobID?
    ) throws(Failure) {
        guard chunks.indices.contains(attempt.chunk), chunks[attempt.chunk].phase == .pending,
            chunks[attempt.chunk].stage == currentStage,
            attempt.number == chunks[attempt.chunk].attemptCount + 1
        else { throw corrupt("leases chunk \(attempt.chunk), attempt \(attempt.number)") }
        chunks[attempt.chunk].phase = .leased
        chunks[attempt.chunk].attemptCount = attempt.number
        running[attempt.chunk] = RunningAttempt(
            attempt: attempt, worker: worker, processID: processID, subJob: subJob)
        if status == .waiting || status == .submitted { status = .executing }
    }

    private mutating func end(_ attempt: ChunkAttempt) throws(Failure) {
        guard running[attempt.chunk]?.attempt == attempt else {
            throw corrupt("ends attempt \(attempt.number) of chunk \(attempt.chunk), not held")
        }
        running[attempt.chunk] = nil
        chunks[attempt.chunk].phase = .pending
    }

    private mutating func complete(_ payload: JobChunkCompleted) throws(Failure) {
        try end(payload.attempt)
        let number = payload.attempt.chunk
        chunks[number].phase = .completed
        chunks[number].blob = payload.blob
        chunks[number].completedBy = payload.attempt.lease
        completedChunkCount += 1
        doneInStage += 1
        doneWeight += Double(chunks[number].description.weight)
        progress = max(progress, workDone(running: [:]))
        advance()
    }

    private mutating func advance() {
        let stage = stages[currentStage]
        while stageCursor < stage.count, chunks[stage[stageCursor]].phase == .completed {
            stageCursor += 1
        }
        if doneInStage == stage.count, currentStage + 1 < stages.count {
            currentStage += 1
            stageCursor = 0
            doneInStage = 0
        }
    }

    mutating func note(_ new: [JobMessage]) {
        let room = max(0, JobPolicy().maximumMessageCount - notices.count)
        notices += new.prefix(room).map { Notice(after: messages.count, message: $0) }
    }

    mutating func keep(_ new: [JobMessage]) {
        let room = max(0, JobPolicy().maximumMessageCount - messages.count)
        messages += new.prefix(room)
        omittedMessageCount += max(0, new.count - room)
    }

    private mutating func close(_ end: JobStatus, at time: Timestamp) {
        status = end
        endedAt = time
        isPaused = false
        running = [:]
        // A site keeps every job; of an ended one, only what is displayed.
        chunks = []
        stages = []
        currentStage = 0
        stageCursor = 0
    }

    /// Progress 0…100 from weights alone; `running` holds the reported progress of attempts, 0…1 by
    /// chunk.
    func workDone(running fractions: [Int: Double]) -> Double {
        guard knownWeight > 0 else { return 0 }
        let partial = fractions.reduce(0.0) { sum, entry in
            guard chunks.indices.contains(entry.key), running[entry.key] != nil else { return sum }
            let weight = Double(chunks[entry.key].description.weight)
            return sum + weight * min(max(entry.value, 0), 1)
        }
        return min(100, 100 * (doneWeight + partial) / knownWeight)
    }
}
