// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// The differences of an identify answer between two moments, and the events that made them.
public struct IdentifyComparison {
    /// A feature whose result differs.
    public struct Difference: Sendable, Encodable {
        /// Its layer.
        public var layer: LayerID
        /// The layer's name, at the later moment where it is there.
        public var layerName: String
        /// Its object id.
        public var feature: Int64
        /// `added`, `changed` or `removed`.
        public var change: String
        /// The attributes that differ, and geometry, layer, display field and distance in
        /// parentheses; none where the feature came or went.
        public var fields: [FieldChange]
        /// Sequence numbers of the events between the two moments that may have made it so.
        public var events: [Int64]
    }

    private struct Key: Hashable, Comparable {
        var layer: LayerID
        var feature: Int64

        static func < (one: Key, other: Key) -> Bool {
            (one.layer, one.feature) < (other.layer, other.feature)
        }
    }

    /// By layer, then by object id.
    public private(set) var differences: [Difference] = []

    /// Compares two answers; `maps` are the map at both moments.
    public init(
        _ first: IdentifyAnswer, _ second: IdentifyAnswer,
        maps: (MapDescription, MapDescription)
    ) throws(Failure) {
        let (old, new) = (Self.results(first), Self.results(second))
        for key in Set(old.keys).union(new.keys).sorted() where old[key] != new[key] {
            let (before, after) = (old[key], new[key])
            var fields: [FieldChange] = []
            if let before, let after {
                fields = FieldChange.between(try Self.fields(before), try Self.fields(after))
            }
            differences.append(
                Difference(
                    layer: key.layer,
                    layerName: after?.layerName ?? before?.layerName ?? "",
                    feature: key.feature,
                    change: before == nil ? "added" : after == nil ? "removed" : "changed",
                    fields: fields, events: []))
        }
        groups = [maps.0, maps.1].reduce(into: [:]) { groups, map in
            for layer in map.layers {
                var next = layer.parent
                while let group = next {
                    groups[layer.id, default: []].insert(group)
                    next = map.layer(group)?.parent
                }
            }
        }
    }

    /// The groups around each layer, at either moment.
    private let groups: [LayerID: Set<LayerID>]

    /// Notes an event of the map between the two moments where it concerns a difference.
    public mutating func note(_ record: RecordedEvent) throws(Failure) -> Bool {
        let event = try MapEvent(record.event)
        var isConcerned = false
        for index in differences.indices
        where concerns(event, differences[index]) {
            differences[index].events.append(record.globalPosition)
            isConcerned = true
        }
        return isConcerned
    }

    private func concerns(_ event: MapEvent, _ difference: Difference) -> Bool {
        let layers = (groups[difference.layer] ?? []).union([difference.layer])
        switch event {
        case .featuresEdited(let event):
            return event.layers.contains { edited in
                edited.layer == difference.layer
                    && (edited.deleted.contains(difference.feature)
                        || (edited.added + edited.changed).contains { $0.id == difference.feature })
            }
        case .restored(let event):
            return !layers.isDisjoint(with: event.removed)
                || event.order.contains { !layers.isDisjoint(with: $0.children) }
                || event.layers.contains { each in
                    layers.contains(each.layer)
                        && (each.description != nil
                            || each.features?.contains { $0.id == difference.feature } ?? false)
                }
        case .layerAdded(let event): return layers.contains(event.layer)
        case .layerMoved(let event): return layers.contains(event.layer)
        case .layerRemoved(let event): return layers.contains(event.layer)
        case .layerRenamed(let event): return event.layer == difference.layer
        case .layerVisibilityChanged(let event): return layers.contains(event.layer)
        case .layerScaleRangeChanged(let event): return layers.contains(event.layer)
        case .layerDefinitionChanged(let event): return event.layer == difference.layer
        case .layerDisplayFieldChanged(let event): return event.layer == difference.layer
        case .layerFieldAliasChanged(let event): return event.layer == difference.layer
        case .layerTimeInfoChanged(let event): return event.layer == difference.layer
        case .layerDrawingChanged(let event): return event.layer == difference.layer
        case .layerQueryableChanged(let event): return event.layer == difference.layer
        case .layerPopupsChanged(let event): return event.layer == difference.layer
        case .layerSourceChanged(let event): return event.layer == difference.layer
        case .layerReplaced(let event): return event.layer == difference.layer
        case .layerLoaded(let event): return event.layer == difference.layer
        case .layerLoadFailed(let event): return event.layer == difference.layer
        case .graphicAdded(let event):
            return event.layer == difference.layer && event.graphic.id == difference.feature
        case .graphicChanged(let event):
            return event.layer == difference.layer && event.graphic.id == difference.feature
        case .graphicRemoved(let event):
            return event.layer == difference.layer && event.graphic == difference.feature
        case .graphicsCleared(let event): return event.layer == difference.layer
        case .layerInfoChanged, .created, .layerLoadStarted, .layerCompacted,
            .layerEditableChanged:
            return false
        case .propertiesChanged, .deleted, .revived: return true
        }
    }

    private static func results(_ answer: IdentifyAnswer) -> [Key: IdentifyResult] {
        Dictionary(
            answer.results.map { (Key(layer: $0.layerID, feature: $0.objectID), $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The attributes by name, and what else of a result a reader sees.
    private static func fields(_ result: IdentifyResult) throws(Failure) -> JSONValue {
        var fields: [String: JSONValue] = [:]
        func add(_ name: String, _ value: some Encodable) throws(Failure) {
            let form = try CairnJSON.decode(JSONValue.self, from: try CairnJSON.encode([value]))
            if case .array(let values) = form { fields[name] = values.first }
        }
        for attribute in result.attributes.entries { try add(attribute.name, attribute.value) }
        try add("(layer)", result.layerName)
        try add("(shown)", result.displayFieldName)
        try add("(distance)", result.distance)
        if let geometry = result.geometry { try add("(geometry)", GeometryForm(geometry)) }
        return .object(fields)
    }
}
