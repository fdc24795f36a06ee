// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Geometry
import Identify
import TestKit
import Testing

/// A layer with edits over it is identified and drawn as one that was imported as the edits left
/// it.
@Suite struct EditedLayerTests {
    private func map(
        _ layer: ImportedLayer, _ wkid: Int, edits: LayerEdits? = nil
    ) -> MapDescription {
        makeMap([LayerDescription.feature(0, layer).with { $0.edits = edits }], wkid: wkid)
    }

    @Test(.slow, arguments: EditedFeatures.Kind.allCases, Seeds.chosen(3))
    func `edits count as if they had been imported`(
        _ kind: EditedFeatures.Kind, _ seed: UInt64
    ) throws {
        var features = EditedFeatures(kind, count: 50, seed: seed)
        var random = SeededGenerator(seed: seed ^ 77)
        let site = try Site()
        let engine = site.engine()
        let base = try site.importFeatures(features.geoJSON, named: "base")
        var hitCount = 0
        for round in 0..<3 {
            for _ in 0..<6 { features.edit() }
            let imported = try site.importFeatures(features.geoJSON, named: "round\(round)")
            // The dataset's own reference, the pair that keeps rectangles, and one that does not.
            for wkid in [4326, 3857, 3035] {
                let edited = map(base, wkid, edits: features.edits)
                var fresh = map(imported, wkid)
                fresh.layers[0].name = edited.layers[0].name
                for _ in 0..<30 {
                    let request = question(&random)
                    let wanted = try engine.identify(request, in: fresh)
                    #expect(try engine.identify(request, in: edited) == wanted)
                    hitCount += wanted.layers.first?.hitCount ?? 0
                    // At once, the overlay being ready by now, where the index serves.
                    let prompt = try engine.answerAtOnce(
                        request, in: PreparedMap(edited), isOver: { false })
                    if case .answer(let answer) = prompt { #expect(answer == wanted) }
                }
                #expect(
                    try drawn(engine, edited, wkid) == (try drawn(engine, fresh, wkid)),
                    "round \(round) in \(wkid)")
            }
        }
        #expect(hitCount > 50)
    }

    @Test(.slow, arguments: EditedFeatures.Kind.allCases, Seeds.chosen(2))
    func `a past seen from later is identified and drawn as what is left of it`(
        _ kind: EditedFeatures.Kind, _ seed: UInt64
    ) throws {
        var features = EditedFeatures(kind, count: 50, seed: seed)
        var random = SeededGenerator(seed: seed ^ 78)
        let site = try Site()
        let engine = site.engine()
        let base = try site.importFeatures(features.geoJSON, named: "base")
        for wkid in [4326, 3035] {
            for _ in 0..<3 { features.edit() }
            var then = map(base, wkid, edits: features.edits)
            then.layers[0].definitionExpression = "pop > -5"
            for _ in 0..<6 { features.edit() }
            var now = map(base, wkid, edits: features.edits)
            now.layers[0].definitionExpression = "OBJECTID > 10"
            now.sequence = 50
            var left = then
            left.layers[0].definitionExpression =
                "pop > -5 AND OBJECTID IN ("
                + features.ids.filter { $0 > 10 }.map { "\($0)" }.joined(separator: ",") + ")"
            let view = then.seen(from: now)
            var hitCount = 0
            for _ in 0..<30 {
                let request = question(&random)
                let wanted = try engine.identify(request, in: left)
                #expect(try engine.identify(request, in: view) == wanted)
                hitCount += wanted.hitCount
                let prompt = try engine.answerAtOnce(
                    request, in: PreparedMap(view), isOver: { false })
                if case .answer(let answer) = prompt { #expect(answer == wanted) }
                var explained = request
                explained.explain = true
                #expect(
                    try engine.identify(explained, in: view).explanation
                        == engine.identify(explained, in: left).explanation)
            }
            #expect(hitCount > 0)
            #expect(try drawn(engine, view, wkid) == (try drawn(engine, left, wkid)))
        }
    }

    private func question(_ random: inout SeededGenerator) -> IdentifyRequest {
        let (x, y) = (
            Double.random(in: 0...100, using: &random), Double.random(in: 0...85, using: &random)
        )
        let shape: Shape =
            Bool.random(using: &random)
            ? .point(Coordinate(x: x, y: y))
            : .envelope(Envelope(minX: x, minY: y, maxX: x + 20, maxY: y + 4))
        return makeRequest(shape, tolerance: Double(Int.random(in: 0...3, using: &random))) {
            $0.geometrySpatialReference = .wgs84
            $0.spatialReference = .wgs84
        }
    }

    /// The drawn features, in no order: edits are on top of the features they edit.
    private func drawn(
        _ engine: IdentifyEngine, _ map: MapDescription, _ wkid: Int
    ) throws -> [String: Int] {
        let extent =
            wkid == 4326
            ? Envelope(minX: 0, minY: 0, maxX: 100, maxY: 100)
            : Envelope(minX: 0, minY: 0, maxX: 8e6, maxY: 8e6)
        let request = ExportRequest(
            map: world, extent: extent, extentReference: SpatialReference(wkid: wkid),
            imageReference: SpatialReference(wkid: wkid), width: 300, height: 300)

        let prepared = PreparedMap(map)
        var found: [String: Int] = [:]
        _ = try engine.forEachDrawnFeature(
            of: request, in: prepared, frame: try engine.frame(of: request, in: prepared),
            isCancelled: { false },
            wish: { _ in
                DrawnWish(reach: 0, fields: ["pop", "name"], conditions: ["size > 0.5"])
            }
        ) { _ in
        } raster: { _ in
        } feature: { feature in
            found["\(feature)", default: 0] += 1
        }
        return found
    }
}
