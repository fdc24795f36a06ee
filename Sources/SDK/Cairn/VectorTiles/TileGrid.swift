// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Which vector tiles a view shows, and where each lies in it.
struct TileGrid: Sendable {
    /// Pixels of 1/96 inch of a tile at the zoom of its level.
    static let side = 512.0
    /// The most tiles of a picture.
    private static let limit = 1_024

    let level: Int
    let columns, rows: ClosedRange<Int>
    /// The zoom as styles count it: of level 0 a tile has 512 pixels at zoom 0.
    let zoom: Double
    /// Pixels of the view for one of 1/96 inch.
    let ratio: Double
    private let frame: ViewFrame
    private let origin: Place
    private let size: (x: Double, y: Double)

    /// The tiles of a view: of the deepest level whose tiles have 512 pixels or more.
    ///
    /// - Parameter deepest: The deepest level that there is; nil for the last of `info`.
    init?(_ frame: ViewFrame, _ info: TileInfo, deepest: Int?) throws {
        let levels = info.levelsOfDetail.filter { $0.level <= deepest ?? .max }
        guard let first = levels.first ?? info.levelsOfDetail.first else { return nil }
        ratio = frame.dpi / 96
        // Units of the reference for a pixel of 1/96 inch.
        let unit = frame.resolution * ratio
        func pixels(_ level: TileInfo.LevelOfDetail) -> Double {
            level.resolution * Double(info.tileWidth) / unit
        }
        let chosen = levels.last { pixels($0) >= Self.side * 0.999 } ?? first
        guard pixels(chosen) > 0, pixels(chosen) < 1e12 else {
            throw CairnError(
                .invalidState,
                "the view's scale of 1:\(frame.scale) is too far from that of the tiles")
        }
        level = chosen.level
        // Scales are published with fewer digits than zooms have.
        let exact = Double(chosen.level) + Foundation.log2(pixels(chosen) / Self.side)
        zoom = (exact * 1_000).rounded() / 1_000
        size = (
            chosen.resolution * Double(info.tileWidth), chosen.resolution * Double(info.tileHeight)
        )
        self.frame = frame
        origin = Place(info.originX, info.originY)
        var area = frame.pictureExtent
        if info.spatialReference == .webMercator {
            let world = Envelope.webMercatorWorld
            guard area.xMin < world.xMax, area.xMax > world.xMin, area.yMin < world.yMax,
                area.yMax > world.yMin
            else { return nil }
            // There are no tiles beyond the world's ends.
            let inside = chosen.resolution / 2
            area = Envelope(
                xMin: max(area.xMin, world.xMin + inside),
                yMin: max(area.yMin, world.yMin + inside),
                xMax: min(area.xMax, world.xMax - inside),
                yMax: min(area.yMax, world.yMax - inside))
        }
        func index(_ value: Double) -> Int { Int(max(-1e9, min(1e9, value.rounded(.down)))) }
        let last = (
            column: index((area.xMax - info.originX) / size.x),
            row: index((info.originY - area.yMin) / size.y)
        )
        let start = (
            column: max(0, index((area.xMin - info.originX) / size.x)),
            row: max(0, index((info.originY - area.yMax) / size.y))
        )
        guard start.column <= last.column, start.row <= last.row else { return nil }
        columns = start.column...last.column
        rows = start.row...last.row
        guard columns.count <= Self.limit, rows.count <= Self.limit,
            columns.count * rows.count <= Self.limit
        else {
            throw CairnError(
                .invalidState, "the view needs more than \(Self.limit) tiles of level \(level)")
        }
    }

    /// Where a tile lies in the view.
    struct Spot: Sendable {
        var column: Int
        var row: Int
        /// The pixel of the upper left corner, and the ways from it along the upper and left sides.
        var corner, right, down: (x: Double, y: Double)

        /// The pixel of a position; a tile has a side of `extent`.
        func pixel(_ x: Double, _ y: Double, of extent: Double) -> (x: Double, y: Double) {
            let (across, along) = (x / extent, y / extent)
            return (
                corner.x + right.x * across + down.x * along,
                corner.y + right.y * across + down.y * along
            )
        }
    }

    func spot(_ column: Int, _ row: Int) -> Spot {
        func pixel(_ column: Int, _ row: Int) -> (x: Double, y: Double) {
            frame.pixel(
                Place(origin.x + Double(column) * size.x, origin.y - Double(row) * size.y))
        }
        let (corner, right) = (pixel(column, row), pixel(column + 1, row))
        let down = pixel(column, row + 1)
        return Spot(
            column: column, row: row, corner: corner,
            right: (right.x - corner.x, right.y - corner.y),
            down: (down.x - corner.x, down.y - corner.y))
    }

    private var isTurned: Bool { frame.rotation.truncatingRemainder(dividingBy: 360) != 0 }

    /// The pixels of the view in which a tile lies, of a picture of that size.
    ///
    /// Every pixel is one tile's: that in which its middle is. In a turned view the pixels of a
    /// tile are those of the rectangle that ``owner(_:_:)`` has.
    func pixels(
        _ column: Int, _ row: Int, width: Int, height: Int
    ) -> (columns: Range<Int>, rows: Range<Int>) {
        func clamped(_ value: Double, _ count: Int) -> Int {
            Int(min(max(value, 0), Double(count)))
        }
        let spot = spot(column, row)
        guard isTurned else {
            let end = self.spot(column + 1, row + 1).corner
            func first(_ value: Double, _ count: Int) -> Int {
                clamped((value - 0.5).rounded(.up), count)
            }
            let (left, top) = (first(spot.corner.x, width), first(spot.corner.y, height))
            return (left..<max(left, first(end.x, width)), top..<max(top, first(end.y, height)))
        }
        let corners = [(0.0, 0.0), (1, 0), (0, 1), (1, 1)].map { spot.pixel($0.0, $0.1, of: 1) }
        let (xs, ys) = (corners.map(\.x), corners.map(\.y))
        let left = clamped((xs.min() ?? 0).rounded(.down), width)
        let top = clamped((ys.min() ?? 0).rounded(.down), height)
        return (
            left..<max(left, clamped((xs.max() ?? 0).rounded(.up), width)),
            top..<max(top, clamped((ys.max() ?? 0).rounded(.up), height))
        )
    }

    /// In a turned view, whether a pixel is a tile's; nil where ``pixels(_:_:width:height:)`` says
    /// it all.
    func owner(_ column: Int, _ row: Int) -> ((_ x: Int, _ y: Int) -> Bool)? {
        guard isTurned else { return nil }
        let (zero, right, down) = (
            frame.location(0, 0), frame.location(1, 0), frame.location(0, 1)
        )
        let (origin, size) = (origin, size)
        return { x, y in
            let (x, y) = (Double(x) + 0.5, Double(y) + 0.5)
            let place = (
                x: zero.x + (right.x - zero.x) * x + (down.x - zero.x) * y,
                y: zero.y + (right.y - zero.y) * x + (down.y - zero.y) * y
            )
            return ((place.x - origin.x) / size.x).rounded(.down) == Double(column)
                && ((origin.y - place.y) / size.y).rounded(.down) == Double(row)
        }
    }
}
