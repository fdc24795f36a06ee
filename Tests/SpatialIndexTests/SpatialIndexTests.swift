// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import SpatialIndex
import TestKit
import Testing

@Suite struct PackedHilbertTreeTests {
    private static let seed: UInt64 = 20_261_121

    private func envelopes(_ count: Int, _ generator: inout SeededGenerator) -> [Envelope] {
        (0..<count).map { _ in
            let x = Double.random(in: -180...180, using: &generator)
            let y = Double.random(in: -90...90, using: &generator)
            let size = Double.random(in: 0...5, using: &generator)
            return Envelope(minX: x, minY: y, maxX: x + size, maxY: y + size / 2)
        }
    }

    private func packed(_ envelopes: [Envelope], _ nodeSize: Int) throws -> (
        tree: PackedHilbertTree, bytes: [UInt8], order: [Int]
    ) {
        let order = PackedHilbertTree.hilbertOrder(envelopes)
        let items = order.map { (envelope: envelopes[$0], offset: UInt64($0)) }
        return (
            try #require(PackedHilbertTree(itemCount: envelopes.count, nodeSize: nodeSize)),
            try #require(PackedHilbertTree.pack(items, nodeSize: nodeSize)), order
        )
    }

    private func found(
        _ tree: PackedHilbertTree, _ bytes: [UInt8], _ wanted: Envelope
    ) -> [UInt64] {
        var result: [UInt64] = []
        unsafe tree.search(bytes.span.bytes, wanted) { result.append($0.offset) }
        return result
    }

    private func root(_ tree: PackedHilbertTree, _ bytes: [UInt8]) -> Envelope? {
        unsafe tree.rootEnvelope(in: bytes.span.bytes)
    }

    private func leaf(
        _ tree: PackedHilbertTree, _ bytes: [UInt8], _ ordinal: Int
    ) -> PackedHilbertTree.Leaf? {
        unsafe tree.leaf(at: ordinal, in: bytes.span.bytes)
    }

    @Test(arguments: [1, 2, 3, 15, 16, 17, 255, 256, 257, 2000], [2, 3, 16, 64])
    func `a search finds exactly what a scan finds`(count: Int, nodeSize: Int) throws {
        var generator = SeededGenerator(seed: Self.seed &+ UInt64(count * 100 + nodeSize))
        let all = envelopes(count, &generator)
        let (tree, bytes, order) = try packed(all, nodeSize)

        #expect(bytes.count == tree.byteCount)
        #expect(root(tree, bytes) == all.reduce(.empty) { $0.union($1) })
        for wanted in envelopes(50, &generator) + [Envelope.empty, all[0]] {
            let expected = order.filter { all[$0].intersects(wanted) }.map { UInt64($0) }
            #expect(found(tree, bytes, wanted) == expected, "seed \(generator.seed)")
        }
        for ordinal in 0..<count {
            let found = try #require(leaf(tree, bytes, ordinal))
            #expect(found.envelope == all[order[ordinal]] && found.ordinal == ordinal)
        }
    }

    @Test func `touching rectangles meet`() throws {
        let all = [Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)]
        let (tree, bytes, _) = try packed(all, 16)
        #expect(found(tree, bytes, Envelope(minX: 1, minY: 1, maxX: 2, maxY: 2)) == [0])
        #expect(found(tree, bytes, Envelope(minX: 1.0001, minY: 1, maxX: 2, maxY: 2)).isEmpty)
    }

    @Test func `a cut tree is not searched`() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let (tree, bytes, _) = try packed(envelopes(100, &generator), 16)
        let everywhere = Envelope(minX: -1000, minY: -1000, maxX: 1000, maxY: 1000)
        #expect(found(tree, bytes, everywhere).count == 100)
        for count in [0, 39, 40, bytes.count - 1] {
            let cut = Array(bytes.prefix(count))
            #expect(found(tree, cut, everywhere).isEmpty)
            #expect(leaf(tree, cut, 99) == nil)
            #expect(root(tree, cut) == nil)
        }
    }

    @Test func `damaged nodes never lead outside the tree`() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let (tree, bytes, _) = try packed(envelopes(300, &generator), 4)
        for _ in 0..<2000 {
            var damaged = bytes
            for _ in 0..<8 {
                damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            let wanted = envelopes(1, &generator)[0]
            #expect(found(tree, damaged, wanted).count <= 300, "seed \(generator.seed)")
        }
    }

    @Test(arguments: [(0, 16), (-1, 16), (1, 1), (1, 65536), (PackedHilbertTree.itemLimit + 1, 16)])
    func `impossible trees are refused`(itemCount: Int, nodeSize: Int) {
        #expect(PackedHilbertTree(itemCount: itemCount, nodeSize: nodeSize) == nil)
    }

    @Test func `the Hilbert order keeps neighbours together`() {
        // Along the curve consecutive cells of a full grid touch: total length is count - 1.
        let side = 16
        let cells = (0..<side * side).map { index -> Envelope in
            let (x, y) = (Double(index % side), Double(index / side))
            return Envelope(minX: x, minY: y, maxX: x, maxY: y)
        }
        let order = PackedHilbertTree.hilbertOrder(cells)
        var length = 0.0
        for (one, next) in zip(order, order.dropFirst()) {
            length += abs(cells[one].minX - cells[next].minX)
            length += abs(cells[one].minY - cells[next].minY)
        }
        #expect(order.sorted() == Array(cells.indices))
        #expect(length == Double(side * side - 1))
    }
}
