// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A feature that an edit added or changed, whole.
public struct EditedFeature: Hashable, Sendable {
    /// The object id, never used again in its layer.
    public var id: Int64
    /// The geometry, in the spatial reference of the layer's source, never an envelope; nil for a
    /// feature without.
    public var shape: Shape?
    /// The Z and M of the shape's coordinates, where the layer has them.
    public var ordinates: FurtherOrdinates
    /// A value for each field of the layer in field order, without the object id.
    public var attributes: Attributes

    /// Makes a feature.
    public init(
        id: Int64, shape: Shape?, ordinates: FurtherOrdinates = FurtherOrdinates(),
        attributes: Attributes
    ) {
        self.id = id
        self.shape = shape
        self.ordinates = ordinates
        self.attributes = attributes
    }
}

extension EditedFeature: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, attributes
        case shape = "geometry"
    }

    /// Decodes the form of ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int64.self, forKey: .id)
        let form = try container.decodeIfPresent(GeometryForm.self, forKey: .shape)
        shape = form?.shape
        guard form == nil || shape != nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .shape, in: container,
                debugDescription: "expected x and y, points, paths or rings")
        }
        ordinates = form?.ordinates ?? FurtherOrdinates()
        attributes = try container.decode(Attributes.self, forKey: .attributes)
    }

    /// Writes `id`, `geometry` in Esri's JSON where there is one, and `attributes`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(
            shape.map { GeometryForm($0, ordinates) }, forKey: .shape)
        try container.encode(attributes, forKey: .attributes)
    }
}

/// The edits to a layer since its dataset was made: an overlay.
public struct LayerEdits: Hashable, Sendable, Codable {
    /// Whether the layer takes edits; those that were made count in any case.
    public var isOpen: Bool
    /// The global position of the last event that changed a feature; 0 before the first.
    public var sequence: Int64
    /// The lowest object id that no feature of the layer ever had; nil before the first edit.
    public var nextID: Int64?
    /// By rising object id, at most one for each.
    public var changes: [FeatureChange]

    /// A layer without edits.
    public init(isOpen: Bool) {
        self.isOpen = isOpen
        sequence = 0
        changes = []
    }

    /// Hashes a summary of the edits, without a pass over all of them.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isOpen)
        hasher.combine(sequence)
        hasher.combine(changes.count)
    }
}

/// The change of one feature, which replaces the dataset's feature with that object id, if any.
public struct FeatureChange: Hashable, Sendable, Codable {
    /// The object id.
    public var id: Int64
    /// Global position of its event.
    public var sequence: Int64
    /// The feature as it is; nil when it was deleted.
    public var feature: EditedFeature?

    /// States it.
    public init(id: Int64, sequence: Int64, feature: EditedFeature?) {
        self.id = id
        self.sequence = sequence
        self.feature = feature
    }
}

extension LayerEdits {
    /// The index of the change of that feature, or its insertion point.
    private func place(of id: Int64) -> (index: Int, isThere: Bool) {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return (low, low < changes.count && changes[low].id == id)
    }

    /// The change of the feature with that object id; nil for none.
    public func change(of id: Int64) -> FeatureChange? {
        let (index, isThere) = place(of: id)
        return isThere ? changes[index] : nil
    }

    /// Merges these changes, whose ids are distinct, into the edits.
    ///
    /// Costs one pass over all.
    public mutating func apply(_ news: [FeatureChange]) {
        let news = news.sorted { $0.id < $1.id }
        var merged: [FeatureChange] = []
        merged.reserveCapacity(changes.count + news.count)
        var next = news.makeIterator()
        var new = next.next()
        for old in changes {
            while let change = new, change.id < old.id {
                merged.append(change)
                new = next.next()
            }
            if let change = new, change.id == old.id {
                merged.append(change)
                new = next.next()
            } else {
                merged.append(old)
            }
        }
        while let change = new {
            merged.append(change)
            new = next.next()
        }
        changes = merged
    }

    /// The coordinates of all features.
    public var coordinateCount: Int {
        changes.reduce(0) { $0 + ($1.feature?.shape?.coordinateCount ?? 0) }
    }
}

/// A request to edit the features of a layer.
public struct FeatureEdits: Hashable, Sendable, Codable {
    /// Features to add; their ids are passed over.
    public var adds: [FeatureDraft]
    /// Features to change: absent members stay as they are.
    public var updates: [FeatureDraft]
    /// The object ids of features to delete.
    public var deletes: [Int64]
    /// Whether one failed edit fails all: Esri's `rollbackOnFailure`.
    public var isAtomic: Bool

    /// Makes a request.
    public init(
        adds: [FeatureDraft] = [], updates: [FeatureDraft] = [], deletes: [Int64] = [],
        isAtomic: Bool = true
    ) {
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
        self.isAtomic = isAtomic
    }
}

/// A request to edit the features of one layer, among several.
public struct LayerFeatureEdits: Hashable, Sendable, Codable {
    /// The layer.
    public var layer: LayerID
    /// The edits.
    public var edits: FeatureEdits

    /// Makes a request.
    public init(_ layer: LayerID, _ edits: FeatureEdits) {
        self.layer = layer
        self.edits = edits
    }
}

/// A feature as submitted.
public struct FeatureDraft: Hashable, Sendable, Codable {
    /// The object id, of one that exists.
    public var id: Int64?
    /// The geometry; nil when it is not given.
    public var geometry: GeometryForm?
    /// Whether the feature has no geometry from now on; nil is false.
    public var clearsGeometry: Bool?
    /// Spatial reference of the geometry; nil for that of the layer's source.
    public var spatialReference: SpatialReference?
    /// The attributes that are given, by field name in any letter case; the object id is passed
    /// over.
    public var attributes: Attributes
    /// The reason to refuse it, if found before the edit is applied; the other edits are
    /// unaffected.
    public var fault: Failure?

    /// Makes one; an envelope becomes the polygon of its corners.
    public init(
        id: Int64? = nil, shape: Shape? = nil, ordinates: FurtherOrdinates = FurtherOrdinates(),
        spatialReference: SpatialReference? = nil, attributes: Attributes = Attributes([])
    ) {
        self.id = id
        geometry = shape.map { GeometryForm($0, ordinates) }
        self.spatialReference = spatialReference
        self.attributes = attributes
    }
}

/// The outcomes of the edits, in the order of the request.
public struct FeatureEditResults: Hashable, Sendable, Codable {
    /// Outcomes of `FeatureEdits.adds`.
    public var adds: [FeatureEditResult]
    /// Outcomes of `FeatureEdits.updates`.
    public var updates: [FeatureEditResult]
    /// Outcomes of `FeatureEdits.deletes`.
    public var deletes: [FeatureEditResult]

    /// Makes a list.
    public init(
        adds: [FeatureEditResult], updates: [FeatureEditResult], deletes: [FeatureEditResult]
    ) {
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
    }

    /// The outcomes of edits recorded by an event.
    public init(_ edits: FeatureEdits, _ event: FeaturesEdited) {
        func refusals(_ kind: RefusedEdit.Kind) -> [Int: Failure] {
            Dictionary(
                event.refused?.filter { $0.kind == kind }.map { ($0.index, $0.reason) } ?? [],
                uniquingKeysWith: { first, _ in first })
        }
        var added = event.added.makeIterator()
        let (adds, updates, deletes) = (refusals(.add), refusals(.update), refusals(.delete))
        self.adds = edits.adds.indices.map { index in
            adds[index].map { FeatureEditResult(id: nil, failure: $0) }
                ?? FeatureEditResult(id: added.next()?.id)
        }
        self.updates = edits.updates.enumerated().map { index, draft in
            FeatureEditResult(id: draft.id, failure: updates[index])
        }
        self.deletes = edits.deletes.enumerated().map { index, id in
            FeatureEditResult(id: id, failure: deletes[index])
        }
    }
}

/// The outcome of one edit.
public struct FeatureEditResult: Hashable, Sendable, Codable {
    /// The object id of the feature; nil for one that was not added.
    public var id: Int64?
    /// The reason for a refusal; nil for an applied edit.
    public var failure: Failure?

    /// Makes one.
    public init(id: Int64?, failure: Failure? = nil) {
        self.id = id
        self.failure = failure
    }
}

/// An edit of a request that was refused.
public struct RefusedEdit: Hashable, Sendable, Codable {
    /// The list that contained it.
    public enum Kind: String, Hashable, Sendable, Codable { case add, update, delete }
    /// The list that contained it.
    public var kind: Kind
    /// Its place there, from 0.
    public var index: Int
    /// The reason.
    public var reason: Failure

    /// Makes one.
    public init(kind: Kind, index: Int, reason: Failure) {
        self.kind = kind
        self.index = index
        self.reason = reason
    }
}

/// Whether a layer takes edits changed.
public struct LayerEditableChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.editableChanged"
    /// The layer.
    public var layer: LayerID
    /// Whether it takes edits now.
    public var isEditable: Bool
    /// Makes the event.
    public init(layer: LayerID, isEditable: Bool) {
        self.layer = layer
        self.isEditable = isEditable
    }
}

/// Features of a layer, or of several, were added, changed or deleted, all at once.
public struct FeaturesEdited: EventPayload {
    /// The stable type name.
    public static let eventType = "map.features.edited"
    /// The second has further layers, the third Z and M, the fourth features without geometry.
    public static let schema = 4
    /// Each version only adds members.
    public static let upcasts = [Upcast.unchanged, .unchanged, .unchanged]
    /// The first version that can express it.
    public var writtenSchema: Int {
        let features = layers.flatMap { $0.added + $0.changed }
        if features.contains(where: { $0.shape == nil }) { return 4 }
        if !features.allSatisfy(\.ordinates.isNothing) { return 3 }
        return others == nil ? 1 : 2
    }
    /// The layer.
    public var layer: LayerID
    /// Features with object ids that none had before, rising.
    public var added: [EditedFeature]
    /// Features that were there, as they are now.
    public var changed: [EditedFeature]
    /// The object ids of features that were there.
    public var deleted: [Int64]
    /// The lowest object id that no feature of the layer ever had, the added ones included.
    public var nextID: Int64
    /// Refused edits of the same request; absent for none.
    public var refused: [RefusedEdit]?
    /// Changes of further layers by the same request, each without others; absent for none.
    public var others: [FeaturesEdited]?
    /// Makes the event.
    public init(
        layer: LayerID, added: [EditedFeature], changed: [EditedFeature], deleted: [Int64],
        nextID: Int64, refused: [RefusedEdit]?, others: [FeaturesEdited]? = nil
    ) {
        self.others = others
        self.layer = layer
        self.added = added
        self.changed = changed
        self.deleted = deleted
        self.nextID = nextID
        self.refused = refused
    }
}

extension FeaturesEdited {
    /// The changes of each layer, without others, in the order of the request.
    public var layers: [FeaturesEdited] {
        var first = self
        first.others = nil
        return [first] + (others ?? [])
    }

    /// The edits of several layers as one event; nil for none.
    public init?(together layers: [FeaturesEdited]) {
        guard var event = layers.first else { return nil }
        event.others = layers.count > 1 ? Array(layers.dropFirst()) : nil
        self = event
    }
}

/// The edits of a layer up to a sequence number became part of a new dataset.
public struct LayerCompacted: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.compacted"
    /// The layer.
    public var layer: LayerID
    /// Its dataset from now on.
    public var dataset: ContentID
    /// The global position of the last edit that is in it.
    public var through: Int64
    /// Properties of the new dataset.
    public var properties: LayerProperties
    /// Makes the event.
    public init(
        layer: LayerID, dataset: ContentID, through: Int64, properties: LayerProperties
    ) {
        self.layer = layer
        self.dataset = dataset
        self.through = through
        self.properties = properties
    }
}
