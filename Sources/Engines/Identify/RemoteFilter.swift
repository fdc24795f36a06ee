// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Expression

/// The local filter of a remote layer's features, independent of how its server evaluates clauses.
enum RemoteFilter {
    /// For a layer with fixed columns: attributes are in their order.
    case columns(FeatureFilter)
    /// For a service whose layers have fields of their own: the layer's definition expression and
    /// the request's clause, which find attributes by name, a missing one being null.
    case names(definition: WhereClause?, clause: WhereClause?)

    /// Nil for a match.
    func exclusion(of feature: RemoteAnswer.Feature) -> FeatureFilter.Exclusion? {
        switch self {
        case .columns(let filter): filter.exclusion(of: feature.attributes)
        case .names(let definition, let clause):
            if let definition, definition.evaluate(feature.attributes) != true {
                .hidden
            } else if let clause, clause.evaluate(feature.attributes) != true {
                .clause
            } else {
                nil
            }
        }
    }
}

extension FeatureFilter {
    /// Nil when the feature with these attributes, in field order, matches.
    func exclusion(of attributes: Attributes) -> Exclusion? {
        let values = attributes.entries
        func holds(_ clause: BoundClause?) -> Bool {
            clause.map { $0.evaluate { values[$0].value } == true } ?? true
        }
        guard holds(definition) else { return .hidden }
        guard holds(clause) else { return .clause }
        return time?.contains(attributes) == false ? .time : nil
    }

    /// SQL that is true, on any server, for every feature that matches; nil for none.
    func narrowing(_ fields: [FieldDescription]) -> String? {
        var parts = clauses.map { $0.narrowing(fields) }
        if let text = time?.clause(fields),
            let clause = try? WhereClause(parsing: text).bound(to: fields)
        {
            parts.append(clause.narrowing(fields))
        }
        return Narrowing.conjunction(parts).sql
    }

    /// The indices of the fields used, possibly with duplicates.
    var fieldPlaces: [Int] { clauses.flatMap(\.fieldPlaces) + (time?.fieldPlaces ?? []) }
}

extension IdentifyRun {
    /// The filter of a remote layer's features; throws `invalidParameter`, with the layer's name,
    /// for an invalid clause.
    func remoteFilter(_ layer: PreparedLayer) throws(Failure) -> RemoteFilter {
        switch layer.source {
        case .featureService: return .columns(try filter(layer, nil))
        case .mapService, .tiles:
            let (definition, clause) = try clauses(layer)
            return .names(definition: definition, clause: clause)
        // The fields of its answers are not known in advance.
        case .wms, .dataset, .raster, .graphics, nil: return .names(definition: nil, clause: nil)
        }
    }

    /// Throws `invalidParameter`, with the layer's name, for an invalid clause: an error of the
    /// request, whichever server has the layer.
    func checkClause(_ layer: PreparedLayer) throws(Failure) {
        switch layer.source {
        case .featureService:
            guard let text = request.layerDefinitions[layer.id] else { return }
            _ = try layer.description.clause(text, called: "layerDefs", layer.fields)?.get()
        case .mapService, .tiles:
            _ = try clause(request.layerDefinitions[layer.id], called: "layerDefs", of: layer)
        case .wms, .dataset, .raster, .graphics, nil: return
        }
    }

    /// The layer's own definition expression and the request's clause, not bound to fields.
    private func clauses(
        _ layer: PreparedLayer
    ) throws(Failure) -> (definition: WhereClause?, clause: WhereClause?) {
        let own = layer.description.definitionExpression
        let asked = request.layerDefinitions[layer.id]
        return (
            try definition(own, of: layer),
            try clause(asked, called: "layerDefs", of: layer)
        )
    }

    private func definition(
        _ text: String?, of layer: PreparedLayer
    ) throws(Failure) -> WhereClause? {
        do throws(Failure) { return try clause(text, called: "", of: layer) } catch {
            throw layer.description.brokenDefinition
        }
    }

    private func clause(
        _ text: String?, called origin: String, of layer: PreparedLayer
    ) throws(Failure) -> WhereClause? {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        do throws(Failure) { return try WhereClause(parsing: text) } catch {
            throw Failure(
                error.code, "\(origin) of layer \(layer.id) '\(layer.name)': \(error.message)")
        }
    }

    /// The complete filter for a server that draws the layer itself; nil for all features.
    ///
    /// There is no local filter, so a clause that cannot be expressed for every server is refused,
    /// with the layer's name. `nothing` is set where no feature can match.
    func drawnClause(_ layer: PreparedLayer, nothing: inout Bool) throws(Failure) -> String? {
        var parts: [String] = []
        let (definition, asked) = try clauses(layer)
        for clause in [definition, asked].compactMap({ $0 }) {
            if clause.fieldNames.isEmpty {
                if clause.evaluate({ _ in .null }) != true { nothing = true }
                continue
            }
            guard let sql = clause.standardSQL else {
                throw Failure(
                    .invalidParameter,
                    "layer \(layer.id) '\(layer.name)' is drawn by its own server: expected a "
                        + "clause of fields compared with numbers and texts, UPPER, "
                        + "LOWER, IN, BETWEEN, LIKE and IS NULL")
            }
            parts.append(sql)
        }
        return parts.count > 1
            ? parts.map { "(\($0))" }.joined(separator: " AND ") : parts.first
    }
}
