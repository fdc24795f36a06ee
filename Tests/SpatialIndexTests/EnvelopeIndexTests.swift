// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import SpatialIndex
import TestKit
import Testing

@Suite struct EnvelopeIndexTests {
    @Test(arguments: [0, 1, 2, 16, 17, 500])
    func `a search finds what a scan finds`(count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        var envelopes = (0..<count).map { _ in box(&generator) }
        envelopes.append(.empty)
        let index = EnvelopeIndex(envelopes)
        for _ in 0..<50 {
            let wanted = box(&generator)

            let found = index.search(wanted)

            #expect(found == envelopes.indices.filter { envelopes[$0].intersects(wanted) })
        }
    }

    private func box(_ generator: inout SeededGenerator) -> Envelope {
        let x = Double.random(in: 0...10, using: &generator)
        let y = Double.random(in: 0...10, using: &generator)
        return Envelope(
            minX: x, minY: y, maxX: x + .random(in: 0...2, using: &generator),
            maxY: y + .random(in: 0...2, using: &generator))
    }
}
