// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The description of a source's layer before any feature is read.
public struct SourceLayer: Hashable, Sendable {
    /// The layer's name.
    public var name: String
    /// Whether its features can have geometry.
    public var hasGeometry: Bool
    /// The declared geometry; nil for any.
    public var geometry: SourceGeometry?
    /// The columns, in order.
    public var fields: [SourceField]
    /// The coordinate system; nil when not stated.
    public var spatialReference: SourceSpatialReference?
    /// The declared number of features; nil when only a count would tell.
    public var announcedCount: Int?
    /// The name of the column of the features' ids, not among ``fields``; nil where ids are places.
    public var idColumn: String?
}

/// The geometry of all features of a layer, as a source states it.
public struct SourceGeometry: Hashable, Sendable {
    /// Kinds, of one part or several.
    public enum Kind: Hashable, Sendable {
        /// One point.
        case point
        /// Points.
        case multipoint
        /// A line, or several.
        case polyline
        /// A polygon, or several.
        case polygon
    }

    /// Kind of the geometry.
    public var kind: Kind
    /// Whether it has Z.
    public var hasZ: Bool
    /// Whether it has M.
    public var hasM: Bool
}

/// A column of a source.
public struct SourceField: Hashable, Sendable {
    /// The kind of a field's values.
    public enum Kind: Hashable, Sendable {
        /// True or false.
        case boolean
        /// 16-bit integer.
        case integer16
        /// 32-bit integer.
        case integer32
        /// 64-bit integer.
        case integer64
        /// 32-bit float.
        case real32
        /// 64-bit float.
        case real64
        /// A day or a moment.
        case date
        /// Text, and types read as text: times of day, lists, JSON.
        case text
        /// Bytes; their values are not read.
        case binary
    }

    /// The name as the source spells it.
    public var name: String
    /// Kind of its values.
    public var kind: Kind
    /// The width the source states, 0 for none.
    public var width: Int
    /// Display name; empty where the source has none.
    public var alias: String

    /// Makes a column.
    public init(name: String, kind: Kind, width: Int, alias: String = "") {
        self.name = name
        self.alias = alias
        self.kind = kind
        self.width = width
    }
}

/// A coordinate system as a source states it.
public struct SourceSpatialReference: Hashable, Sendable {
    /// The EPSG or ESRI number, stated or recognised beyond doubt.
    public var wkid: Int?
    /// The definition, WKT 2 (2019).
    public var wkt: String

    init(wkid: Int?, wkt: String) {
        self.wkid = wkid
        self.wkt = wkt
    }

    /// The reference defined by a text: WKT of any version, or the name of a system, `EPSG:2056`,
    /// `urn:ogc:def:crs:OGC:1.3:CRS84`.
    ///
    /// Nil for an unknown one.
    public init?(meaning text: String) {
        let forms = ["epsg:", "esri:", "ogc:", "crs84", "crs:", "urn:", "urn:x-ogc", "http"]
        let lowered = text.lowercased()
        guard text.utf8.count <= 1 << 16,
            text.contains("[") || forms.contains(where: lowered.hasPrefix),
            let found = SpatialReferenceHandle.meaning(of: text)
        else { return nil }
        self = found
    }
}

/// A value of a source's feature.
public enum SourceValue: Hashable, Sendable {
    /// Null or unset.
    case null
    /// An integer or a boolean (0, 1).
    case integer(Int64)
    /// A float, perhaps not finite.
    case real(Double)
    /// Text as bytes, which should be UTF-8 and may be something else.
    case text([UInt8])
    /// A day or a moment.
    case moment(CivilMoment)
}

/// A moment by calendar and clock, proleptic Gregorian.
public struct CivilMoment: Hashable, Sendable {
    /// The year, 0 and negative before our era.
    public var year: Int
    /// 1…12.
    public var month: Int
    /// 1…31.
    public var day: Int
    /// 0…23.
    public var hour: Int
    /// 0…59.
    public var minute: Int
    /// The seconds, in thousandths.
    public var milliseconds: Int
    /// The clock's offset from UTC in minutes; 0 also where the source has none.
    public var zoneMinutes: Int

    /// Creates a moment without checks.
    public init(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, milliseconds: Int,
        zoneMinutes: Int
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.milliseconds = milliseconds
        self.zoneMinutes = zoneMinutes
    }
}
