// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

extension JobState {
    /// Completes a chunk: new stages first, so that the job never looks finished too early.
    func complete(
        _ attempt: ChunkAttempt, _ outcome: ChunkOutcome, _ policy: JobPolicy
    ) throws(Failure) -> [JobChange] {
        let plans = try planned(outcome, policy)
        let completed = JobChunkCompleted(
            attempt: attempt, blob: outcome.blob, messages: policy.trim(outcome.messages),
            build: outcome.build.map { String($0.prefix(100)) })
        var changes = plans.map {
            JobChange(.stagePlanned($0), job: id, name: "planned/\($0.firstChunk)")
        }
        changes.append(
            JobChange(.chunkCompleted(completed), job: id, name: "completed/\(attempt.chunk)"))
        if plans.isEmpty, completedChunkCount + 1 == chunks.count {
            let last = stages.last?.last
            let result = last == attempt.chunk ? outcome.blob : last.flatMap { chunks[$0].blob }
            changes.append(
                JobChange(.succeeded(JobSucceeded(result: result)), job: id, name: "over"))
        }
        return changes
    }

    private func planned(
        _ outcome: ChunkOutcome, _ policy: JobPolicy
    ) throws(Failure) -> [JobStagePlanned] {
        let stages = ([outcome.nextStage] + outcome.laterStages).filter { !$0.isEmpty }
        try checkSubJobs(in: stages, policy)
        let total = stages.reduce(chunks.count) { $0 + $1.count }
        guard total <= policy.maximumChunkCount else {
            throw Failure(
                .tooLarge,
                "the job needs \(total) chunks; at most \(policy.maximumChunkCount) are allowed")
        }
        var plans: [JobStagePlanned] = []
        var next = chunks.count
        for (offset, stage) in stages.enumerated() {
            for part in try StageParts.split(stage, policy) {
                plans.append(
                    JobStagePlanned(
                        stage: currentStage + 1 + offset, firstChunk: next, chunks: part))
                next += part.count
            }
        }
        return plans
    }
}

/// Splits the chunks of a stage into portions that each fit into one event.
enum StageParts {
    /// Size limit of the chunk descriptions in one event; events hold 64 KiB at most.
    static let byteCount = 48 << 10

    /// Throws `Failure` (`tooLarge`, `invalidParameter`) for a chunk that breaks a bound.
    static func split(
        _ chunks: [ChunkDescription], _ policy: JobPolicy
    ) throws(Failure) -> [[ChunkDescription]] {
        var parts: [[ChunkDescription]] = []
        var part: [ChunkDescription] = []
        var used = 0
        for chunk in chunks {
            guard chunk.input.count <= policy.maximumChunkInputByteCount else {
                throw Failure(
                    .tooLarge,
                    "a chunk's input has \(chunk.input.count) bytes; at most "
                        + "\(policy.maximumChunkInputByteCount) are allowed")
            }
            guard (0...1 << 40).contains(chunk.weight),
                (1...64).contains(chunk.operation.utf8.count)
            else {
                throw Failure(
                    .invalidParameter,
                    "chunk '\(chunk.operation.prefix(64))' has weight \(chunk.weight); expected "
                        + "0 to 2^40 and a name of 1 to 64 bytes")
            }
            let size = chunk.input.count * 4 / 3 + chunk.operation.utf8.count * 2 + 120
            if used + size > byteCount, !part.isEmpty {
                parts.append(part)
                part = []
                used = 0
            }
            part.append(chunk)
            used += size
        }
        if !part.isEmpty { parts.append(part) }
        return parts
    }
}
