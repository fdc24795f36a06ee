// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A coordinate system by its well-known id, or by WKT without one.
public struct SpatialReference: Hashable, Sendable, Codable {
    /// The EPSG (or ESRI) number as its author gave it, 102100 included; nil for one defined by WKT
    /// alone.
    public var wkid: Int?
    /// The WKT definition, used only when `wkid` is nil.
    public var wkt: String?

    /// A spatial reference by number.
    public init(wkid: Int) {
        self.wkid = wkid
        wkt = nil
    }

    /// A spatial reference that only WKT describes.
    public init(wkt: String) {
        wkid = nil
        self.wkt = wkt
    }

    /// WGS 84 longitude and latitude in degrees, longitude first.
    public static let wgs84 = SpatialReference(wkid: 4326)
    /// Spherical Web Mercator in metres (EPSG:3857).
    public static let webMercator = SpatialReference(wkid: 3857)

    /// The current EPSG number: 102100, 102113 and 900913 are 3857.
    public var latestWkid: Int? {
        switch wkid {
        case 102_100, 102_113, 900_913: 3857
        default: wkid
        }
    }

    /// Whether both name the same system, aliases included.
    public func isEquivalent(to other: SpatialReference) -> Bool {
        latestWkid == other.latestWkid && (latestWkid != nil || wkt == other.wkt)
    }
}
