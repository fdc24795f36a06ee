// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A layer of pictures that are there in levels, in one reference; never identified.
public class TiledLayer: Layer, @unchecked Sendable {
    private let info = Guarded<TileInfo?>(nil)

    /// How its tiles lie; nil before it is loaded.
    public var tileInfo: TileInfo? { info.current }

    func set(_ tileInfo: TileInfo) {
        info.current = tileInfo
        facts.withLock { $0.spatialReference = tileInfo.spatialReference }
    }

    override func isCompatible(with reference: SpatialReference) -> Bool {
        spatialReference.map { $0 == reference } ?? true
    }

    /// A tile's picture; nil where there is none.
    func tile(level: Int, row: Int, column: Int) async throws -> Data? { nil }

    override func picture(_ frame: ViewFrame) async throws -> LayerPicture? {
        guard let info = tileInfo else { return nil }
        let wanted = frame.resolution
        // The level whose pixels are not larger than the view's, or the last.
        let level =
            info.levelsOfDetail.first { $0.resolution <= wanted * 1.001 }
            ?? info.levelsOfDetail[info.levelsOfDetail.count - 1]
        let area = frame.pictureExtent
        let size = (
            x: level.resolution * Double(info.tileWidth),
            y: level.resolution * Double(info.tileHeight)
        )
        func index(_ value: Double) -> Int { Int(max(-1e9, min(1e9, value.rounded(.down)))) }
        let columns =
            index((area.xMin - info.originX) / size.x)...index((area.xMax - info.originX) / size.x)
        let rows =
            index((info.originY - area.yMax) / size.y)...index((info.originY - area.yMin) / size.y)
        guard columns.count * rows.count <= 1_024 else {
            throw CairnError(
                .invalidState,
                "\(name): the view needs more than 1024 tiles of level \(level.level)")
        }
        var parts: [LayerPicture] = []
        try await withThrowingTaskGroup(of: LayerPicture?.self) { group in
            for row in rows where row >= 0 {
                for column in columns where column >= 0 {
                    let box = Envelope(
                        xMin: info.originX + Double(column) * size.x,
                        yMin: info.originY - Double(row + 1) * size.y,
                        xMax: info.originX + Double(column + 1) * size.x,
                        yMax: info.originY - Double(row) * size.y,
                        spatialReference: info.spatialReference)
                    group.addTask {
                        let picture = try await self.tile(
                            level: level.level, row: row, column: column)
                        return picture.map { LayerPicture(png: $0, extent: box) }
                    }
                }
            }
            for try await part in group { if let part { parts.append(part) } }
        }
        return parts.isEmpty ? nil : LayerPicture(parts: parts)
    }
}
