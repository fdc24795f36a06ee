// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Which features leave a tile that would have too many bytes.
///
/// The bound is shared out: layers that need less than an equal share have all they need, what they
/// leave is shared by the others. A layer above its share gives up its least features, by halving
/// until as few go as make it fit. Points go first, then lines, then areas; the shortest lines and
/// smallest areas first, by what the tile shows of them; points, and others that are equal, by a
/// hash of id and place.
struct SizeBound {
    /// The most bytes of each layer, from the bytes that each needs.
    static func shares(of sizes: [Int], limit: Int) -> [Int] {
        var left = limit
        var result = sizes
        let ascending = sizes.indices.sorted { (sizes[$0], $0) < (sizes[$1], $1) }
        for (number, layer) in ascending.enumerated() {
            result[layer] = min(sizes[layer], left / (sizes.count - number))
            left -= result[layer]
        }
        return result
    }

    /// Numbers of a layer's features in the tile, the least first.
    static func order(of content: TileLayer, in layer: VectorTileLayer) -> [Int] {
        content.features.indices.sorted { one, other in
            let (a, b) = (content.features[one], content.features[other])
            if a.kind != b.kind { return a.kind.rawValue < b.kind.rawValue }
            if a.measure != b.measure { return a.measure < b.measure }
            let (first, second) = (
                layer.features[a.number].dust.hash, layer.features[b.number].dust.hash
            )
            return first == second ? one < other : first < second
        }
    }

    /// The bytes of a layer with as many features as fit, and the number of those that went.
    static func fit(
        _ content: TileLayer, of layer: VectorTileLayer, within share: Int,
        encode: ((Int) -> Bool) -> [UInt8]
    ) -> (bytes: [UInt8], gone: [Int]) {
        let order = order(of: content, in: layer)
        var ranks = [Int](repeating: 0, count: order.count)
        for (rank, feature) in order.enumerated() { ranks[feature] = rank }
        var (low, high) = (1, order.count)
        var best: [UInt8] = []
        while low < high {
            let middle = (low + high) / 2
            let bytes = encode { ranks[$0] >= middle }
            if bytes.count <= share { (high, best) = (middle, bytes) } else { low = middle + 1 }
        }
        return (low == order.count ? [] : best, Array(order[..<low]))
    }
}
