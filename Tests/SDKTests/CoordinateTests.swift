// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import Testing

/// Positions as text, and how geometries lie to each other.
@Suite struct CoordinateTests {
    /// Zones, eastings and northings of PROJ, squares of the GEOTRANS library.
    private static let known: [(Double, Double, Int, Double, Double, String)] = [
        (47.3769, 8.5417, 32, 465403.2845, 5247150.8394, "32TMT6540347150"),
        (0, 0, 31, 166021.4431, 0.0000, "31NAA6602100000"),
        (-33.8688, 151.2093, 56, 334368.6336, 6250948.3454, "56HLH3436850948"),
        (60.3913, 5.3221, 32, 297353.9327, 6700648.3452, "32VKN9735300648"),
        (78.2232, 15.6267, 33, 514278.7151, 8683355.4695, "33XWG1427883355"),
        (-54.8019, -68.303, 19, 544805.0975, 3927029.8847, "19FEV4480527029"),
        (40.6892, -74.0445, 18, 580735.8707, 4504695.1652, "18TWL8073504695"),
        (83.9, -40.2, 24, 485764.3877, 9317078.3905, "24XVU8576417078"),
        (-79.9, 170.5, 59, 490211.3447, 1129533.6284, "59CMM9021129533"),
        (63.99, 11.99, 32, 646258.7848, 7099330.6752, "32VPR4625899330"),
        (0.00001, -0.00001, 30, 833977.4426, 1.1068, "30NZF3397700001"),
        (35.6762, 139.6503, 54, 377855.7760, 3948874.3922, "54SUE7785548874"),
        (72.5, 20.9, 33, 697737.0973, 8054424.6129, "33XXA9773754424"),
    ]

    @Test func `squares of MGRS are those of GEOTRANS, and lead back`() throws {
        for (latitude, longitude, _, _, _, square) in Self.known {
            let point = Point(latitude: latitude, longitude: longitude)
            let text = CoordinateFormatter.mgrsString(
                from: point, conversionMode: .automatic, precision: 5, addSpaces: false)
            #expect(text == square)
            let back = try #require(
                CoordinateFormatter.point(
                    fromMGRSString: square, spatialReference: nil, conversionMode: .automatic))
            let far = try #require(GeometryEngine.geodeticDistance(from: point, to: back))
            #expect(far.distance.value < 1.42, "\(square)")
            // The corner of a square may lie in the zone beside it.
            guard longitude != 0 else { continue }
            for precision in 0...8 {
                let cut = CoordinateFormatter.usngString(
                    from: point, precision: precision, addSpaces: true)
                let corner = try #require(
                    CoordinateFormatter.point(fromUSNGString: cut, spatialReference: nil))
                #expect(
                    CoordinateFormatter.usngString(
                        from: corner, precision: precision, addSpaces: true) == cut
                        || precision < 3, "\(cut)")
            }
        }
        let zurich = Point(latitude: 47.3769, longitude: 8.5417)
        #expect(
            CoordinateFormatter.usngString(from: zurich, precision: 4, addSpaces: true)
                == "32T MT 6540 4715")
        #expect(
            CoordinateFormatter.mgrsString(
                from: zurich, conversionMode: .old180InZone01, precision: 0, addSpaces: true)
                == "32T MH")
    }

    @Test func `UTM is PROJ's, to the metre and back`() throws {
        for (latitude, longitude, zone, easting, northing, _) in Self.known {
            let point = Point(latitude: latitude, longitude: longitude)
            let half = latitude < 0 ? "S" : "N"
            let text = CoordinateFormatter.utmString(
                from: point, conversionMode: .northSouthIndicators, addSpaces: true)
            #expect(text == "\(zone)\(half) \(Int(easting.rounded())) \(Int(northing.rounded()))")
            for isSpaced in [true, false] {
                let banded = CoordinateFormatter.utmString(
                    from: point, conversionMode: .latitudeBandIndicators, addSpaces: isSpaced)
                let back = try #require(
                    CoordinateFormatter.point(
                        fromUTMString: banded, spatialReference: .wgs84,
                        conversionMode: .latitudeBandIndicators))
                let far = try #require(GeometryEngine.geodeticDistance(from: point, to: back))
                #expect(far.distance.value < 0.71, "\(banded)")
            }
        }
        // Exactly the number, where it is asked in metres.
        let exact = try #require(
            CoordinateFormatter.point(
                fromUTMString: "32N 465403.2845 5247150.8394", spatialReference: nil,
                conversionMode: .northSouthIndicators))
        #expect(abs(exact.y - 47.3769) < 1e-9 && abs(exact.x - 8.5417) < 1e-9)
        #expect(
            CoordinateFormatter.utmString(
                from: Point(latitude: 0, longitude: 0), conversionMode: .latitudeBandIndicators,
                addSpaces: true) == "31N 166021 0")
    }

    @Test func `degrees are written in three forms, and no number becomes 60`() {
        let point = Point(latitude: 47.37, longitude: -8.54)
        func text(
            _ format: CoordinateFormatter.LatitudeLongitudeFormat, _ places: Int,
            _ point: Point
        ) -> String {
            CoordinateFormatter.latitudeLongitudeString(
                from: point, format: format, decimalPlaces: places)
        }
        #expect(text(.decimalDegrees, 4, point) == "47.3700N 008.5400W")
        #expect(text(.degreesDecimalMinutes, 4, point) == "47 22.2000N 008 32.4000W")
        #expect(text(.degreesMinutesSeconds, 1, point) == "47 22 12.0N 008 32 24.0W")
        #expect(text(.decimalDegrees, 0, point) == "47N 009W")
        let almost = Point(latitude: -9.999_999_9, longitude: 179.999_999_9)
        #expect(text(.degreesMinutesSeconds, 1, almost) == "10 00 00.0S 180 00 00.0E")
        #expect(text(.degreesDecimalMinutes, 2, almost) == "10 00.00S 180 00.00E")
        let mercator = GeometryEngine.project(point, into: .webMercator)
        #expect(mercator.map { text(.decimalDegrees, 6, $0) } == "47.370000N 008.540000W")
        let local = Point(x: 1, y: 2, spatialReference: SpatialReference(wkid: WKID(2056)!))
        #expect(text(.decimalDegrees, 2, local) == "")
        #expect(text(.decimalDegrees, 2, Point(x: .nan, y: 2, spatialReference: .wgs84)) == "")
    }

    @Test(arguments: [
        "47.37N 8.54W", "N47.37 W8.54", "47.37, -8.54", "47 22.2N 8 32.4W",
        "8°32'24\"W 47°22'12\"N",
        "47 22 12 -8 32 24", "W 008 32 24.0, N 47 22 12.0", "+47.37 -8.54",
    ])
    func `degrees are read as people write them`(_ text: String) throws {
        let point = try #require(
            CoordinateFormatter.point(fromLatitudeLongitudeString: text, spatialReference: .wgs84))
        #expect(abs(point.y - 47.37) < 1e-9 && abs(point.x + 8.54) < 1e-9)
        let mercator = CoordinateFormatter.point(
            fromLatitudeLongitudeString: text, spatialReference: .webMercator)
        #expect(mercator?.spatialReference == .webMercator)
    }

    @Test(arguments: [
        "", "47", "47N", "47N 8N", "91N 8E", "47N 181E", "47 60N 8E", "47 22 12 8 32", "N47 8W",
        "abc", "47N 8E 9E", "1e5N 8E", "32T", "32T MT 123 45", "61N 166021 0", "31O 166021 0",
        "31N AA 660", "32T ZZ 12 34",
    ])
    func `text of no position has none`(_ text: String) {
        #expect(
            CoordinateFormatter.point(fromLatitudeLongitudeString: text, spatialReference: nil)
                == nil)
        #expect(
            CoordinateFormatter.point(
                fromUTMString: text, spatialReference: nil, conversionMode: .latitudeBandIndicators)
                == nil)
        #expect(CoordinateFormatter.point(fromUSNGString: text, spatialReference: nil) == nil)
    }

    @Test func `the poles have no squares`() {
        let pole = Point(latitude: 89, longitude: 0)
        #expect(CoordinateFormatter.usngString(from: pole, precision: 5, addSpaces: true) == "")
        #expect(
            CoordinateFormatter.utmString(
                from: pole, conversionMode: .latitudeBandIndicators, addSpaces: true) == "")
        let edge = Point(latitude: 10, longitude: 180)
        func zone(_ mode: CoordinateFormatter.MGRSConversionMode) -> String {
            String(
                CoordinateFormatter.mgrsString(
                    from: edge, conversionMode: mode, precision: 1, addSpaces: false
                ).prefix(2))
        }
        #expect(zone(.automatic) == "01" && zone(.new180InZone60) == "60")
    }

    // MARK: Relations

    private static func square(_ x: Double, _ y: Double, _ size: Double) -> Polygon {
        Polygon(
            points: [
                Point(x: x, y: y), Point(x: x + size, y: y), Point(x: x + size, y: y + size),
                Point(x: x, y: y + size),
            ], spatialReference: .webMercator)
    }

    private static func line(_ places: (Double, Double)...) -> Polyline {
        Polyline(
            points: places.map { Point(x: $0.0, y: $0.1) }, spatialReference: .webMercator)
    }

    private static func point(_ x: Double, _ y: Double) -> Point {
        Point(x: x, y: y, spatialReference: .webMercator)
    }

    private static let holed = Polygon(
        rings: [
            square(0, 0, 10).pathPoints[0], square(2, 2, 6).pathPoints[0],
        ], spatialReference: .webMercator)

    /// Letters: contains, within, intersects, crosses, touches, overlaps, equal.
    private static let pairs: [(Geometry, Geometry, String)] = [
        (square(0, 0, 10), square(2, 2, 3), "ci"), (square(2, 2, 3), square(0, 0, 10), "wi"),
        (square(0, 0, 10), square(5, 5, 10), "io"), (square(0, 0, 10), square(10, 0, 5), "it"),
        (square(0, 0, 10), square(10, 10, 5), "it"), (square(0, 0, 10), square(20, 0, 5), ""),
        (square(0, 0, 10), square(0, 0, 10), "cwie"), (square(0, 0, 10), square(0, 0, 5), "ci"),
        (holed, square(3, 3, 2), ""), (holed, square(2, 2, 6), "it"),
        (holed, square(1, 1, 2), "io"),
        (square(0, 0, 10), holed, "ci"),
        (square(0, 0, 10), line((1, 1), (5, 5)), "ci"),
        (square(0, 0, 10), line((-5, 5), (15, 5)), "ix"),
        (square(0, 0, 10), line((0, 0), (10, 0)), "it"),
        (square(0, 0, 10), line((0, 0), (10, 10)), "ci"),
        (square(0, 0, 10), line((0, 0), (0, 5), (5, 5)), "ci"),
        (square(0, 0, 10), line((10, 5), (15, 5)), "it"), (line((1, 1), (5, 5)), holed, "ix"),
        (line((0, 0), (10, 10)), line((0, 10), (10, 0)), "ix"),
        (line((0, 0), (10, 0)), line((10, 0), (10, 5)), "it"),
        (line((0, 0), (10, 0)), line((5, 0), (5, 5)), "it"),
        (line((0, 0), (10, 0)), line((5, 0), (15, 0)), "io"),
        (line((0, 0), (10, 0)), line((2, 0), (4, 0)), "ci"),
        (line((0, 0), (10, 0)), line((10, 0), (5, 0), (0, 0)), "cwie"),
        (line((0, 0), (10, 0)), line((0, 1), (10, 1)), ""),
        (point(5, 5), square(0, 0, 10), "wi"), (point(0, 5), square(0, 0, 10), "it"),
        (point(5, 0), line((0, 0), (10, 0)), "wi"), (point(0, 0), line((0, 0), (10, 0)), "it"),
        (point(1, 1), point(1, 1), "cwie"), (point(1, 1), point(1, 2), ""),
        (
            Multipoint(points: [point(5, 5), point(20, 5)]), square(0, 0, 10), "ix"
        ),
        (
            Multipoint(points: [point(5, 5), point(20, 5)]),
            Multipoint(points: [point(5, 5), point(0, 0)]), "io"
        ),
        (
            Envelope(xMin: 0, yMin: 0, xMax: 10, yMax: 10, spatialReference: .webMercator),
            square(0, 0, 10), "cwie"
        ),
        (point(1, 1), Multipoint(points: [], spatialReference: .webMercator), ""),
    ]

    @Test func `geometries lie to each other as they should, from both sides`() {
        typealias Engine = GeometryEngine
        func letters(_ one: Geometry, _ two: Geometry) -> String {
            (Engine.doesGeometry(one, contain: two) ? "c" : "")
                + (Engine.isGeometry(one, within: two) ? "w" : "")
                + (Engine.isGeometry(one, intersecting: two) ? "i" : "")
                + (Engine.isGeometry(one, crossing: two) ? "x" : "")
                + (Engine.isGeometry(one, touching: two) ? "t" : "")
                + (Engine.isGeometry(one, overlapping: two) ? "o" : "")
                + (Engine.isGeometry(one, equivalentTo: two) ? "e" : "")
        }
        for (one, two, expected) in Self.pairs {
            #expect(letters(one, two) == expected, "\(one) \(two)")
            let swapped = String(
                expected.map { ["c": "w", "w": "c"][$0] ?? $0 }.sorted {
                    "cwixtoe".firstIndex(of: $0)! < "cwixtoe".firstIndex(of: $1)!
                })
            #expect(letters(two, one) == swapped, "\(two) \(one)")
            #expect(Engine.isGeometry(one, disjointWith: two) == !expected.contains("i"))
        }
    }

    @Test func `another reference is projected, one without a server holds nothing`() {
        let area = Self.square(0, 0, 200_000)
        let degrees = Point(latitude: 1, longitude: 1)
        #expect(GeometryEngine.doesGeometry(area, contain: degrees))
        let local = Point(x: 1, y: 1, spatialReference: SpatialReference(wkid: WKID(2056)!))
        #expect(!GeometryEngine.isGeometry(local, within: area))
    }

    // MARK: Measures

    @Test func `lengths and areas are those of the plane`() throws {
        #expect(GeometryEngine.length(of: Self.line((0, 0), (3, 4), (3, 10))) == 11)
        #expect(GeometryEngine.length(of: Self.square(0, 0, 10)) == 40)
        #expect(GeometryEngine.length(of: Self.point(1, 1)) == 0)
        #expect(GeometryEngine.area(of: Self.square(1_000_000, 5_000_000, 10)) == 100)
        let hole = Self.square(2, 2, 6).pathPoints[0].reversed()
        let holed = Polygon(
            rings: [Self.square(0, 0, 10).pathPoints[0], Array(hole)],
            spatialReference: .webMercator)
        #expect(GeometryEngine.area(of: holed) == 64)
        #expect(GeometryEngine.area(of: Self.line((0, 0), (1, 1))) == 0)
        let degree = Polyline(
            points: [Point(latitude: 0, longitude: 0), Point(latitude: 0, longitude: 2)])
        let long = GeometryEngine.geodeticLength(
            of: degree, lengthUnit: .kilometers, curveType: .geodesic)
        #expect(abs(long - 2 * 6_378.137 * .pi / 180) < 1e-6)
        let local = Polyline(
            points: [Point(x: 0, y: 0), Point(x: 1, y: 0)],
            spatialReference: SpatialReference(wkid: WKID(2056)!))
        #expect(GeometryEngine.geodeticLength(of: local).isNaN)
    }

    @Test func `the nearest place lies on a line, the nearest vertex at its end`() throws {
        let line = Self.line((0, 0), (10, 0), (10, 10))
        let place = try #require(
            GeometryEngine.nearestCoordinate(in: line, to: Self.point(4, 3)))
        #expect(place.coordinate == Self.point(4, 0) && place.distance == 3)
        #expect(place.partIndex == 0 && place.pointIndex == 0)
        let vertex = try #require(GeometryEngine.nearestVertex(in: line, to: Self.point(9, 7)))
        #expect(vertex.coordinate == Self.point(10, 10) && vertex.pointIndex == 2)
        let inside = try #require(
            GeometryEngine.nearestCoordinate(in: Self.square(0, 0, 10), to: Self.point(5, 1)))
        #expect(inside.coordinate == Self.point(5, 0))
        let degrees = Point(latitude: 0, longitude: 0)
        #expect(GeometryEngine.nearestVertex(in: line, to: degrees) == nil)
    }
}
