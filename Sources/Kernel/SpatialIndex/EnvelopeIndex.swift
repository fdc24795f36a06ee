// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// A packed Hilbert tree that owns its bytes: for rectangles that exist in memory only.
public struct EnvelopeIndex: Sendable {
    private let tree: PackedHilbertTree?
    private let bytes: [UInt8]

    /// Packs the rectangles; empty ones are never found.
    ///
    /// O(n log n), 43 bytes per rectangle.
    public init(_ envelopes: [Envelope]) {
        let kept = envelopes.indices.filter { !envelopes[$0].isEmpty }
        let order = PackedHilbertTree.hilbertOrder(kept.map { envelopes[$0] })
        let items = order.map { (envelopes[kept[$0]], UInt64(kept[$0])) }
        tree = PackedHilbertTree(itemCount: items.count, nodeSize: 16)
        bytes = PackedHilbertTree.pack(items) ?? []
    }

    /// The places, in the list it was made from, of all rectangles that share a point with
    /// `envelope`; rising.
    public func search(_ envelope: Envelope) -> [Int] {
        var result: [Int] = []
        if let tree {
            unsafe tree.search(bytes.span.bytes, envelope) { result.append(Int($0.offset)) }
        }
        return result.sorted()
    }
}
