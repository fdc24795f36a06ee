// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import GEOS
import Geometry

/// One feature that is found, by the layer's name and the object id.
struct Hit: Hashable, Comparable {
    let layer: String
    let id: Int

    static func < (left: Hit, right: Hit) -> Bool {
        (left.layer, left.id) < (right.layer, right.id)
    }
}

/// The features near a point by GEOS: every feature with a nearby rectangle is measured.
struct Truth {
    private final class Feature {
        let hit: Hit
        let envelope: Envelope
        let geometry: GEOSGeometry

        init(_ hit: Hit, wkt: String) throws {
            self.hit = hit
            geometry = try GEOSGeometry(wkt: wkt)
            var envelope = Envelope.empty
            for pair in wkt.split(whereSeparator: { "(),".contains($0) }) {
                let numbers = pair.split(separator: " ").compactMap { Double($0) }
                if numbers.count >= 2 {
                    envelope.extend(to: Coordinate(x: numbers[0], y: numbers[1]))
                }
            }
            self.envelope = envelope
        }
    }

    private var features: [Feature] = []

    /// Reads `LAYER=FILE.csv`: the columns WKT, in quotation marks, and id.
    init(files: [String]) throws {
        for text in files {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw CocoaError(.fileReadUnknown) }
            let lines = try String(contentsOfFile: parts[1], encoding: .utf8)
            // A feature without geometry has no WKT, and is never hit.
            for line in lines.split(separator: "\n").dropFirst() where line.hasPrefix("\"") {
                let fields = line.split(separator: "\"")
                guard fields.count >= 2, let id = Int(fields[fields.count - 1].filter(\.isNumber))
                else {
                    continue
                }
                features.append(
                    try Feature(Hit(layer: parts[0], id: id), wkt: String(fields[0])))
            }
        }
    }

    /// For every point, what must be found, in order.
    func answers(to question: Question) throws -> [[Hit]] {
        let limit = question.tolerance * question.resolution
        return try question.points.map { point in
            let place = try GEOSGeometry(wkt: "POINT(\(point.x) \(point.y))")
            let near = features.filter {
                point.x >= $0.envelope.minX - limit && point.x <= $0.envelope.maxX + limit
                    && point.y >= $0.envelope.minY - limit && point.y <= $0.envelope.maxY + limit
            }
            return try near.filter { feature in
                limit == 0
                    ? try feature.geometry.intersects(place)
                    : try feature.geometry.distance(to: place) <= limit
            }.map(\.hit).sorted()
        }
    }
}
