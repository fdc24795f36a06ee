// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A stream of what a site reports, continued where a connection broke off.
///
/// It ends by an error: ``ServiceError`` as the site's, ``CairnError`` (`unsupported`) for other
/// servers; failures of the network are passed over as long as jobs pass over them.
public struct SiteStream<Element: Sendable>: AsyncSequence, Sendable {
    let url: URL
    let parameters: [(name: String, value: String)]
    let credential: (any ArcGISCredential)?
    let what: String
    let read: @Sendable (String) -> Element?

    /// Reads one element after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: SiteStream
        var events: EventStreamReader?
        var lastID: String?
        var lostAt: ContinuousClock.Instant?

        /// The next element; throws in a cancelled task.
        public mutating func next() async throws -> Element? {
            while true {
                do {
                    if events == nil { events = try await open() }
                    guard let event = try await events?.next() else {
                        throw TransportError(.unreachable, "the stream ended")
                    }
                    lostAt = nil
                    if let id = event.id { lastID = id }
                    if event.name == "error" {
                        throw ServiceError(code: 500, message: event.data, url: stream.url)
                    }
                    if let element = stream.read(event.data) { return element }
                } catch let error as TransportError where error.isOfNetwork {
                    events = nil
                    let settings = CairnEnvironment.settings.current
                    let since = lostAt ?? SDKTime.now
                    lostAt = since
                    guard SDKTime.now - since < settings.jobNetworkPatience else {
                        throw error
                    }
                    try await SDKTime.sleep(for: settings.jobPolling.first)
                }
            }
        }

        private func open() async throws -> EventStreamReader {
            try await CairnService.require(stream.what, of: stream.url)
            var question = Question(stream.url)
            question.parameters = stream.parameters
            question.credential = stream.credential
            question.headers = [("Accept", "text/event-stream")]
            if let lastID { question.headers.append(("Last-Event-ID", lastID)) }
            return EventStreamReader(try await Requester.stream(question).body)
        }
    }

    /// Starts to follow.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}
