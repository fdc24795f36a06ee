// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import Testing

/// Geometries made of others.
@Suite struct ConstructionTests {
    private static func square(_ x: Double, _ y: Double, _ size: Double) -> Polygon {
        polygon([(x, y), (x, y + size), (x + size, y + size), (x + size, y)])
    }

    private static func polygon(_ places: [(Double, Double)]) -> Polygon {
        Polygon(
            points: places.map { Point(x: $0.0, y: $0.1) }, spatialReference: .webMercator)
    }

    private static func line(_ places: (Double, Double)...) -> Polyline {
        Polyline(
            points: places.map { Point(x: $0.0, y: $0.1) }, spatialReference: .webMercator)
    }

    private static func point(_ x: Double, _ y: Double) -> Point {
        Point(x: x, y: y, spatialReference: .webMercator)
    }

    private func area(_ geometry: Geometry?) throws -> Double {
        GeometryEngine.area(of: try #require(geometry))
    }

    @Test func `areas are united, cut out of each other and shared`() throws {
        let (one, two) = (Self.square(0, 0, 10), Self.square(5, 5, 10))
        #expect(try area(GeometryEngine.union(one, two)) == 175)
        #expect(try area(GeometryEngine.intersection(one, two)) == 25)
        #expect(try area(GeometryEngine.difference(one, two)) == 75)
        #expect(try area(GeometryEngine.symmetricDifference(one, two)) == 150)
        let union = try #require(GeometryEngine.union(one, two) as? Polygon)
        #expect(union.spatialReference == .webMercator && union.pathPoints.map(\.count) == [9])
        #expect(GeometryEngine.isSimple(union))
        let row = (0..<9).map { Self.square(Double($0) * 10, 0, 10) }
        let whole = try #require(GeometryEngine.union(of: row))
        #expect(try area(whole) == 900 && (whole as? Polygon)?.pathPoints.count == 1)
        #expect(GeometryEngine.union(of: []) == nil)
        // A hole is an own ring, the other way round.
        let holed = try #require(
            GeometryEngine.difference(one, Self.square(2, 2, 6)) as? Polygon)
        #expect(holed.pathPoints.count == 2)
        #expect(try area(holed) == 64 && GeometryEngine.isSimple(holed))
        let envelope = Envelope(
            xMin: 5, yMin: 5, xMax: 15, yMax: 15, spatialReference: .webMercator)
        #expect(try area(GeometryEngine.intersection(one, envelope)) == 25)
        #expect(try area(GeometryEngine.clip(one, to: envelope)) == 25)
        #expect(GeometryEngine.intersection(one, Self.square(10, 0, 5))?.isEmpty == true)
        #expect(GeometryEngine.intersection(one, Self.square(20, 0, 5))?.isEmpty == true)
    }

    @Test func `lines and positions are taken by areas and by each other`() throws {
        let square = Self.square(0, 0, 10)
        let line = Self.line((-5, 5), (15, 5))
        func length(_ geometry: Geometry?) throws -> Double {
            let line = try #require(geometry as? Polyline)
            return GeometryEngine.length(of: line)
        }
        #expect(try length(GeometryEngine.intersection(line, square)) == 10)
        #expect(try length(GeometryEngine.intersection(square, line)) == 10)
        #expect(try length(GeometryEngine.difference(line, square)) == 10)
        #expect(try area(GeometryEngine.difference(square, line)) == 100)
        #expect(try area(GeometryEngine.union(square, line)) == 100)
        #expect(try length(GeometryEngine.clip(line, to: square.extent)) == 10)
        let other = Self.line((0, 5), (20, 5))
        #expect(try length(GeometryEngine.intersection(line, other)) == 15)
        #expect(try length(GeometryEngine.union(line, other)) == 25)
        #expect(try length(GeometryEngine.difference(line, other)) == 5)
        #expect(try length(GeometryEngine.symmetricDifference(line, other)) == 10)
        let (inside, border, outside) = (Self.point(5, 5), Self.point(0, 5), Self.point(20, 5))
        let all = Multipoint(points: [inside, border, outside, inside])
        #expect(
            (GeometryEngine.intersection(all, square) as? Multipoint)?.points == [inside, border])
        #expect((GeometryEngine.difference(all, square) as? Multipoint)?.points == [outside])
        #expect(GeometryEngine.intersection(square, border) == border)
        #expect(GeometryEngine.intersection(square, outside)?.isEmpty == true)
        #expect((GeometryEngine.intersection(all, line) as? Multipoint)?.points.count == 2)
        #expect((GeometryEngine.union(inside, outside) as? Multipoint)?.points.count == 2)
        #expect(
            (GeometryEngine.symmetricDifference(all, outside) as? Multipoint)?.points
                == [inside, border])
    }

    /// Random geometries on a coarse grid, where much is shared.
    private static func random(_ random: inout Numbers) -> Geometry {
        func places(_ counts: ClosedRange<Int>) -> [Point] {
            (0..<Int.random(in: counts, using: &random)).map { _ in
                point(
                    Double(Int.random(in: 0...6, using: &random)),
                    Double(Int.random(in: 0...6, using: &random)))
            }
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return Multipoint(points: places(1...3))
        case 1: return Polyline(points: places(2...5), spatialReference: .webMercator)
        default:
            let wild = Polygon(points: places(3...6), spatialReference: .webMercator)
            return GeometryEngine.simplify(wild) ?? wild
        }
    }

    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    @Test func `what geometries share is there where they lie so`() throws {
        var random = Numbers(state: 5)
        var counts: [String: Int] = [:]
        for number in 0..<2_000 {
            let (one, two) = (Self.random(&random), Self.random(&random))
            let note = "\(number): \(one) \(two)"
            let shared = try GeometryEngine.intersection(one, two) as Geometry
            let rest = try GeometryEngine.difference(one, two) as Geometry
            let isDisjoint = GeometryEngine.isGeometry(one, disjointWith: two)
            if isDisjoint { #expect(shared.isEmpty, "\(note)") }
            if !shared.isEmpty {
                #expect(GeometryEngine.isGeometry(one, intersecting: two), "\(note)")
                #expect(!GeometryEngine.isGeometry(shared, disjointWith: one), "\(note)")
                #expect(!GeometryEngine.isGeometry(shared, disjointWith: two), "\(note)")
            }
            let areas = (one is Polygon, two is Polygon)
            if areas == (true, true), !one.isEmpty, !two.isEmpty {
                let touches = GeometryEngine.isGeometry(one, touching: two)
                #expect(shared.isEmpty == (isDisjoint || touches), "\(note)")
                #expect(
                    rest.isEmpty == GeometryEngine.isGeometry(one, within: two), "\(note)")
                let union = try GeometryEngine.union(one, two) as Geometry
                let sum = try area(one) + area(two)
                #expect(abs(try area(union) + area(shared) - sum) < 1e-6, "\(note)")
                #expect(GeometryEngine.isSimple(union) && GeometryEngine.isSimple(shared))
                counts["areas", default: 0] += 1
            } else if areas.1, one is Polyline, !two.isEmpty {
                let whole = GeometryEngine.length(
                    of: try GeometryEngine.union(one, one) as Geometry)
                let parts = GeometryEngine.length(of: shared) + GeometryEngine.length(of: rest)
                #expect(abs(parts - whole) < 1e-6, "\(note)")
                counts["lines", default: 0] += 1
            } else if let points = one as? Multipoint {
                let all = Set(points.points).count
                #expect(shared.isEmpty == isDisjoint, "\(note)")
                if let kept = shared as? Multipoint, let left = rest as? Multipoint {
                    #expect(kept.points.count + left.points.count == all, "\(note)")
                }
                counts["points", default: 0] += 1
            }
        }
        #expect(counts.count == 3 && counts.values.allSatisfy { $0 > 100 })
    }

    @Test func `an area is cut along a line into left and right`() throws {
        let square = Self.square(0, 0, 10)
        let parts = GeometryEngine.cut(square, usingCutter: Self.line((4, -1), (4, 11)))
        #expect(parts.map { GeometryEngine.area(of: $0) } == [40, 60])
        #expect(GeometryEngine.cut(square, usingCutter: Self.line((4, -1), (4, 5))).isEmpty)
        #expect(
            GeometryEngine.cut(Self.point(1, 1), usingCutter: Self.line((4, 0), (5, 0))).isEmpty)
        // Two teeth on one side are one geometry.
        let comb = Self.polygon([(0, 0), (0, 9), (3, 9), (3, 3), (6, 3), (6, 9), (9, 9), (9, 0)])
        let teeth = GeometryEngine.cut(comb, usingCutter: Self.line((-1, 5), (10, 5)))
        #expect(teeth.map { ($0 as? Polygon)?.pathPoints.count } == [2, 1])
    }

    @Test func `around geometries is what is within the distance`() throws {
        let disc = 48 * sin(2 * Double.pi / 96)
        let point = Self.point(500_000, 6_000_000)
        let circle = try #require(GeometryEngine.buffer(around: point, distance: 10))
        #expect(abs(try area(circle) - 100 * disc) < 1e-3)
        #expect(GeometryEngine.doesGeometry(circle, contain: point))
        let square = Self.square(0, 0, 10)
        #expect(
            abs(try area(GeometryEngine.buffer(around: square, distance: 1)) - 140 - disc) < 1e-6)
        #expect(try area(GeometryEngine.buffer(around: square, distance: -1)) == 64)
        #expect(GeometryEngine.buffer(around: square, distance: -5)?.isEmpty == true)
        let line = Self.line((0, 0), (10, 0))
        #expect(
            abs(try area(GeometryEngine.buffer(around: line, distance: 1)) - 20 - disc) < 1e-6)
        let points = [Self.point(0, 0), Self.point(1, 0), Self.point(100, 0)]
        let single = GeometryEngine.buffer(
            around: points, distances: [1, 2], shouldUnion: false)
        #expect(single.count == 3)
        #expect(abs(try area(single[2]) - 4 * disc) < 1e-6)
        let joined = GeometryEngine.buffer(around: points, distances: [1], shouldUnion: true)
        #expect(joined.count == 1 && joined[0].pathPoints.count == 2)
        #expect(GeometryEngine.buffer(around: points, distances: [], shouldUnion: true).isEmpty)
        for bad in [Double.nan, .infinity] {
            #expect(GeometryEngine.buffer(around: square, distance: bad) == nil)
            #expect(throws: CairnError.self) {
                try GeometryEngine.buffer(around: square, distance: bad) as Polygon
            }
        }
    }

    @Test(arguments: [
        (0.0, 0.0), (47.4, 8.5), (-33.9, 151.2), (70, -179.99), (-89.9, 20), (90, 0), (89.99, 120),
    ])
    func `around a place on the earth is what is within the distance there`(
        latitude: Double, longitude: Double
    ) throws {
        let place = Point(latitude: latitude, longitude: longitude)
        let area = try #require(
            GeometryEngine.geodeticBuffer(
                around: place, distance: 50, distanceUnit: .kilometers))
        #expect(GeometryEngine.isSimple(area))
        let extent = area.extent
        #expect(extent.xMin >= -180 && extent.xMax <= 180 && abs(extent.yMax) <= 90)
        func meters(_ point: Point) throws -> Double {
            try #require(GeometryEngine.geodeticDistance(from: place, to: point)).distance.value
        }
        var onCircle = 0
        for vertex in area.pathPoints.joined()
        where abs(vertex.y) < 90 && abs(abs(vertex.x) - 180) > 1e-9 {
            #expect(abs(try meters(vertex) - 50_000) < 0.01)
            onCircle += 1
        }
        #expect(onCircle >= 95)
        // Within and beyond, in all directions.
        for turn in 0..<24 {
            for (share, isInside) in [(0.5, true), (0.99, true), (1.01, false), (1.5, false)] {
                let angle = Double(turn) / 24 * 2 * .pi + 0.1
                var (y, x) = (
                    latitude + cos(angle) * 0.45 * share,
                    longitude + sin(angle) * 0.45 * share / max(cos(latitude * .pi / 180), 0.001)
                )
                if abs(y) > 90 { y = (y > 0 ? 180 : -180) - y }
                x = (x / 360 - (x / 360).rounded()) * 360
                let probe = Point(latitude: y, longitude: x)
                let far = try meters(probe)
                // Beside a chord both are right, and around a pole chords are far from arcs.
                guard abs(far - 50_000) > 500 else { continue }
                #expect(
                    GeometryEngine.isGeometry(probe, within: area) == (far < 50_000),
                    "\(x) \(y): \(far) m, share \(share) \(isInside)")
            }
        }
    }

    @Test func `around lines and areas on the earth, also across the meridian of 180`() throws {
        let line = Polyline(
            points: [Point(latitude: 46, longitude: 7), Point(latitude: 47, longitude: 9)])
        let around = try #require(
            GeometryEngine.geodeticBuffer(
                around: line, distance: 10_000, distanceUnit: .meters, maxDeviation: .nan,
                curveType: .geodesic))
        let path = try #require(
            GeometryEngine.geodeticDensify(
                line, maxSegmentLength: 500, lengthUnit: .meters, curveType: .geodesic)
                as? Polyline)
        for vertex in around.pathPoints.joined() {
            let least = try path.pathPoints[0].map {
                try #require(GeometryEngine.geodeticDistance(from: vertex, to: $0)).distance.value
            }.min()
            #expect(abs(try #require(least) - 10_000) < 20)
        }
        let mercator: Polyline = try GeometryEngine.project(line, into: .webMercator)
        let same = GeometryEngine.geodeticBuffer(around: mercator, distance: 10_000)
        #expect(same?.spatialReference == .webMercator)
        let ring = Polygon(
            points: [
                Point(latitude: 0, longitude: 179), Point(latitude: 1, longitude: 179),
                Point(latitude: 1, longitude: 181), Point(latitude: 0, longitude: 181),
            ], spatialReference: .wgs84)
        let wide = try #require(GeometryEngine.geodeticBuffer(around: ring, distance: 1_000))
        #expect(wide.pathPoints.count == 2)
        #expect(wide.extent.xMin == -180 && wide.extent.xMax == 180)
        #expect(GeometryEngine.isGeometry(Point(latitude: 0.5, longitude: -179.5), within: wide))
        let narrow = try #require(GeometryEngine.geodeticBuffer(around: ring, distance: -20_000))
        #expect(narrow.pathPoints.count == 2)
        #expect(try area(narrow) < area(ring) && area(ring) < area(wide))
        // An island of 4,000 short segments, in runs.
        let center = Point(latitude: 60, longitude: 5)
        var random = Numbers(state: 8)
        let coast = (0..<4_000).map { index in
            let angle = Double(index) / 4_000 * 2 * .pi
            let radius = 0.09 + Double.random(in: -0.0005...0.0005, using: &random)
            return Point(latitude: 60 + radius * cos(angle), longitude: 5 + 2 * radius * sin(angle))
        }
        let island = Polygon(points: coast)
        for (distance, least, most) in [(20_000.0, 29_800.0, 30_300.0), (-2_000, 7_800, 8_300)] {
            let found = try #require(
                GeometryEngine.geodeticBuffer(around: island, distance: distance))
            #expect(found.pathPoints.count == 1)
            for vertex in found.pathPoints.joined() {
                let far = try #require(GeometryEngine.geodeticDistance(from: center, to: vertex))
                #expect(least...most ~= far.distance.value)
            }
        }
        // Buffers that cannot be made.
        let local = Point(x: 1, y: 1, spatialReference: SpatialReference(wkid: WKID(2056)!))
        #expect(GeometryEngine.geodeticBuffer(around: local, distance: 5) == nil)
        #expect(GeometryEngine.geodeticBuffer(around: line, distance: 20_000_000) == nil)
        #expect(GeometryEngine.geodeticBuffer(around: line, distance: .nan) == nil)
        let north = Polyline(
            points: [Point(latitude: 89.99, longitude: 0), Point(latitude: 89, longitude: 9)])
        #expect(throws: CairnError.self) {
            try GeometryEngine.geodeticBuffer(around: north, distance: 5_000) as Polygon
        }
    }

    @Test func `what is not simple is made so`() throws {
        let bow = Self.polygon([(0, 0), (10, 10), (10, 0), (0, 10)])
        #expect(!GeometryEngine.isSimple(bow))
        let simple = try #require(GeometryEngine.simplify(bow) as? Polygon)
        #expect(try area(simple) == 50 && simple.pathPoints.count == 2)
        #expect(GeometryEngine.isSimple(simple))
        #expect(GeometryEngine.isSimple(Self.square(0, 0, 5)))
        // The other way round, and with a vertex twice.
        #expect(!GeometryEngine.isSimple(Self.polygon([(0, 0), (5, 0), (5, 5), (0, 5)])))
        #expect(!GeometryEngine.isSimple(Self.polygon([(0, 0), (0, 5), (0, 5), (5, 5), (5, 0)])))
        let still = Self.line((0, 0), (0, 0), (5, 0))
        #expect(!GeometryEngine.isSimple(still))
        #expect(GeometryEngine.simplify(still) == Self.line((0, 0), (5, 0)))
        let twice = Multipoint(points: [Self.point(1, 1), Self.point(1, 1), Self.point(2, 1)])
        #expect(!GeometryEngine.isSimple(twice))
        #expect((GeometryEngine.simplify(twice) as? Multipoint)?.points.count == 2)
        #expect(GeometryEngine.isSimple(Self.point(1, 1)))
        #expect(GeometryEngine.simplify(Self.point(1, 1)) == Self.point(1, 1))
    }

    @Test func `borders, hulls, labels and extents`() throws {
        let square = Self.square(0, 0, 10)
        let border = try #require(GeometryEngine.boundary(of: square) as? Polyline)
        #expect(GeometryEngine.length(of: border) == 40)
        #expect(
            (GeometryEngine.boundary(of: Self.line((0, 0), (5, 0))) as? Multipoint)?.points.count
                == 2)
        #expect(GeometryEngine.boundary(of: border)?.isEmpty == true)
        #expect(GeometryEngine.boundary(of: Self.point(0, 0)) == nil)
        let points = Multipoint(
            points: [(0, 0), (9, 0), (4, 4), (0, 9), (9, 9)].map { Self.point($0.0, $0.1) })
        let hull = try #require(GeometryEngine.convexHull(for: points) as? Polygon)
        #expect(try area(hull) == 81 && GeometryEngine.isSimple(hull))
        #expect(GeometryEngine.convexHull(for: Self.point(1, 1)) == Self.point(1, 1))
        #expect(GeometryEngine.convexHull(for: Self.line((0, 0), (1, 1), (3, 3))) is Polyline)
        #expect(GeometryEngine.convexHull(for: Multipoint(points: [])) == nil)
        let both = [square, Self.square(20, 0, 10)]
        #expect(GeometryEngine.convexHull(for: both, shouldMerge: false).count == 2)
        #expect(
            try area(GeometryEngine.convexHull(for: both, shouldMerge: true).first) == 300)
        let ring = try #require(
            GeometryEngine.difference(square, Self.square(1, 1, 8)) as? Polygon)
        let label = try #require(GeometryEngine.labelPoint(for: ring))
        #expect(GeometryEngine.isGeometry(label, within: ring))
        #expect(GeometryEngine.labelPoint(for: Polygon(points: [])) == nil)
        #expect(GeometryEngine.combineExtents(square, both[1])?.xMax == 30)
    }

    @Test func `vertices are added and left out`() throws {
        let line = Polyline(
            points: [
                Point(x: 0, y: 0, z: 0, spatialReference: .webMercator),
                Point(x: 10, y: 0, z: 5, spatialReference: .webMercator),
            ])
        let dense = try #require(
            GeometryEngine.densify(line, maxSegmentLength: 3) as? Polyline)
        #expect(dense.pathPoints[0].map(\.x) == [0, 2.5, 5, 7.5, 10])
        #expect(dense.pathPoints[0].map(\.z) == [0, 1.25, 2.5, 3.75, 5])
        #expect(
            GeometryEngine.generalize(dense, maxDeviation: 0.1, removeDegenerateParts: true)
                == line)
        let box = GeometryEngine.densify(
            Envelope(xMin: 0, yMin: 0, xMax: 4, yMax: 4, spatialReference: .webMercator),
            maxSegmentLength: 1)
        #expect((box as? Polygon)?.pathPoints.map(\.count) == [17])
        for bad in [0, -1, Double.nan, .infinity, 1e-300] {
            #expect(GeometryEngine.densify(line, maxSegmentLength: bad) == nil)
        }
        let bad = Self.line((0, 0), (.nan, 1))
        #expect(GeometryEngine.densify(bad, maxSegmentLength: 1) == nil)
        let parts = Polygon(
            rings: [
                Self.square(0, 0, 10).pathPoints[0],
                Self.polygon([(20, 20), (20, 20.01), (20.01, 20)]).pathPoints[0],
            ], spatialReference: .webMercator)
        for (isRemoved, count) in [(true, 1), (false, 2)] {
            let general = GeometryEngine.generalize(
                parts, maxDeviation: 1, removeDegenerateParts: isRemoved)
            #expect((general as? Polygon)?.pathPoints.count == count)
        }
        #expect(
            GeometryEngine.generalize(parts, maxDeviation: -1, removeDegenerateParts: true) == nil)
        // The geodesic from Zurich to New York goes far north of both.
        let flight = Polyline(
            points: [
                Point(latitude: 47.46, longitude: 8.55), Point(latitude: 40.64, longitude: -73.78),
            ])
        let arc = try #require(
            GeometryEngine.geodeticDensify(
                flight, maxSegmentLength: 100, lengthUnit: .kilometers, curveType: .geodesic)
                as? Polyline)
        #expect(arc.extent.yMax > 50 && arc.pathPoints[0].count > 60)
        #expect(
            abs(GeometryEngine.geodeticLength(of: arc) - GeometryEngine.geodeticLength(of: flight))
                < 0.1)
        let across = Polyline(
            points: [Point(latitude: 0, longitude: 179), Point(latitude: 0, longitude: -179)])
        #expect(
            GeometryEngine.geodeticDensify(across, maxSegmentLength: 50_000)?.extent.xMax == 181)
    }

    @Test func `what cannot be done says why, or is nil`() throws {
        let square = Self.square(0, 0, 10)
        let local = Polygon(
            points: square.pathPoints[0], spatialReference: SpatialReference(wkid: WKID(2056)!))
        let bare = Polygon(points: square.pathPoints[0].map { Point(x: $0.x, y: $0.y) })
        let bad = Self.polygon([(0, 0), (.nan, 1), (1, 1)])
        for (other, kind) in [
            (local, CairnError.Kind.unsupported), (bare, .invalidArgument), (bad, .invalidArgument),
        ] {
            #expect(GeometryEngine.union(square, other) == nil)
            #expect(GeometryEngine.intersection(square, other) == nil)
            #expect(GeometryEngine.difference(square, other) == nil)
            #expect(GeometryEngine.symmetricDifference(square, other) == nil)
            #expect(GeometryEngine.union(of: [square, square, other]) == nil)
            let error = #expect(throws: CairnError.self) {
                try GeometryEngine.union(square, other) as Geometry
            }
            #expect(error?.kind == kind)
        }
        #expect(GeometryEngine.simplify(bad) == nil && !GeometryEngine.isSimple(bad))
        #expect(GeometryEngine.convexHull(for: bad) == nil)
        #expect(GeometryEngine.labelPoint(for: bad) == nil)
        // Degrees are taken into the first's reference.
        let degrees = Envelope(
            xMin: 0, yMin: 0, xMax: 1, yMax: 1, spatialReference: .wgs84)
        let shared = try #require(GeometryEngine.intersection(square, degrees))
        #expect(shared.spatialReference == .webMercator)
        #expect(abs(try area(shared) - 100) < 1e-6)
        let none = Polygon(points: [], spatialReference: .webMercator)
        #expect(try area(GeometryEngine.union(square, none)) == 100)
        #expect(GeometryEngine.intersection(square, none)?.isEmpty == true)
        #expect(try area(GeometryEngine.difference(square, none)) == 100)
        #expect(GeometryEngine.buffer(around: none, distance: 5)?.isEmpty == true)
    }
}
