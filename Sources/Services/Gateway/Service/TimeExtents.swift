// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms

/// From when to when the features of layers are, worked out once for as long as a layer is what it
/// was.
///
/// Of layers on other servers it is not known: these would have to tell all their features.
actor TimeExtents {
    /// The most layers that are remembered; beyond them all are forgotten.
    static let layerBound = 1_000
    /// How long the features of all layers that are asked for at once are waited for.
    static let patience = Duration.seconds(5)
    /// How long a layer that could not be asked is not asked again.
    static let respite = Duration.seconds(60)

    private struct Key: Hashable {
        var map: MapName
        var layer: LayerID
    }

    private struct Entry {
        var layer: LayerDescription
        /// Nil where the layer has no moments, or could not be asked.
        var extent: TimeExtent?
        /// When it could not be; nil where it was.
        var failed: ContinuousClock.Instant?
    }

    private var entries: [Key: Entry] = [:]

    /// Those of the layers of a map that have time; `ask` answers a query.
    ///
    /// A layer that cannot be asked is left out, and so is one without moments.
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

    /// Asks for the first and last moments of its features, as the map shows them.
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
    /// Reads the answer to such a query; nil where no feature has a moment.
    fileprivate init?(statistics body: [UInt8]) {
        let row = JSONTree(body)?["features"]?.elements.first?["attributes"]
        let moments = ["first", "last", "end"].map { row?[$0]?.whole }
        guard let first = moments[0], let last = moments[1] else { return nil }
        self.init(from: first, to: max(last, moments[2] ?? last))
    }
}
