// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// Cache of the time extents of layers, by version of the layer.
///
/// Unknown for layers on other servers: that would take a query of all their features.
actor TimeExtents {
    /// Maximum number of cached layers; beyond it the cache is emptied.
    static let layerBound = 1_000
    /// Time limit for all layers of a request together.
    static let patience = Duration.seconds(5)
    /// Delay before a failed query is retried.
    static let respite = Duration.seconds(60)

    private struct Key: Hashable {
        var map: MapName
        var layer: LayerID
    }

    private struct Entry {
        var layer: LayerDescription
        /// Nil for a layer without times, or after a failure.
        var extent: TimeExtent?
        /// Time of the failure; nil after a success.
        var failed: ContinuousClock.Instant?
    }

    private var entries: [Key: Entry] = [:]

    /// The time extents of a map's layers; `ask` executes a query.
    ///
    /// Layers without times are omitted, and so are those whose query fails.
    func extents(
        of layers: [LayerDescription], on map: MapDescription, past: SeenPast?,
        ask: @Sendable (QueryRequest, Duration) async throws(Failure) -> QueryAnswer
    ) async -> [LayerID: TimeExtent] {
        let end = ContinuousClock.now + Self.patience
        var result: [LayerID: TimeExtent] = [:]
        for layer in layers where layer.hasTimeExtent {
            let key = Key(map: map.name, layer: layer.id)
            if let known = entries[key], known.layer == layer,
                known.failed.map({ $0.duration(to: .now) < Self.respite }) ?? true
            {
                result[layer.id] = known.extent
                continue
            }
            var entry = Entry(layer: layer)
            do throws(Failure) {
                let answer = try await ask(
                    layer.timeQuery(on: map, past: past), max(end - .now, .milliseconds(1)))
                entry.extent = TimeExtent(statistics: answer.body)
            } catch {
                entry.failed = .now
            }
            if entries.count >= Self.layerBound { entries.removeAll() }
            entries[key] = entry
            result[layer.id] = entry.extent
        }
        return result
    }
}

extension LayerDescription {
    fileprivate var hasTimeExtent: Bool {
        timeInfo != nil && isFeatureLayer && isQueryable && loadStatus == .loaded
            && kind.source?.isRemote == false
    }

    /// A query for the first and last times of its visible features.
    fileprivate func timeQuery(on map: MapDescription, past: SeenPast?) -> QueryRequest {
        var request = QueryRequest(map: map.name, layer: id)
        request.isAuxiliary = true
        request.past = past
        if past == nil { request.minSequence = map.sequence }
        guard let timeInfo else { return request }
        request.statistics = [
            QueryStatistic(kind: .min, field: timeInfo.startField, name: "first"),
            QueryStatistic(kind: .max, field: timeInfo.startField, name: "last"),
        ]
        if let end = timeInfo.endField {
            request.statistics.append(QueryStatistic(kind: .max, field: end, name: "end"))
        }
        return request
    }
}

extension TimeExtent {
    /// Decodes the answer to such a query; nil if no feature has a time.
    fileprivate init?(statistics body: [UInt8]) {
        let row = JSONTree(body)?["features"]?.elements.first?["attributes"]
        let moments = ["first", "last", "end"].map { row?[$0]?.whole }
        guard let first = moments[0], let last = moments[1] else { return nil }
        self.init(from: first, to: max(last, moments[2] ?? last))
    }
}
