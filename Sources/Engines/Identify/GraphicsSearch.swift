// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression
internal import Geometry
internal import PROJ
internal import SpatialIndex

/// The search of a graphics layer.
struct GraphicsSearch: SearchableLayer {
    let layer: LayerDescription
    /// The spatial reference of the graphics.
    let reference: SpatialReference
    let graphics: PreparedGraphics
    /// The request's clause; nil for all graphics.
    let filter: GraphicsFilter?

    func search(
        _ question: Question, _ form: inout OutputForm, _ transforms: Transforms,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> LayerFinding {
        var hits: [(distance: Double, graphic: Graphic)] = []
        let candidates = graphics.envelopes.search(question.searchEnvelope)
        var finding = LayerFinding(candidateCount: candidates.count)
        for (number, index) in candidates.enumerated() {
            if number.isMultiple(of: 256) { try Failure.stop(if: isCancelled) }
            let distance = graphics.shapes[index]?.distance(
                to: question.shape, within: question.distance, isAbandoned: isCancelled)
            guard let distance else { continue }
            if filter?.selects(graphics.graphics[index]) == false {
                finding.excludedByDefinition += 1
            } else {
                hits.append((distance, graphics.graphics[index]))
            }
        }
        try Failure.stop(if: isCancelled)
        if hits.isEmpty { return finding }
        // Top first, as with layers; later drawings are on top of earlier ones.
        hits.sort { first, second in
            (first.distance, -first.graphic.zIndex, -first.graphic.id)
                < (second.distance, -second.graphic.zIndex, -second.graphic.id)
        }
        var results: [IdentifyResult] = []
        for hit in hits.prefix(form.resultsPerLayer) {
            let geometry = try form.output(hit.graphic.shape, from: reference, transforms)
            guard form.take(geometry) else { break }
            results.append(result(hit.graphic, hit.distance, geometry, form))
        }
        finding.result = IdentifyLayerResult(
            layerID: layer.id, layerName: layer.name, results: results, sublayerResults: [],
            transferLimitExceeded: results.count < hits.count, hitCount: hits.count)
        return finding
    }

    private func result(
        _ graphic: Graphic, _ distance: Double, _ geometry: Shape?, _ form: OutputForm
    ) -> IdentifyResult {
        let attributes = Attributes(
            [.init(name: Dataset.objectIDField, value: .integer(graphic.id))]
                + graphic.attributes.entries)
        let field = layer.shownField(among: attributes.fields) ?? Dataset.objectIDField
        let named = AttributeForm(form, layer, attributes.fields)
        return IdentifyResult(
            layerID: layer.id, layerName: layer.name, objectID: graphic.id,
            displayFieldName: field, value: named.value(attributes[field] ?? .null),
            attributes: named.attributes(attributes),
            geometryType: graphic.shape.geometryType, geometry: geometry, distance: distance)
    }
}

/// A clause on graphics, whose columns are the union of all graphics' attributes in the layer.
struct GraphicsFilter {
    private let fields: [FieldDescription]
    private let clause: BoundClause

    /// Nil for a blank text, and for a layer without graphics, which has no columns: there only the
    /// syntax is checked.
    init?(_ text: String, on layer: LayerDescription) throws(Failure) {
        let fields = layer.asQueried.properties?.fields ?? []
        if layer.graphics?.isEmpty ?? true {
            try layer.check(text, called: "layerDefs")
            return nil
        }
        guard let clause = layer.clause(text, called: "layerDefs", fields) else { return nil }
        self.fields = fields
        self.clause = try clause.get()
    }

    /// Whether the graphic matches.
    func selects(_ graphic: Graphic) -> Bool {
        clause.evaluate { column in
            if column == 0 { return .integer(graphic.id) }
            let value = graphic.attributes[fields[column].name] ?? .null
            switch (fields[column].type, value) {
            case (_, .null): return .null
            case (.string, _): return value.formatted
            case (.double, .integer(let number)): return .real(Double(number))
            default: return value
            }
        } == true
    }
}

/// The graphics of a layer in a map's spatial reference, with an index of their bounding boxes.
struct PreparedGraphics {
    let graphics: [Graphic]
    /// In the map's spatial reference; nil for a shape that cannot be projected.
    let shapes: [PreparedShape?]
    let envelopes: EnvelopeIndex

    init(_ graphics: [Graphic], _ toMap: CoordinateTransform?) {
        self.graphics = graphics
        shapes = graphics.map { graphic in
            guard let toMap else { return PreparedShape(graphic.shape) }
            return (try? toMap.forward(graphic.shape)).map { PreparedShape($0) }
        }
        envelopes = EnvelopeIndex(shapes.map { $0?.envelope ?? .empty })
    }
}

extension Attributes {
    /// Columns for these values; the first is the object id.
    var fields: [FieldDescription] {
        entries.enumerated().map { index, entry in
            let type: FieldType =
                switch entry.value {
                case .null, .string: .string
                case .integer: index == 0 ? .objectID : .bigInteger
                case .real: .double
                case .date: .date
                }
            return FieldDescription(name: entry.name, type: type)
        }
    }
}
