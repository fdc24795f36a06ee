// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Expression

// Decisions on the fields and the drawing of a layer.
extension MapDecision {
    func setDisplayField(_ layer: LayerID, _ field: String?) throws(Failure) -> MapEvent? {
        let node = try featureLayer(layer)
        let name = try field.map { name throws(Failure) in
            try fieldName(name, of: node, "display field")
        }
        if node.displayField == name { return nil }
        return .layerDisplayFieldChanged(LayerDisplayFieldChanged(layer: layer, field: name))
    }

    func setTimeInfo(
        _ layer: LayerID, _ timeInfo: LayerTimeInfo?
    ) throws(Failure) -> MapEvent? {
        let node = try featureLayer(layer)
        let known = try timeInfo.map { info throws(Failure) in
            LayerTimeInfo(
                startField: try dateField(info.startField, of: node, "start field"),
                endField: try info.endField.map { name throws(Failure) in
                    try dateField(name, of: node, "end field")
                })
        }
        if node.timeInfo == known { return nil }
        return .layerTimeInfoChanged(LayerTimeInfoChanged(layer: layer, timeInfo: known))
    }

    func setDrawing(
        _ layer: LayerID, _ drawing: LayerDrawing?
    ) throws(Failure) -> MapEvent? {
        let node = try featureLayer(layer)
        if let drawing { try check(drawing, of: node) }
        // A drawing equal to the default is not recorded.
        let known = drawing == LayerDrawing() ? nil : drawing
        if node.drawing == known { return nil }
        return .layerDrawingChanged(LayerDrawingChanged(layer: layer, drawing: known))
    }

    private func check(
        _ drawing: LayerDrawing, of node: LayerDescription
    ) throws(Failure) {
        switch node.kind.source {
        case .dataset, .graphics, .featureService: break
        case .raster, .wms, .mapService, .tiles, nil:
            guard drawing.renderer == nil, drawing.labels.isEmpty else {
                throw Failure(
                    .invalidParameter,
                    "layer \(node.id) ('\(node.name)') is a picture: it has a transparency, but no "
                        + "symbols and no labels")
            }
        }
        try drawing.check(node.properties?.fields ?? [], node.properties?.geometryType)
        for label in drawing.labels {
            try check(label.scaleRange)
            guard let condition = label.condition else { continue }
            do throws(Failure) {
                let clause = try WhereClause(parsing: condition)
                if let fields = node.properties?.fields, !fields.isEmpty {
                    try clause.validate(against: fields)
                }
            } catch {
                throw Failure(error.code, "labelingInfo, where: \(error.message)")
            }
        }
    }

    func setFieldAlias(
        _ layer: LayerID, _ field: String, _ alias: String?
    ) throws(Failure) -> MapEvent? {
        let node = try featureLayer(layer)
        let name = try fieldName(field, of: node, "field")
        if let alias {
            let isPlain = alias.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
            guard !alias.allSatisfy(\.isWhitespace), isPlain,
                alias.utf8.count <= MapLimits.layerNameBytes
            else {
                throw Failure(
                    .invalidParameter,
                    "field alias: expected 1 to \(MapLimits.layerNameBytes) bytes, not blank and "
                        + "without control characters")
            }
            guard node.fieldAliases[name] != nil || node.fieldAliases.count < MapLimits.aliases
            else {
                throw Failure(
                    .tooLarge,
                    "layer \(layer) ('\(node.name)') has \(MapLimits.aliases) field aliases, the "
                        + "most it can hold")
            }
        }
        if node.fieldAliases[name] == alias { return nil }
        return .layerFieldAliasChanged(
            LayerFieldAliasChanged(layer: layer, field: name, alias: alias))
    }

    /// The name of a date field, as ``fieldName(_:of:_:)``.
    private func dateField(
        _ field: String, of node: LayerDescription, _ what: String
    ) throws(Failure) -> String {
        let name = try fieldName(field, of: node, what)
        if let known = node.properties?.fields.first(where: { $0.name == name }),
            known.type != .date
        {
            throw Failure(
                .invalidParameter,
                "\(what) '\(name)' of layer \(node.id) ('\(node.name)') holds "
                    + "\(known.type.rawValue): expected a date field")
        }
        return name
    }

    /// The field's name in the layer's spelling; unchanged while the layer is not loaded.
    private func fieldName(
        _ field: String, of node: LayerDescription, _ what: String
    ) throws(Failure) -> String {
        if let fields = node.properties?.fields, !fields.isEmpty {
            let wanted = field.lowercased()
            guard let known = fields.first(where: { $0.name.lowercased() == wanted }) else {
                throw Failure(
                    .invalidParameter,
                    "layer \(node.id) ('\(node.name)') has no field '\(field.prefix(80))'; it has "
                        + DefinitionExpression.list(fields))
            }
            return known.name
        }
        guard !field.isEmpty, field.utf8.count <= MapLimits.layerNameBytes else {
            throw Failure(
                .invalidParameter,
                "\(what): expected 1 to \(MapLimits.layerNameBytes) bytes")
        }
        return field
    }
}
