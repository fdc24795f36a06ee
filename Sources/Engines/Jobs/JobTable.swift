// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// All jobs of a site: the fold of the log's `job` category.
public struct JobTable: Sendable {
    /// The jobs by id.
    public private(set) var jobs: [JobID: JobState] = [:]
    /// The sub-jobs of each job.
    public private(set) var subJobs: [JobID: Set<JobID>] = [:]
    /// The jobs of each actor; anonymous jobs are omitted.
    private var jobsByActor: [String: [JobID]] = [:]
    /// Sequence number of the last folded event.
    public private(set) var sequence: Int64 = 0

    /// No jobs yet.
    public init() {}

    /// The job of that id.
    public subscript(id: JobID) -> JobState? { jobs[id] }

    /// Folds a record.
    ///
    /// Records of other categories and records already folded change nothing. Throws `Failure` as
    /// `JobState.apply` does; the table is then unchanged.
    @discardableResult
    public mutating func apply(_ record: RecordedEvent) throws(Failure) -> JobID? {
        guard record.globalPosition > sequence else { return nil }
        guard record.stream.isOf(category: "job") else {
            sequence = record.globalPosition
            return nil
        }
        let id = try apply(job: record)
        sequence = record.globalPosition
        return id
    }

    private mutating func apply(job record: RecordedEvent) throws(Failure) -> JobID {
        guard let id = record.stream.job else {
            throw Failure(.corrupt, "stream \(record.stream) names no job")
        }
        // In place: a job's state is large, and would be copied to be compared with nil.
        if let index = jobs.index(forKey: id) {
            try jobs.values[index].apply(record)
        } else {
            add(try JobState(first: record))
        }
        return id
    }

    private mutating func add(_ state: JobState) {
        jobs[state.id] = state
        if let actor = state.submission.actor { jobsByActor[actor, default: []].append(state.id) }
        if let parent = state.submission.parent {
            subJobs[parent.job, default: []].insert(state.id)
        }
    }

    /// The jobs as they were when the log ended at `sequence`.
    init(_ states: [JobState], sequence: Int64) {
        for state in states { add(state) }
        self.sequence = sequence
    }

    /// Folds the records of an own append.
    ///
    /// Unlike `apply`, the records may follow unseen events of other streams.
    public mutating func applyOwn(_ records: [RecordedEvent]) throws(Failure) {
        for record in records { _ = try apply(job: record) }
    }

    /// All jobs, latest submission first.
    public var newestFirst: [JobState] { jobs.values.sorted { $0.order > $1.order } }

    /// Descriptions of all jobs, latest submission first.
    public var descriptions: [JobDescription] { newestFirst.map(\.description) }

    /// The description of a job with those that it started; nil for an unknown one.
    public func description(of id: JobID) -> JobDescription? {
        guard let state = jobs[id] else { return nil }
        var description = state.description
        let started = (subJobs[id] ?? []).compactMap { jobs[$0] }.sorted { $0.place < $1.place }
        description.subJobs =
            started.isEmpty
            ? nil
            : started.map { child in
                SubJobDescription(
                    id: child.id, kind: child.submission.kind, status: child.status)
            }
        return description
    }

    /// The quota use of an actor's jobs.
    public func usage(of actor: String) -> JobUsage {
        let own = (jobsByActor[actor] ?? []).compactMap { jobs[$0] }
        let products = own.filter { $0.result != nil }.sorted { $0.sequence > $1.sequence }
            .compactMap(\.result)
        return JobUsage(
            openCount: own.count { !$0.status.isTerminal && $0.submission.parent == nil },
            products: Array(products.prefix(JobUsage.productBound)),
            olderByteCount: products.dropFirst(JobUsage.productBound).reduce(0) {
                $0 + $1.byteCount
            })
    }

    /// The events of a submission: those of a new stream, or none when the same submission is
    /// already here.
    ///
    /// The job starts with one `plan` chunk for pool `.work`. Throws `Failure`: `conflict` when the
    /// id names a different submission, `invalidParameter` or `tooLarge` for one that breaks a
    /// limit.
    public func decide(
        submit submission: JobSubmission, policy: JobPolicy = JobPolicy()
    ) throws(Failure) -> [JobChange] {
        try submission.validate(policy)
        if let known = jobs[submission.id] {
            guard known.submission == submission else {
                throw Failure(.conflict, "job \(submission.id) was submitted before, differently")
            }
            return []
        }
        let plan = ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0)
        return [
            JobChange(
                .submitted(JobSubmitted(submission: submission)), job: submission.id,
                name: "submitted"),
            JobChange(
                .stagePlanned(JobStagePlanned(stage: 0, firstChunk: 0, chunks: [plan])),
                job: submission.id, name: "planned/0"),
        ]
    }
}

extension JobState {
    fileprivate var order: (Int64, String) { (submittedAt.microseconds, id.description) }
    /// Its place among the jobs of its parent.
    fileprivate var place: (Int, Int64) { (submission.parent?.chunk ?? 0, submittedSequence) }
}

extension JobSubmission {
    /// UTF-8 bytes of the parameters, names and values together.
    public var parametersByteCount: Int {
        parameters.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }

    fileprivate func validate(_ policy: JobPolicy) throws(Failure) {
        guard (1...64).contains(kind.rawValue.utf8.count),
            kind.rawValue.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ".") })
        else {
            throw Failure(
                .invalidParameter,
                "job kind '\(kind.rawValue.prefix(80))': expected 1 to 64 printable ASCII "
                    + "characters without '.'")
        }
        let size = parametersByteCount
        guard size <= policy.maximumParametersByteCount else {
            throw Failure(
                .tooLarge,
                "the parameters have \(size) bytes; at most \(policy.maximumParametersByteCount) "
                    + "are allowed: put long input into the job's input file")
        }
        guard (actor?.utf8.count ?? 0) <= 200, (input?.mediaType.utf8.count ?? 0) <= 200 else {
            throw Failure(.tooLarge, "actor and media type may have 200 bytes at most")
        }
        if let limit = timeLimitSeconds, !(1...31_536_000).contains(limit) {
            throw Failure(
                .invalidParameter, "time limit \(limit) s: expected 1 to 31536000 seconds")
        }
        if let limit = stallLimitSeconds, !(1...3_600).contains(limit) {
            throw Failure(
                .invalidParameter, "stall limit \(limit) s: expected 1 to 3600 seconds")
        }
    }
}
