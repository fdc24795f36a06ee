// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The features of a past layer that are visible from later: those that still exist and that
/// neither definition expression hides.
public struct LayerSight: Hashable, Sendable, Codable {
    /// The layer's definition expression in the past; nil for all features.
    public var definitionThen: String?
    /// The dataset of the layer as it is later.
    public var dataset: ContentID
    /// The edits to that dataset; nil for none.
    public var edits: LayerEdits?
    /// The layer's definition expression later, which an id's feature of later has to fulfil too;
    /// nil for all.
    public var definition: String?

    /// States it.
    public init(
        definitionThen: String?, dataset: ContentID, edits: LayerEdits?, definition: String?
    ) {
        self.definitionThen = definitionThen
        self.dataset = dataset
        self.edits = edits
        self.definition = definition
    }
}

extension MapDescription {
    /// This past map, restricted to what a later state shows: the later map with the features that
    /// its layers had in the past.
    ///
    /// Layers, their names, order, symbols, aliases and definition expressions are those of later.
    /// A layer is left out unless both states have it loaded, from the same source and with the
    /// same fields; it may be queried if it may in both. ``LayerDescription/sight``, which the
    /// engines evaluate, passes the features that still exist. ``sequence`` stays that of the past.
    /// A map that is not later changes nothing.
    public func seen(from later: MapDescription) -> MapDescription {
        guard later.sequence > sequence else { return self }
        var view = later
        view.sequence = sequence
        let then = Dictionary(layers.map { ($0.id, $0) }) { first, _ in first }
        view.layers = later.layers.compactMap { now in
            if now.kind == .group { return now }
            guard let past = then[now.id],
                sourceChanges?[now.id] == later.sourceChanges?[now.id]
            else { return nil }
            return past.seen(from: now)
        }
        let kept = Set(view.layers.map(\.id))
        view.rootLayers.removeAll { !kept.contains($0) }
        for index in view.layers.indices {
            view.layers[index].children.removeAll { !kept.contains($0) }
        }
        if let basemap, !kept.contains(basemap) { view.basemap = nil }
        return view
    }
}

extension LayerDescription {
    /// The later layer with the features of this one; nil where it is not to be seen.
    fileprivate func seen(from now: LayerDescription) -> LayerDescription? {
        guard loadStatus == .loaded, now.loadStatus == .loaded, let properties,
            var shown = now.properties, properties.hasColumns(of: shown)
        else { return nil }
        var view = now
        view.isQueryable = isQueryable && now.isQueryable
        guard let dataset = kind.dataset, let datasetNow = now.kind.dataset else {
            guard kind == now.kind else { return nil }
            let there = Set(now.graphics?.map(\.id) ?? [])
            view.graphics = graphics?.filter { there.contains($0.id) }
            return view
        }
        view.kind = kind
        view.edits = edits
        view.edits?.isOpen = now.edits?.isOpen ?? false
        // Its extent in the past may be that of features which are gone.
        shown.featureCount = properties.featureCount
        view.properties = shown
        let isUnchanged = dataset == datasetNow && edits?.changes ?? [] == now.edits?.changes ?? []
        if isUnchanged, definitionExpression == now.definitionExpression { return view }
        view.sight = LayerSight(
            definitionThen: definitionExpression, dataset: datasetNow, edits: now.edits,
            definition: now.definitionExpression)
        return view
    }
}

extension LayerProperties {
    /// Whether a clause on the columns of the other means the same on these, and a shape the same
    /// place.
    fileprivate func hasColumns(of other: LayerProperties) -> Bool {
        fields.map { [$0.name, $0.type.rawValue] }
            == other.fields.map { [$0.name, $0.type.rawValue] }
            && spatialReference == other.spatialReference && geometryType == other.geometryType
            && hasZ == other.hasZ && hasM == other.hasM
    }
}
