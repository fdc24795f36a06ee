// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// A coordinate system with closed-form transforms: WGS 84 degrees or spherical Web Mercator.
struct OutputReference: Hashable {
    /// The reference, EPSG 4326 or 3857.
    let value: SpatialReference

    /// Throws `Failure` (`invalidParameter`) for any other reference.
    init(_ reference: SpatialReference, name: String) throws(Failure) {
        guard reference.latestWkid == 4326 || reference.latestWkid == 3857 else {
            throw Parameters.unexpected(
                name, reference.wkid.map(String.init) ?? "WKT", "4326 or 3857")
        }
        value = reference
    }

    private var isMercator: Bool { value.latestWkid == 3857 }

    /// From longitude and latitude; latitudes are clamped to the bounds of the projection.
    func project(_ degrees: Coordinate) -> Coordinate {
        isMercator ? WebMercator.project(degrees) : degrees
    }

    /// To longitude and latitude.
    func unproject(_ coordinate: Coordinate) -> Coordinate {
        isMercator ? WebMercator.unproject(coordinate) : coordinate
    }

    /// The envelope of the unprojected corners.
    func unproject(_ envelope: Envelope) -> Envelope {
        let least = unproject(Coordinate(x: envelope.minX, y: envelope.minY))
        let most = unproject(Coordinate(x: envelope.maxX, y: envelope.maxY))
        return Envelope(minX: least.x, minY: least.y, maxX: most.x, maxY: most.y)
    }

    /// The envelope of the projected corners.
    func project(_ envelope: Envelope) -> Envelope {
        let least = project(Coordinate(x: envelope.minX, y: envelope.minY))
        let most = project(Coordinate(x: envelope.maxX, y: envelope.maxY))
        return Envelope(minX: least.x, minY: least.y, maxX: most.x, maxY: most.y)
    }
}
