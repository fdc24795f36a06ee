// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// What the geometries of an answer are to look like, and how many coordinates they may still have.
struct OutputForm {
    let returnGeometry: Bool
    let reference: SpatialReference
    let maxAllowableOffset: Double?
    let geometryPrecision: Int?
    var coordinatesLeft = IdentifyLimits.answerCoordinates

    init(_ request: IdentifyRequest, _ reference: SpatialReference) {
        returnGeometry = request.returnGeometry
        self.reference = reference
        maxAllowableOffset = request.maxAllowableOffset
        geometryPrecision = request.geometryPrecision
    }

    /// The shape as the answer gives it; nil when no geometry was asked for, or it has no place in
    /// the output's spatial reference.
    func output(
        _ shape: Shape, from reference: SpatialReference, _ transforms: Transforms
    ) throws(Failure) -> Shape? {
        guard returnGeometry else { return nil }
        var shape = shape
        if let transform = try transforms.transform(from: reference, to: self.reference) {
            guard let projected = try? transform.forward(shape) else { return nil }
            shape = projected
        }
        if let offset = maxAllowableOffset {
            shape = shape.generalized(maxAllowableOffset: offset)
        }
        if let decimals = geometryPrecision { shape = shape.rounded(decimals: decimals) }
        return shape
    }

    /// Takes a result's geometry into account; false when the answer has no room for it.
    mutating func take(_ geometry: Shape?) -> Bool {
        coordinatesLeft -= geometry?.coordinateCount ?? 0
        return coordinatesLeft >= 0
    }
}
