// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// The changes of one feature of a map, folded from the map's stream.
public struct FeatureHistory {
    /// One event that changed the feature.
    public struct Change: Sendable {
        /// The event.
        public var record: RecordedEvent
        /// The feature before it; nil for one that was not there.
        public var before: EditedFeature?
        /// The feature after it; nil for one that is gone.
        public var after: EditedFeature?

        /// The fields that differ, by name, and `geometry`; none where the feature came or went.
        public func fields() throws(Failure) -> [FieldChange] {
            guard let before, let after else { return [] }
            return FieldChange.between(try before.fields(), try after.fields())
        }
    }

    private let map: MapName
    private let layer: LayerID
    private let id: Int64
    private let dataset: (ContentID) throws(Failure) -> EditedFeature?
    private var state = MapsState()
    private var feature: EditedFeature?

    /// Begins before the first record of the map's stream; `dataset` gives the feature with this
    /// object id in a dataset, nil for none.
    public init(
        of id: Int64, in layer: LayerID, of map: MapName,
        dataset: @escaping (ContentID) throws(Failure) -> EditedFeature?
    ) {
        self.map = map
        self.layer = layer
        self.id = id
        self.dataset = dataset
    }

    /// Folds the next record; the change where it changed the feature.
    ///
    /// Throws as `MapsState.apply(_:)`, and what `dataset` throws.
    public mutating func take(_ record: RecordedEvent) throws(Failure) -> Change? {
        try state.apply(record)
        guard record.stream == .map(map), concerns(try MapEvent(record.event)) else { return nil }
        let before = feature
        feature = try current()
        guard feature != before else { return nil }
        return Change(record: record, before: before, after: feature)
    }

    /// Whether the event may change the feature.
    private func concerns(_ event: MapEvent) -> Bool {
        switch event {
        case .layerAdded(let event): event.layer == layer
        case .layerRemoved: feature != nil && state.layer(layer, in: map) == nil
        case .layerSourceChanged(let event): event.layer == layer
        case .layerReplaced(let event): event.layer == layer
        case .featuresEdited(let event):
            event.layers.contains { edited in
                edited.layer == layer
                    && (edited.deleted.contains(id) || edited.added.contains { $0.id == id }
                        || edited.changed.contains { $0.id == id })
            }
        case .restored(let event):
            event.removed.contains(layer) || event.layers.contains { $0.layer == layer }
        default: false
        }
    }

    private func current() throws(Failure) -> EditedFeature? {
        guard let layer = state.layer(layer, in: map) else { return nil }
        if let change = layer.edits?.change(of: id) { return change.feature }
        guard case .layer(.dataset(let content)) = layer.kind else { return nil }
        return try dataset(content)
    }
}

extension EditedFeature {
    /// The attributes by name, and `geometry` in Esri's JSON where there is one.
    fileprivate func fields() throws(Failure) -> JSONValue {
        let form = try CairnJSON.decode(JSONValue.self, from: try CairnJSON.encode(self))
        guard case .object(let members) = form else { return form }
        var fields: [String: JSONValue] = [:]
        for attribute in attributes.entries {
            let value = try CairnJSON.encode([attribute.value])
            if case .array(let values) = try CairnJSON.decode(JSONValue.self, from: value) {
                fields[attribute.name] = values.first
            }
        }
        fields["geometry"] = members["geometry"]
        return .object(fields)
    }
}
