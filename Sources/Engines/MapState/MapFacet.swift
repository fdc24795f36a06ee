// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A part of a map that one change sets: what two changes have in common, or not.
enum MapFacet: Hashable {
    /// The properties of the map.
    case map
    /// Whether the layer is there.
    case layer(LayerID)
    /// Its group, and its place there.
    case place(LayerID)
    /// What it shows.
    case source(LayerID)
    /// One of its properties.
    case property(LayerID, LayerProperty)
    /// The alias of a field.
    case alias(LayerID, String)
    /// A feature, by object id.
    case feature(LayerID, Int64)
    /// A graphic, by number.
    case graphic(LayerID, Int64)

    /// The layer it belongs to; nil for those of the map.
    var layer: LayerID? {
        switch self {
        case .map: nil
        case .layer(let layer), .place(let layer), .source(let layer), .property(let layer, _),
            .alias(let layer, _), .feature(let layer, _), .graphic(let layer, _):
            layer
        }
    }

    /// The facets without which this one has no meaning.
    var foundations: [MapFacet] {
        switch self {
        case .map, .layer: []
        case .place(let layer), .source(let layer), .graphic(let layer, _),
            .property(let layer, .name), .property(let layer, .visibility),
            .property(let layer, .scaleRange), .property(let layer, .info):
            [.layer(layer)]
        case .property(let layer, _), .alias(let layer, _), .feature(let layer, _):
            [.layer(layer), .source(layer)]
        }
    }

    /// Whether others presuppose it.
    var isFoundation: Bool {
        switch self {
        case .layer, .source: true
        case .map, .place, .property, .alias, .feature, .graphic: false
        }
    }

    /// `feature 7 of layer 2`.
    var text: String {
        switch self {
        case .map: "properties of the map"
        case .layer(let layer): "layer \(layer)"
        case .place(let layer): "place of layer \(layer)"
        case .source(let layer): "source of layer \(layer)"
        case .property(let layer, let property): "\(property.text) of layer \(layer)"
        case .alias(let layer, let field): "alias of field '\(field)' of layer \(layer)"
        case .feature(let layer, let id): "feature \(id) of layer \(layer)"
        case .graphic(let layer, let id): "graphic \(id) of layer \(layer)"
        }
    }
}

/// A property of a layer that one command sets.
enum LayerProperty: CaseIterable, Hashable {
    case name, visibility, scaleRange, definition, displayField, timeInfo, drawing, queryable,
        popups, editable, info, popup

    /// Those of ``LayerInfo``.
    static let ofInfo = [info, popup]

    var text: String {
        switch self {
        case .name: "name"
        case .visibility: "visibility"
        case .scaleRange: "scale range"
        case .definition: "definition expression"
        case .displayField: "display field"
        case .timeInfo: "time fields"
        case .drawing: "drawing"
        case .queryable: "capability Query"
        case .popups: "popups"
        case .editable: "capability Editing"
        case .info: "description"
        case .popup: "popup definition"
        }
    }

    /// Sets the property of `layer` to that of `other`.
    func copy(from other: LayerDescription, to layer: inout LayerDescription) {
        switch self {
        case .name: layer.name = other.name
        case .visibility: layer.isVisible = other.isVisible
        case .scaleRange: layer.scaleRange = other.scaleRange
        case .definition: layer.definitionExpression = other.definitionExpression
        case .displayField: layer.displayField = other.displayField
        case .timeInfo: layer.timeInfo = other.timeInfo
        case .drawing: layer.drawing = other.drawing
        case .queryable: layer.isQueryable = other.isQueryable
        case .popups: layer.isPopupEnabled = other.isPopupEnabled
        case .info:
            layer.info =
                LayerInfo(
                    description: other.info?.description, attribution: other.info?.attribution,
                    popup: layer.info?.popup
                ).orNil
        case .popup:
            layer.info =
                LayerInfo(
                    description: layer.info?.description, attribution: layer.info?.attribution,
                    popup: other.info?.popup
                ).orNil
        case .editable:
            // Its edits count also where it takes no more.
            if layer.edits == nil, other.edits?.isOpen == true {
                layer.edits = LayerEdits(isOpen: true)
            }
            layer.edits?.isOpen = other.edits?.isOpen ?? false
        }
    }

    /// Whether two layers have the same.
    func isEqual(_ one: LayerDescription, _ other: LayerDescription) -> Bool {
        var copy = one
        self.copy(from: other, to: &copy)
        return copy.withoutContents == one.withoutContents
    }
}

extension LayerInfo {
    /// Nil where nothing is set.
    fileprivate var orNil: LayerInfo? { self == LayerInfo() ? nil : self }
}

extension LayerDescription {
    fileprivate var withoutContents: LayerDescription {
        var bare = self
        bare.edits?.changes = []
        if bare.graphics != nil { bare.graphics = [] }
        return bare
    }
}

extension MapEvent {
    /// Whether it can be undone with others: loads and compactions follow from others, and maps
    /// come and go as a whole.
    var isUndoable: Bool {
        switch self {
        case .created, .layerLoadStarted, .layerLoaded, .layerLoadFailed, .layerCompacted,
            .deleted, .revived:
            false
        default: true
        }
    }

    /// The facets that it set, between the map before and after it.
    func facets(_ before: MapModel, _ after: MapModel) -> [MapFacet] {
        switch self {
        case .created, .layerLoadStarted, .layerLoaded, .layerLoadFailed, .layerCompacted,
            .deleted, .revived:
            []
        case .propertiesChanged: [.map]
        case .layerInfoChanged(let event):
            LayerProperty.ofInfo.filter { property in
                guard let old = before.layers[event.layer], let new = after.layers[event.layer]
                else { return true }
                return !property.isEqual(old, new)
            }.map { .property(event.layer, $0) }
        case .layerAdded(let event): [.layer(event.layer)]
        case .layerMoved(let event): [.place(event.layer)]
        case .layerRemoved(let event): before.subtree(of: event.layer).map { .layer($0) }
        case .layerRenamed(let event): [.property(event.layer, .name)]
        case .layerVisibilityChanged(let event): [.property(event.layer, .visibility)]
        case .layerScaleRangeChanged(let event): [.property(event.layer, .scaleRange)]
        case .layerDefinitionChanged(let event): [.property(event.layer, .definition)]
        case .layerDisplayFieldChanged(let event): [.property(event.layer, .displayField)]
        case .layerTimeInfoChanged(let event): [.property(event.layer, .timeInfo)]
        case .layerDrawingChanged(let event): [.property(event.layer, .drawing)]
        case .layerFieldAliasChanged(let event): [.alias(event.layer, event.field)]
        case .layerQueryableChanged(let event): [.property(event.layer, .queryable)]
        case .layerPopupsChanged(let event): [.property(event.layer, .popups)]
        case .layerEditableChanged(let event): [.property(event.layer, .editable)]
        case .featuresEdited(let event):
            event.layers.flatMap { edited in
                ((edited.added + edited.changed).map(\.id) + edited.deleted).map {
                    .feature(edited.layer, $0)
                }
            }
        case .layerSourceChanged(let event): [.source(event.layer)]
        case .layerReplaced(let event): [.source(event.layer)]
        case .graphicAdded(let event): [.graphic(event.layer, event.graphic.id)]
        case .graphicChanged(let event): [.graphic(event.layer, event.graphic.id)]
        case .graphicRemoved(let event): [.graphic(event.layer, event.graphic)]
        case .graphicsCleared(let event):
            (before.layers[event.layer]?.graphics ?? []).map { .graphic(event.layer, $0.id) }
        case .restored(let event): Self.facets(event, before, after)
        }
    }

    private static func facets(
        _ event: MapRestored, _ before: MapModel, _ after: MapModel
    ) -> [MapFacet] {
        var facets: [MapFacet] = event.removed.map { .layer($0) }
        if before.properties != after.properties { facets.append(.map) }
        for each in event.layers {
            let id = each.layer
            if each.description != nil, let new = after.layers[id] {
                guard let old = before.layers[id] else {
                    facets.append(.layer(id))
                    continue
                }
                if old.kind != new.kind { facets.append(.source(id)) }
                facets += LayerProperty.allCases.filter { !$0.isEqual(old, new) }
                    .map { .property(id, $0) }
                let aliases = Set(old.fieldAliases.keys).union(new.fieldAliases.keys)
                facets += aliases.sorted().filter { old.fieldAliases[$0] != new.fieldAliases[$0] }
                    .map { .alias(id, $0) }
            }
            facets += (each.features ?? []).map { .feature(id, $0.id) }
            facets += (each.graphics ?? []).map { .graphic(id, $0.id) }
        }
        for order in event.order {
            let old = order.parent.map { before.layers[$0]?.children ?? [] } ?? before.rootLayers
            let common = Set(old).intersection(order.children)
            let isReordered = old.filter(common.contains) != order.children.filter(common.contains)
            facets += order.children.filter { child in
                before.layers[child] != nil && (isReordered || !common.contains(child))
            }.map { .place($0) }
        }
        return facets
    }

    /// The facets that it presupposes besides the foundations of those that it set.
    func presupposed(_ after: MapModel) -> [MapFacet] {
        switch self {
        case .layerAdded(let event): event.parent.map { [.layer($0)] } ?? []
        case .layerMoved(let event): event.parent.map { [.layer($0)] } ?? []
        case .restored(let event):
            (event.order.compactMap(\.parent)
                + event.layers.compactMap { after.layers[$0.layer]?.parent }).map { .layer($0) }
        default: []
        }
    }
}
