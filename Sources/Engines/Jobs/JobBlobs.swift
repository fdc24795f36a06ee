// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The blobs that the jobs of a site refer to, which a sweep must keep.
///
/// Folded from the log's `job` category, because the state of an ended job has no chunks.
public struct JobBlobs: Sendable {
    fileprivate struct Job {
        var parent: JobID?
        var endedAt: Timestamp?
        /// Its input and those of its sub-jobs, and its product.
        var ends: [BlobReference] = []
        /// Outputs of its chunks, for later chunks.
        var parts: [BlobReference] = []
    }

    private var jobs: [JobID: Job] = [:]

    /// No jobs.
    public init() {}

    /// Folds a record of the `job` category.
    ///
    /// Throws `Failure`: `newerVersion`, `corrupt`.
    public mutating func apply(_ record: RecordedEvent) throws(Failure) {
        guard let id = JobID(String(record.stream.rawValue.dropFirst("job-".count))) else {
            throw Failure(.corrupt, "stream \(record.stream) names no job")
        }
        let event = try JobEvent(record.event)
        jobs[id, default: Job()].apply(event, at: record.recordedAt)
    }

    /// The inputs of open jobs, which may refer to blobs that no event does (`Batch`).
    public var openInputs: [BlobReference] {
        jobs.values.filter { $0.endedAt == nil }.flatMap(\.ends)
    }

    /// The blobs to keep when jobs that ended before a moment need no chunk outputs any more, and
    /// without `keepsProducts` no input and no product.
    ///
    /// A sub-job ends with its topmost job.
    public func kept(before moment: Timestamp, keepsProducts: Bool) -> Set<ContentID> {
        var kept: Set<ContentID> = []
        for (id, job) in jobs {
            let isOver = isOver(id, before: moment)
            if !isOver || keepsProducts { kept.formUnion(job.ends.map(\.id)) }
            if !isOver { kept.formUnion(job.parts.map(\.id)) }
        }
        return kept
    }

    private func isOver(_ id: JobID, before moment: Timestamp) -> Bool {
        var next: JobID? = id
        // Nesting is at most a few levels; a cycle would mean a damaged log.
        for _ in 0..<64 {
            guard let id = next, let job = jobs[id] else { return next == nil }
            guard let end = job.endedAt, end < moment else { return false }
            next = job.parent
        }
        return false
    }
}

extension JobBlobs.Job {
    fileprivate mutating func apply(_ event: JobEvent, at time: Timestamp) {
        switch event {
        case .submitted(let payload):
            parent = payload.submission.parent?.job
            if let input = payload.submission.input { ends.append(input) }
        case .stagePlanned(let payload):
            ends += payload.chunks.compactMap { $0.subJob?.input }
        case .chunkCompleted(let payload):
            if let blob = payload.blob { parts.append(blob) }
        case .succeeded(let payload):
            if let result = payload.result { ends.append(result) }
            endedAt = time
        case .failed, .timedOut, .cancelled: endedAt = time
        case .chunkLeased, .chunkDelegated, .chunkLost, .chunkFailed, .chunkReleased,
            .chunkQuarantined, .paused, .resumed, .cancelRequested, .progressed, .messagePosted:
            break
        }
    }
}
