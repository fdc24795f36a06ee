// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
internal import Site

/// Commands on maps and jobs. Ids are chosen here unless the caller supplies them, and kept over
/// retries, so each command is carried out once.
extension CairnClient {
    /// Changes a map; pass the result's `sequence` as `minSequence` to read one's own write.
    public func command(
        map: MapName, _ command: MapCommand, id: UUID = .timeOrdered(), actor: String? = nil,
        timeout: Duration = .seconds(30)
    ) async throws(Failure) -> MapCommandResult {
        try await ask(
            .mapCommand, MapCommandRequest(id: id, map: map, command: command, actor: actor),
            actor: actor, map: map, timeout: timeout)
    }

    /// Submits a job; it is readable when this returns.
    ///
    /// Its input counts as new, so that no sweep of old blobs removes it.
    public func submit(
        _ submission: JobSubmission, timeout: Duration = .seconds(30)
    ) async throws(Failure) -> JobDescription {
        if let input = submission.input { site?.blobs.renew(input.id) }
        return try await ask(.submit, submission, actor: submission.actor, timeout: timeout)
    }

    /// Pauses, resumes or cancels a job.
    public func command(
        job: JobID, _ command: JobCommand, id: UUID = .timeOrdered(), actor: String? = nil,
        timeout: Duration = .seconds(30)
    ) async throws(Failure) -> JobDescription {
        try await ask(
            .jobCommand, JobCommandRequest(id: id, job: job, command: command), actor: actor,
            timeout: timeout)
    }

    /// One job as it is now; throws `Failure` (`notFound`).
    public func job(
        _ id: JobID, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> JobDescription {
        try await ask(.describe, id, timeout: timeout)
    }

    /// Every job the supervisor knows.
    public func jobs(timeout: Duration = .seconds(10)) async throws(Failure) -> [JobDescription] {
        try await ask(.list, Nothing(), timeout: timeout)
    }

    /// The quota use of an actor's jobs.
    public func jobUsage(
        of actor: String, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> JobUsage {
        try await ask(.usage, actor, timeout: timeout)
    }

    /// The supervisor's backlog, and its counters since the start.
    public func supervisorStatus(
        timeout: Duration = .seconds(10)
    ) async throws(Failure) -> SupervisorStatus {
        try await ask(.status, Nothing(), timeout: timeout)
    }

    /// The hash of a service's state in memory: the maps of the map state, the jobs of the
    /// supervisor, or the maps of one identify worker.
    public func stateHash(
        of service: FoldingService, timeout: Duration = .seconds(30)
    ) async throws(Failure) -> StateHash {
        let operation: Operation<Nothing, StateHash> =
            switch service {
            case .mapState: .mapsHash
            case .supervisor: .jobsHash
            case .identifyWorker: .workerHash
            }
        return try await ask(operation, Nothing(), timeout: timeout)
    }

    /// The registered workers.
    public func workers(
        timeout: Duration = .seconds(10)
    ) async throws(Failure) -> [WorkerDescription] {
        try await ask(.workers, Nothing(), timeout: timeout)
    }
}

/// A service that holds a state folded from the log.
public enum FoldingService: String, Hashable, Sendable, CaseIterable {
    /// `cairn-mapstate`.
    case mapState = "cairn-mapstate"
    /// `cairn-supervisor`.
    case supervisor = "cairn-supervisor"
    /// A free worker of the identify pool.
    case identifyWorker = "cairn-identify"

    /// The kinds of parts of the site's state that the service holds.
    public var kinds: Set<String> {
        switch self {
        case .mapState, .identifyWorker: ["commands", "map"]
        case .supervisor: ["job"]
        }
    }
}
