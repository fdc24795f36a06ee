// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// What is to be taken out of the past of a site.
public enum PersonalData: Hashable, Sendable {
    /// The values and the geometry of a feature of a layer.
    case feature(map: MapName, layer: LayerID, id: Int64)
    /// The name of a user, wherever it stands as the one that acted or was given rights.
    case user(String)

    /// The name that stands in the place of a user's.
    public static let erasedUser = "erased"

    /// The event without it; nil where it holds none of it.
    ///
    /// Throws `Failure` (`corrupt`, `newerVersion`) for an event that cannot be read.
    public func erased(from record: RecordedEvent) throws(Failure) -> NewEvent? {
        switch self {
        case .feature(let map, let layer, let id):
            guard record.stream.category == "map",
                Self.isOf(record, map),
                let event = try MapEvent(record.event)
                    .withoutValues(of: id, in: layer)
            else { return nil }
            return try event.payload.newEvent(
                id: record.event.id, metadata: record.event.metadata)
        case .user(let name): return try Self.withoutUser(name, record.event)
        }
    }

    /// Whether an event is of a map; layers that were copied from it have its features too.
    private static func isOf(_ record: RecordedEvent, _ map: MapName) -> Bool {
        record.stream == .map(map)
    }

    /// The event with another name in the place of the user's, in its metadata and as a whole text
    /// anywhere in its payload.
    private static func withoutUser(
        _ name: String, _ event: NewEvent
    ) throws(Failure) -> NewEvent? {
        var changed = event
        if event.metadata.actor == "user:" + name {
            changed.metadata.actor = "user:" + erasedUser
        }
        let isAccess = event.type == SiteAccessChanged.eventType
        func replaced(_ value: JSONValue, _ key: String?) -> JSONValue {
            switch value {
            case .string("user:" + name): .string("user:" + erasedUser)
            case .string(name) where isAccess && key == "subject": .string(erasedUser)
            case .array(let elements): .array(elements.map { replaced($0, key) })
            case .object(let members):
                .object(
                    Dictionary(
                        uniqueKeysWithValues: members.map { ($0.key, replaced($0.value, $0.key)) }))
            default: value
            }
        }
        if String(decoding: event.data, as: UTF8.self).contains(name) {
            let value = try CairnJSON.decode(JSONValue.self, from: event.data)
            let other = replaced(value, nil)
            if other != value { changed.data = try CairnJSON.encode(other) }
        }
        return changed == event ? nil : changed
    }
}

extension MapEvent {
    /// The event with nulls for the values of a feature and without its geometry; nil where it
    /// holds none of them.
    func withoutValues(of id: Int64, in layer: LayerID) -> MapEvent? {
        func erased(_ feature: EditedFeature) -> EditedFeature {
            EditedFeature(
                id: id, shape: nil,
                attributes: Attributes(
                    feature.attributes.entries.map { .init(name: $0.name, value: .null) }))
        }
        func erased(_ features: [EditedFeature]) -> [EditedFeature] {
            features.map { $0.id == id ? erased($0) : $0 }
        }
        func erased(_ features: [RestoredFeature]?) -> [RestoredFeature]? {
            features?.map { restored in
                guard restored.id == id, let feature = restored.feature else { return restored }
                return RestoredFeature(id: id, feature: erased(feature))
            }
        }
        let other: MapEvent
        switch self {
        case .featuresEdited(var event):
            func edit(_ event: inout FeaturesEdited) {
                guard event.layer == layer else { return }
                event.added = erased(event.added)
                event.changed = erased(event.changed)
            }
            edit(&event)
            event.others = event.others?.map { event in
                var event = event
                edit(&event)
                return event
            }
            other = .featuresEdited(event)
        case .restored(var event):
            for index in event.layers.indices where event.layers[index].layer == layer {
                event.layers[index].features = erased(event.layers[index].features)
            }
            other = .restored(event)
        case .layerReplaced(var event):
            guard event.layer == layer else { return nil }
            event.features = erased(event.features)
            other = .layerReplaced(event)
        default: return nil
        }
        return other == self ? nil : other
    }
}

extension SiteErased {
    /// An erasure of nothing yet; a user is not named.
    public init(_ data: PersonalData) {
        switch data {
        case .feature(let map, let layer, let id): self.init(subject: "\(map)/\(layer)/\(id)")
        case .user: self.init(subject: "user")
        }
    }
}
