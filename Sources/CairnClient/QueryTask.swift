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
        let end = ContinuousClock.now + timeout
        var answer = try await part(request, timeout)
        var next = request
        while let part = answer.next {
            (next.at, next.atTime, next.minSequence) = (answer.sequence, nil, nil)
            next.part = part
            let more = try await self.part(next, max(end - .now, .milliseconds(1)))
            answer.body.append(more.body)
            answer.next = more.next
        }
        return answer
    }

    private func part(
        _ request: QueryRequest, _ timeout: Duration
    ) async throws(Failure) -> QueryAnswer {
        let message = Message(
            header: MessageHeader(kind: .task, pool: WorkerPool.identify.rawValue),
            metadata: try RequestMetadata(operation: "query").wireForm(),
            payload: try CairnJSON.encode(request))
        let answer = try await ask(
            try requester(.supervisorRequests), message, timeout: timeout)
        return try QueryAnswer(wireForm: answer.payload)
    }
}
