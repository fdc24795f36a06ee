// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Resolves the layers of a request, by the rules of Esri's `layers` parameter.
struct LayerResolution: Sendable {
    /// Every layer and group, in drawing order, bottom first, a group before its children.
    let layers: [PreparedLayer]
    private let byID: [LayerID: PreparedLayer]
    /// The top level of the map, in drawing order.
    private let roots: [LayerID]

    init(_ map: MapDescription) {
        let descriptions = Dictionary(map.layers.map { ($0.id, $0) }) { first, _ in first }
        layers = map.layers.enumerated().map { place, layer in
            PreparedLayer(layer, place: place, among: descriptions)
        }
        byID = Dictionary(layers.map { ($0.id, $0) }) { first, _ in first }
        roots = map.rootLayers
    }

    /// The layers to be searched, top first, each once.
    ///
    /// `scale` is the denominator of the map's scale; nil, when it is unknown, puts every layer in
    /// range.
    func searched(_ request: IdentifyRequest, scale: Double?) -> [PreparedLayer] {
        let wanted = request.layers.ids.map { expanded($0) }
        return layers.reversed().filter { reason($0, request, wanted, scale) == nil }
    }

    /// Why the layer is excluded; nil when it is searched.
    ///
    /// - Parameter wanted: The requested ids, groups expanded; nil for all.
    func reason(
        _ layer: PreparedLayer, _ request: IdentifyRequest, _ wanted: Set<LayerID>?,
        _ scale: Double?
    ) -> LayerExplanation.Reason? {
        if layer.obstacle == .group { return .group }
        if wanted?.contains(layer.id) == false { return .notSelected }
        if let obstacle = layer.obstacle { return obstacle }
        if request.returnPopupsOnly && !layer.description.isPopupEnabled { return .popupsOff }
        if request.layers.option == .all { return nil }
        if layer.hidden != nil { return .invisible }
        return layer.outOfScale(scale) == nil ? nil : .outOfScale
    }

    /// Every layer and group, top first, a group before its children.
    var topFirst: [PreparedLayer] {
        var result: [PreparedLayer] = []
        var pending = roots
        while let id = pending.popLast() {
            guard let layer = byID[id], result.count < layers.count else { continue }
            result.append(layer)
            pending.append(contentsOf: layer.description.children)
        }
        return result
    }

    /// The ids with all descendants of groups; unknown ids are ignored.
    func expanded(_ ids: [LayerID]) -> Set<LayerID> {
        var result: Set<LayerID> = []
        var pending = ids
        while let id = pending.popLast() {
            guard let layer = byID[id], result.insert(id).inserted else { continue }
            pending.append(contentsOf: layer.description.children)
        }
        return result
    }

    /// The results as a tree in drawing order, top first, with the groups around every layer that
    /// has one.
    ///
    /// - Parameter found: One entry per layer of the map, in drawing order.
    func tree(_ found: [IdentifyLayerResult?]) -> [IdentifyLayerResult] {
        branch(roots, found, depth: 0)
    }

    private func branch(
        _ ids: [LayerID], _ found: [IdentifyLayerResult?], depth: Int
    ) -> [IdentifyLayerResult] {
        guard depth <= 256 else { return [] }
        return ids.reversed().compactMap { id in
            guard let layer = byID[id] else { return nil }
            if let result = found[layer.place] { return result }
            let inside = branch(layer.description.children, found, depth: depth + 1)
            if inside.isEmpty { return nil }
            return IdentifyLayerResult(
                layerID: id, layerName: layer.name, results: [], sublayerResults: inside,
                transferLimitExceeded: false)
        }
    }
}
