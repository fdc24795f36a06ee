// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Which layers a request means, by the rules of Esri's `layers` parameter.
struct LayerResolution {
    private let layers: [LayerDescription]
    private let byID: [LayerID: LayerDescription]

    init(_ map: MapDescription) {
        layers = map.layers
        byID = Dictionary(map.layers.map { ($0.id, $0) }) { first, _ in first }
    }

    /// The layers to be searched, top first, each once.
    ///
    /// `scale` is the denominator of the
    /// map's scale; nil, when it is not known, puts every layer in range.
    func searched(_ request: IdentifyRequest, scale: Double?) -> [LayerDescription] {
        let wanted = request.layers.ids.map { expanded($0) }
        return layers.reversed().filter { reason($0, request, wanted, scale) == nil }
    }

    /// Why the layer is not to be searched; nil when it is.
    ///
    /// - Parameter wanted: The ids that are asked for, groups expanded; nil for all.
    func reason(
        _ layer: LayerDescription, _ request: IdentifyRequest, _ wanted: Set<LayerID>?,
        _ scale: Double?
    ) -> LayerExplanation.Reason? {
        if layer.kind == .group { return .group }
        if wanted?.contains(layer.id) == false { return .notSelected }
        switch layer.loadStatus {
        case .loaded: break
        case .notLoaded, .loading: return .notLoaded
        case .failedToLoad: return .failedToLoad
        }
        if layer.kind.source?.isTiled == true,
            layer.properties?.service?.queryable.isEmpty ?? true
        {
            return .tiled
        }
        if !layer.isQueryable { return .notQueryable }
        if request.returnPopupsOnly && !layer.isPopupEnabled { return .popupsOff }
        if request.layers.option == .all { return nil }
        if hidden(layer) != nil { return .invisible }
        return outOfScale(layer, scale) == nil ? nil : .outOfScale
    }

    /// Every layer and group, top first, a group before what it holds.
    func topFirst(_ roots: [LayerID]) -> [LayerDescription] {
        var result: [LayerDescription] = []
        var pending = roots
        while let id = pending.popLast() {
            guard let layer = byID[id], result.count < layers.count else { continue }
            result.append(layer)
            pending.append(contentsOf: layer.children)
        }
        return result
    }

    /// The ids with all that lies inside the groups among them; unknown ids stand for nothing.
    func expanded(_ ids: [LayerID]) -> Set<LayerID> {
        var result: Set<LayerID> = []
        var pending = ids
        while let id = pending.popLast() {
            guard let layer = byID[id], result.insert(id).inserted else { continue }
            pending.append(contentsOf: layer.children)
        }
        return result
    }

    /// The layer or the innermost group around it that is hidden; nil when none is.
    func hidden(_ layer: LayerDescription) -> LayerDescription? {
        ancestry(layer).first { !$0.isVisible }
    }

    /// The layer or the innermost group around it whose range the scale lies outside of; nil when
    /// there is none.
    func outOfScale(_ layer: LayerDescription, _ scale: Double?) -> LayerDescription? {
        scale.flatMap { scale in
            ancestry(layer).first { !$0.scaleRange.contains(scale: scale) }
        }
    }

    /// The layer, its group, that group's group and so on.
    private func ancestry(_ layer: LayerDescription) -> [LayerDescription] {
        var result = [layer]
        while let parent = result.last?.parent.flatMap({ byID[$0] }), result.count <= layers.count {
            result.append(parent)
        }
        return result
    }

    /// The results as a tree in the order of drawing, top first, with the groups around every layer
    /// that has one.
    func tree(
        _ roots: [LayerID], _ found: [LayerID: IdentifyLayerResult]
    ) -> [IdentifyLayerResult] {
        var needed: Set<LayerID> = []
        for id in found.keys {
            guard let layer = byID[id] else { continue }
            needed.formUnion(ancestry(layer).map(\.id))
        }
        return branch(roots, found, needed, depth: 0)
    }

    private func branch(
        _ ids: [LayerID], _ found: [LayerID: IdentifyLayerResult], _ needed: Set<LayerID>,
        depth: Int
    ) -> [IdentifyLayerResult] {
        guard depth <= 256 else { return [] }
        return ids.reversed().compactMap { id in
            guard needed.contains(id), let layer = byID[id] else { return nil }
            return found[id]
                ?? IdentifyLayerResult(
                    layerID: id, layerName: layer.name, results: [],
                    sublayerResults: branch(layer.children, found, needed, depth: depth + 1),
                    transferLimitExceeded: false)
        }
    }
}
