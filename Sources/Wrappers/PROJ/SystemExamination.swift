// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CPROJ

/// The examination of a coordinate system's definition, whatever its name.
public enum SystemExamination {
    /// Whether a definition is understood, as whatever kind of system.
    public static func isKnown(_ system: CoordinateSystem) -> Bool {
        !ProjectionContext().objects(system).isEmpty
    }

    /// Why coordinates in a system have no place on a map of the earth, as the rest of a sentence
    /// "it is …"; nil for a system that has.
    public static func obstacle(of system: CoordinateSystem) -> String? {
        let context = ProjectionContext()
        let objects = context.objects(system)
        guard let object = objects.first(where: \.isHorizontal) ?? objects.first else {
            return "a system that is not known"
        }
        let plain = context.horizontalPart(of: object)
        if let kind = plain.kindWithoutPlace { return kind }
        let body = unsafe proj_get_celestial_body_name(context.handle, plain.handle).map {
            unsafe String(cString: $0)
        }
        if let body, body != "Earth" {
            return body.hasPrefix("Non-Earth")
                ? "a system of another body than the earth" : "a system of another body, \(body)"
        }
        return nil
    }

    /// Whether a system is Web Mercator defined as Mercator on a sphere of its radius, for any
    /// datum of that sphere.
    public static func isSphericalMercator(
        _ system: CoordinateSystem, at places: [(x: Double, y: Double)]
    ) -> Bool {
        guard let own = Geodetic(system), abs(own.semiMajor - WebMercator.radius) < 1,
            abs(own.semiMinor - WebMercator.radius) < 1
        else { return false }
        return places.allSatisfy { x, y in
            let (longitude, latitude) = WebMercator.unproject(x: x, y: y)
            guard let place = own.place(x, y) else { return false }
            return abs(place.longitude - longitude * .pi / 180) < 1.6e-8
                && abs(place.latitude - latitude * .pi / 180) < 1.6e-8
        }
    }

    /// A definition without the name of its projected system and without the numbers of systems.
    ///
    /// PROJ takes any system named like Web Mercator for it, whatever projection is stated.
    public static func nameless(_ wkt: String) -> String {
        let pattern = /(PROJCS|PROJCRS|PROJECTEDCRS)(\s*[\[\(]\s*)"(?:[^"]|"")*"/.ignoresCase()
        return unnumbered(wkt.replacing(pattern) { match in "\(match.1)\(match.2)\"unnamed\"" })
    }

    /// The definition without the members `AUTHORITY` and `ID` of systems; those of datums, methods
    /// and units stay.
    public static func unnumbered(_ wkt: String) -> String {
        var result: [UInt8] = []
        // For each open bracket: its keyword, and the end of the text before it.
        var open: [(keyword: String, start: Int)] = []
        var word: [UInt8] = []
        var isQuoted = false
        for unit in wkt.utf8 {
            result.append(unit)
            if unit == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted else { continue }
            switch unit {
            case UInt8(ascii: "["), UInt8(ascii: "("):
                let keyword = String(decoding: word, as: UTF8.self).uppercased()
                open.append((keyword, result.count - 1 - word.count))
                word = []
            case UInt8(ascii: "]"), UInt8(ascii: ")"):
                word = []
                guard let closed = open.popLast(), ["AUTHORITY", "ID"].contains(closed.keyword),
                    let parent = open.last?.keyword,
                    parent.hasSuffix("CS") || parent.hasSuffix("CRS"), parent != "CS"
                else { continue }
                result.removeSubrange(closed.start...)
                // And the comma before it.
                while let last = result.last, last <= 0x20 || last == UInt8(ascii: ",") {
                    result.removeLast()
                }
            case 0x41...0x5A, 0x61...0x7A, 0x5F: word.append(unit)
            default: word = []
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether two systems have coordinates at the same places of the same earth: 0.1 m for the
    /// projection, its units, its prime meridian and its ellipsoid, and a kilometre for the datum,
    /// which texts define less precisely than numbers.
    ///
    /// Nil where one of them is unknown, and where none of the coordinates has a place in either.
    public static func isSame(
        _ left: CoordinateSystem, _ right: CoordinateSystem,
        at places: [(x: Double, y: Double)]
    ) -> Bool? {
        guard let first = Geodetic(left), let second = Geodetic(right) else { return nil }
        guard abs(first.semiMajor - second.semiMajor) < 1,
            abs(first.semiMinor - second.semiMinor) < 1
        else { return false }
        let degrees = (
            try? CoordinateTransform(from: left, to: .wkid(4326)),
            try? CoordinateTransform(from: right, to: .wkid(4326))
        )
        var isCompared = false
        for (x, y) in places {
            switch (first.place(x, y), second.place(x, y)) {
            case (nil, nil): continue
            case (nil, _), (_, nil): return false
            case (let one?, let other?):
                let isNear =
                    abs(one.longitude - other.longitude) < 1.6e-8
                    && abs(one.latitude - other.latitude) < 1.6e-8
                guard isNear else { return false }
                isCompared = true
            }
            guard let one = try? degrees.0?.forward(x: x, y: y),
                let other = try? degrees.1?.forward(x: x, y: y)
            else { continue }
            guard abs(one.x - other.x) < 0.01, abs(one.y - other.y) < 0.01 else { return false }
        }
        return isCompared ? true : nil
    }

    /// The rectangle in degrees that a numbered system is made for, west to east; nil where the
    /// database has none.
    public static func area(
        of system: CoordinateSystem
    ) -> (west: Double, south: Double, east: Double, north: Double)? {
        let context = ProjectionContext()
        guard let object = context.objects(system).first else { return nil }
        var (west, south, east, north) = (0.0, 0.0, 0.0, 0.0)
        let isKnown = unsafe proj_get_area_of_use(
            context.handle, object.handle, &west, &south, &east, &north, nil)
        guard isKnown != 0, west >= -180, south >= -90, north > south else { return nil }
        return (west, south, east, north)
    }
}

/// A system's way to longitudes and latitudes on its own datum.
private final class Geodetic {
    let semiMajor: Double
    let semiMinor: Double
    private let operation: ProjectionObject
    /// Radians per unit of longitude and latitude, and where longitude begins, in radians.
    private let unit: Double
    private let meridian: Double

    init?(_ definition: CoordinateSystem) {
        let context = ProjectionContext()
        guard let object = context.objects(definition).first(where: \.isHorizontal) else {
            return nil
        }
        let plain = context.horizontalPart(of: object)
        guard let geodetic = unsafe proj_crs_get_geodetic_crs(context.handle, plain.handle) else {
            return nil
        }
        let base = unsafe ProjectionObject(geodetic, context)
        guard
            let made = unsafe proj_create_crs_to_crs_from_pj(
                context.handle, plain.handle, base.handle, nil, nil)
        else { return nil }
        let owned = unsafe ProjectionObject(made, context)
        guard
            let normalised = unsafe proj_normalize_for_visualization(
                context.handle, owned.handle),
            let found = try? context.unit(of: base, definition)
        else { return nil }
        operation = unsafe ProjectionObject(normalised, context)
        unit = found.factor
        var longitude = 0.0
        var factor = 0.0
        if let prime = unsafe proj_get_prime_meridian(context.handle, base.handle) {
            let owned = unsafe ProjectionObject(prime, context)
            _ = unsafe proj_prime_meridian_get_parameters(
                context.handle, owned.handle, &longitude, &factor, nil)
        }
        meridian = longitude * factor
        var (major, minor) = (0.0, 0.0)
        if let ellipsoid = unsafe proj_get_ellipsoid(context.handle, base.handle) {
            let owned = unsafe ProjectionObject(ellipsoid, context)
            _ = unsafe proj_ellipsoid_get_parameters(
                context.handle, owned.handle, &major, &minor, nil, nil)
        }
        (semiMajor, semiMinor) = (major, minor)
    }

    /// In radians from Greenwich; nil where the coordinate has no place.
    func place(_ x: Double, _ y: Double) -> (longitude: Double, latitude: Double)? {
        guard x.isFinite, y.isFinite else { return nil }
        let result = unsafe proj_trans(operation.handle, PJ_FWD, proj_coord(x, y, 0, 0))
        let (longitude, latitude) = (unsafe result.xy.x, unsafe result.xy.y)
        guard longitude.isFinite, latitude.isFinite else { return nil }
        return (longitude * unit + meridian, latitude * unit)
    }
}

extension ProjectionContext {
    /// The system without a binding to another datum, and without heights.
    fileprivate func horizontalPart(of system: ProjectionObject) -> ProjectionObject {
        var plain = system
        // One inside the other, in either order.
        for _ in 0..<3 {
            let inner: OpaquePointer?
            switch unsafe proj_get_type(plain.handle) {
            case PJ_TYPE_BOUND_CRS:
                unsafe inner = proj_get_source_crs(handle, plain.handle)
            case PJ_TYPE_COMPOUND_CRS:
                unsafe inner = proj_crs_get_sub_crs(handle, plain.handle, 0)
            default: return plain
            }
            guard let inner = unsafe inner else { return plain }
            plain = unsafe ProjectionObject(inner, self)
        }
        return plain
    }
}

extension ProjectionObject {
    /// The kind of a system without a place on a map; nil for geographic and projected systems.
    fileprivate var kindWithoutPlace: String? {
        switch unsafe proj_get_type(handle) {
        case PJ_TYPE_GEOGRAPHIC_2D_CRS, PJ_TYPE_GEOGRAPHIC_3D_CRS, PJ_TYPE_PROJECTED_CRS: nil
        case PJ_TYPE_GEOCENTRIC_CRS: "a geocentric system, without map coordinates"
        case PJ_TYPE_VERTICAL_CRS: "a vertical system, of heights alone"
        case PJ_TYPE_ENGINEERING_CRS: "an engineering system, local to its site"
        case PJ_TYPE_TEMPORAL_CRS: "a system of times"
        default: "a system of another kind than geographic and projected"
        }
    }
}
