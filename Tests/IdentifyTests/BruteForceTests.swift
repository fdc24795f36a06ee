// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import GEOS
import Geometry
import Identify
import PROJ
import TestKit
import Testing

/// Random features as GeoJSON writes them.
private struct FeatureGenerator {
    enum Kind: String, CaseIterable {
        case point, multipoint, line, polygon
    }

    var random: SeededGenerator
    /// The square of the features: this size, with its lower left corner at `origin`.
    var origin: Coordinate
    var size: Double

    mutating func coordinate() -> Coordinate {
        Coordinate(
            x: origin.x + .random(in: 0...size, using: &random),
            y: origin.y + .random(in: 0...size, using: &random))
    }

    /// Coordinates around a middle, as far from it as a feature is large.
    mutating func cluster(_ count: ClosedRange<Int>) -> [Coordinate] {
        let middle = coordinate()
        let reach = size * .random(in: 0.01...0.1, using: &random)
        return (0..<Int.random(in: count, using: &random)).map { _ in
            Coordinate(
                x: middle.x + .random(in: -reach...reach, using: &random),
                y: middle.y + .random(in: -reach...reach, using: &random))
        }
    }

    mutating func shape(_ kind: Kind) -> Shape {
        switch kind {
        case .point: return .point(coordinate())
        case .multipoint: return .multipoint(cluster(2...5))
        case .line: return .polyline(paths: [cluster(2...12), cluster(2...3)])
        case .polygon:
            // Mostly rings that cross themselves; some long enough for a tree of segments.
            let ring = cluster(Int.random(in: 0..<25, using: &random) == 0 ? 70...90 : 3...9)
            return .polygon(rings: [ring + [ring[0]]])
        }
    }
}

extension Shape {
    /// The GeoJSON text of a feature.
    fileprivate func feature(id: Int) -> String {
        func list(_ coordinates: [Coordinate]) -> String {
            "[" + coordinates.map { "[\($0.x),\($0.y)]" }.joined(separator: ",") + "]"
        }
        func lists(_ parts: [[Coordinate]]) -> String {
            "[" + parts.map(list).joined(separator: ",") + "]"
        }
        let (type, coordinates) =
            switch self {
            case .point(let coordinate): ("Point", "[\(coordinate.x),\(coordinate.y)]")
            case .multipoint(let coordinates): ("MultiPoint", list(coordinates))
            case .polyline(let paths): ("MultiLineString", lists(paths))
            case .polygon(let rings): ("Polygon", lists(rings))
            case .envelope: ("Polygon", "[]")
            }
        return """
            {"type":"Feature","id":\(id),"properties":{"parity":\(id % 2)},
            "geometry":{"type":"\(type)","coordinates":\(coordinates)}}
            """
    }

    /// Well-known text.
    fileprivate var wkt: String {
        func list(_ coordinates: [Coordinate]) -> String {
            "(" + coordinates.map { "\($0.x) \($0.y)" }.joined(separator: ",") + ")"
        }
        func lists(_ parts: [[Coordinate]]) -> String {
            "(" + parts.map(list).joined(separator: ",") + ")"
        }
        switch self {
        case .point(let coordinate): return "POINT" + list([coordinate])
        case .multipoint(let coordinates): return "MULTIPOINT" + list(coordinates)
        case .polyline(let paths): return "MULTILINESTRING" + lists(paths)
        case .polygon(let rings): return "POLYGON" + lists(rings)
        case .envelope(let box):
            let (a, b) = (
                Coordinate(x: box.minX, y: box.minY), Coordinate(x: box.maxX, y: box.maxY)
            )
            let (c, d) = (Coordinate(x: b.x, y: a.y), Coordinate(x: a.x, y: b.y))
            return "POLYGON" + lists([[a, c, b, d, a]])
        }
    }

}

/// A shape as GEOS holds it, with even-odd areas.
private final class Oracle {
    let geometry: GEOSGeometry

    init(_ shape: Shape) throws {
        let geometry = try GEOSGeometry(wkt: shape.wkt)
        self.geometry = try geometry.isValid() ? geometry : geometry.madeValid()
    }
}

@Suite struct BruteForceTests {
    /// A pair of spatial references, and the place of the features in the dataset's.
    struct Place: CustomTestStringConvertible {
        var dataset: Int
        var map: Int
        var origin: Coordinate
        var size: Double

        var testDescription: String { "\(dataset) in \(map)" }
    }

    @Test(
        .slow,
        arguments: [
            Place(dataset: 4326, map: 4326, origin: Coordinate(x: 5, y: 40), size: 10),
            Place(dataset: 4326, map: 3857, origin: Coordinate(x: 175, y: 80), size: 9),
            Place(dataset: 3857, map: 4326, origin: Coordinate(x: 1e6, y: 5e6), size: 2e6),
            // A conic projection: straight edges become curves, and rectangles turn.
            Place(dataset: 4326, map: 2154, origin: Coordinate(x: -5, y: 41), size: 11),
            Place(dataset: 2154, map: 4326, origin: Coordinate(x: 1e5, y: 6.1e6), size: 1e6),
            // Around the pole, where a rectangle in degrees is a fan.
            Place(dataset: 4326, map: 3995, origin: Coordinate(x: -180, y: 72), size: 16),
        ])
    func `the answer is that of a scan with GEOS`(place: Place) throws {
        let seed = UInt64(place.dataset * 10_000 + place.map)
        var generator = FeatureGenerator(
            random: SeededGenerator(seed: seed), origin: place.origin, size: place.size)
        let site = try Site()
        let engine = site.engine()
        for kind in FeatureGenerator.Kind.allCases {
            let shapes = (1...50).map { _ in generator.shape(kind) }
            let features = shapes.enumerated().map { $1.feature(id: $0 + 1) }
            let layer = try site.importFeatures(features, named: kind.rawValue, wkid: place.dataset)
            let map = makeMap([.feature(0, layer)], wkid: place.map)
            let transform = try CoordinateTransform(
                from: SpatialReference(wkid: place.dataset), to: SpatialReference(wkid: place.map))
            let projected = try shapes.map { try transform.forward($0) }
            let all = projected.reduce(Envelope.empty) { $0.union($1.envelope) }
            let oracles = try projected.map { try Oracle($0) }
            for round in 0..<8 {
                let query = try transform.forward(
                    generator.shape(FeatureGenerator.Kind.allCases[round % 4]))
                try compare(
                    engine, map, query, oracles, all, tolerance: [0, 0.4, 6][round % 3],
                    "seed \(seed) \(kind) round \(round)")
            }
        }
    }

    private func compare(
        _ engine: IdentifyEngine, _ map: MapDescription, _ query: Shape, _ oracles: [Oracle],
        _ all: Envelope, tolerance: Double, _ label: Comment
    ) throws {
        let pixel = max(all.width, all.height) / 100
        let request = makeRequest(query, tolerance: tolerance) {
            $0.mapExtent = Envelope(minX: 0, minY: 0, maxX: pixel * 100, maxY: pixel * 100)
            $0.returnGeometry = false
            $0.layerDefinitions = [0: "parity = 1"]
        }

        let results = try engine.identify(request, in: map).results

        let limit = tolerance * pixel
        let question = try Oracle(query)
        let found = Dictionary(uniqueKeysWithValues: results.map { ($0.objectID, $0.distance) })
        var wrong: [String] = []
        for (index, oracle) in oracles.enumerated() {
            let id = Int64(index + 1)
            let distance = try oracle.geometry.distance(to: question.geometry)
            let isDecided = abs(distance - limit) > 1e-9 * pixel || limit == 0
            let expected = id % 2 == 1 && distance <= limit
            if isDecided && (found[id] != nil) != expected { wrong.append("\(id) at \(distance)") }
            if let own = found[id], abs(own - distance) > 1e-9 * pixel {
                wrong.append("\(id) at \(distance), not \(own)")
            }
        }
        #expect(wrong.isEmpty, "\(label): \(wrong.prefix(5))")
        let order = results.map { ($0.distance, $0.objectID) }
        #expect(zip(order, order.dropFirst()).allSatisfy { $0.0 < $0.1 }, label)
    }
}
