// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import TestKit
import Testing

/// A corner of a grid.
private struct Corner: Hashable {
    var x: Int
    var y: Int

    var coordinate: Coordinate { Coordinate(x: Double(x), y: Double(y)) }
}

/// Whether a corner belongs to the closed even-odd area of rings, in whole numbers throughout.
private func covers(_ rings: [[Corner]], _ at: Corner) -> Bool {
    var isInside = false
    for ring in rings {
        for (a, b) in zip(ring, ring.dropFirst()) {
            let cross = (b.x - a.x) * (at.y - a.y) - (b.y - a.y) * (at.x - a.x)
            let isBetween =
                min(a.x, b.x)...max(a.x, b.x) ~= at.x && min(a.y, b.y)...max(a.y, b.y) ~= at.y
            if cross == 0 && isBetween { return true }
            // A ray to the east crosses the edge when its ends lie on either side of it.
            if (a.y > at.y) != (b.y > at.y), (cross > 0) == (b.y > a.y) { isInside.toggle() }
        }
    }
    return isInside
}

private func point(_ id: Int, _ x: Double, _ y: Double) -> String {
    """
    {"type":"Feature","id":\(id),"properties":{},
    "geometry":{"type":"Point","coordinates":[\(x),\(y)]}}
    """
}

@Suite struct QueryShapeTests {
    let site: Site

    init() throws { site = try Site() }

    private func ids(
        _ layer: ImportedLayer, _ shape: Shape, wkid: Int = 4326, tolerance: Double = 0,
        _ change: (inout IdentifyRequest) -> Void = { _ in }
    ) throws -> [Int64] {
        let request = makeRequest(shape, tolerance: tolerance) {
            $0.returnGeometry = false
            change(&$0)
        }
        return try site.engine().identify(request, in: makeMap([.feature(0, layer)], wkid: wkid))
            .results.map(\.objectID).sorted()
    }

    @Test func `polygons with holes, crossings and either winding are even-odd areas`() throws {
        var generator = SeededGenerator(seed: 21)
        let side = 13
        let corners = (0..<side * side).map { Corner(x: $0 % side, y: $0 / side) }
        let layer = try site.importFeatures(
            corners.enumerated().map {
                point($0.offset + 1, $0.element.coordinate.x, $0.element.coordinate.y)
            })
        for round in 0..<150 {
            let rings = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                let ring = (0..<Int.random(in: 3...8, using: &generator)).map { _ in
                    Corner(
                        x: .random(in: 0..<side, using: &generator),
                        y: .random(in: 0..<side, using: &generator))
                }
                return ring + [ring[0]]
            }
            let expected = corners.indices.filter { covers(rings, corners[$0]) }
                .map { Int64($0 + 1) }

            for isReversed in [false, true] {
                let turned = rings.map { ring in
                    let ring = isReversed ? ring.reversed() : ring
                    return ring.map(\.coordinate)
                }
                #expect(try ids(layer, .polygon(rings: turned)) == expected, "round \(round)")
            }
        }
    }

    @Test func `a hole and an island in it are told apart, whichever way rings run`() throws {
        func square(_ reach: Int) -> [Coordinate] {
            [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)].map {
                Coordinate(x: 50 + Double($0.0 * reach), y: 50 + Double($0.1 * reach))
            }
        }
        let layer = try site.importFeatures([
            point(1, 50, 50), point(2, 55, 50), point(3, 65, 50), point(4, 85, 50),
            point(5, 60, 50),
        ])
        for winding in 0..<8 {
            let rings = [30, 10, 3].enumerated().map { place, reach in
                let ring = square(reach)
                return winding >> place & 1 == 1 ? ring.reversed() : ring
            }
            #expect(try ids(layer, .polygon(rings: rings)) == [1, 3, 5])
        }
    }

    @Test func `nothing wraps at the antimeridian`() throws {
        let layer = try site.importFeatures([
            point(1, 179.5, 0), point(2, -179.5, 0), point(3, 180.5, 0), point(4, 181, 0),
        ])
        for wkid in [4326, 3857] {
            func at(_ longitude: Double, tolerance: Double = 0) throws -> [Int64] {
                try ids(
                    layer, .point(Coordinate(x: longitude, y: 0)), wkid: wkid, tolerance: tolerance
                ) {
                    // A pixel of one degree at the equator.
                    $0.spatialReference = .wgs84
                    $0.mapExtent = Envelope(minX: 0, minY: -1, maxX: 100, maxY: 1)
                }
            }
            #expect(try at(181) == [4])
            #expect(try at(-179).isEmpty)
            #expect(try at(180.5) == [3] && at(-179.5) == [2])
            #expect(try at(180, tolerance: 0.6) == [1, 3])
            #expect(try at(-180, tolerance: 0.6) == [2])
        }
        let box = Envelope(minX: 179, minY: -1, maxX: 181, maxY: 1)
        #expect(try ids(layer, .envelope(box)) == [1, 3, 4])
    }

    @Test func `beyond the latitude of Web Mercator everything lies on its edge`() throws {
        let limit = 85.05112877980659
        let layer = try site.importFeatures([
            point(1, 10, 86), point(2, 10, 90), point(3, 10, -90), point(4, 10, limit),
            point(5, 10, 85),
        ])
        func at(_ latitude: Double, wkid: Int) throws -> [Int64] {
            try ids(layer, .point(Coordinate(x: 10, y: latitude)), wkid: wkid) {
                $0.geometrySpatialReference = .wgs84
            }
        }

        #expect(try at(88, wkid: 3857) == [1, 2, 4])
        #expect(try at(-86, wkid: 3857) == [3])
        #expect(try at(85, wkid: 3857) == [5])
        #expect(try at(88, wkid: 4326).isEmpty && at(90, wkid: 4326) == [2])
    }

    static let references: [SpatialReference] =
        [4326, 3857, 102_100, 2154, 3035, 3995, 54_009, 102_003, 27_700, 4258].map {
            SpatialReference(wkid: $0)
        } + [
            SpatialReference(
                wkt: """
                    PROJCS["own conic",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,\
                    298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],\
                    PROJECTION["Lambert_Conformal_Conic_2SP"],PARAMETER["latitude_of_origin",45],\
                    PARAMETER["central_meridian",5],PARAMETER["standard_parallel_1",44],\
                    PARAMETER["standard_parallel_2",50],PARAMETER["false_easting",100000],\
                    PARAMETER["false_northing",200000],UNIT["US survey foot",0.304800609601219]]
                    """),
            SpatialReference(
                wkt: """
                    GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,\
                    298.257223563]],CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],\
                    ANGLEUNIT["degree",0.0174532925199433]]
                    """),
        ]

    @Test(.slow, arguments: references)
    func `a map in any reference finds what lies there`(_ reference: SpatialReference) throws {
        let towns = [(2.35, 48.85), (7.27, 43.7), (-1.55, 47.22), (5.37, 43.3)]
        let layer = try site.importFeatures(
            towns.enumerated().map { point($0.offset + 1, $0.element.0, $0.element.1) })
        var map = makeMap([.feature(0, layer)])
        map.spatialReference = reference
        for (number, town) in towns.enumerated() {
            let request = makeRequest(
                .point(Coordinate(x: town.0, y: town.1)), tolerance: 2
            ) {
                // About a hundred metres a pixel, at the geometry.
                $0.geometrySpatialReference = .wgs84
                $0.spatialReference = .wgs84
                $0.mapExtent = Envelope(
                    minX: town.0, minY: town.1, maxX: town.0 + 0.1, maxY: town.1 + 0.1)
                $0.explain = true
            }

            let answer = try site.engine().identify(request, in: map)

            #expect(answer.results.map(\.objectID) == [Int64(number + 1)])
            guard case .point(let found)? = answer.results.first?.geometry else {
                Issue.record("no geometry")
                return
            }
            #expect(abs(found.x - town.0) < 1e-7 && abs(found.y - town.1) < 1e-7)
            // 2 pixels of 0.001°: 222 m east-west at the equator, at least 140 m on these maps.
            let meters = try #require(answer.explanation?.toleranceMeters)
            #expect(100...400 ~= meters, "\(meters)")
        }
    }
}

@Suite struct BadRequestTests {
    let site: Site

    init() throws { site = try Site() }

    private func refusal(_ change: (inout IdentifyRequest) -> Void) throws -> Failure? {
        let layer = try site.importFeatures([point(1, 5, 5), point(2, 60, 60)])
        do {
            _ = try site.engine().identify(
                makeRequest(.point(Coordinate(x: 5, y: 5)), change),
                in: makeMap([.feature(0, layer)]))
            return nil
        } catch {
            return error
        }
    }

    @Test func `an unknown reference is named with its parameter, wherever it stands`() throws {
        let unknown = [SpatialReference(wkid: 999_999), SpatialReference(wkt: "PROJCS[oops")]
        for reference in unknown {
            let sr = try #require(try refusal { $0.spatialReference = reference })
            #expect(sr.code == .invalidParameter && sr.message.hasPrefix("sr: "), "\(sr)")
            let unseen = try #require(
                try refusal {
                    $0.geometry = .point(Coordinate(x: 90, y: 0))
                    $0.geometrySpatialReference = .wgs84
                    $0.spatialReference = reference
                    $0.imageDisplay.width = 0
                })
            #expect(unseen.message.hasPrefix("sr: "), "\(unseen)")
            let own = try #require(try refusal { $0.geometrySpatialReference = reference })
            #expect(own.message.hasPrefix("geometry: "), "\(own)")
        }
    }

    @Test func `a tolerance beyond the earth finds everything, one beyond numbers is refused`()
        throws
    {
        let layer = try site.importFeatures([point(1, 5, 5), point(2, 60, 60)])
        let request = makeRequest(.point(Coordinate(x: 5, y: 5)), tolerance: 1e9)
        let answer = try site.engine().identify(request, in: makeMap([.feature(0, layer)]))
        #expect(answer.results.map(\.objectID) == [1, 2])

        let refused = try #require(
            try refusal {
                $0.tolerance = 1e308
                $0.mapExtent.maxX = 1000
            })
        #expect(refused.code == .invalidParameter && refused.message.contains("tolerance"))
    }

    @Test(.slow) func `ten million vertices are refused by their number`() throws {
        let ring = (0..<10_000_000).map { Coordinate(x: Double($0 % 1000), y: Double($0 / 1000)) }
        let failure = try #require(try refusal { $0.geometry = .polygon(rings: [ring]) })
        #expect(failure.code == .tooLarge && failure.message.contains("10000000 coordinates"))
    }
}
