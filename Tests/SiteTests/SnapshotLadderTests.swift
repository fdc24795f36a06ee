// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Site
import TestKit
import Testing

/// Few snapshots for a long log, the closer together the newer.
@Suite struct SnapshotLadderTests {
    /// Writes snapshots as a log grows; `check` sees what is left after each, rising.
    private func grow(
        _ ladder: SnapshotLadder, count: Int, sizes: ClosedRange<Int64> = 1...1,
        _ random: inout SeededGenerator, check: (Int, [SnapshotLadder.Rung]) -> Void
    ) {
        var rungs: [SnapshotLadder.Rung] = []
        var sequence: Int64 = 0
        for number in 1...count {
            sequence += Int64.random(in: 10_000...12_000, using: &random)
            rungs.append(
                SnapshotLadder.Rung(
                    sequence: sequence, byteCount: Int64.random(in: sizes, using: &random)))
            let removed = Set(ladder.removed(of: rungs.shuffled(using: &random)))
            rungs.removeAll { removed.contains($0.sequence) }
            check(number, rungs)
        }
    }

    @Test(arguments: Seeds.chosen(3))
    func `a question folds not much more than half of what was appended since`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var worst = 0.0
        grow(.usual, count: 1_000, &random) { number, rungs in
            #expect(rungs.count == min(number, SnapshotLadder.usual.fileCount))
            guard let head = rungs.last?.sequence else { return }
            // The most expensive position is right before a snapshot, and starts from the previous
            // one.
            for (before, after) in zip([0] + rungs.map(\.sequence), rungs.map(\.sequence))
            where after <= head - 50_000 {
                worst = max(worst, Double(after - before) / Double(head - after))
            }
        }
        #expect(worst < 0.6, "seed \(seed)")
    }

    @Test(arguments: Seeds.chosen(3))
    func `the last three are always there, and the rest stays within its bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ladder = SnapshotLadder(fileCount: 10, byteCount: 1_000)
        var last: [Int64] = []
        grow(ladder, count: 300, sizes: 1...600, &random) { number, rungs in
            #expect(rungs.count <= 10)
            last.append(rungs.last?.sequence ?? 0)
            #expect(rungs.suffix(3).map(\.sequence) == last.suffix(3))
            #expect(
                rungs.count <= 3 || rungs.reduce(0) { $0 + $1.byteCount } <= 1_000, "\(number)")
        }
    }

    @Test func `snapshots that fit are kept`() {
        let rungs = (1...24).map { SnapshotLadder.Rung(sequence: $0 * 7, byteCount: 5) }
        #expect(SnapshotLadder.usual.removed(of: rungs) == [])
        #expect(SnapshotLadder.usual.removed(of: []) == [])
        #expect(SnapshotLadder(fileCount: 1, byteCount: 0).removed(of: rungs).count == 21)
    }
}
