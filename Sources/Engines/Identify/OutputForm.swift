// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The form of an answer's results, and the remaining coordinate budget.
struct OutputForm {
    let returnGeometry: Bool
    let reference: SpatialReference
    let maxAllowableOffset: Double?
    let geometryPrecision: Int?
    let returnZ: Bool
    let returnM: Bool
    /// Whether attributes are named by field, not by alias.
    let usesFieldNames: Bool
    /// Whether attributes are formatted as text.
    let isFormatted: Bool
    /// Limit of results of one layer.
    let resultsPerLayer: Int
    var coordinatesLeft = IdentifyLimits.answerCoordinates

    init(_ request: IdentifyRequest, _ reference: SpatialReference) {
        returnGeometry = request.returnGeometry
        self.reference = reference
        maxAllowableOffset = request.maxAllowableOffset
        geometryPrecision = request.geometryPrecision
        returnZ = request.returnZ
        returnM = request.returnM
        usesFieldNames = request.returnFieldName
        isFormatted = !request.returnUnformattedValues
        resultsPerLayer = min(
            request.maximumResultsPerLayer ?? .max, IdentifyLimits.resultsPerLayer)
    }

    /// The shape in the answer; nil when no geometry was requested, or it cannot be projected to
    /// the output's spatial reference.
    func output(
        _ shape: Shape, from reference: SpatialReference, _ transforms: Transforms
    ) throws(Failure) -> Shape? {
        try output(shape, (nil, nil), from: reference, transforms)?.shape
    }

    /// The shape in the answer, with the Z and M of the remaining coordinates; nil each where not
    /// requested or not present, NaN being nil.
    func output(
        _ shape: Shape, _ further: (z: [Double]?, m: [Double]?),
        from reference: SpatialReference, _ transforms: Transforms
    ) throws(Failure) -> (shape: Shape, z: [Double?]?, m: [Double?]?)? {
        guard returnGeometry else { return nil }
        var shape = shape
        if let transform = try transforms.transform(
            ofLayerIn: reference, to: self.reference)
        {
            guard let projected = try? transform.forward(shape) else { return nil }
            shape = projected
        }
        let isKept = maxAllowableOffset.flatMap { shape.generalization(maxAllowableOffset: $0) }
        if let isKept { shape = shape.keeping(isKept) }
        if let decimals = geometryPrecision { shape = shape.rounded(decimals: decimals) }
        func kept(_ values: [Double]?, _ isWanted: Bool) -> [Double?]? {
            guard isWanted, let values else { return nil }
            let flags = isKept?.joined().map { $0 }
            let kept = flags.map { zip(values, $0).filter(\.1).map(\.0) } ?? values
            return kept.map { $0.isFinite ? $0 : nil }
        }
        return (shape, kept(further.z, returnZ), kept(further.m, returnM))
    }

    /// Charges a result's geometry to the budget; false when it is exhausted.
    mutating func take(_ geometry: Shape?) -> Bool {
        coordinatesLeft -= geometry?.coordinateCount ?? 0
        return coordinatesLeft >= 0
    }
}
