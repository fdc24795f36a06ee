// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// Makes Mapbox Vector Tiles, version 2.1, of layers.
///
/// A tile's bytes follow from its address, the options and the features that touch its buffered
/// square, in their order, and from nothing else: one tile made by ``tile(_:)`` equals the same
/// tile of a run over any block.
///
/// Rings: Areas are what the even-odd rule says of the rounded rings, whatever their winding. Rings
/// of a tile are simple, neither cross nor share edges, exteriors have a positive area in the
/// tile's coordinates, holes follow theirs. Lines have two vertices or more, no two in a row alike.
/// Points of one feature in one cell are one. What is left of a feature in the grid is kept; one of
/// which nothing is left is replaced by a square or stroke of one step if chance, in proportion to
/// its size, says so, else it has vanished. The report counts each.
///
/// Labels: The position of an area's label is in that tile of a level alone whose square, without
/// its buffer, it is in, and has vanished where the area is less than 64 of 4,096 cells wide and
/// high.
public struct VectorTileBuilder: Sendable {
    /// Grid and bounds.
    public let options: VectorTileOptions
    /// The layers in their order in each tile, the positions of labels behind their areas.
    public let layers: [VectorTileLayer]

    private var tiling = LayerTiling()
    private var collinear = CollinearVertices()
    private var encoding = LayerEncoding()

    /// A builder; throws `invalidParameter` where two layers have one name.
    public init(_ layers: [VectorTileLayer], options: VectorTileOptions = .standard)
        throws(Failure)
    {
        let layers = layers.flatMap { [$0] + $0.labels }
        var names: Set<String> = []
        for layer in layers where !names.insert(layer.name).inserted {
            throw Failure(
                .invalidParameter,
                "a tile has each layer once, so '\(layer.name)' cannot be the name of two")
        }
        self.layers = layers
        self.options = options
    }

    /// One tile.
    public mutating func tile(_ address: TileAddress) -> VectorTile {
        tile(address, layers.map(\.geometry))
    }

    /// Tiles below and including one, at some levels, each before those below it, rows from the
    /// top, columns from the left; tiles that no feature touches are passed over.
    ///
    /// Geometry is handed down from tile to tile, so that each sees only what is near it. Besides
    /// the layers, memory holds that of one path down.
    public mutating func run<E: Error>(
        below root: TileAddress, levels: ClosedRange<Int>,
        _ body: (TileAddress, VectorTile) throws(E) -> Void
    ) throws(E) {
        try descend(root, levels, layers.map(\.geometry), body)
    }

    private mutating func descend<E: Error>(
        _ address: TileAddress, _ levels: ClosedRange<Int>, _ geometry: [GeometryStore],
        _ body: (TileAddress, VectorTile) throws(E) -> Void
    ) throws(E) {
        guard address.level <= levels.upperBound else { return }
        let reach = TileFrame(address, options).reach
        var near: [GeometryStore] = []
        for (layer, geometry) in zip(layers, geometry) {
            near.append(geometry.trimmed(to: reach) { layer.features[$0].kind })
        }
        guard near.contains(where: { !$0.entries.isEmpty }) else { return }
        if levels ~= address.level {
            let tile = tile(address, near)
            if tile.report.layers.contains(where: { $0.touching > 0 }) { try body(address, tile) }
        }
        for row in 0...1 {
            for column in 0...1 {
                guard
                    let child = TileAddress(
                        level: address.level + 1, row: 2 * address.row + row,
                        column: 2 * address.column + column)
                else { continue }
                try descend(child, levels, near, body)
            }
        }
    }

    private mutating func tile(_ address: TileAddress, _ geometry: [GeometryStore]) -> VectorTile {
        let frame = TileFrame(address, options)
        var contents: [TileLayer] = []
        var encoded: [[UInt8]] = []
        for (layer, geometry) in zip(layers, geometry) {
            var content = tiling.content(of: layer, geometry, in: frame)
            collinear.drop(from: &content, frame)
            encoded.append(
                encoding.bytes(of: layer, content, extent: options.extent, buffer: options.buffer))
            contents.append(content)
        }
        if encoded.reduce(0, { $0 + $1.count }) > options.byteLimit {
            let sizes = encoded.map(\.count)
            for (index, share) in SizeBound.shares(of: sizes, limit: options.byteLimit).enumerated()
            where share < sizes[index] {
                encoded[index] = fit(&contents[index], of: layers[index], within: share)
            }
        }
        let bytes = encoded.flatMap(\.self)
        return VectorTile(
            bytes: bytes.isEmpty ? nil : bytes,
            report: VectorTileReport(layers: contents.map(\.fates)))
    }

    private mutating func fit(
        _ content: inout TileLayer, of layer: VectorTileLayer, within share: Int
    ) -> [UInt8] {
        let (bytes, gone) = SizeBound.fit(content, of: layer, within: share) { isKept in
            encoding.bytes(
                of: layer, content, extent: options.extent, buffer: options.buffer, where: isKept)
        }
        for feature in gone where content.features[feature].isReplaced {
            content.fates.replaced -= 1
            content.fates.kept += 1
        }
        content.fates.kept -= gone.count
        content.fates.dropped += gone.count
        return bytes
    }
}
