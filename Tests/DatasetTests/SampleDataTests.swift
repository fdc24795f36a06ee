// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import TestKit
import Testing

@Suite struct SampleDataTests {
    private let scratch = Scratch()

    @Test(.slow) func `the sample world is imported whole`() throws {
        let sample = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../deploy/sample/world.gpkg").standardized.path()

        let layers = try DatasetBuilder.importFile(path: sample, into: scratch.datasets)

        #expect(layers.map(\.name) == ["countries", "states_provinces", "cities"])
        #expect(layers.map(\.featureCount) == [240, 4556, 4361])
        #expect(layers.allSatisfy { $0.rejectedCount == 0 && $0.notes.isEmpty })
        #expect(layers.allSatisfy { $0.properties.spatialReference == .wgs84 })
        let countries = try scratch.dataset(layers[0])
        let paris = Coordinate(x: 2.35, y: 48.86)
        var names: [String] = []
        try countries.search(Envelope(minX: 2.35, minY: 48.86, maxX: 2.35, maxY: 48.86)) {
            let isInside = try countries.polygonParts(of: $0).contains { rings in
                rings.filter { winds(around: paris, $0) }.count % 2 == 1
            }
            guard isInside, case .string(let name) = try countries.attributes(of: $0)["name"]
            else { return }
            names.append(name)
        }
        #expect(names == ["France"])
    }

    private func winds(around point: Coordinate, _ ring: [Coordinate]) -> Bool {
        var isInside = false
        for (a, b) in zip(ring, ring.dropFirst()) where (a.y > point.y) != (b.y > point.y) {
            let crossing = a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x)
            if crossing > point.x { isInside.toggle() }
        }
        return isInside
    }

    @Test(.slow) func `real layers lose no feature that has a geometry`() throws {
        for (file, counts) in [
            ("ne/natural_earth_dev.gpkg.gz", nil as Int?),
            ("cambridge_ma/parcels_fy2014.fgb.gz", 13115),
            ("ne/50m/ne_50m_rivers_lake_centerlines.geojson.gz", nil),
        ] {
            guard let path = SharedData.path(file) else { return }
            let layers = try DatasetBuilder.importFile(path: path, into: scratch.datasets)
            let reasons = Set(layers.flatMap(\.rejected).map(\.reason))
            #expect(reasons.isSubset(of: ["no geometry"]), "\(file): \(reasons)")
            if let counts { #expect(layers.map(\.featureCount) == [counts]) }
        }
    }
}
