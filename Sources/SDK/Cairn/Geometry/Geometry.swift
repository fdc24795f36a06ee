// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
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

    /// The name that the REST has for its kind.
    var typeName: String { "" }

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

/// A vertex.
struct Place: Hashable, Sendable {
    var x: Double
    var y: Double
    var z: Double?
    var m: Double?

    init(_ x: Double, _ y: Double, z: Double? = nil, m: Double? = nil) {
        (self.x, self.y, self.z, self.m) = (x, y, z, m)
    }

    /// Reads `[x, y]`, `[x, y, z]`, `[x, y, z, m]`; nil for anything else.
    init?(_ json: JSON, hasZ: Bool) {
        let numbers = json.elements
        guard numbers.count >= 2, let x = numbers[0].number, let y = numbers[1].number,
            x.isFinite, y.isFinite
        else { return nil }
        self.init(x, y)
        guard numbers.count > 2 else { return }
        if hasZ { z = numbers[2].number } else { m = numbers[2].number }
        if hasZ, numbers.count > 3 { m = numbers[3].number }
    }

    func json(hasZ: Bool) -> JSON {
        .array([.real(x), .real(y)] + (hasZ ? [.real(z ?? 0)] : []))
    }
}

/// Lists of vertices.
enum Lines: Sendable {
    case places([[Place]])
    /// As an answer has them, which is a third of the memory.
    case packed(JSONPositions, hasZ: Bool)

    var places: [[Place]] {
        guard case .packed(let positions, let hasZ) = self else {
            guard case .places(let places) = self else { return [] }
            return places
        }
        let (numbers, stride) = (positions.numbers, positions.stride)
        var start = 0
        return positions.ends.map { end in
            defer { start = end }
            return (start..<end).map { position in
                let first = position * stride
                var place = Place(numbers[first], numbers[first + 1])
                guard stride > 2 else { return place }
                if hasZ { place.z = numbers[first + 2] } else { place.m = numbers[first + 2] }
                if hasZ, stride > 3 { place.m = numbers[first + 3] }
                return place
            }
        }
    }

    /// With the first vertex of each line also at its end.
    var closed: Lines {
        if case .packed(let positions, _) = self, positions.areClosed { return self }
        return .places(
            places.map { line in
                guard let first = line.first, line.last != first else { return line }
                return line + [first]
            })
    }
}

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

/// Several positions.
public final class Multipoint: Geometry, @unchecked Sendable {
    private let vertices: [Place]

    init(places: [Place], spatialReference: SpatialReference?) {
        vertices = places
        super.init(spatialReference: spatialReference)
    }

    /// Positions; in the reference given, else in that of the first.
    public convenience init(points: [Point], spatialReference: SpatialReference? = nil) {
        self.init(
            places: points.map(\.place),
            spatialReference: spatialReference ?? points.first?.spatialReference)
    }

    /// The positions.
    public var points: [Point] { vertices.map { Point($0, spatialReference) } }

    override var places: [Place] { vertices }
    override var typeName: String { "esriGeometryMultipoint" }
    override var json: JSON {
        let hasZ = vertices.contains { $0.z != nil }
        return .object(of: [
            "hasZ": hasZ ? .bool(true) : nil,
            "points": .array(vertices.map { $0.json(hasZ: hasZ) }),
            "spatialReference": spatialReference?.json,
        ])
    }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry {
        Multipoint(places: vertices.map(change), spatialReference: spatialReference)
    }
}

/// A geometry of parts that are lines of vertices.
public class Multipart: Geometry, @unchecked Sendable {
    private let stored: Lines

    /// The vertices of each part; made anew each time.
    var lines: [[Place]] { stored.places }

    init(_ lines: Lines, spatialReference: SpatialReference?) {
        stored = lines
        super.init(spatialReference: spatialReference)
    }

    convenience init(places: [[Place]], spatialReference: SpatialReference?) {
        self.init(.places(places), spatialReference: spatialReference)
    }

    override var places: [Place] { Array(lines.joined()) }
    override var partCounts: [Int] { lines.map(\.count) }

    /// Its parts, each the points of a line; of an area the rings, closed.
    public var pathPoints: [[Point]] {
        lines.map { line in line.map { Point($0, spatialReference) } }
    }

    func json(_ name: String) -> JSON {
        let lines = lines
        let hasZ = lines.contains { $0.contains { $0.z != nil } }
        return .object(
            (hasZ ? [(name: "hasZ", value: .bool(true))] : [])
                + [
                    (
                        name: name,
                        value: .array(lines.map { .array($0.map { $0.json(hasZ: hasZ) }) })
                    )
                ]
                + (spatialReference.map { [(name: "spatialReference", value: $0.json)] } ?? []))
    }
}

/// One line or several.
public final class Polyline: Multipart, @unchecked Sendable {
    /// A line; in the reference given, else in that of its first point.
    public convenience init(points: [Point], spatialReference: SpatialReference? = nil) {
        self.init(paths: [points], spatialReference: spatialReference)
    }

    /// Lines.
    public convenience init(paths: [[Point]], spatialReference: SpatialReference? = nil) {
        self.init(
            places: paths.map { $0.map(\.place) },
            spatialReference: spatialReference ?? paths.first?.first?.spatialReference)
    }

    override var typeName: String { "esriGeometryPolyline" }
    override var json: JSON { json("paths") }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry {
        Polyline(places: lines.map { $0.map(change) }, spatialReference: spatialReference)
    }
}

/// An area of one ring or several; holes are rings inside others.
public final class Polygon: Multipart, @unchecked Sendable {
    /// An area in a ring, which is closed where it is not; in the reference given, else in that of
    /// its first point.
    public convenience init(points: [Point], spatialReference: SpatialReference? = nil) {
        self.init(rings: [points], spatialReference: spatialReference)
    }

    /// An area in rings.
    public convenience init(rings: [[Point]], spatialReference: SpatialReference? = nil) {
        self.init(
            places: rings.map { $0.map(\.place) },
            spatialReference: spatialReference ?? rings.first?.first?.spatialReference)
    }

    override init(_ lines: Lines, spatialReference: SpatialReference?) {
        super.init(lines.closed, spatialReference: spatialReference)
    }

    override var typeName: String { "esriGeometryPolygon" }
    override var json: JSON { json("rings") }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry {
        Polygon(places: lines.map { $0.map(change) }, spatialReference: spatialReference)
    }
}

/// A rectangle along the axes.
public final class Envelope: Geometry, @unchecked Sendable {
    /// Its sides.
    public let xMin, yMin, xMax, yMax: Double

    /// A rectangle; sides in the wrong order are exchanged.
    public init(
        xMin: Double, yMin: Double, xMax: Double, yMax: Double,
        spatialReference: SpatialReference? = nil
    ) {
        self.xMin = min(xMin, xMax)
        self.yMin = min(yMin, yMax)
        self.xMax = max(xMin, xMax)
        self.yMax = max(yMin, yMax)
        super.init(spatialReference: spatialReference)
    }

    /// A rectangle by ranges.
    public convenience init(
        xRange: ClosedRange<Double>, yRange: ClosedRange<Double>,
        spatialReference: SpatialReference? = nil
    ) {
        self.init(
            xMin: xRange.lowerBound, yMin: yRange.lowerBound, xMax: xRange.upperBound,
            yMax: yRange.upperBound, spatialReference: spatialReference)
    }

    /// A rectangle by two corners.
    public convenience init(min: Point, max: Point) {
        self.init(
            xMin: min.x, yMin: min.y, xMax: max.x, yMax: max.y,
            spatialReference: min.spatialReference ?? max.spatialReference)
    }

    /// A rectangle around a point.
    public convenience init(center: Point, width: Double, height: Double) {
        self.init(
            xMin: center.x - width / 2, yMin: center.y - height / 2, xMax: center.x + width / 2,
            yMax: center.y + height / 2, spatialReference: center.spatialReference)
    }

    /// From west to east, in units of the reference.
    public var width: Double { xMax - xMin }
    /// From south to north, in units of the reference.
    public var height: Double { yMax - yMin }
    /// The middle.
    public var center: Point {
        Point(x: (xMin + xMax) / 2, y: (yMin + yMax) / 2, spatialReference: spatialReference)
    }

    /// Itself.
    public override var extent: Envelope { self }

    override var places: [Place] { [Place(xMin, yMin), Place(xMax, yMax)] }
    override var typeName: String { "esriGeometryEnvelope" }
    override var json: JSON {
        .object(of: [
            "xmin": .real(xMin), "ymin": .real(yMin), "xmax": .real(xMax), "ymax": .real(yMax),
            "spatialReference": spatialReference?.json,
        ])
    }

    /// The four corners as an area.
    var polygon: Polygon {
        Polygon(
            places: [
                [
                    Place(xMin, yMin), Place(xMin, yMax), Place(xMax, yMax), Place(xMax, yMin),
                    Place(xMin, yMin),
                ]
            ], spatialReference: spatialReference)
    }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry {
        let corners = polygon.places.map(change)
        return Multipoint(places: corners, spatialReference: spatialReference).extent
    }

    func union(_ other: Envelope) -> Envelope {
        Envelope(
            xMin: min(xMin, other.xMin), yMin: min(yMin, other.yMin), xMax: max(xMax, other.xMax),
            yMax: max(yMax, other.yMax), spatialReference: spatialReference)
    }

    func expanded(by factor: Double) -> Envelope {
        Envelope(center: center, width: width * factor, height: height * factor)
    }
}
