// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A position.
public final class Point: Geometry, @unchecked Sendable {
    let place: Place

    /// A position in a reference.
    public init(
        x: Double, y: Double, z: Double? = nil, m: Double? = nil,
        spatialReference: SpatialReference? = nil
    ) {
        place = Place(x, y, z: z, m: m)
        super.init(spatialReference: spatialReference)
    }

    /// A position by degrees on WGS 84.
    public convenience init(latitude: Double, longitude: Double) {
        self.init(x: longitude, y: latitude, spatialReference: .wgs84)
    }

    convenience init(_ place: Place, _ spatialReference: SpatialReference?) {
        self.init(
            x: place.x, y: place.y, z: place.z, m: place.m, spatialReference: spatialReference)
    }

    /// Longitude or easting.
    public var x: Double { place.x }
    /// Latitude or northing.
    public var y: Double { place.y }
    /// The height; nil for none.
    public var z: Double? { place.z }
    /// The measure; nil for none.
    public var m: Double? { place.m }
    /// Whether it has a height.
    public var hasZ: Bool { place.z != nil }

    override var places: [Place] { [place] }
    override var typeName: String { "esriGeometryPoint" }
    override var json: JSON {
        .object(of: [
            "x": .real(x), "y": .real(y), "z": z.map { .real($0) }, "m": m.map { .real($0) },
            "spatialReference": spatialReference?.json,
        ])
    }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry { Point(change(place), spatialReference) }
}
