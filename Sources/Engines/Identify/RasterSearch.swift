// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The search of a raster layer: the one pixel under the centre of the query geometry.
struct RasterSearch: SearchableLayer {
    let layer: LayerDescription
    let raster: RasterFile
    /// From the map to the raster; nil for the identity.
    let toRaster: CoordinateTransform?

    /// The field with the value of a single band, or the values of several.
    static let valueField = "Pixel Value"
    private static let classField = "Class Name"

    func search(
        _ question: Question, _ form: inout OutputForm, _ transforms: Transforms,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> LayerFinding {
        let nothing = LayerFinding(candidateCount: 0)
        guard let place = question.middle else { return nothing }
        var asked = place
        if let toRaster {
            guard let projected = try? toRaster.forward(place) else { return nothing }
            asked = projected
        }
        guard let pixel = try raster.pixel(at: asked) else { return nothing }
        var results: [IdentifyResult] = []
        if form.resultsPerLayer > 0 {
            let geometry = try form.output(.point(place), from: question.reference, transforms)
            if form.take(geometry) { results = [result(pixel, geometry, form)] }
        }
        return LayerFinding(
            result: IdentifyLayerResult(
                layerID: layer.id, layerName: layer.name, results: results, sublayerResults: [],
                transferLimitExceeded: results.isEmpty, hitCount: 1), candidateCount: 1)
    }

    private func result(
        _ pixel: RasterFile.Pixel, _ geometry: Shape?, _ form: OutputForm
    ) -> IdentifyResult {
        let value: AttributeValue =
            pixel.values.count == 1
            ? pixel.values[0] : .string(pixel.values.map(\.text).joined(separator: ", "))
        var entries = [Attributes.Entry(name: Self.valueField, value: value)]
        if pixel.values.count > 1 {
            for (index, value) in pixel.values.enumerated() {
                entries.append(.init(name: "Band_\(index + 1)", value: value))
            }
        }
        let attributes = Attributes(entries + pixel.further.entries)
        let field =
            [layer.displayField, Self.classField].lazy.compactMap { wanted in
                attributes.entries.first { $0.name.lowercased() == wanted?.lowercased() }?.name
            }.first ?? Self.valueField
        let named = AttributeForm(form, layer, attributes.fields)
        let width = raster.properties.raster?.width ?? 0
        return IdentifyResult(
            layerID: layer.id, layerName: layer.name,
            objectID: Int64(pixel.row) * Int64(width) + Int64(pixel.column) + 1,
            displayFieldName: field, value: named.value(attributes[field] ?? .null),
            attributes: named.attributes(attributes),
            geometryType: .point, geometry: geometry, distance: 0)
    }
}

extension AttributeValue {
    /// The value as an element of a list.
    fileprivate var text: String {
        switch self {
        case .null: "NoData"
        case .integer(let value), .date(let value): "\(value)"
        case .real(let value): "\(value)"
        case .string(let value): value
        }
    }
}
