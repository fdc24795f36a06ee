// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A change of a map on its site.
public struct MapChange: Sendable, Hashable {
    /// Its number in the site's log.
    public let sequence: Int64
    /// What changed, as `map.layer.visibilityChanged`.
    public let type: String
    /// When it was recorded.
    public let date: Date
    /// The layers; empty for a change of the map itself.
    public let layerIDs: [Int]
    /// The map's service on the site.
    public let serviceURL: URL
}

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

extension ArcGISMapImageLayer {
    /// Every change of the service's map from now on, or after one, in order and each once.
    ///
    /// Only Cairn's services report them.
    public func changes(after sequence: Int64? = nil) -> SiteStream<MapChange> {
        let service = url
        return SiteStream(
            url: url.below("changes"),
            parameters: sequence.map { [("after", String($0))] } ?? [], credential: credential,
            what: "stream of changes"
        ) { data in
            guard let json = JSON(Array(data.utf8)), let sequence = json["sequence"]?.whole else {
                return nil
            }
            let layers =
                json["layerIds"]?.elements.compactMap(\.int)
                ?? json["layerId"]?.int.map { [$0] } ?? []
            return MapChange(
                sequence: sequence, type: json.text("type") ?? "",
                date: Date(millisecondsSince1970: json["recordedAt"]?.number ?? 0),
                layerIDs: layers, serviceURL: service)
        }
    }
}

extension Map {
    /// Every change from now on of the services that its map image layers draw, those of one
    /// service in order and each once.
    ///
    /// Each reader has streams of its own, which end with it; 1,024 changes wait for a slow one,
    /// then the oldest go. Ends by an error: that of loading the map, that of a stream (see
    /// ``SiteStream``), and ``CairnError`` (`unsupported`) where no layer is of a service that
    /// reports changes.
    public var changes: AsyncThrowingStream<MapChange, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1_024)) { waiting in
            let task = Task {
                do {
                    try await load()
                    let images = allLayers.compactMap { $0 as? ArcGISMapImageLayer }
                    guard !images.isEmpty else {
                        throw CairnError.unsupported("stream of changes", by: nil)
                    }
                    var seen: Set<URL> = []
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for image in images where seen.insert(image.url).inserted {
                            group.addTask {
                                for try await change in image.changes() { waiting.yield(change) }
                            }
                        }
                        try await group.waitForAll()
                    }
                    waiting.finish()
                } catch {
                    waiting.finish(throwing: error)
                }
            }
            waiting.onTermination = { _ in task.cancel() }
        }
    }
}

/// How an answer of identify differs from the one before.
public struct IdentifyChange: Sendable {
    /// The differences in one layer.
    public struct LayerChange: Sendable {
        /// Number and name of the layer.
        public let layerID: Int, layerName: String
        /// Object ids that are there now.
        public let added: [Int64]
        /// Object ids whose features changed.
        public let changed: [Int64]
        /// Object ids that are there no more.
        public let removed: [Int64]
    }

    /// The event of the log that the answer includes.
    public let sequence: Int64
    /// Whether the answer is whole, not a difference.
    public let isComplete: Bool
    /// The layers that differ.
    public let layers: [LayerChange]
}

extension MapServiceIdentify {
    /// The answer to a question, and every difference from then on.
    ///
    /// Only Cairn's services report them.
    public static func changes(
        of question: MapServiceIdentifyQuestion, at url: URL,
        credential: (any ArcGISCredential)? = nil
    ) -> SiteStream<IdentifyChange> {
        SiteStream(
            url: url.below("identify/changes"), parameters: parameters(question),
            credential: credential, what: "stream of an identify's differences"
        ) { data in
            guard let json = JSON(Array(data.utf8)), let sequence = json["sequence"]?.whole else {
                return nil
            }
            func ids(_ json: JSON?) -> [Int64] {
                (json?.elements ?? []).compactMap { $0.whole ?? $0["objectID"]?.whole }
            }
            return IdentifyChange(
                sequence: sequence, isComplete: json.member("after") == nil,
                layers: (json["layers"]?.elements ?? []).map { layer in
                    IdentifyChange.LayerChange(
                        layerID: layer["layerID"]?.int ?? -1,
                        layerName: layer.text("layerName") ?? "", added: ids(layer["added"]),
                        changed: ids(layer["changed"]), removed: ids(layer["removed"]))
                })
        }
    }

    /// Why each layer of a map has what it has in an answer, as the site's JSON text.
    ///
    /// Only Cairn's services explain.
    public static func explanation(
        of question: MapServiceIdentifyQuestion, at url: URL,
        credential: (any ArcGISCredential)? = nil
    ) async throws -> String {
        try await CairnService.require("explanation", of: url)
        var request = Question(url.below("identify"))
        request.parameters = parameters(question) + [("explain", "true")]
        request.credential = credential
        let json = try await Requester.json(request)
        guard let explanation = json.member("explanation") else {
            throw CairnError.unsupported("explanation", by: url)
        }
        return explanation.jsonText
    }
}
