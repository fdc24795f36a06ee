// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import PROJ

/// A coordinate reference system as OGC APIs name it: a URI, with axes in the authority's order.
struct OGCReference: Hashable {
    let uri: String
    /// The system; nil for CRS84 and CRS84h, which are WGS 84 with longitude before latitude.
    let authority: SpatialReference?

    /// Longitude and latitude, the default.
    static let crs84 = OGCReference(
        uri: "http://www.opengis.net/def/crs/OGC/1.3/CRS84", authority: nil)

    /// Longitude, latitude and height, for features with heights.
    static let crs84WithHeight = OGCReference(
        uri: "http://www.opengis.net/def/crs/OGC/0/CRS84h", authority: nil)

    private init(uri: String, authority: SpatialReference?) {
        self.uri = uri
        self.authority = authority
    }

    /// Nil for a system without a code.
    init?(_ reference: SpatialReference) {
        guard let wkid = reference.latestWkid else { return nil }
        let authority = wkid < 32_768 ? "EPSG" : "ESRI"
        self.init(
            uri: "http://www.opengis.net/def/crs/\(authority)/0/\(wkid)",
            authority: SpatialReference(wkid: wkid))
    }

    /// The system with x before y.
    var reference: SpatialReference { authority ?? .wgs84 }

    /// Whether latitude or northing comes first.
    var isNorthFirst: Bool { authority?.latestWkid.map(AxisOrder.isNorthFirst) ?? false }

    /// The systems supported for a layer: CRS84 first (CRS84h with heights), then WGS 84, Web
    /// Mercator and the layer's own.
    static func all(of layer: LayerProperties) -> [OGCReference] {
        var result = layer.hasZ ? [crs84, crs84WithHeight] : [crs84]
        for reference in [.wgs84, .webMercator, layer.spatialReference] {
            guard let known = OGCReference(reference), !result.contains(known) else { continue }
            result.append(known)
        }
        return result
    }

    /// The system of a layer's stored coordinates; nil for one without a code.
    static func storage(of layer: LayerProperties) -> OGCReference? {
        layer.spatialReference.latestWkid == 4326 ? crs84 : OGCReference(layer.spatialReference)
    }
}
