// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import TestKit
import Testing

@Suite struct IdentifyChangeTests {
    /// An answer with groups, layers that come and go, and features that change.
    private func answer(_ sequence: Int64, _ random: inout SeededGenerator) -> IdentifyAnswer {
        func layer(_ id: LayerID) -> IdentifyLayerResult {
            let ids = (0..<8).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
            let results = ids.map { object in
                IdentifyResult(
                    layerID: id, layerName: "l\(id)", objectID: Int64(object),
                    displayFieldName: "name", value: .string("v"),
                    attributes: Attributes([]), geometryType: .point,
                    geometry: .point(Coordinate(x: 1, y: 2)),
                    distance: Double(Int.random(in: 0...1, using: &random)))
            }
            return IdentifyLayerResult(
                layerID: id, layerName: Bool.random(using: &random) ? "l\(id)" : "other",
                results: results, sublayerResults: [],
                transferLimitExceeded: Bool.random(using: &random),
                hitCount: results.count + Int.random(in: 0...2, using: &random))
        }
        let ids = (0..<4).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
        var layers = ids.map(layer)
        if Bool.random(using: &random) {
            layers.insert(
                IdentifyLayerResult(
                    layerID: 9, layerName: "group", results: [],
                    sublayerResults: [layer(5), layer(6)], transferLimitExceeded: false), at: 0)
        }
        return IdentifyAnswer(
            layers: layers, spatialReference: .wgs84, sequence: sequence,
            isStale: Bool.random(using: &random))
    }

    @Test func `folding the changes gives each answer in turn`() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var (last, folded): (IdentifyAnswer?, IdentifyAnswer?) = (nil, nil)
        for sequence in 1...400 {
            let next = answer(Int64(sequence), &random)
            guard let change = next.change(since: last) else {
                #expect(next.layers == last?.layers, "seed \(seed), answer \(sequence)")
                continue
            }
            folded = try IdentifyAnswer.applying(change, to: folded)
            #expect(folded == next, "seed \(seed), answer \(sequence)")
            for layer in change.layers {
                let now = Set(next.results.filter { $0.layerID == layer.layerID }.map(\.objectID))
                #expect(now.isSuperset(of: (layer.added + layer.changed).map(\.objectID)))
                #expect(now.isDisjoint(with: layer.removed))
            }
            last = next
        }
    }

    @Test func `an answer that says the same is no change, and a change fits its answer only`()
        throws
    {
        var random = SeededGenerator(seed: 3)
        let first = answer(5, &random)
        var later = first
        later.sequence = 9
        later.isStale.toggle()

        #expect(later.change(since: first) == nil)
        let begin = try #require(first.change(since: nil))
        #expect(begin.after == nil)
        let failure = #expect(throws: Failure.self) {
            try IdentifyAnswer.applying(begin, to: first)
        }
        #expect(failure?.code == .conflict)
    }

    @Test func `a change reads as it was written`() throws {
        var random = SeededGenerator(seed: 4)
        let change = try #require(answer(7, &random).change(since: answer(6, &random)))

        let data = try CairnJSON.encode(change)

        #expect(try CairnJSON.decode(IdentifyChange.self, from: data) == change)
    }
}
