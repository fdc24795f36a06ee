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
