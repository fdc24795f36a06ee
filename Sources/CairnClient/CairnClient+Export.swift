// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnModel

extension CairnClient {
    /// Asks an identify worker for a picture of a map; stops the drawing when the calling task is
    /// cancelled.
    ///
    /// Throws the worker's `Failure`, or `timedOut`, `unavailable`, `busy`, `tooLarge`, `cancelled`,
    /// `draining`.
    public func export(
        _ request: ExportRequest, timeout: Duration = .seconds(15)
    ) async throws(Failure) -> ExportedPicture {
        // Without the map's name in its metadata, nobody who watches the map's answers is shown it.
        let message = Message(
            header: MessageHeader(
                kind: .task, pool: WorkerPool.identify.rawValue,
                contentType: MessageHeader.fixedLayout),
            metadata: try RequestMetadata(operation: "export").wireForm(),
            payload: try CairnJSON.encode(request))
        let answer = try await ask(
            try requester(.supervisorRequests), message, timeout: timeout)
        return try ExportedPicture(wireForm: answer.payload)
    }
}
