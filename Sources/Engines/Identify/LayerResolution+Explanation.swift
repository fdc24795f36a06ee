// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Observations on the layers of a map during a request.
struct LayerNotes {
    /// The findings of searched layers.
    var findings: [LayerID: LayerFinding] = [:]
    /// The failures of layers on other servers.
    var failures: [LayerID: Failure] = [:]
    /// The layer whose hit ended a search for `top`.
    var top: PreparedLayer?
}

extension LayerResolution {
    /// The outcome for every layer and group, top first.
    ///
    /// - Parameter notes: Notes of the search; nil for a blank map.
    func explanation(
        _ request: IdentifyRequest, scale: Double?, _ notes: LayerNotes?
    ) -> [LayerExplanation] {
        let wanted = request.layers.ids.map { expanded($0) }
        return topFirst.map { layer in
            if let failure = notes?.failures[layer.id] {
                var entry = LayerExplanation(
                    skipped: layer.id, layerName: layer.name, reason: .remoteFailed,
                    detail: failure.description)
                entry.status = .failed
                return entry
            }
            if let finding = notes?.findings[layer.id] {
                return LayerExplanation(searched: layer, finding)
            }
            let reason =
                reason(layer, request, wanted, scale) ?? (notes == nil ? .blankMap : .afterTop)
            return LayerExplanation(
                skipped: layer.id, layerName: layer.name, reason: reason,
                detail: detail(reason, layer, scale, notes?.top))
        }
    }

    private func detail(
        _ reason: LayerExplanation.Reason, _ layer: PreparedLayer, _ scale: Double?,
        _ top: PreparedLayer?
    ) -> String {
        switch reason {
        case .group: return "a group has no features of its own"
        case .notSelected: return "the request names other layers"
        case .notLoaded: return "the layer is \(layer.description.loadStatus.rawValue)"
        case .failedToLoad:
            return "the layer failed to load: \(layer.description.loadError?.message ?? "unknown")"
        case .notQueryable: return "the layer may not be queried"
        case .popupsOff: return "its popups are off, and only layers with popups were asked for"
        case .invisible: return "\(name(layer.hidden, around: layer)) is hidden"
        case .outOfScale:
            let part = layer.outOfScale(scale)
            let range = part?.scaleRange ?? .unlimited
            return "the scale 1:\(scale ?? 0) lies outside \(name(part, around: layer))'s range, "
                + "minScale \(range.minScale), maxScale \(range.maxScale)"
        case .tiled: return "a tiled layer has pictures and no features"
        case .remoteFailed: return "the server did not answer as it should"
        case .blankMap: return "the map has no spatial reference: its basemap is not loaded"
        case .afterTop:
            return "layer \(top?.id ?? 0) '\(top?.name ?? "")' above it had a hit, and only the "
                + "top-most such layer was asked for"
        }
    }

    private func name(_ part: LayerDescription?, around layer: PreparedLayer) -> String {
        guard let part, part.id != layer.id else { return "the layer" }
        return "group \(part.id) '\(part.name)'"
    }
}

extension LayerExplanation {
    fileprivate init(searched layer: PreparedLayer, _ finding: LayerFinding) {
        self.init(
            searched: layer.id, layerName: layer.name, candidateCount: finding.candidateCount,
            excludedByDefinition: finding.excludedByDefinition,
            excludedByTime: finding.excludedByTime, hitCount: finding.result?.hitCount ?? 0,
            resultCount: finding.result?.results.count ?? 0,
            transferLimitExceeded: finding.result?.transferLimitExceeded ?? false)
        detail = finding.shortfall?.description
    }
}
