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
    func searched(_ selection: LayerSelection, scale: Double?) -> [LayerDescription] {
        let wanted = selection.ids.map { expanded($0) }
        return layers.reversed().filter { layer in
            guard layer.kind != .group, layer.loadStatus == .loaded,
                wanted?.contains(layer.id) ?? true
            else { return false }
            return selection.option == .all || isShown(layer, scale)
        }
    }

    /// The ids with all that lies inside the groups among them; unknown ids stand for nothing.
    private func expanded(_ ids: [LayerID]) -> Set<LayerID> {
        var result: Set<LayerID> = []
        var pending = ids
        while let id = pending.popLast() {
            guard let layer = byID[id], result.insert(id).inserted else { continue }
            pending.append(contentsOf: layer.children)
        }
        return result
    }

    /// Whether the layer and all groups around it are visible and in range.
    private func isShown(_ layer: LayerDescription, _ scale: Double?) -> Bool {
        ancestry(layer).allSatisfy { part in
            part.isVisible && (scale.map(part.scaleRange.contains(scale:)) ?? true)
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
