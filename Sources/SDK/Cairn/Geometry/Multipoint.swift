// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Several positions.
public final class Multipoint: Geometry, @unchecked Sendable {
    private let vertices: [Place]

    init(places: [Place], spatialReference: SpatialReference?) {
        vertices = places
        super.init(spatialReference: spatialReference)
    }

    /// Positions; in the reference given, else in that of the first.
    public convenience init(points: [Point], spatialReference: SpatialReference? = nil) {
        self.init(
            places: points.map(\.place),
            spatialReference: spatialReference ?? points.first?.spatialReference)
    }

    /// The positions.
    public var points: [Point] { vertices.map { Point($0, spatialReference) } }

    override var places: [Place] { vertices }
    override var typeName: String { "esriGeometryMultipoint" }
    override var json: JSON {
        let hasZ = vertices.contains { $0.z != nil }
        return .object(of: [
            "hasZ": hasZ ? .bool(true) : nil,
            "points": .array(vertices.map { $0.json(hasZ: hasZ) }),
            "spatialReference": spatialReference?.json,
        ])
    }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry {
        Multipoint(places: vertices.map(change), spatialReference: spatialReference)
    }
}
