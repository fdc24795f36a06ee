// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
public import Platform

// Esri's forms of the values that every resource shares.
extension JSONWriter {
    /// Writes `"spatialReference":{"wkid":102100,"latestWkid":3857}`, or its WKT.
    public mutating func spatialReference(
        _ reference: SpatialReference, as name: String = "spatialReference"
    ) {
        member(name) { json in
            if let wkid = reference.latestWkid {
                json.member("wkid", wkid == 3857 ? 102_100 : wkid)
                json.member("latestWkid", wkid)
            } else {
                json.member("wkt", reference.wkt ?? "")
            }
        }
    }

    /// Writes `"name":{"xmin":…,"spatialReference":…}`.
    public mutating func extent(
        _ name: String, _ envelope: Envelope, in reference: SpatialReference?
    ) {
        member(name) { json in
            json.sides(of: envelope)
            if let reference { json.spatialReference(reference) }
        }
    }

    /// Writes the members `xmin`, `ymin`, `xmax` and `ymax`.
    public mutating func sides(of envelope: Envelope) {
        member("xmin", envelope.minX)
        member("ymin", envelope.minY)
        member("xmax", envelope.maxX)
        member("ymax", envelope.maxY)
    }

    /// Writes `"geometry":{…,"spatialReference":…}`.
    public mutating func geometry(_ shape: Shape, in reference: SpatialReference) {
        member("geometry") { json in
            switch shape {
            case .point(let coordinate):
                json.member("x", coordinate.x)
                json.member("y", coordinate.y)
            case .multipoint(let coordinates): json.coordinates("points", coordinates)
            case .polyline(let paths):
                json.member("paths", array: paths) { $0.coordinates($1) }
            case .polygon(let rings):
                json.member("rings", array: RingOrder.esri(rings)) { $0.coordinates($1) }
            case .envelope(let envelope): json.sides(of: envelope)
            }
            json.spatialReference(reference)
        }
    }

    private mutating func coordinates(_ name: String, _ coordinates: [Coordinate]) {
        key(name)
        self.coordinates(coordinates)
    }

    private mutating func coordinates(_ coordinates: [Coordinate]) {
        array { json in
            for coordinate in coordinates {
                json.array { json in
                    json.number(coordinate.x)
                    json.number(coordinate.y)
                }
            }
        }
    }

    /// Writes an attribute as text, the way ArcGIS formats it for identify.
    ///
    /// With `isTyped`, numbers are numbers and moments epoch milliseconds. Null is JSON null in
    /// both.
    public mutating func attribute(_ value: AttributeValue, isTyped: Bool) {
        guard isTyped, value != .null else {
            if let text = value.text { string(text) } else { null() }
            return
        }
        switch value {
        case .null: null()
        case .integer(let integer): self.integer(integer)
        case .real(let real): number(real)
        case .string(let text): string(text)
        case .date(let milliseconds): integer(milliseconds)
        }
    }

    /// The stated length of text without a limit, as in ArcGIS and GDAL.
    private static let unlimited = Int(Int32.max)

    /// Writes `"fields":[…]`; `aliases` has one entry for each field.
    ///
    /// 64-bit integers are declared as doubles, as in ArcGIS before 11.2: QGIS 3.22 leaves out
    /// fields of `esriFieldTypeBigInteger`, GDAL 3.6 makes them text. Their values are written in
    /// all digits.
    ///
    /// - Parameter areEditable: Whether edits may change them, all but the object id; nil to omit
    ///   the member.
    public mutating func fields(
        _ fields: [FieldDescription], aliases: [String], areEditable: Bool? = nil
    ) {
        member("fields", array: zip(fields, aliases)) { json, named in
            let (field, alias) = named
            json.object { json in
                json.member("name", field.name)
                let type = field.type == .bigInteger ? FieldType.double : field.type
                json.member("type", "esriFieldType" + type.rawValue)
                json.member("alias", alias)
                if field.type == .string { json.member("length", field.length ?? Self.unlimited) }
                json.nullMember("domain")
                guard let areEditable else { return }
                let isOwn = field.type != .objectID
                json.member("editable", areEditable && isOwn)
                json.member("nullable", isOwn)
                json.nullMember("defaultValue")
            }
        }
    }
}
