// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
public import FoundationEssentials
internal import Site

/// Interactive tasks: asked of the supervisor, answered by a worker. Each throws the worker's
/// `Failure`, or `timedOut`, `unavailable`, `busy`, `tooLarge`, `cancelled`, `draining`.
extension CairnClient {
    /// Asks what is here.
    public func identify(
        _ request: IdentifyRequest, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> IdentifyAnswer {
        try await ask(
            try requester(.supervisorRequests), try Self.question(request), timeout: timeout
        ).identifyAnswer()
    }

    /// Asks where something is.
    public func geocode(
        _ request: GeocodeRequest, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> GeocodeAnswer {
        try await locate("geocode", request, timeout, FixedLayout.geocodeAnswer)
    }

    /// Asks how a text may go on.
    public func suggest(
        _ request: SuggestRequest, timeout: Duration = .seconds(5)
    ) async throws(Failure) -> SuggestAnswer {
        try await locate("suggest", request, timeout, FixedLayout.suggestAnswer)
    }

    /// Asks what a place is called.
    public func reverse(
        _ request: ReverseGeocodeRequest, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> ReverseGeocodeAnswer {
        try await locate("reverse", request, timeout, FixedLayout.reverseAnswer)
    }

    /// Asks a locator; the question is JSON, the answer has the fixed layout.
    private func locate<Answer: Decodable>(
        _ operation: String, _ request: some Encodable, _ timeout: Duration,
        _ read: (Data) throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        let question = Message(
            header: MessageHeader(
                kind: .task, pool: WorkerPool.locator.rawValue,
                contentType: MessageHeader.fixedLayout),
            metadata: try RequestMetadata(operation: operation).wireForm(),
            payload: try CairnJSON.encode(request))
        let answer = try await ask(
            try requester(.supervisorRequests), question, timeout: timeout)
        // Workers of earlier builds know no other form than JSON.
        guard answer.payload.first == UInt8(ascii: "{") else { return try read(answer.payload) }
        do throws(Failure) { return try answer.decode(Answer.self) } catch {
            throw Failure(.corrupt, "\(operation) was answered with: \(error.message)")
        }
    }
}

extension CairnClient {
    static func question(_ request: IdentifyRequest) throws(Failure) -> Message {
        Message(
            header: MessageHeader(
                kind: .task, pool: WorkerPool.identify.rawValue,
                contentType: MessageHeader.fixedLayout),
            metadata: try RequestMetadata(operation: "identify", map: request.map.rawValue)
                .wireForm(),
            payload: FixedLayout.encode(request))
    }
}

extension Message {
    /// The identify answer it carries, in the fixed layout or as JSON; throws `Failure`: `corrupt`,
    /// or `newerVersion` for another build's layout.
    public func identifyAnswer() throws(Failure) -> IdentifyAnswer {
        guard header.contentType != MessageHeader.fixedLayout else {
            return try FixedLayout.identifyAnswer(payload)
        }
        do throws(Failure) { return try decode(IdentifyAnswer.self) } catch {
            throw Failure(.corrupt, "identify was answered with: \(error.message)")
        }
    }
}

/// Commands on maps and jobs. Ids are chosen here unless the caller brings its own, and kept over
/// retries, so each command is carried out once.
extension CairnClient {
    /// Changes a map; pass the result's `sequence` as `minSequence` to read one's own write.
    public func command(
        map: MapName, _ command: MapCommand, id: UUID = .timeOrdered(), actor: String? = nil,
        timeout: Duration = .seconds(30)
    ) async throws(Failure) -> MapCommandResult {
        try await request(
            .mapRequests, "command",
            MapCommandRequest(id: id, map: map, command: command, actor: actor), actor: actor,
            map: map, timeout: timeout)
    }

    /// Submits a job; when this returns, anybody can read it.
    ///
    /// Its input counts as put now, so that no sweep of older blobs takes it.
    public func submit(
        _ submission: JobSubmission, timeout: Duration = .seconds(30)
    ) async throws(Failure) -> JobDescription {
        if let input = submission.input { site?.blobs.renew(input.id) }
        return try await request(
            .supervisorRequests, "submit", submission, actor: submission.actor, timeout: timeout)
    }

    /// Pauses, resumes or cancels a job.
    public func command(
        job: JobID, _ command: JobCommand, id: UUID = .timeOrdered(), actor: String? = nil,
        timeout: Duration = .seconds(30)
    ) async throws(Failure) -> JobDescription {
        try await request(
            .supervisorRequests, "command",
            JobCommandRequest(id: id, job: job, command: command), actor: actor, timeout: timeout)
    }

    /// One job as it is now; throws `Failure` (`notFound`).
    public func job(
        _ id: JobID, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> JobDescription {
        try await request(.supervisorRequests, "describe", id, timeout: timeout)
    }

    /// Every job the supervisor knows.
    public func jobs(timeout: Duration = .seconds(10)) async throws(Failure) -> [JobDescription] {
        try await request(.supervisorRequests, "list", Nothing(), timeout: timeout)
    }

    /// What the jobs of an actor take up.
    public func jobUsage(
        of actor: String, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> JobUsage {
        try await request(.supervisorRequests, "usage", actor, timeout: timeout)
    }

    /// What the supervisor has to do now, and what it has counted since its start.
    public func supervisorStatus(
        timeout: Duration = .seconds(10)
    ) async throws(Failure) -> SupervisorStatus {
        try await request(.supervisorRequests, "status", Nothing(), timeout: timeout)
    }

    /// The hash of what a service holds in memory: the maps of the map state, the jobs of the
    /// supervisor, or the maps of some identify worker.
    public func stateHash(
        of service: FoldingService, timeout: Duration = .seconds(30)
    ) async throws(Failure) -> StateHash {
        switch service {
        case .mapState: try await request(.mapRequests, "stateHash", Nothing(), timeout: timeout)
        case .supervisor:
            try await request(.supervisorRequests, "stateHash", Nothing(), timeout: timeout)
        case .identifyWorker:
            try await request(
                .supervisorRequests, "stateHash", Nothing(), kind: .task, pool: .identify,
                timeout: timeout)
        }
    }

    /// The workers that are there now.
    public func workers(
        timeout: Duration = .seconds(10)
    ) async throws(Failure) -> [WorkerDescription] {
        try await request(.supervisorRequests, "workers", Nothing(), timeout: timeout)
    }
}

/// A service that holds a state folded from the log.
public enum FoldingService: String, Hashable, Sendable, CaseIterable {
    /// `cairn-mapstate`.
    case mapState = "cairn-mapstate"
    /// `cairn-supervisor`.
    case supervisor = "cairn-supervisor"
    /// Whichever `cairn-identify` is free.
    case identifyWorker = "cairn-identify"

    /// The kinds of parts of a site's state that it holds.
    public var kinds: Set<String> {
        switch self {
        case .mapState, .identifyWorker: ["commands", "map"]
        case .supervisor: ["job"]
        }
    }
}

/// `{}`: the payload of a question that needs none.
public struct Nothing: Hashable, Sendable, Codable {
    /// Makes it.
    public init() {}
}
