// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// One of the two coordinate systems between which the gateway goes by formula: WGS 84 degrees and
/// spherical Web Mercator.
struct OutputReference: Hashable {
    /// The reference, EPSG 4326 or 3857.
    let value: SpatialReference

    /// Takes the reference; throws `Failure` (`invalidParameter`) for any other.
    init(_ reference: SpatialReference, name: String) throws(Failure) {
        guard reference.latestWkid == 4326 || reference.latestWkid == 3857 else {
            throw Parameters.unexpected(
                name, reference.wkid.map(String.init) ?? "WKT", "4326 or 3857")
        }
        value = reference
    }

    private var isMercator: Bool { value.latestWkid == 3857 }

    /// From longitude and latitude; latitudes beyond the square are put on its border.
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
