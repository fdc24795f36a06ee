// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import Glibc
internal import PROJ

/// A plane in metres that preserves distances from its centre: the azimuthal equidistant projection
/// of WGS 84 around the centre of a geometry.
struct GroundPlane {
    /// Limits of ``searchEnvelope(within:in:)``: its largest distance in metres, and from a pole in
    /// degrees.
    private static let reach = 500_000.0
    private static let margin = 6.0

    /// The spatial reference of the plane.
    let reference: SpatialReference
    /// The geometry in it.
    let shape: Shape
    private let middle: Coordinate

    /// Throws `invalidParameter` for a geometry that cannot be projected onto the earth.
    init(around geometry: Shape, in source: SpatialReference) throws(Failure) {
        let toDegrees = try CoordinateTransform(from: source, to: .wgs84)
        middle = try toDegrees.forward(geometry.envelope.center)
        guard abs(middle.y) <= 90, middle.isFinite else {
            throw Failure(
                .invalidParameter, "geometry: it cannot be projected onto the earth for a distance")
        }
        reference = SpatialReference(
            wkt: """
                PROJCS["ground",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,\
                298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],\
                PROJECTION["Azimuthal_Equidistant"],PARAMETER["latitude_of_center",\(middle.y)],\
                PARAMETER["longitude_of_center",\(middle.x)],PARAMETER["false_easting",0],\
                PARAMETER["false_northing",0],UNIT["metre",1]]
                """)
        shape = try CoordinateTransform(from: source, to: reference).forward(
            geometry.withDenseSides)
    }

    /// The bounding box in `target` of everything within `meters` of the geometry; nil where it
    /// cannot be computed.
    func searchEnvelope(within meters: Double, in target: SpatialReference) -> Envelope? {
        let box = shape.envelope.expanded(by: meters)
        let reach = max(abs(box.minX), abs(box.maxX), abs(box.minY), abs(box.maxY))
        // A degree of latitude has at least 110 km, one of longitude that times the cosine.
        let latitude = abs(middle.y) + reach / 110_000
        guard reach <= Self.reach, latitude < 90 - Self.margin,
            abs(middle.x) + reach / (110_000 * cos(latitude * .pi / 180)) < 180,
            let transform = try? CoordinateTransform(from: reference, to: target),
            let projected = try? transform.forward(Shape.envelope(box).withDenseSides)
        else { return nil }
        let found = projected.envelope
        // Projected sides are curves between their coordinates.
        return found.expanded(by: max(found.width, found.height) / 100)
    }
}
