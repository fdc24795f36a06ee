// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The number of a spatial reference, as 4326 or 102100.
public struct WKID: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int

    /// Nil for a number below 1.
    public init?(_ rawValue: Int) {
        guard rawValue > 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Nil for a number below 1.
    public init?(rawValue: Int) { self.init(rawValue) }

    /// Longitude and latitude in degrees on WGS 84: 4326.
    public static let wgs84 = WKID(known: 4326)
    /// Web Mercator as Esri numbers it: 102100, the same as 3857.
    public static let webMercator = WKID(known: 102100)

    private init(known number: Int) { rawValue = number }

    /// The digits.
    public var description: String { String(rawValue) }
}

/// What coordinates are measured in: x is longitude or easting, y latitude or northing.
public final class SpatialReference: Sendable, Hashable, CustomStringConvertible {
    /// Its number; nil for one that is given by text alone.
    public let wkid: WKID?
    /// The number of the reference of its heights; nil for none.
    public let verticalWKID: WKID?
    /// Its definition as well-known text; empty for one that is given by number.
    public let wkText: String

    /// A reference by number, never nil: optional as other SDKs have it.
    ///
    /// `verticalWKID`, of heights, is kept for an app and not sent.
    public init?(wkid: WKID, verticalWKID: WKID? = nil) {
        self.wkid = wkid
        self.verticalWKID = verticalWKID
        wkText = ""
    }

    /// A reference by number, where one is expected that is not optional.
    @_disfavoredOverload
    public init(wkid: WKID) {
        self.wkid = wkid
        verticalWKID = nil
        wkText = ""
    }

    /// A reference by well-known text; nil for an empty one.
    public init?(wkText: String) {
        guard !wkText.isEmpty else { return nil }
        wkid = nil
        verticalWKID = nil
        self.wkText = wkText
    }

    private init(known number: Int) {
        wkid = WKID(number)
        verticalWKID = nil
        wkText = ""
    }

    /// Longitude and latitude in degrees on WGS 84 (4326).
    public static let wgs84 = SpatialReference(known: 4326)
    /// Web Mercator (102100, the same as 3857).
    public static let webMercator = SpatialReference(known: 102100)

    /// Numbers of Web Mercator.
    private static let mercatorNumbers: Set<Int> = [3857, 102100, 102113, 900913]

    private var identity: String {
        guard let wkid else { return wkText }
        return Self.mercatorNumbers.contains(wkid.rawValue) ? "3857" : wkid.description
    }

    /// Whether it is Web Mercator, by any of its numbers.
    var isWebMercator: Bool { wkid.map { Self.mercatorNumbers.contains($0.rawValue) } ?? false }

    /// Whether its numbers are degrees; of a reference that is neither named here nor a text that
    /// says so, false.
    public var isGeographic: Bool {
        guard let wkid else {
            let text = wkText.uppercased()
            return text.hasPrefix("GEOGCS") || text.hasPrefix("GEOGCRS")
                || text.hasPrefix("GEODCRS")
        }
        // EPSG's two-dimensional geographic systems, and Esri's.
        return 4001...4904 ~= wkid.rawValue && !(4087...4088 ~= wkid.rawValue)
            || 37001...37260 ~= wkid.rawValue || 104000...104999 ~= wkid.rawValue
    }

    /// Equal numbers; those of Web Mercator are equal to each other.
    public static func == (left: SpatialReference, right: SpatialReference) -> Bool {
        left.identity == right.identity
    }

    /// By what is compared.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// `SpatialReference(4326)`.
    public var description: String { "SpatialReference(\(wkid?.description ?? wkText))" }

    // MARK: JSON

    /// Reads `{"wkid":…,"latestWkid":…}` or `{"wkt":…}`; nil for anything else.
    convenience init?(_ json: JSON?) {
        guard let json else { return nil }
        if let wkid = (json["wkid"]?.int ?? json["latestWkid"]?.int).flatMap({ WKID($0) }) {
            self.init(wkid: wkid)
        } else if let text = json["wkt"]?.text ?? json["wkt2"]?.text {
            self.init(wkText: text)
        } else {
            return nil
        }
    }

    var json: JSON {
        guard let wkid else { return .object([(name: "wkt", value: .string(wkText))]) }
        return .object([(name: "wkid", value: .integer(Int64(wkid.rawValue)))])
    }

    /// As a parameter of a request has it: the number, or JSON.
    var parameter: String { wkid?.description ?? json.jsonText }
}
