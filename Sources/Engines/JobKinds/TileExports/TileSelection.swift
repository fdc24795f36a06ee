// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import TilePackages

/// The tiles of an export: those of some levels that touch an area.
public struct TileSelection: Hashable, Sendable {
    /// The most tiles of an export.
    public static let tileLimit = 4_000_000

    /// Rising, each once.
    public let levels: [Int]
    /// In EPSG:3857; nil for the whole world.
    public let area: Shape?

    /// Selects them; throws `invalidParameter` for an area outside the world, and for more than
    /// ``tileLimit`` tiles, with their number.
    public init(levels: [Int], area: Shape?) throws(Failure) {
        self.levels = levels
        self.area = area
        guard levels.allSatisfy({ rectangle(at: $0) != nil }) else {
            throw ParameterTexts.fault(
                "area", "one that touches the world between 85.06 degrees south and north")
        }
        guard tileCount <= Self.tileLimit else {
            throw Failure(
                .invalidParameter,
                "parameter 'levels': these are \(tileCount) tiles, expected at most "
                    + "\(Self.tileLimit)")
        }
    }

    /// Those of an export of tiles with the given parameters; throws `invalidParameter`, naming the
    /// one at fault, and `internal` for another kind of job.
    public init(_ texts: ParameterTexts, of kind: JobKind) throws(Failure) {
        switch kind {
        case .exportTiles: self = try ExportTiles.settings(texts, submitted: .max).0.selection
        case .exportVectorTiles:
            self = try ExportVectorTiles.settings(texts, submitted: .max).selection
        default: throw Failure(.internal, "\(kind.rawValue) is no export of tiles")
        }
    }

    /// Number of tiles in the rectangles around the area, level by level.
    public var tileCount: Int {
        levels.compactMap { rectangle(at: $0)?.count }.reduce(0) { total, count in
            let (sum, isBeyond) = total.addingReportingOverflow(count)
            return isBeyond ? .max : sum
        }
    }

    /// The tiles of a level in the rectangle around the area; nil outside the world.
    func rectangle(at level: Int) -> TileRectangle? {
        let count = TileAddress.count(at: level)
        guard let area else { return TileRectangle(rows: 0...count - 1, columns: 0...count - 1) }
        return TileRectangle(of: area.envelope, at: level)
    }

    /// Whether the area touches a tile.
    func contains(_ tile: TileAddress) -> Bool {
        guard let rectangle = rectangle(at: tile.level), rectangle.rows ~= tile.row,
            rectangle.columns ~= tile.column
        else { return false }
        guard case .polygon(let rings)? = area else { return true }
        let square = tile.extent
        if rings.contains(where: { !square.clip(path: $0).isEmpty }) { return true }
        let middle = Coordinate(
            x: (square.minX + square.maxX) / 2, y: (square.minY + square.maxY) / 2)
        return rings.count { $0.surrounds(middle) } % 2 == 1
    }
}

/// A rectangle of tiles of one level.
struct TileRectangle: Hashable, Sendable {
    var rows: ClosedRange<Int>
    var columns: ClosedRange<Int>

    var count: Int { rows.count * columns.count }

    init(rows: ClosedRange<Int>, columns: ClosedRange<Int>) {
        self.rows = rows
        self.columns = columns
    }

    /// The tiles of a level that a rectangle in EPSG:3857 touches; nil outside the world.
    init?(of box: Envelope, at level: Int) {
        let count = TileAddress.count(at: level)
        let (half, side) = (TileAddress.halfWorldMeters, TileAddress.side(at: level))
        guard box.isFinite, !box.isEmpty, box.minX < half, box.maxX > -half, box.minY < half,
            box.maxY > -half
        else { return nil }
        func place(_ meters: Double) -> Int {
            min(max(Int((meters / side).rounded(.down)), 0), count - 1)
        }
        // A border between tiles is of the following one alone.
        func range(_ first: Double, _ last: Double) -> ClosedRange<Int> {
            let start = place(first)
            let end = min(max(Int((last / side).rounded(.up)) - 1, start), count - 1)
            return start...end
        }
        self.init(
            rows: range(max(half - box.maxY, 0), min(half - box.minY, 2 * half)),
            columns: range(max(box.minX + half, 0), min(box.maxX + half, 2 * half)))
    }

    /// Its tiles, rows from the top.
    func tiles(at level: Int) -> [TileAddress] {
        rows.flatMap { row in
            columns.compactMap { TileAddress(level: level, row: row, column: $0) }
        }
    }

    /// The part that is in another rectangle; nil for none.
    func part(in other: TileRectangle) -> TileRectangle? {
        guard rows.overlaps(other.rows), columns.overlaps(other.columns) else { return nil }
        return TileRectangle(
            rows: rows.clamped(to: other.rows), columns: columns.clamped(to: other.columns))
    }

    /// The rectangle of squares of `side` tiles that meet it.
    func blocks(of side: Int) -> TileRectangle {
        TileRectangle(
            rows: rows.lowerBound / side...rows.upperBound / side,
            columns: columns.lowerBound / side...columns.upperBound / side)
    }

    /// The part that is in one such square.
    func part(inBlock row: Int, _ column: Int, of side: Int) -> TileRectangle? {
        let down = rows.clamped(to: row * side...row * side + side - 1)
        let across = columns.clamped(to: column * side...column * side + side - 1)
        guard down.lowerBound / side == row, across.lowerBound / side == column else { return nil }
        return TileRectangle(rows: down, columns: across)
    }

    /// Rectangles of at most `count` members, in rows from the top: whole rows where they fit.
    func cut(by count: Int) -> [TileRectangle] {
        if columns.count <= count {
            let height = count / columns.count
            return stride(from: rows.lowerBound, through: rows.upperBound, by: height).map { row in
                TileRectangle(
                    rows: row...min(row + height - 1, rows.upperBound), columns: columns)
            }
        }
        return rows.flatMap { row in
            stride(from: columns.lowerBound, through: columns.upperBound, by: count).map { column in
                TileRectangle(
                    rows: row...row, columns: column...min(column + count - 1, columns.upperBound))
            }
        }
    }
}

extension [Coordinate] {
    /// Whether a closed ring surrounds a place that is not on it.
    fileprivate func surrounds(_ place: Coordinate) -> Bool {
        var isInside = false
        for (a, b) in zip(self, dropFirst()) where (a.y > place.y) != (b.y > place.y) {
            let x = a.x + (place.y - a.y) / (b.y - a.y) * (b.x - a.x)
            if place.x < x { isInside.toggle() }
        }
        return isInside
    }
}
