// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import VectorTiles

extension JobMaps {
    /// Makes the tiles below a tile, level ranges with equal layers together.
    ///
    /// - Parameter read: Receives the features that they are made of, before.
    func forEachVectorTile(
        below root: TileAddress, levels: ClosedRange<Int>, of layers: [TileLayer],
        in map: MapDescription, isCancelled: @escaping @Sendable () -> Bool,
        read: ([VectorTiles.VectorTileLayer]) -> Void,
        _ body: (TileAddress, VectorTile) throws -> Void
    ) throws {
        let shown = layers.filter { $0.levels.overlaps(levels) }
        guard !shown.isEmpty else { return }
        let area = VectorTileOptions.standard.reach(of: root)
        let contents = try tileContent(
            of: shown, in: map, meeting: area, isCancelled: isCancelled)
        read(contents)
        var first = levels.lowerBound
        while first <= levels.upperBound {
            let here = shown.map { $0.levels ~= first }
            var last = first
            while last < levels.upperBound, shown.map({ $0.levels ~= last + 1 }) == here {
                last += 1
            }
            let present = zip(contents, here).filter(\.1).map(\.0)
            if !present.isEmpty {
                var builder = try VectorTileBuilder(present)
                var number = 0
                try builder.run(below: root, levels: first...last) { tile, made in
                    number += 1
                    if number.isMultiple(of: 16), isCancelled() {
                        throw Failure(.cancelled, "the attempt was cancelled")
                    }
                    try body(tile, made)
                }
            }
            first = last + 1
        }
    }
}
