// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A shape on the ground; immutable.
///
/// x is longitude or easting, y latitude or northing.
public class Geometry: @unchecked Sendable, Hashable, CustomStringConvertible {
    // `@unchecked`: this class and its subclasses have immutable members alone.
    /// What the coordinates are measured in; nil where it is not known.
    public let spatialReference: SpatialReference?

    init(spatialReference: SpatialReference?) { self.spatialReference = spatialReference }

    /// The smallest envelope around it; of an empty geometry one of no size at 0,0.
    public var extent: Envelope {
        let places = self.places
        guard let first = places.first else {
            return Envelope(
                xMin: 0, yMin: 0, xMax: 0, yMax: 0, spatialReference: spatialReference)
        }
        var (xMin, yMin, xMax, yMax) = (first.x, first.y, first.x, first.y)
        for place in places {
            (xMin, xMax) = (min(xMin, place.x), max(xMax, place.x))
            (yMin, yMax) = (min(yMin, place.y), max(yMax, place.y))
        }
        return Envelope(
            xMin: xMin, yMin: yMin, xMax: xMax, yMax: yMax, spatialReference: spatialReference)
    }

    /// Whether it has no point.
    public var isEmpty: Bool { places.isEmpty }

    /// Every vertex.
    var places: [Place] { [] }

    /// The geometry as positions or lines: of an envelope its area.
    var parted: Geometry { (self as? Envelope)?.polygon ?? self }

    /// The name that the REST has for its kind.
    var typeName: String { "" }

    /// The kind by the name that the REST has for it; nil for others.
    static func kind(named name: String) -> Geometry.Type? {
        switch name {
        case "esriGeometryPoint": Point.self
        case "esriGeometryMultipoint": Multipoint.self
        case "esriGeometryPolyline": Polyline.self
        case "esriGeometryPolygon": Polygon.self
        case "esriGeometryEnvelope": Envelope.self
        default: nil
        }
    }

    /// The JSON of the REST, without its kind.
    var json: JSON { .object([]) }

    /// The geometry with other coordinates.
    func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry { self }

    /// The JSON text of the REST: `{"x":…,"y":…,"spatialReference":{…}}`.
    public func toJSON() -> String { json.jsonText }

    /// Reads the JSON text of the REST; of a subclass, only its own kind.
    ///
    /// Throws ``CairnError`` (`invalidDocument`).
    public class func fromJSON(_ json: String) throws -> Self {
        guard let tree = JSON(Array(json.utf8)), let geometry = make(tree, nil) else {
            throw CairnError(.invalidDocument, "the text is no JSON of a geometry")
        }
        guard let own = geometry as? Self else {
            throw CairnError(
                .invalidDocument, "the JSON is of a \(type(of: geometry)), expected a \(Self.self)")
        }
        return own
    }

    /// Reads a geometry; nil for JSON of none, and for an empty point.
    static func make(_ json: JSON?, _ fallback: SpatialReference?) -> Geometry? {
        guard let json, !json.isNull else { return nil }
        let reference = SpatialReference(json.member("spatialReference")) ?? fallback
        if let xMin = json["xmin"]?.number, let yMin = json["ymin"]?.number,
            let xMax = json["xmax"]?.number, let yMax = json["ymax"]?.number,
            [xMin, yMin, xMax, yMax].allSatisfy(\.isFinite)
        {
            return Envelope(
                xMin: xMin, yMin: yMin, xMax: xMax, yMax: yMax, spatialReference: reference)
        }
        if let x = json["x"]?.number, let y = json["y"]?.number, x.isFinite, y.isFinite {
            return Point(
                x: x, y: y, z: json["z"]?.number, m: json["m"]?.number, spatialReference: reference)
        }
        let hasZ = json["hasZ"]?.isTrue ?? false
        func lines(_ name: String) -> Lines? {
            switch json.member(name) {
            case .positions(let positions)? where !positions.isFlat:
                return .packed(positions, hasZ: hasZ)
            case .array(let elements)?:
                return .places(elements.map { $0.elements.compactMap { Place($0, hasZ: hasZ) } })
            default: return nil
            }
        }
        if let points = json.member("points") {
            let places =
                if case .positions(let positions) = points, positions.isFlat {
                    Lines.packed(positions, hasZ: hasZ).places.first ?? []
                } else {
                    points.elements.compactMap { Place($0, hasZ: hasZ) }
                }
            return Multipoint(places: places, spatialReference: reference)
        }
        if let paths = lines("paths") { return Polyline(paths, spatialReference: reference) }
        if let rings = lines("rings") { return Polygon(rings, spatialReference: reference) }
        return nil
    }

    /// Equal kind, reference and coordinates.
    public static func == (left: Geometry, right: Geometry) -> Bool {
        type(of: left) == type(of: right) && left.spatialReference == right.spatialReference
            && left.places == right.places && left.partCounts == right.partCounts
    }

    /// Where each part begins, for comparison.
    var partCounts: [Int] { [] }

    /// By what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(places)
        hasher.combine(spatialReference)
    }

    /// The JSON.
    public var description: String { "\(type(of: self))(\(toJSON()))" }
}
