// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// One map, folded from its events: a tree of layers by number.
struct MapModel: Hashable, Sendable {
    /// The name.
    let name: MapName
    /// Position of the last folded event in the map's stream, from 0.
    var streamPosition: Int64
    /// The global position of that event.
    var lastChange: Int64
    /// The lowest unused layer number; numbers are not reused.
    var nextLayerID: LayerID = 0
    /// Whether it was deleted: only its revival or the creation of another of its name can follow.
    var isDeleted = false
    /// Its title, description and the like.
    var properties = MapProperties()
    /// Top-level layers, bottom first.
    var rootLayers: [LayerID] = []
    /// Every layer and group.
    var layers: [LayerID: LayerDescription] = [:]
    /// Layer numbers by folded name, to keep names unique.
    var idsByName: [String: LayerID] = [:]
    /// The lowest unused graphic number by layer; absent before the first.
    var nextGraphicIDs: [LayerID: Int64] = [:]

    /// By layer with a replaced source: the global position of the last replacement.
    var sourceChanges: [LayerID: Int64] = [:]

    /// By layer that is loading: the cause and the correlation of its next load event.
    var loadCauses: [LayerID: EventCause] = [:]

    /// The map after `MapCreated`; after a deleted map of its name, numbers of layers go on.
    init(created event: MapCreated, at record: RecordedEvent, after deleted: MapModel?) {
        name = event.name
        streamPosition = record.streamPosition
        lastChange = record.globalPosition
        nextLayerID = deleted?.nextLayerID ?? 0
    }

    /// An empty map, to try a content.
    init(of name: MapName) {
        self.name = name
        streamPosition = 0
        lastChange = 0
    }

    /// Restores the map from a snapshot, with its derived state.
    init(
        _ form: Form, layers: [LayerID: LayerDescription], idsByName: [String: LayerID],
        nextGraphicIDs: [LayerID: Int64], loadCauses: [LayerID: EventCause],
        sourceChanges: [LayerID: Int64]
    ) {
        name = form.name
        streamPosition = form.streamPosition
        lastChange = form.lastChange
        nextLayerID = form.nextLayerID
        isDeleted = form.isDeleted ?? false
        properties = form.properties ?? MapProperties()
        rootLayers = form.rootLayers
        self.layers = layers
        self.idsByName = idsByName
        self.nextGraphicIDs = nextGraphicIDs
        self.loadCauses = loadCauses
        self.sourceChanges = sourceChanges
    }

    /// The form in which names are compared.
    static func folded(_ name: String) -> String { name.lowercased() }

    /// The children of a group, or the top level for nil; bottom first.
    func siblings(in parent: LayerID?) -> [LayerID] {
        guard let parent else { return rootLayers }
        return layers[parent]?.children ?? []
    }

    /// The layer and its descendants, a group before its children, in drawing order.
    func subtree(of layer: LayerID) -> [LayerID] {
        var result: [LayerID] = []
        var pending = [layer]
        while let id = pending.popLast() {
            result.append(id)
            pending.append(contentsOf: (layers[id]?.children ?? []).reversed())
        }
        return result
    }

    /// Number of groups around a child of `parent`: 0 at the top level.
    func depth(inside parent: LayerID?) -> Int {
        var depth = 0
        var current = parent
        while let id = current {
            depth += 1
            current = layers[id]?.parent
        }
        return depth
    }

    /// Levels of groups in the subtree: 0 for a layer, 1 for an empty group.
    func groupHeight(of layer: LayerID) -> Int {
        var height = 0
        var pending = [(id: layer, depth: 0)]
        while let (id, depth) = pending.popLast() {
            guard let node = layers[id], node.kind == .group else { continue }
            height = max(height, depth + 1)
            for child in node.children { pending.append((child, depth + 1)) }
        }
        return height
    }

    /// The lowest unused graphic number of the layer.
    func nextGraphicID(in layer: LayerID) -> Int64 { nextGraphicIDs[layer] ?? 1 }

    /// The bottom-most layer.
    var basemap: LayerID? {
        var pending = Array(rootLayers.reversed())
        while let id = pending.popLast() {
            guard let node = layers[id] else { continue }
            if node.kind != .group { return id }
            pending.append(contentsOf: node.children.reversed())
        }
        return nil
    }

    /// The public description of the map.
    func description(sequence: Int64) -> MapDescription {
        let basemap = basemap
        let known = basemap.flatMap { layers[$0]?.properties }
        var description = MapDescription(
            name: name, sequence: sequence, rootLayers: rootLayers,
            layers: rootLayers.flatMap { subtree(of: $0) }.compactMap { layers[$0] },
            basemap: basemap,
            spatialReference: properties.spatialReference ?? known?.spatialReference,
            initialExtent: properties.initialExtent
                ?? layersExtent(in: properties.spatialReference ?? known?.spatialReference))
        if properties != MapProperties() { description.properties = properties }
        if !sourceChanges.isEmpty { description.sourceChanges = sourceChanges }
        return description
    }
}

extension MapModel {
    /// The bounding box of all loaded layers; nil without any.
    ///
    /// Left out are layers in another reference than the map's, but for WGS 84 and Web Mercator.
    private func layersExtent(in reference: SpatialReference?) -> Envelope? {
        guard let reference else { return nil }
        let known = layers.values.compactMap { layer -> Envelope? in
            guard let properties = layer.properties,
                let extent = properties.extent ?? Self.drawnExtent(of: layer),
                extent.isFinite, !extent.isEmpty
            else { return nil }
            return Self.extent(extent, from: properties.spatialReference, to: reference)
        }
        guard let first = known.first else { return nil }
        return known.dropFirst().reduce(first) { $0.union($1) }
    }

    private static func drawnExtent(of layer: LayerDescription) -> Envelope? {
        guard let graphics = layer.graphics, !graphics.isEmpty else { return nil }
        return graphics.reduce(Envelope.empty) { $0.union($1.shape.envelope) }
    }

    private static func extent(
        _ extent: Envelope, from source: SpatialReference, to target: SpatialReference
    ) -> Envelope? {
        if source.isEquivalent(to: target) { return extent }
        let project: (Coordinate) -> Coordinate
        switch (source.latestWkid, target.latestWkid) {
        case (4326, 3857): project = WebMercator.project
        case (3857, 4326): project = WebMercator.unproject
        default: return nil
        }
        var projected = Envelope.empty
        projected.extend(to: project(Coordinate(x: extent.minX, y: extent.minY)))
        projected.extend(to: project(Coordinate(x: extent.maxX, y: extent.maxY)))
        return projected
    }
}

// Each failure below means that the stream was not written by this code: the fold rejects it
// instead of guessing.
extension MapModel {
    /// Folds one event; throws `Failure` (`corrupt`) when it does not follow from the earlier ones.
    mutating func apply(_ event: MapEvent, at record: RecordedEvent) throws(Failure) {
        if isDeleted {
            guard case .revived = event else { throw corrupt(record, "the map was deleted") }
        } else if case .revived = event {
            throw corrupt(record, "the map is not deleted")
        }
        guard record.streamPosition == streamPosition + 1 else {
            throw corrupt(
                record, "stream position \(record.streamPosition) follows \(streamPosition)")
        }
        do {
            try fold(event, at: record.globalPosition)
        } catch {
            throw corrupt(record, error.reason)
        }
        streamPosition = record.streamPosition
        lastChange = record.globalPosition
        noteLoad(event, record.event)
    }

    private mutating func noteLoad(_ event: MapEvent, _ record: NewEvent) {
        let cause = EventCause(
            event: record.id, correlation: record.metadata.correlation ?? record.metadata.causation)
        switch event {
        case .layerAdded(let event) where event.kind != .group: loadCauses[event.layer] = cause
        case .layerSourceChanged(let event): loadCauses[event.layer] = cause
        case .layerLoadStarted(let event): loadCauses[event.layer] = cause
        case .layerLoaded(let event): loadCauses[event.layer] = nil
        case .layerReplaced(let event): loadCauses[event.layer] = nil
        case .layerLoadFailed(let event): loadCauses[event.layer] = nil
        case .layerRemoved: loadCauses = loadCauses.filter { layers[$0.key] != nil }
        case .restored(let event):
            loadCauses = loadCauses.filter { layers[$0.key] != nil }
            for each in event.layers where layers[each.layer]?.loadStatus == .notLoaded {
                loadCauses[each.layer] = cause
            }
        default: break
        }
    }

    /// An event that does not follow from the earlier ones.
    struct UnfitValue: Error { var reason: String }

    private func corrupt(_ record: RecordedEvent, _ reason: String) -> Failure {
        Failure(
            .corrupt,
            "event \(record.globalPosition) (\(record.event.type)) of stream \(record.stream) "
                + "does not fit: \(reason)")
    }

    private mutating func fold(_ event: MapEvent, at sequence: Int64) throws(UnfitValue) {
        switch event {
        case .created: throw UnfitValue(reason: "the map exists already")
        case .layerAdded(let event): try add(event)
        case .layerMoved(let event): try move(event)
        case .layerRemoved(let event): try remove(event.layer)
        case .layerRenamed(let event): try rename(event)
        case .layerVisibilityChanged(let event):
            try change(event.layer) { $0.isVisible = event.isVisible }
        case .layerScaleRangeChanged(let event):
            try change(event.layer) { $0.scaleRange = event.scaleRange }
        case .layerDefinitionChanged(let event):
            try changeFeatureLayer(event.layer) { $0.definitionExpression = event.expression }
        case .layerDisplayFieldChanged(let event):
            try changeFeatureLayer(event.layer) { $0.displayField = event.field }
        case .layerTimeInfoChanged(let event):
            try changeFeatureLayer(event.layer) { $0.timeInfo = event.timeInfo }
        case .layerDrawingChanged(let event):
            try changeFeatureLayer(event.layer) { $0.drawing = event.drawing }
        case .layerFieldAliasChanged(let event):
            try changeFeatureLayer(event.layer) { $0.fieldAliases[event.field] = event.alias }
        case .layerQueryableChanged(let event):
            try changeFeatureLayer(event.layer) { $0.isQueryable = event.isQueryable }
        case .layerPopupsChanged(let event):
            try changeFeatureLayer(event.layer) { $0.isPopupEnabled = event.isEnabled }
        case .layerEditableChanged(let event):
            try changeFeatureLayer(event.layer) { layer in
                layer.edits = layer.edits ?? LayerEdits(isOpen: false)
                layer.edits?.isOpen = event.isEditable
            }
        case .featuresEdited(let event):
            for each in event.layers { try edit(each, at: sequence) }
        case .layerCompacted(let event): try compact(event)
        case .layerSourceChanged(let event):
            try changeFeatureLayer(event.layer) { layer in
                layer.kind = .layer(source: event.source)
                layer.setLoad(.notLoaded)
                // They were edits of the features of another source.
                if let edits = layer.edits { layer.edits = LayerEdits(isOpen: edits.isOpen) }
            }
            sourceChanges[event.layer] = sequence
        case .layerReplaced(let event): try replace(event, at: sequence)
        case .layerLoadStarted(let event):
            try changeFeatureLayer(event.layer) { $0.setLoad(.loading) }
        case .layerLoaded(let event):
            try changeFeatureLayer(event.layer) { layer in
                layer.setLoad(.loaded, properties: event.properties)
            }
        case .layerLoadFailed(let event):
            try changeFeatureLayer(event.layer) { layer in
                layer.setLoad(.failedToLoad, error: event.error)
            }
        case .graphicAdded(let event): try draw(event)
        case .graphicChanged(let event): try redraw(event)
        case .graphicRemoved(let event):
            try changeGraphics(event.layer) { graphics throws(UnfitValue) in
                graphics.remove(at: try Self.place(of: event.graphic, in: graphics))
            }
        case .graphicsCleared(let event):
            try changeGraphics(event.layer) { graphics throws(UnfitValue) in graphics = [] }
        case .restored(let event): try restore(event, at: sequence)
        case .propertiesChanged(let event): properties = event.properties
        case .layerInfoChanged(let event): try change(event.layer) { $0.info = event.info }
        case .deleted: isDeleted = true
        case .revived: isDeleted = false
        }
    }

    private mutating func change(
        _ layer: LayerID, _ body: (inout LayerDescription) -> Void
    ) throws(UnfitValue) {
        guard layers[layer] != nil else { throw UnfitValue(reason: "there is no layer \(layer)") }
        layers[layer].mutate(body)
    }

    private mutating func changeFeatureLayer(
        _ layer: LayerID, _ body: (inout LayerDescription) -> Void
    ) throws(UnfitValue) {
        guard layers[layer]?.kind != .group else { throw UnfitValue(reason: "\(layer) is a group") }
        try change(layer, body)
    }

    private mutating func add(_ event: LayerAdded) throws(UnfitValue) {
        guard event.layer >= nextLayerID else {
            throw UnfitValue(reason: "the number \(event.layer) was used before")
        }
        try checkPlace(event.parent, event.index, taking: nil)
        try claim(event.name, for: event.layer)
        layers[event.layer] = LayerDescription(
            id: event.layer, name: event.name, parent: event.parent, children: [],
            kind: event.kind, isVisible: true, scaleRange: .unlimited, definitionExpression: nil,
            displayField: nil, loadStatus: event.kind == .group ? .loaded : .notLoaded,
            loadError: nil, properties: nil,
            graphics: event.kind.source?.isGraphics == true ? [] : nil)
        nextLayerID = event.layer + 1
        insert(event.layer, into: event.parent, at: event.index)
    }

    private mutating func move(_ event: LayerMoved) throws(UnfitValue) {
        guard layers[event.layer] != nil else {
            throw UnfitValue(reason: "there is no layer \(event.layer)")
        }
        if let parent = event.parent, subtree(of: event.layer).contains(parent) {
            throw UnfitValue(reason: "group \(event.layer) would contain itself")
        }
        try checkPlace(event.parent, event.index, taking: event.layer)
        takeOut(event.layer)
        layers[event.layer].mutate { $0.parent = event.parent }
        insert(event.layer, into: event.parent, at: event.index)
    }

    private mutating func remove(_ layer: LayerID) throws(UnfitValue) {
        guard layers[layer] != nil else { throw UnfitValue(reason: "there is no layer \(layer)") }
        takeOut(layer)
        for id in subtree(of: layer) {
            if let gone = layers.removeValue(forKey: id) {
                idsByName[Self.folded(gone.name)] = nil
            }
            nextGraphicIDs[id] = nil
            sourceChanges[id] = nil
        }
    }

    private mutating func draw(_ event: GraphicAdded) throws(UnfitValue) {
        guard event.graphic.id >= nextGraphicID(in: event.layer) else {
            throw UnfitValue(reason: "the number \(event.graphic.id) was used before")
        }
        try changeGraphics(event.layer) { graphics throws(UnfitValue) in
            graphics.append(event.graphic)
        }
        nextGraphicIDs[event.layer] = event.graphic.id + 1
    }

    private mutating func redraw(_ event: GraphicChanged) throws(UnfitValue) {
        try changeGraphics(event.layer) { graphics throws(UnfitValue) in
            graphics[try Self.place(of: event.graphic.id, in: graphics)] = event.graphic
        }
    }

    private mutating func changeGraphics(
        _ layer: LayerID, _ body: (inout [Graphic]) throws(UnfitValue) -> Void
    ) throws(UnfitValue) {
        // Removed during the change, to avoid a copy.
        guard var graphics = layers[layer]?.graphics else {
            throw UnfitValue(reason: "layer \(layer) is no graphics layer")
        }
        layers[layer].mutate { $0.graphics = [] }
        defer { layers[layer].mutate { $0.graphics = graphics } }
        try body(&graphics)
    }

    private mutating func edit(_ event: FeaturesEdited, at sequence: Int64) throws(UnfitValue) {
        guard var edits = layers[event.layer]?.edits else {
            throw UnfitValue(reason: "layer \(event.layer) does not allow edits")
        }
        guard event.nextID >= edits.nextID ?? 0 else {
            throw UnfitValue(reason: "an object id is reused")
        }
        // Removed during the change, to avoid a copy.
        layers[event.layer].mutate { $0.edits = nil }
        edits.nextID = event.nextID
        edits.sequence = sequence
        edits.apply(
            (event.added + event.changed).map {
                FeatureChange(id: $0.id, sequence: sequence, feature: $0)
            } + event.deleted.map { FeatureChange(id: $0, sequence: sequence, feature: nil) })
        layers[event.layer].mutate { layer in
            layer.edits = edits
            layer.properties?.featureCount += event.added.count - event.deleted.count
            layer.properties?.extend(to: event.added)
            layer.properties?.extend(to: event.changed)
        }
    }

    private mutating func compact(_ event: LayerCompacted) throws(UnfitValue) {
        guard let edits = layers[event.layer]?.edits else {
            throw UnfitValue(reason: "layer \(event.layer) does not allow edits")
        }
        layers[event.layer].mutate { layer in
            let count = layer.properties?.featureCount
            layer.kind = .layer(source: .dataset(event.dataset))
            layer.properties = event.properties
            layer.properties?.featureCount = count ?? event.properties.featureCount
            layer.edits?.changes = edits.changes.filter { $0.sequence > event.through }
            layer.properties?.extend(to: layer.edits?.changes.compactMap(\.feature) ?? [])
        }
    }

    private mutating func replace(
        _ event: LayerReplaced, at sequence: Int64
    ) throws(UnfitValue) {
        guard let old = layers[event.layer], old.kind.dataset != nil else {
            throw UnfitValue(reason: "layer \(event.layer) has no imported features")
        }
        let features = event.features ?? []
        guard features.isEmpty || old.edits != nil else {
            throw UnfitValue(reason: "layer \(event.layer) does not allow edits")
        }
        layers[event.layer].mutate { layer in
            layer.kind = .layer(source: .dataset(event.dataset))
            layer.setLoad(.loaded, properties: event.properties)
            layer.edits = old.edits.map { LayerEdits(isOpen: $0.isOpen) }
            if let next = event.nextID {
                // Also of a layer that takes no edits, object ids go on.
                layer.edits = layer.edits ?? LayerEdits(isOpen: false)
                layer.edits?.nextID = next
            }
            guard !features.isEmpty else { return }
            layer.edits?.sequence = sequence
            layer.edits?.apply(
                features.map {
                    FeatureChange(id: $0.id, sequence: sequence, feature: $0.feature)
                })
            layer.properties?.extend(to: features.compactMap(\.feature))
        }
        sourceChanges[event.layer] = sequence
    }

    private static func place(of graphic: Int64, in graphics: [Graphic]) throws(UnfitValue) -> Int {
        guard let place = graphics.place(of: graphic) else {
            throw UnfitValue(reason: "there is no graphic \(graphic)")
        }
        return place
    }

    private mutating func rename(_ event: LayerRenamed) throws(UnfitValue) {
        guard let old = layers[event.layer]?.name else {
            throw UnfitValue(reason: "there is no layer \(event.layer)")
        }
        try claim(event.name, for: event.layer)
        if Self.folded(old) != Self.folded(event.name) { idsByName[Self.folded(old)] = nil }
        layers[event.layer].mutate { $0.name = event.name }
    }

    private mutating func claim(_ name: String, for layer: LayerID) throws(UnfitValue) {
        if let holder = idsByName[Self.folded(name)], holder != layer {
            throw UnfitValue(reason: "layer \(holder) has the name '\(name)' already")
        }
        idsByName[Self.folded(name)] = layer
    }

    /// Checks that the group exists and has a place of that index once `moved` is removed.
    private func checkPlace(
        _ parent: LayerID?, _ index: Int, taking moved: LayerID?
    ) throws(UnfitValue) {
        if let parent, layers[parent]?.kind != .group {
            throw UnfitValue(reason: "there is no group \(parent)")
        }
        let others = siblings(in: parent).count { $0 != moved }
        guard 0...others ~= index else {
            throw UnfitValue(reason: "there is no place \(index) among its siblings")
        }
    }

    mutating func insert(_ layer: LayerID, into parent: LayerID?, at index: Int) {
        if let parent {
            layers[parent].mutate { $0.children.insert(layer, at: index) }
        } else {
            rootLayers.insert(layer, at: index)
        }
    }

    mutating func takeOut(_ layer: LayerID) {
        if let parent = layers[layer]?.parent {
            layers[parent].mutate { $0.children.removeAll { $0 == layer } }
        } else {
            rootLayers.removeAll { $0 == layer }
        }
    }
}

extension [Graphic] {
    /// The index of the graphic with that number; graphics are sorted by number.
    func place(of graphic: Int64) -> Int? {
        var range = indices
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if self[middle].id == graphic { return middle }
            range =
                self[middle].id < graphic
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}

extension Optional {
    /// Changes the wrapped value in place; no effect on nil.
    fileprivate mutating func mutate(_ body: (inout Wrapped) -> Void) {
        guard var value = take() else { return }
        body(&value)
        self = value
    }
}

extension LayerDescription {
    /// Sets the status with its properties, and clears those of other states.
    fileprivate mutating func setLoad(
        _ status: LoadStatus, properties: LayerProperties? = nil, error: Failure? = nil
    ) {
        loadStatus = status
        self.properties = properties
        loadError = error
    }
}

extension LayerProperties {
    /// Extends the bounding box by features; that in degrees is known only for a layer in degrees.
    fileprivate mutating func extend(to features: [EditedFeature]) {
        guard !features.isEmpty else { return }
        let all = features.reduce(extent ?? .empty) { $0.union($1.shape?.envelope ?? .empty) }
        if all == extent ?? .empty { return }
        extent = all
        geographicExtent = spatialReference.latestWkid == 4326 ? all : nil
    }
}
