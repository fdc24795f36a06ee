// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Identify
import TestKit
import Testing

/// One line of the examples: a query and what independent software (shapely) answered.
private struct Example: Decodable {
    struct Answer: Decodable {
        var ids: Set<Int64>
        /// So close to the limit that either answer is right.
        var edge: Set<Int64>?
    }

    struct Geometry: Decodable {
        var shape: Shape

        private enum CodingKeys: CodingKey { case type, coordinates, bbox }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func read<T: Decodable>(_ type: T.Type) throws -> T {
                try container.decode(type, forKey: .coordinates)
            }
            switch try container.decode(String.self, forKey: .type) {
            case "Point": shape = .point(try read(Coordinate.self))
            case "MultiPoint": shape = .multipoint(try read([Coordinate].self))
            case "LineString": shape = .polyline(paths: [try read([Coordinate].self)])
            case "Polygon": shape = .polygon(rings: try read([[Coordinate]].self))
            case "Envelope":
                let box = try container.decode([Double].self, forKey: .bbox)
                shape = .envelope(
                    Envelope(minX: box[0], minY: box[1], maxX: box[2], maxY: box[3]))
            case let type:
                throw DecodingError.dataCorruptedError(
                    forKey: .type, in: container, debugDescription: type)
            }
        }
    }

    var id: Int
    var sr: Int
    var mapExtent: [Double]
    var imageDisplay: [Double]
    var tolerance: Double
    var geometry: Geometry
    var geometry_sr: Int
    var results: [String: Answer]

    var request: IdentifyRequest {
        IdentifyRequest(
            map: world, geometry: geometry.shape,
            geometrySpatialReference: SpatialReference(wkid: geometry_sr),
            layers: LayerSelection(.all), tolerance: tolerance,
            mapExtent: Envelope(
                minX: mapExtent[0], minY: mapExtent[1], maxX: mapExtent[2], maxY: mapExtent[3]),
            imageDisplay: ImageDisplay(
                width: imageDisplay[0], height: imageDisplay[1], dpi: imageDisplay[2]),
            returnGeometry: false)
    }
}

@Suite struct ExampleTests {
    @Test(.slow) func `all examples have the answers of independent software`() throws {
        guard let bytes = try SharedData.bytes("identify_examples.jsonl.gz") else { return }
        let examples = try bytes.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Example.self, from: $0)
        }
        let names = Set(examples.flatMap(\.results.keys)).sorted()
        let site = try Site()
        let layers = try names.enumerated().map { index, name in
            let scale = name.contains("110m") ? "110m" : "50m"
            let path = try #require(SharedData.path("ne/\(scale)/\(name).geojson.gz"))
            return LayerDescription.feature(index, try site.importFile(path), name: name)
        }
        let engine = site.engine()

        var wrong: [String] = []
        for example in examples {
            let answer = try engine.identify(example.request, in: makeMap(layers, wkid: example.sr))
            var found: [String: Set<Int64>] = [:]
            for result in answer.results {
                found[result.layerName, default: []].insert(result.objectID)
            }
            for name in names {
                let ids = found[name] ?? []
                let expected = example.results[name]
                let edge = expected?.edge ?? []
                if ids.subtracting(edge) != (expected?.ids ?? []).subtracting(edge) {
                    wrong.append("\(example.id) \(name): \(ids) for \(expected?.ids ?? [])")
                }
            }
        }

        #expect(examples.count == 300)
        #expect(wrong.isEmpty, "\(wrong.count) wrong: \(wrong.prefix(20))")
    }
}
