// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry

/// Plans the replacement of a layer's data, from the whole stream of its map.
///
/// Take every record of the stream in order, then ``plan(_:features:)``. Edits since the last
/// import of the layer are merged into the new data field by field: an edit is carried over where
/// the new data has what the edit found, and conflicts where it has something else.
public struct MapReplacement: Sendable {
    /// A dataset that a layer had, as an import gave it, and the features edited since then.
    private struct Origin {
        var dataset: ContentID
        var edited: Set<Int64> = []
    }

    private let map: MapName
    private let layer: LayerID
    private var state = MapsState()
    /// The origin of the layer's present dataset; nil while it has none.
    private var origin: Origin?
    /// The origins of all datasets that the layer ever had.
    private var origins: [ContentID: Origin] = [:]

    /// Begins before the first record of the map's stream.
    public init(of layer: LayerID, in map: MapName) {
        self.map = map
        self.layer = layer
    }

    /// The position of the last record taken, in the map's stream; nil before the first.
    public var streamPosition: Int64? { state.streamPosition(of: map) }

    /// Folds the next record of the stream; throws as `MapsState.apply(_:)`.
    public mutating func take(_ record: RecordedEvent) throws(Failure) {
        try state.apply(record)
        note(try MapEvent(record.event))
        if let dataset = state.models[map]?.layers[layer]?.kind.dataset {
            origins[dataset] = origin
        }
    }

    private mutating func note(_ event: MapEvent) {
        switch event {
        case .layerAdded(let event) where event.layer == layer:
            origin = event.kind.dataset.map { Origin(dataset: $0) }
        case .layerSourceChanged(let event) where event.layer == layer:
            origin = LayerKind.layer(source: event.source).dataset.map { Origin(dataset: $0) }
        case .layerReplaced(let event) where event.layer == layer:
            origin = Origin(
                dataset: event.dataset, edited: Set((event.features ?? []).map(\.id)))
        case .featuresEdited(let event):
            for each in event.layers where each.layer == layer {
                origin?.edited.formUnion((each.added + each.changed).map(\.id) + each.deleted)
            }
        case .restored(let event):
            guard let each = event.layers.first(where: { $0.layer == layer }) else { return }
            if let dataset = each.description?.kind.dataset {
                origin = origins[dataset] ?? Origin(dataset: dataset)
            }
            origin?.edited.formUnion((each.features ?? []).map(\.id))
        default: break
        }
    }

    // MARK: The plan

    /// The event and what becomes of edits; no event where nothing changes, or for a dry run.
    ///
    /// `properties` are those of the new dataset; `features` lends the features of a dataset as
    /// they were before any edit. Throws `notFound`; `invalidParameter` for a layer that has no
    /// imported features, of another kind of geometry, or whose definition expression the new data
    /// cannot answer; `conflict` with the list of edits that conflict, unless the request drops
    /// them.
    public func plan(
        _ request: ReplacementRequest, _ properties: LayerProperties,
        features: (ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) -> (event: MapEvent?, report: ReplacementReport) {
        guard let model = state.live(map) else {
            throw Failure(.notFound, "there is no map '\(map)'")
        }
        let node = try MapDecision(model: model).featureLayer(layer)
        try check(node, properties)
        let new = try features(request.dataset)
        let (carried, conflicts) = try merge(node, properties, new, features)
        let report = ReplacementReport(
            carried: carried.map(\.id), conflicts: conflicts, notes: Self.notes(node, properties))
        if request.isDryRun { return (nil, report) }
        guard conflicts.isEmpty || request.dropsEdits else {
            throw Failure(
                .conflict,
                "\(conflicts.count) edits of layer \(layer) ('\(node.name)') conflict with the new "
                    + "data: drop them ('--drop-edits'), or undo them first",
                details: conflicts.prefix(20).map(\.text))
        }
        let isSame =
            node.kind.dataset == request.dataset && conflicts.isEmpty
            && carried.map(\.id) == (node.edits?.changes ?? []).map(\.id)
            && node.loadStatus == .loaded
        if isSame { return (nil, report) }
        let event = LayerReplaced(
            layer: layer, dataset: request.dataset,
            properties: try Self.edited(properties, carried, new), key: request.key,
            features: carried.isEmpty
                ? nil : carried.map { RestoredFeature(id: $0.id, feature: $0.feature) },
            nextID: try nextID(node, carried, new, features),
            dropped: conflicts.isEmpty ? nil : Set(conflicts.map(\.id)).sorted())
        return (.layerReplaced(event), report)
    }

    private func check(
        _ node: LayerDescription, _ properties: LayerProperties
    ) throws(Failure) {
        let name = "layer \(layer) ('\(node.name)')"
        guard node.kind.dataset != nil else {
            throw Failure(
                .invalidParameter,
                "\(name) is a \(node.kindName) layer: expected one of imported features")
        }
        if let old = node.properties?.geometryType, old != properties.geometryType {
            throw Failure(
                .invalidParameter,
                "\(name) has features of type \(old.rawValue), the new data "
                    + "\(properties.geometryType?.rawValue ?? "none"): import it as another layer")
        }
        guard let definition = node.definitionExpression else { return }
        do throws(Failure) {
            try DefinitionExpression.check(definition, fields: properties.fields)
        } catch {
            throw Failure(
                .invalidParameter,
                "the definition expression of \(name) does not fit the new data: "
                    + error.message)
        }
    }

    private static func notes(
        _ node: LayerDescription, _ properties: LayerProperties
    ) -> [String] {
        let names = Set(properties.fields.map(\.name))
        var notes: [String] = []
        func need(_ field: String?, _ what: String) {
            guard let field, !names.contains(field) else { return }
            notes.append("\(what) '\(field)' is not among the new data's fields")
        }
        need(node.displayField, "the display field")
        need(node.timeInfo?.startField, "the time field")
        need(node.timeInfo?.endField, "the time field")
        for field in node.fieldAliases.keys.sorted() { need(field, "the field with an alias") }
        do throws(Failure) {
            try node.drawing?.check(properties.fields, properties.geometryType)
        } catch {
            notes.append("the layer's drawing does not fit the new data: \(error.message)")
        }
        if let popup = node.info?.popup {
            var new = node
            new.properties = properties
            do throws(Failure) { try PopupDefinition.check(popup, of: new) } catch {
                notes.append("the layer's popups do not fit the new data: \(error.message)")
            }
        }
        return notes
    }

    /// The lowest object id that no feature of the layer had before, or has in the new data.
    private func nextID(
        _ node: LayerDescription, _ carried: [FeatureChange], _ new: any DatasetFeatures,
        _ features: (ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) -> Int64 {
        var next = max(
            try new.nextID(), node.edits?.nextID ?? 1, (carried.last?.id ?? 0) + 1)
        if node.edits?.nextID == nil, let old = node.kind.dataset {
            next = max(next, try features(old).nextID())
        }
        return next
    }

    /// The properties of a dataset with these changes of its features.
    private static func edited(
        _ properties: LayerProperties, _ changes: [FeatureChange], _ new: any DatasetFeatures
    ) throws(Failure) -> LayerProperties {
        var properties = properties
        for change in changes {
            let isThere = try new.feature(change.id) != nil
            if isThere, change.feature == nil { properties.featureCount -= 1 }
            if !isThere, change.feature != nil { properties.featureCount += 1 }
        }
        return properties
    }

    // MARK: Edits

    private typealias Merged = (carried: [FeatureChange], conflicts: [ReplacementReport.Conflict])

    private func merge(
        _ node: LayerDescription, _ properties: LayerProperties, _ new: any DatasetFeatures,
        _ features: (ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) -> Merged {
        var merged: Merged = ([], [])
        guard let origin, !origin.edited.isEmpty, let dataset = node.kind.dataset else {
            return merged
        }
        let ids = origin.edited.sorted()
        let base: any DatasetFeatures
        do throws(Failure) { base = try features(origin.dataset) } catch {
            guard error.code == .notFound else { throw error }
            merged.conflicts = ids.map {
                ReplacementReport.Conflict(
                    id: $0,
                    reason: "it was edited, and the data of the last import, which the edit would "
                        + "be compared with, is no longer in the site")
            }
            return merged
        }
        let present = try features(dataset)
        let merge = FeatureMerge(old: node.properties, new: properties)
        for id in ids {
            let before = try base.feature(id)
            let edited: EditedFeature?
            if let change = node.edits?.change(of: id) {
                edited = change.feature
            } else {
                edited = try present.feature(id)
            }
            switch merge.merged(before, edited, try new.feature(id)) {
            case .nothing: break
            case .carried(let feature):
                merged.carried.append(FeatureChange(id: id, sequence: 0, feature: feature))
            case .conflict(let reason):
                merged.conflicts.append(ReplacementReport.Conflict(id: id, reason: reason))
            }
        }
        return merged
    }
}

/// Merges the edit of a feature into new data of its layer.
private struct FeatureMerge {
    enum Outcome {
        /// The new data has what the edit made.
        case nothing
        /// The feature as it is over the new data; nil for one that is deleted.
        case carried(EditedFeature?)
        /// What was edited, and what the new data has instead.
        case conflict(String)
    }

    /// Whether geometries of the old data can be compared with the new ones.
    private let hasSameGeometry: Bool
    private let fields: [FieldDescription]
    private let oldTypes: [String: FieldType]

    init(old: LayerProperties?, new: LayerProperties) {
        fields = Array(new.fields.dropFirst())
        oldTypes = Dictionary(
            (old?.fields ?? []).map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        hasSameGeometry =
            old.map {
                $0.spatialReference.isEquivalent(to: new.spatialReference)
                    && $0.hasZ == new.hasZ && $0.hasM == new.hasM
            } ?? false
    }

    func merged(
        _ base: EditedFeature?, _ edited: EditedFeature?, _ new: EditedFeature?
    ) -> Outcome {
        switch (base, edited, new) {
        case (nil, nil, _): .nothing
        case (nil, let edited?, nil): added(edited)
        case (nil, _?, _?):
            .conflict("it was added, and the new data has a feature with its object id")
        case (_?, nil, nil): .nothing
        case (let base?, nil, let new?):
            isEqual(base, new)
                ? .carried(nil) : .conflict("it was deleted, and the new data changes it")
        case (let base?, let edited?, nil):
            base == edited
                ? .nothing : .conflict("it was edited, and the new data does not have it")
        case (let base?, let edited?, let new?): changed(base, edited, new)
        }
    }

    private func added(_ edited: EditedFeature) -> Outcome {
        guard hasSameGeometry || edited.shape == nil else {
            return .conflict("it was added, and the new data has another spatial reference, Z or M")
        }
        var feature = edited
        let values = Self.values(edited)
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where value != .null {
            guard isKept(name) else {
                return .conflict("it was added with '\(name)', which the new data lacks")
            }
        }
        feature.attributes = Attributes(
            fields.map { Attributes.Entry(name: $0.name, value: values[$0.name] ?? .null) })
        return .carried(feature)
    }

    private func changed(
        _ base: EditedFeature, _ edited: EditedFeature, _ new: EditedFeature
    ) -> Outcome {
        guard base != edited else { return .nothing }
        var result = new
        let (before, after) = (Self.values(base), Self.values(edited))
        for (name, value) in after.sorted(by: { $0.key < $1.key }) {
            let old = before[name] ?? .null
            guard value != old else { continue }
            guard isKept(name),
                let place = new.attributes.entries.firstIndex(where: { $0.name == name })
            else {
                return .conflict("'\(name)' was edited, and the new data lacks that field")
            }
            let now = new.attributes.entries[place].value
            if now == value { continue }
            guard now == old else {
                return .conflict(
                    "'\(name)' was edited from \(Self.text(old)) to \(Self.text(value)), and the "
                        + "new data has \(Self.text(now))")
            }
            var entries = result.attributes.entries
            entries[place].value = value
            result.attributes = Attributes(entries)
        }
        if edited.shape != base.shape || edited.ordinates != base.ordinates {
            let isThere = new.shape == edited.shape && new.ordinates == edited.ordinates
            let isUnchanged = new.shape == base.shape && new.ordinates == base.ordinates
            guard hasSameGeometry, isThere || isUnchanged else {
                return .conflict("the geometry was edited, and the new data has another one")
            }
            (result.shape, result.ordinates) = (edited.shape, edited.ordinates)
        }
        return result == new ? .nothing : .carried(result)
    }

    /// Whether the new data has a field of that name and type.
    private func isKept(_ name: String) -> Bool {
        fields.contains { $0.name == name && $0.type == oldTypes[name] }
    }

    /// Whether two features agree in the fields that both have, and in their geometry.
    private func isEqual(_ one: EditedFeature, _ other: EditedFeature) -> Bool {
        let others = Self.values(other)
        return one.shape == other.shape && one.ordinates == other.ordinates
            && one.attributes.entries.allSatisfy { entry in
                others[entry.name].map { $0 == entry.value } ?? true
            }
    }

    private static func values(_ feature: EditedFeature) -> [String: AttributeValue] {
        Dictionary(
            feature.attributes.entries.map { ($0.name, $0.value) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func text(_ value: AttributeValue) -> String {
        switch value {
        case .null: "null"
        case .string(let text): "'\(text.prefix(60))'"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .date(let milliseconds): "\(milliseconds)"
        }
    }
}
