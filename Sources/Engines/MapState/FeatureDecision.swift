// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Expression
public import Geometry

/// The features of an immutable dataset, for decisions on edits.
public protocol DatasetFeatures {
    /// The lowest unused object id, above those of all features.
    func nextID() throws(Failure) -> Int64
    /// A feature by object id; nil for an unknown one.
    func feature(_ id: Int64) throws(Failure) -> EditedFeature?
    /// Projects a shape into the spatial reference of the features, coordinate by coordinate.
    ///
    /// Throws `invalidParameter` for an unknown reference, or a shape that cannot be projected.
    func projected(_ shape: Shape, from reference: SpatialReference) throws(Failure) -> Shape
    /// Checks that the spatial reference of the features has a place for a shape, or that the
    /// features reach as far.
    ///
    /// Throws `invalidParameter` otherwise.
    func checkPlace(of shape: Shape, orIn extent: Envelope?) throws(Failure)
}

/// Decides edits of one layer's features: one event for all, or none.
struct FeatureDecision {
    private let layer: LayerDescription
    private let features: any DatasetFeatures
    private let edits: LayerEdits
    private let fields: [FieldDescription]
    private let geometryType: GeometryType?
    private let hasZ: Bool
    private let hasM: Bool
    /// The layer's definition expression, or the error of an invalid one, which hides everything;
    /// nil without one.
    private let definition: Result<BoundClause, Failure>?

    init(_ layer: LayerDescription, _ features: any DatasetFeatures) throws(Failure) {
        self.layer = layer
        self.features = features
        edits = layer.edits ?? LayerEdits(isOpen: false)
        fields = layer.properties?.fields ?? []
        geometryType = layer.properties?.geometryType
        hasZ = layer.properties?.hasZ ?? false
        hasM = layer.properties?.hasM ?? false
        let (text, fields) = (layer.definitionExpression ?? "", fields)
        definition =
            text.allSatisfy(\.isWhitespace)
            ? nil
            : Result { () throws(Failure) in try WhereClause(parsing: text).bound(to: fields) }
    }

    /// The dataset under an editable layer.
    ///
    /// - Parameter isOpen: Whether a layer that does not allow edits is accepted.
    static func dataset(
        of layer: LayerDescription, isOpen: Bool = false
    ) throws(Failure) -> ContentID {
        func refusal(_ code: Failure.Code, _ reason: String) -> Failure {
            Failure(code, "layer \(layer.id) ('\(layer.name)') \(reason)")
        }
        guard case .layer(.dataset(let dataset)) = layer.kind else {
            throw refusal(
                .invalidParameter, "is a \(layer.kindName) layer: only imported features are edited"
            )
        }
        guard isOpen || layer.edits?.isOpen == true else {
            throw refusal(.conflict, "does not allow edits: enable them first")
        }
        guard layer.loadStatus == .loaded, layer.properties != nil else {
            throw refusal(.unavailable, "is not loaded")
        }
        return dataset
    }

    /// The outcome of one edit.
    private struct Outcome {
        var added: [EditedFeature] = []
        var changed: [Int64: EditedFeature] = [:]
        var deleted: Set<Int64> = []
        var refused: [RefusedEdit] = []
        var nextID: Int64
    }

    /// Throws `tooLarge` for more edits than one request may have.
    static func checkCount(_ edits: [FeatureEdits]) throws(Failure) {
        for (count, bound, what) in [
            (
                edits.reduce(0) { $0 + $1.adds.count + $1.updates.count },
                MapLimits.editsPerCommand, "features to add or change"
            ),
            (
                edits.reduce(0) { $0 + $1.deletes.count }, MapLimits.changedFeatures,
                "features to delete"
            ),
        ] where count > bound {
            throw Failure(.tooLarge, "\(count) \(what) at once, expected at most \(bound)")
        }
    }

    /// Applies the edits; the outcome may be empty.
    ///
    /// - Parameter isUndone: Whether all are undone, because of another layer's failure.
    func decide(
        _ wanted: FeatureEdits, isUndone: Bool = false
    ) throws(Failure) -> FeaturesEdited {
        var next = edits.nextID ?? 0
        if edits.nextID == nil { next = try features.nextID() }
        var outcome = Outcome(nextID: next)
        // Esri's order: a feature added by a request can be neither changed nor deleted by it.
        try attempt(wanted.adds, .add, &outcome) { draft, outcome throws(Failure) in
            try add(draft, &outcome)
        }
        try attempt(wanted.updates, .update, &outcome) { draft, outcome throws(Failure) in
            try update(draft, &outcome)
        }
        try attempt(wanted.deletes, .delete, &outcome) { id, outcome throws(Failure) in
            try delete(id, &outcome)
        }
        if isUndone || wanted.isAtomic && !outcome.refused.isEmpty {
            refuseAll(wanted, &outcome)
            (outcome.added, outcome.changed, outcome.deleted) = ([], [:], [])
            outcome.nextID = next
        }
        let event = FeaturesEdited(
            layer: layer.id, added: outcome.added,
            changed: outcome.changed.values.sorted { $0.id < $1.id },
            deleted: outcome.deleted.sorted(), nextID: outcome.nextID,
            refused: outcome.refused.isEmpty ? nil : outcome.refused)
        if !event.isNothing { try checkRoom(event) }
        return event
    }

    private func attempt<Edit>(
        _ list: [Edit], _ kind: RefusedEdit.Kind, _ outcome: inout Outcome,
        _ body: (Edit, inout Outcome) throws(Failure) -> Void
    ) throws(Failure) {
        for (index, edit) in list.enumerated() {
            do throws(Failure) {
                try body(edit, &outcome)
            } catch {
                // A damaged dataset is no error of the edit.
                guard [.invalidParameter, .notFound, .tooLarge, .conflict].contains(error.code)
                else { throw error }
                outcome.refused.append(RefusedEdit(kind: kind, index: index, reason: error))
            }
        }
    }

    /// Marks the valid edits as undone.
    private func refuseAll(_ wanted: FeatureEdits, _ outcome: inout Outcome) {
        let reason = Failure(
            .conflict, "not done, because another edit of the same request failed")
        for (kind, count) in [
            (RefusedEdit.Kind.add, wanted.adds.count), (.update, wanted.updates.count),
            (.delete, wanted.deletes.count),
        ] {
            let known = Set(outcome.refused.filter { $0.kind == kind }.map(\.index))
            for index in 0..<count where !known.contains(index) {
                outcome.refused.append(RefusedEdit(kind: kind, index: index, reason: reason))
            }
        }
    }

    private func checkRoom(_ event: FeaturesEdited) throws(Failure) {
        var after = edits
        after.apply(
            (event.added + event.changed).map {
                FeatureChange(id: $0.id, sequence: 0, feature: $0)
            } + event.deleted.map { FeatureChange(id: $0, sequence: 0, feature: nil) })
        guard after.changes.count <= MapLimits.changedFeatures,
            after.coordinateCount <= MapLimits.coordinatesPerLayer
        else {
            throw Failure(
                .busy,
                "layer \(layer.id) ('\(layer.name)') has too many edits that wait to become part "
                    + "of "
                    + "its dataset; the limit is \(MapLimits.changedFeatures) features and "
                    + "\(MapLimits.coordinatesPerLayer) "
                    + "coordinates: try again in a moment")
        }
    }

    // MARK: One edit

    private func add(_ draft: FeatureDraft, _ outcome: inout Outcome) throws(Failure) {
        if let fault = draft.fault { throw fault }
        let given = try geometry(draft)
        guard outcome.nextID <= Int64(Int32.max) else {
            throw Failure(.tooLarge, "the object ids of the layer are exhausted")
        }
        let nothing = Attributes(
            fields.dropFirst().map { Attributes.Entry(name: $0.name, value: .null) })
        outcome.added.append(
            EditedFeature(
                id: outcome.nextID, shape: given?.0, ordinates: given?.1 ?? FurtherOrdinates(),
                attributes: try attributes(draft.attributes, over: nothing)))
        outcome.nextID += 1
    }

    private func update(_ draft: FeatureDraft, _ outcome: inout Outcome) throws(Failure) {
        if let fault = draft.fault { throw fault }
        guard let id = draft.id else {
            throw Failure(
                .invalidParameter,
                "attributes: '\(fields.first?.name ?? "OBJECTID")' is missing: "
                    + "expected the object id of the feature")
        }
        var feature = try current(id, outcome)
        if let given = try geometry(draft) {
            (feature.shape, feature.ordinates) = given
        } else if draft.clearsGeometry == true {
            (feature.shape, feature.ordinates) = (nil, FurtherOrdinates())
        }
        feature.attributes = try attributes(draft.attributes, over: feature.attributes)
        outcome.changed[id] = feature
    }

    private func delete(_ id: Int64, _ outcome: inout Outcome) throws(Failure) {
        _ = try current(id, outcome)
        outcome.changed[id] = nil
        outcome.deleted.insert(id)
    }

    /// The feature after the edits so far; nil for one that the layer hides.
    private func current(_ id: Int64, _ outcome: Outcome) throws(Failure) -> EditedFeature {
        guard let feature = try stored(id, outcome), isShown(feature) else {
            throw Failure(.notFound, "there is no feature \(id)")
        }
        return feature
    }

    private func stored(_ id: Int64, _ outcome: Outcome) throws(Failure) -> EditedFeature? {
        if let changed = outcome.changed[id] { return changed }
        if outcome.deleted.contains(id) { return nil }
        if let change = edits.change(of: id) { return change.feature }
        return try features.feature(id)
    }

    /// Whether the layer's definition expression lets readers see the feature.
    private func isShown(_ feature: EditedFeature) -> Bool {
        switch definition {
        case nil: return true
        case .failure: return false
        case .success(let clause):
            let values = feature.attributes.entries
            return clause.evaluate { column in
                if column == 0 { return .integer(feature.id) }
                return column <= values.count ? values[column - 1].value : .null
            } == true
        }
    }

    /// The geometry in the layer's spatial reference, with the Z and M of its features; nil without
    /// one.
    private func geometry(
        _ draft: FeatureDraft
    ) throws(Failure) -> (Shape, FurtherOrdinates)? {
        guard let form = draft.geometry else { return nil }
        guard var shape = form.shape else {
            throw Failure(.invalidParameter, "geometry: expected x and y, points, paths or rings")
        }
        try shape.checkDrawable()
        let ordinates = FurtherOrdinates(
            z: hasZ ? form.ordinates.z : nil, m: hasM ? form.ordinates.m : nil)
        try ordinates.check()
        if let reference = draft.spatialReference {
            // Coordinate by coordinate, so that Z and M are kept.
            shape = try features.projected(shape, from: reference)
        }
        try features.checkPlace(of: shape, orIn: layer.properties?.extent)
        switch (shape.geometryType, geometryType) {
        case (let own, let layers?) where own == layers: return (shape, ordinates)
        case (.point, .multipoint):
            if case .point(let place) = shape { return (.multipoint([place]), ordinates) }
        default: break
        }
        throw Failure(
            .invalidParameter,
            "geometry: it is an esriGeometry\(shape.geometryType.rawValue), the layer's features "
                + "are esriGeometry\(geometryType?.rawValue ?? "")")
    }

    private func attributes(
        _ given: Attributes, over old: Attributes
    ) throws(Failure) -> Attributes {
        var result = old
        var byteCount = 0
        for entry in given.entries {
            let wanted = entry.name.lowercased()
            guard let column = fields.firstIndex(where: { $0.name.lowercased() == wanted }) else {
                throw Failure(
                    .invalidParameter, "attributes: there is no field '\(entry.name.prefix(80))'")
            }
            // The object id cannot be changed.
            if column == 0 { continue }
            result.entries[column - 1].value = try entry.value.stored(in: fields[column])
            if case .string(let text) = entry.value { byteCount += text.utf8.count }
        }
        guard byteCount <= MapLimits.attributeBytes else {
            throw Failure(
                .tooLarge,
                "attributes: \(byteCount) bytes of text, expected at most "
                    + "\(MapLimits.attributeBytes)")
        }
        return result
    }
}

extension FurtherOrdinates {
    /// Throws for numbers out of range.
    fileprivate func check() throws(Failure) {
        for (name, values) in [("Z", z), ("M", m)] {
            for case let value? in values ?? [] where !(abs(value) <= Coordinate.bound) {
                throw Failure(
                    .invalidParameter,
                    "geometry: \(name) is \(value), expected a finite number up to 10¹²")
            }
        }
    }
}

extension FeaturesEdited {
    /// Whether the layer is unchanged.
    var isNothing: Bool { added.isEmpty && changed.isEmpty && deleted.isEmpty }
}

extension AttributeValue {
    /// The value converted to the field's type; throws where that is impossible.
    fileprivate func stored(in field: FieldDescription) throws(Failure) -> AttributeValue {
        func refusal(_ expected: String) -> Failure {
            Failure(.invalidParameter, "attribute '\(field.name)': expected \(expected)")
        }
        func integer(_ range: ClosedRange<Int64>) throws(Failure) -> AttributeValue {
            switch self {
            case .integer(let value) where range.contains(value): return self
            case .real(let value):
                if let whole = Int64(exactly: value), range.contains(whole) {
                    return .integer(whole)
                }
            default: break
            }
            throw refusal("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        if self == .null { return .null }
        switch field.type {
        case .objectID, .integer: return try integer(Int64(Int32.min)...Int64(Int32.max))
        case .smallInteger: return try integer(Int64(Int16.min)...Int64(Int16.max))
        case .bigInteger: return try integer(.min ... .max)
        case .single, .double:
            switch self {
            case .integer(let value): return .real(Double(value))
            case .real(let value) where field.type == .single:
                let single = Double(Float(value))
                if single.isFinite { return .real(single) }
            case .real(let value) where value.isFinite: return self
            default: break
            }
            throw refusal("a number")
        case .string:
            guard case .string(let text) = self else { throw refusal("text") }
            if let length = field.length, text.utf8.count > length {
                throw refusal("\(length) bytes of text or fewer")
            }
            return self
        case .date:
            // The years 1 to 9999.
            let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999
            switch self {
            case .date(let moment) where range.contains(moment): return self
            case .integer(let moment) where range.contains(moment): return .date(moment)
            case .real(let value):
                if let moment = Int64(exactly: value), range.contains(moment) {
                    return .date(moment)
                }
            default: break
            }
            throw refusal("milliseconds since 1970, in the years 1 to 9999")
        }
    }
}
