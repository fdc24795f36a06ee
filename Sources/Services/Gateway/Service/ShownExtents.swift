// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// Cache of the extents of the features that pass a layer's definition expression, by version of
/// the layer: the extents of sources include hidden features.
///
/// A layer whose query fails has no extent meanwhile. Layers on other servers keep the extents that
/// these publish.
actor ShownExtents {
    /// Maximum number of cached layers; beyond it the cache is emptied.
    static let layerBound = 1_000
    /// Time limit for all layers of a map together.
    static let patience = Duration.seconds(5)
    /// Delay before a failed query is retried.
    static let respite = Duration.seconds(10)

    private struct Key: Hashable {
        var map: MapName
        var layer: LayerID
    }

    private struct Entry {
        var layer: LayerDescription
        var past: SeenPast?
        /// In the layer's reference, and in degrees; nil for a layer without visible features, or
        /// after a failure.
        var extent: Envelope?
        var degrees: Envelope?
        /// Time of the failure; nil after a success.
        var failed: ContinuousClock.Instant?
    }

    typealias Ask = @Sendable (QueryRequest, Duration) async throws(Failure) -> QueryAnswer

    private var entries: [Key: Entry] = [:]

    /// The map with the extents of visible features, of some layers or all; `ask` executes a query.
    func shown(
        _ map: MapDescription, of ids: [LayerID]?, past: SeenPast?, ask: Ask
    ) async -> MapDescription {
        let end = ContinuousClock.now + Self.patience
        var shown = map
        for index in map.layers.indices where map.layers[index].hidesByDefinition {
            let layer = map.layers[index]
            if let ids, !ids.contains(layer.id) { continue }
            let entry = await entry(of: layer, on: map, past: past, until: end, ask)
            shown.layers[index].properties?.extent = entry.extent
            shown.layers[index].properties?.geographicExtent = entry.degrees
            if layer.id == map.basemap { shown.initialExtent = entry.extent }
        }
        return shown
    }

    private func entry(
        of layer: LayerDescription, on map: MapDescription, past: SeenPast?,
        until end: ContinuousClock.Instant, _ ask: Ask
    ) async -> Entry {
        let key = Key(map: map.name, layer: layer.id)
        if let known = entries[key], known.layer == layer, known.past == past,
            known.failed.map({ $0.duration(to: .now) < Self.respite }) ?? true
        {
            return known
        }
        var entry = Entry(layer: layer, past: past)
        do throws(Failure) {
            var request = layer.extentQuery(on: map, past: past)
            entry.extent = try await Self.envelope(request, until: end, ask)
            if request.outReference?.isEquivalent(to: .wgs84) == true {
                entry.degrees = entry.extent
            } else if entry.extent != nil {
                request.outReference = .wgs84
                entry.degrees = try await Self.envelope(request, until: end, ask)
            }
        } catch {
            entry.failed = .now
            (entry.extent, entry.degrees) = (nil, nil)
        }
        if entries.count >= Self.layerBound { entries.removeAll() }
        entries[key] = entry
        return entry
    }

    private static func envelope(
        _ request: QueryRequest, until end: ContinuousClock.Instant, _ ask: Ask
    ) async throws(Failure) -> Envelope? {
        let answer = try await ask(request, max(end - .now, .milliseconds(1)))
        return Envelope(extentAnswer: answer.body)
    }
}

extension LayerDescription {
    /// Whether features of its source may be hidden from readers.
    fileprivate var hidesByDefinition: Bool {
        definitionExpression?.allSatisfy(\.isWhitespace) == false && loadStatus == .loaded
            && properties?.extent != nil && kind.source?.isRemote == false
    }

    /// A query for the extent of the visible features, in the layer's reference.
    fileprivate func extentQuery(on map: MapDescription, past: SeenPast?) -> QueryRequest {
        var request = QueryRequest(map: map.name, layer: id)
        request.isAuxiliary = true
        request.result = .extent
        request.outReference = properties?.spatialReference
        request.past = past
        if past == nil { request.minSequence = map.sequence }
        return request
    }
}

extension Envelope {
    /// Decodes the answer to such a query; nil if no feature has a geometry.
    fileprivate init?(extentAnswer body: [UInt8]) {
        let box = JSONTree(body)?["extent"]
        let sides = ["xmin", "ymin", "xmax", "ymax"].compactMap { box?[$0]?.number }
        guard sides.count == 4, sides.allSatisfy(\.isFinite) else { return nil }
        self.init(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])
    }
}
