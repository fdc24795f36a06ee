// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnModel

extension CairnClient {
    /// Asks an identify worker for the legends of a map's layers on other servers.
    ///
    /// Throws the worker's `Failure`, or `timedOut`, `unavailable`, `busy`, `tooLarge`, `cancelled`,
    /// `draining`.
    public func legends(
        _ request: LegendRequest, timeout: Duration = .seconds(15)
    ) async throws(Failure) -> LayerLegends {
        // Without the map's name in its metadata, nobody who watches the map's answers is shown it.
        let message = Message(
            header: MessageHeader(
                kind: .task, pool: WorkerPool.identify.rawValue,
                contentType: MessageHeader.fixedLayout),
            metadata: try RequestMetadata(operation: "legend").wireForm(),
            payload: try CairnJSON.encode(request))
        let answer = try await ask(
            try requester(.supervisorRequests), message, timeout: timeout)
        return try CairnJSON.decode(LayerLegends.self, from: answer.payload)
    }
}
