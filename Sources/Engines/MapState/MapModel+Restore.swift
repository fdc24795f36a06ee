// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension MapModel {
    /// Folds an undo; throws unless the map is a tree of distinct names afterwards.
    mutating func restore(_ event: MapRestored, at sequence: Int64) throws(UnfitValue) {
        for layer in event.removed {
            guard let gone = layers.removeValue(forKey: layer) else {
                throw UnfitValue(reason: "there is no layer \(layer)")
            }
            idsByName[Self.folded(gone.name)] = nil
            nextGraphicIDs[layer] = nil
            sourceChanges[layer] = nil
        }
        if let properties = event.properties { self.properties = properties }
        // A name may pass from one restored layer to another.
        for each in event.layers where each.description != nil {
            if let old = layers[each.layer] { idsByName[Self.folded(old.name)] = nil }
        }
        for each in event.layers { try restore(each, at: sequence) }
        for each in event.order {
            guard let parent = each.parent else {
                rootLayers = each.children
                continue
            }
            guard layers[parent]?.kind == .group else {
                throw UnfitValue(reason: "there is no group \(parent)")
            }
            layers[parent]?.children = each.children
        }
        try checkTree()
    }

    private mutating func restore(
        _ each: RestoredLayer, at sequence: Int64
    ) throws(UnfitValue) {
        let old = layers[each.layer]
        guard each.layer >= 0, var layer = each.description ?? old else {
            throw UnfitValue(reason: "there is no layer \(each.layer)")
        }
        nextLayerID = max(nextLayerID, each.layer + 1)
        if each.description != nil {
            layer.children = old?.children ?? []
            layer.graphics = old?.graphics ?? layer.graphics
            if old?.kind == layer.kind {
                layer.edits?.changes = old?.edits?.changes ?? []
                layer.edits?.sequence = old?.edits?.sequence ?? 0
            } else if layer.kind != .group {
                sourceChanges[each.layer] = sequence
            }
            if let holder = idsByName[Self.folded(layer.name)] {
                throw UnfitValue(
                    reason: "layer \(holder) has the name '\(layer.name)' already")
            }
            idsByName[Self.folded(layer.name)] = each.layer
        }
        if let features = each.features {
            guard layer.edits != nil else {
                throw UnfitValue(reason: "layer \(each.layer) does not allow edits")
            }
            layer.edits?.apply(
                features.map {
                    FeatureChange(id: $0.id, sequence: sequence, feature: $0.feature)
                })
            layer.edits?.sequence = sequence
        }
        if let graphics = each.graphics {
            guard var all = layer.graphics else {
                throw UnfitValue(reason: "layer \(each.layer) is no graphics layer")
            }
            for graphic in graphics { all.set(graphic.graphic, at: graphic.id) }
            layer.graphics = all
        }
        if let next = each.nextGraphicID { nextGraphicIDs[each.layer] = next }
        layers[each.layer] = layer
    }

    /// Throws unless every layer is in the list of its parent alone, below the top level.
    private func checkTree() throws(UnfitValue) {
        var found: Set<LayerID> = []
        var pending: [(parent: LayerID?, children: [LayerID])] = [(nil, rootLayers)]
        while let (parent, children) = pending.popLast() {
            for id in children {
                guard let layer = layers[id], layer.parent == parent, found.insert(id).inserted
                else { throw UnfitValue(reason: "layer \(id) has no one place in the tree") }
                pending.append((id, layer.children))
            }
        }
        guard found.count == layers.count else {
            throw UnfitValue(reason: "a layer is in no list of children")
        }
    }

    /// The event that makes this map equal to `target`, a map made from it by undoing the events at
    /// `undone`; nil where the two are equal.
    func restoration(to target: MapModel, undone: [Int64]) -> MapRestored? {
        let removed = layers.keys.filter { target.layers[$0] == nil }.sorted()
        let layers = target.layers.values.sorted { $0.id < $1.id }.compactMap {
            restoration(to: $0, in: target)
        }
        var order: [LayerOrder] = []
        if rootLayers != target.rootLayers {
            order.append(LayerOrder(parent: nil, children: target.rootLayers))
        }
        for group in target.layers.values.sorted(by: { $0.id < $1.id })
        where group.children != self.layers[group.id]?.children ?? [] {
            order.append(LayerOrder(parent: group.id, children: group.children))
        }
        let properties = properties == target.properties ? nil : target.properties
        guard !removed.isEmpty || !layers.isEmpty || !order.isEmpty || properties != nil else {
            return nil
        }
        return MapRestored(
            undone: undone, properties: properties, removed: removed, layers: layers,
            order: order)
    }

    private func restoration(to new: LayerDescription, in target: MapModel) -> RestoredLayer? {
        let old = layers[new.id]
        var result = RestoredLayer(layer: new.id)
        // Numbers of features go on, and are no difference of their own.
        let isAlike = old?.withoutNumbers == new.withoutNumbers
        let takesFeatures = old?.edits != nil || new.edits?.changes.isEmpty ?? true
        if !isAlike || !takesFeatures { result.description = new.bare }
        let known = old?.kind == new.kind ? old?.edits : nil
        let features = (new.edits?.changes ?? []).filter { change in
            known?.change(of: change.id).map { $0.feature != change.feature } ?? true
        }
        if !features.isEmpty {
            result.features = features.map { RestoredFeature(id: $0.id, feature: $0.feature) }
        }
        result.graphics = Self.graphics(from: old?.graphics ?? [], to: new.graphics ?? [])
        if old == nil { result.nextGraphicID = target.nextGraphicIDs[new.id] }
        return result == RestoredLayer(layer: new.id) ? nil : result
    }

    private static func graphics(from old: [Graphic], to new: [Graphic]) -> [RestoredGraphic]? {
        let (before, after) = (
            Dictionary(uniqueKeysWithValues: old.map { ($0.id, $0) }),
            Dictionary(uniqueKeysWithValues: new.map { ($0.id, $0) })
        )
        let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
        return changed.isEmpty
            ? nil : changed.sorted().map { RestoredGraphic(id: $0, graphic: after[$0]) }
    }
}

extension LayerDescription {
    /// The layer without its children, features and graphics.
    fileprivate var bare: LayerDescription {
        var bare = self
        bare.children = []
        bare.edits?.changes = []
        bare.edits?.sequence = 0
        if bare.graphics != nil { bare.graphics = [] }
        return bare
    }
}

extension LayerDescription {
    /// The bare layer without the number of its next feature, which a layer that takes no edits may
    /// have or not.
    fileprivate var withoutNumbers: LayerDescription {
        var layer = bare
        layer.edits?.nextID = nil
        if layer.edits?.isOpen == false { layer.edits = nil }
        return layer
    }
}

extension [Graphic] {
    /// Puts a graphic at its place by number, or removes that one for nil.
    mutating func set(_ graphic: Graphic?, at id: Int64) {
        let place = firstIndex { $0.id >= id } ?? endIndex
        if place < endIndex, self[place].id == id { remove(at: place) }
        if let graphic { insert(graphic, at: place) }
    }
}
