// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import TestKit
import Testing

private func point(_ id: Int, _ x: Double, _ y: Double, _ properties: String = "") -> String {
    """
    {"type":"Feature","id":\(id),"properties":{\(properties)},
    "geometry":{"type":"Point","coordinates":[\(x),\(y)]}}
    """
}

@Suite struct RequestTests {
    let site: Site

    init() throws { site = try Site() }

    private func refusal(
        _ change: (inout IdentifyRequest) -> Void
    ) throws -> Failure? {
        let layer = try site.importFeatures([point(1, 5, 5)])
        let request = makeRequest(.point(Coordinate(x: 5, y: 5)), change)
        do throws(Failure) {
            _ = try site.engine().identify(request, in: makeMap([.feature(0, layer)]))
            return nil
        } catch { return error }
    }

    @Test(.slow) func `parameters that mean nothing are named`() throws {
        let wrong: [(String, (inout IdentifyRequest) -> Void)] = [
            ("tolerance", { $0.tolerance = .nan }), ("tolerance", { $0.tolerance = -1 }),
            ("tolerance", { $0.tolerance = .infinity }),
            ("mapExtent", { $0.mapExtent.minX = .nan }), ("mapExtent", { $0.mapExtent = .empty }),
            ("imageDisplay width", { $0.imageDisplay.width = -1 }),
            ("imageDisplay height", { $0.imageDisplay.height = .infinity }),
            ("imageDisplay dpi", { $0.imageDisplay.dpi = 0 }),
            ("maxAllowableOffset", { $0.maxAllowableOffset = -1 }),
            ("geometryPrecision", { $0.geometryPrecision = -1 }),
            ("geometry", { $0.geometry = .point(Coordinate(x: .nan, y: 0)) }),
            ("geometry", { $0.geometry = .envelope(.empty) }),
            ("geometry", { $0.geometry = .multipoint([]) }),
            ("geometry", { $0.geometry = .polygon(rings: [[], []]) }),
            ("geometry", { $0.geometry = .point(Coordinate(x: 1e300, y: 0)) }),
            (
                "geometry",
                {
                    $0.geometry = .point(Coordinate(x: 0, y: 91))
                    $0.geometrySpatialReference = SpatialReference(wkid: 27700)
                    $0.geometry = .point(Coordinate(x: 1e11, y: 1e11))
                }
            ),
            ("999999", { $0.spatialReference = SpatialReference(wkid: 999_999) }),
            ("layerDefs of layer 0", { $0.layerDefinitions = [0: "nope = 1"] }),
        ]
        for (name, change) in wrong {
            let failure = try #require(try refusal(change), "\(name)")
            #expect(
                failure.code == .invalidParameter && failure.message.contains(name), "\(failure)")
        }
    }

    @Test func `an answer that is too large is refused as such`() throws {
        let many = Array(repeating: Coordinate(x: 0, y: 0), count: 100_001)

        #expect(try refusal { $0.geometry = .multipoint(many) }?.code == .tooLarge)
        #expect(try refusal { $0.layers.ids = Array(0...10_000) }?.code == .tooLarge)
        let long = SpatialReference(wkt: String(repeating: "x", count: 20_000))
        #expect(try refusal { $0.spatialReference = long }?.code == .tooLarge)
        #expect(try refusal { $0.geometry = .multipoint(Array(many.dropLast())) } == nil)
    }

    @Test func `swapped bounds are put in order and no size means no tolerance`() throws {
        let layer = try site.importFeatures([point(1, 5, 5), point(2, 8, 5)])
        let map = makeMap([.feature(0, layer)])
        func ids(_ change: (inout IdentifyRequest) -> Void) throws -> [Int64] {
            let request = makeRequest(.point(Coordinate(x: 5, y: 5)), tolerance: 4, change)
            return try site.engine().identify(request, in: map).results.map(\.objectID)
        }

        #expect(
            try ids { $0.mapExtent = Envelope(minX: 100, minY: 9, maxX: 0, maxY: 0) } == [1, 2])
        // Only the widths count, and the extent does not limit the search.
        #expect(
            try ids { $0.mapExtent = Envelope(minX: 60, minY: 60, maxX: 160, maxY: 61) } == [1, 2])
        #expect(try ids { $0.imageDisplay.height = 7 } == [1, 2])
        #expect(try ids { $0.imageDisplay.dpi = 300 } == [1, 2])
        #expect(try ids { $0.imageDisplay.width = 200 } == [1])
        #expect(try ids { $0.imageDisplay.width = 0 } == [1])
        #expect(try ids { $0.imageDisplay.height = 0 } == [1])
        #expect(try ids { $0.mapExtent.maxX = 0 } == [1])
        #expect(try ids { $0.mapExtent.maxY = 0 } == [1])
        let swapped = Envelope(minX: 9, minY: 6, maxX: 7, maxY: 4)
        #expect(
            try ids {
                $0.geometry = .envelope(swapped)
                $0.tolerance = 0
            } == [2])
    }

    @Test func `QGIS asks with one pixel around the click`() throws {
        let layer = try site.importFeatures([point(1, 5, 5)])
        let request = makeRequest(.point(Coordinate(x: 5.8, y: 5)), tolerance: 10) {
            $0.mapExtent = Envelope(minX: 5.75, minY: 4.95, maxX: 5.85, maxY: 5.05)
            $0.imageDisplay = ImageDisplay(width: 1, height: 1)
        }

        let answer = try site.engine().identify(request, in: makeMap([.feature(0, layer)]))

        #expect(answer.results.map(\.objectID) == [1])
    }

    @Test func `definition expressions and layer definitions both hold`() throws {
        let layer = try site.importFeatures(
            (1...9).map { point($0, 5, 5, #""n":\#($0),"name":"t\#($0)""#) })
        let map = makeMap([
            LayerDescription.feature(0, layer).with { $0.definitionExpression = "n > 3" },
            .feature(1, layer),
        ])
        let request = makeRequest(.point(Coordinate(x: 5, y: 5))) {
            $0.layerDefinitions = [0: "NAME <> 't5'", 1: " ", 77: "not even a clause"]
        }

        let results = try site.engine().identify(request, in: map).results

        #expect(results.filter { $0.layerID == 0 }.map(\.objectID) == [4, 6, 7, 8, 9])
        #expect(results.filter { $0.layerID == 1 }.map(\.objectID) == Array(1...9))
    }

    @Test func `the nearest thousand of a layer are kept, and the rest announced`() throws {
        let layer = try site.importFeatures(
            (1...1200).map { point($0, Double(1300 - $0) / 100, 0) })
        let request = makeRequest(.point(Coordinate(x: 0, y: 0)), tolerance: 50)

        let answer = try site.engine().identify(request, in: makeMap([.feature(0, layer)]))

        let results = answer.results
        #expect(answer.layers.map(\.transferLimitExceeded) == [true])
        #expect(results.map(\.objectID) == (201...1200).reversed().map { Int64($0) })
        let fewer = makeRequest(.point(Coordinate(x: 0, y: 0)), tolerance: 10.985)
        let all = try site.engine().identify(fewer, in: makeMap([.feature(0, layer)]))
        #expect(all.layers.map(\.transferLimitExceeded) == [false])
        #expect(all.results.count == 999)
    }

    @Test func `equal distances are ordered by object id`() throws {
        let layer = try site.importFeatures([point(9, 1, 0), point(3, 0, 1), point(5, -1, 0)])
        let request = makeRequest(.point(Coordinate(x: 0, y: 0)), tolerance: 1)

        let results = try site.engine().identify(request, in: makeMap([.feature(0, layer)])).results

        #expect(results.map(\.objectID) == [3, 5, 9])
        #expect(results.map(\.distance) == [1, 1, 1])
    }

    @Test func `geometry is projected, generalised and rounded as asked`() throws {
        let line = """
            {"type":"Feature","id":1,"properties":{"Label":"way"},"geometry":{"type":"LineString",
            "coordinates":[[0,0],[1,0.0001],[2,0],[3,1.23456789]]}}
            """
        let map = makeMap([.feature(0, try site.importFeatures([line]))])
        func shape(_ change: (inout IdentifyRequest) -> Void) throws -> Shape? {
            let request = makeRequest(.point(Coordinate(x: 0, y: 0)), change)
            let answer = try site.engine().identify(request, in: map)
            #expect(answer.results.map(\.value) == [.string("way")])
            #expect(answer.results.map(\.displayFieldName) == ["Label"])
            return answer.results[0].geometry
        }

        #expect(try shape { $0.returnGeometry = false } == nil)
        #expect(try shape { _ in }?.coordinateCount == 4)
        let coarse = try shape {
            $0.maxAllowableOffset = 0.001
            $0.geometryPrecision = 2
        }
        #expect(
            coarse
                == .polyline(paths: [
                    [Coordinate(x: 0, y: 0), Coordinate(x: 2, y: 0), Coordinate(x: 3, y: 1.23)]
                ]))
        let meters = try shape {
            $0.spatialReference = .webMercator
            $0.geometryPrecision = 1
        }
        #expect(
            meters
                == .polyline(paths: [
                    [
                        Coordinate(x: 0, y: 0), Coordinate(x: 111319.5, y: 11.1),
                        Coordinate(x: 222639, y: 0), Coordinate(x: 333958.5, y: 137442.1),
                    ]
                ]))
    }

    @Test func `the display field is the layer's choice while it has it`() throws {
        let layer = try site.importFeatures([point(1, 5, 5, #""title":"T","name":"N","other":"O""#)]
        )
        func field(_ wanted: String?) throws -> String {
            let map = makeMap([LayerDescription.feature(0, layer).with { $0.displayField = wanted }]
            )
            let request = makeRequest(.point(Coordinate(x: 5, y: 5)))
            return try site.engine().identify(request, in: map).results[0].displayFieldName
        }

        #expect(try field(nil) == "name")
        #expect(try field("OTHER") == "other")
        #expect(try field("gone") == "name")
    }

    @Test func `a screen without a place in the map still has a pixel at the geometry`() throws {
        // The whole world on the screen, on a map of France.
        let layer = try site.importFeatures([point(1, 2, 47)])
        let map = makeMap([.feature(0, layer)], wkid: 2154)
        func count(_ longitude: Double) throws -> Int {
            let request = makeRequest(.point(Coordinate(x: longitude, y: 47)), tolerance: 10) {
                $0.spatialReference = .wgs84
                $0.mapExtent = Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)
                $0.imageDisplay = ImageDisplay(width: 3600, height: 1800)
            }
            return try site.engine().identify(request, in: map).results.count
        }

        #expect(try count(2.9) == 1)
        #expect(try count(3.2) == 0)
    }

    @Test func `a request that is cancelled ends with that failure`() throws {
        let layer = try site.importFeatures([point(1, 5, 5)])

        let failure = #expect(throws: Failure.self) {
            try site.engine().identify(
                makeRequest(.point(Coordinate(x: 5, y: 5))), in: makeMap([.feature(0, layer)]),
                isCancelled: { true })
        }

        #expect(failure?.code == .cancelled)
    }

    @Test func `a dataset that is gone is a failure, not an empty answer`() throws {
        let layer = try site.importFeatures([point(1, 5, 5)])
        let engine = IdentifyEngine { id throws(Failure) in
            throw Failure(.notFound, "no dataset \(id)")
        }

        let answer = try engine.identify(
            makeRequest(.point(Coordinate(x: 5, y: 5))), in: makeMap([.feature(0, layer)]))

        #expect(answer.layers.isEmpty)
        #expect(answer.failures?.map(\.error.code) == [.notFound])
    }
}
