// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnModel
internal import FoundationEssentials

extension CairnClient {
    /// Asks which features of a layer there are: the whole answer, all its parts one after the other.
    ///
    /// All parts are of the map at the sequence number of the first. Throws the worker's `Failure`, or
    /// `timedOut`, `unavailable`, `busy`, `tooLarge`, `cancelled`, `draining`.
    public func query(
        _ request: QueryRequest, timeout: Duration = .seconds(15)
    ) async throws(Failure) -> QueryAnswer {
        try await whole("query", request, timeout)
    }

    /// Asks which features of a map hold a text: the whole answer, all its parts one after the other.
    ///
    /// Throws as ``query(_:timeout:)`` does.
    public func find(
        _ request: FindRequest, timeout: Duration = .seconds(15)
    ) async throws(Failure) -> QueryAnswer {
        try await whole("find", request, timeout)
    }

    private func whole(
        _ operation: String, _ request: some PartedRequest, _ timeout: Duration
    ) async throws(Failure) -> QueryAnswer {
        let end = ContinuousClock.now + timeout
        var answer = try await part(operation, request, timeout)
        var next = request
        while let following = answer.next {
            (next.at, next.atTime, next.minSequence) = (answer.sequence, nil, nil)
            next.part = following
            let more = try await part(operation, next, max(end - .now, .milliseconds(1)))
            answer.body += more.body
            answer.next = more.next
        }
        return answer
    }

    private func part(
        _ operation: String, _ request: some PartedRequest, _ timeout: Duration
    ) async throws(Failure) -> QueryAnswer {
        let message = Message(
            header: MessageHeader(kind: .task, pool: WorkerPool.identify.rawValue),
            metadata: try RequestMetadata(operation: operation).wireForm(),
            payload: try CairnJSON.encode(request))
        let answer = try await ask(
            try requester(.supervisorRequests), message, timeout: timeout)
        return try QueryAnswer(wireForm: answer.payload)
    }
}
