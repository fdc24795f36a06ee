// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry

extension TileSelection {
    /// The most rows of tiles that the sides of an area cross, all sides and levels together.
    static let crossingLimit = 10_000_000

    /// Number of tiles that touch the area, and so are drawn.
    ///
    /// Throws `invalidParameter` for an area whose sides cross more than ten million rows of tiles.
    ///
    /// - Parameter name: The parameter with the area, for that failure.
    public func touchedTileCount(areaIn name: String = "area") throws(Failure) -> Int {
        guard case .polygon(let rings)? = area else { return tileCount }
        let sides = rings.flatMap { ring in zip(ring, ring.dropFirst()).map { Side($0, $1) } }
        var (total, crossings) = (0, 0)
        for level in levels {
            guard let rectangle = rectangle(at: level) else { continue }
            var rows = TouchedRows(level: level, rectangle: rectangle, sides: sides)
            crossings += rows.crossingCount
            guard crossings <= Self.crossingLimit else {
                throw ParameterTexts.fault(
                    name,
                    "an area whose sides cross at most \(Self.crossingLimit) rows of tiles: "
                        + "generalise it")
            }
            while let count = rows.nextCount() { total += count }
        }
        return total
    }

    /// A side of a ring.
    fileprivate struct Side {
        var a: Coordinate
        var b: Coordinate

        init(_ a: Coordinate, _ b: Coordinate) { (self.a, self.b) = (a, b) }
    }
}

/// The rows of tiles of a level from the top, each with the number of its tiles that touch an area.
///
/// The decisions are those of `TileSelection.contains`, but a side is asked only at its ends in
/// each row that it crosses, and a middle only at the crossings of its row.
private struct TouchedRows {
    private let level: Int
    private let rectangle: TileRectangle
    /// By their first row, each with the rows that it may touch.
    private let sides: [(side: TileSelection.Side, rows: ClosedRange<Int>)]
    private var row: Int
    private var next = 0
    private var active: [Int] = []

    init(level: Int, rectangle: TileRectangle, sides: [TileSelection.Side]) {
        self.level = level
        self.rectangle = rectangle
        row = rectangle.rows.lowerBound
        let (half, length) = (TileAddress.halfWorldMeters, TileAddress.side(at: level))
        let count = Double(TileAddress.count(at: level))
        func place(_ y: Double) -> Int {
            Int(max(-1, min(count, ((half - y) / length).rounded(.down))))
        }
        self.sides = sides.compactMap { side in
            // A row more on both sides, for what is rounded.
            let first = place(max(side.a.y, side.b.y)) - 1
            let last = place(min(side.a.y, side.b.y)) + 1
            guard last >= rectangle.rows.lowerBound, first <= rectangle.rows.upperBound else {
                return nil
            }
            return (side, (first...last).clamped(to: rectangle.rows))
        }.sorted { $0.rows.lowerBound < $1.rows.lowerBound }
    }

    /// The rows that all sides cross, together.
    var crossingCount: Int { sides.reduce(0) { $0 + $1.rows.count } }

    /// The number of the next row; nil after the last.
    mutating func nextCount() -> Int? {
        guard row <= rectangle.rows.upperBound else { return nil }
        while next < sides.count, sides[next].rows.lowerBound <= row {
            active.append(next)
            next += 1
        }
        active.removeAll { [sides, row] in sides[$0].rows.upperBound < row }
        var touched = active.compactMap { columns(of: sides[$0].side) }
        touched += inside()
        row += 1
        return Self.count(touched)
    }

    private func tile(_ column: Int) -> Envelope? {
        guard rectangle.columns ~= column else { return nil }
        return TileAddress(level: level, row: row, column: column)?.extent
    }

    private func column(_ x: Double) -> Int {
        let (half, length) = (TileAddress.halfWorldMeters, TileAddress.side(at: level))
        let count = Double(TileAddress.count(at: level))
        return Int(max(0, min(count - 1, ((x + half) / length).rounded(.down))))
    }

    /// The columns that a side touches in the row.
    private func columns(of side: TileSelection.Side) -> ClosedRange<Int>? {
        func touches(_ column: Int) -> Bool {
            tile(column).map { !$0.clip(path: [side.a, side.b]).isEmpty } ?? false
        }
        guard let square = TileAddress(level: level, row: row, column: 0)?.extent else {
            return nil
        }
        let band = Envelope(
            minX: -.infinity, minY: square.minY, maxX: .infinity, maxY: square.maxY)
        guard let piece = band.clip(path: [side.a, side.b]).first else { return nil }
        let ends = piece.map(\.x)
        guard let least = ends.min(), let most = ends.max() else { return nil }
        var (first, last) = (column(least) - 1, column(most) + 1)
        first = max(first, rectangle.columns.lowerBound)
        last = min(last, rectangle.columns.upperBound)
        while first <= last, !touches(first) { first += 1 }
        while first <= last, !touches(last) { last -= 1 }
        return first <= last ? first...last : nil
    }

    /// The columns whose middles in the row are inside, by the even-odd rule.
    private func inside() -> [ClosedRange<Int>] {
        guard let square = TileAddress(level: level, row: row, column: 0)?.extent else { return [] }
        let y = (square.minY + square.maxY) / 2
        let crossings = active.compactMap { index -> Double? in
            let (a, b) = (sides[index].side.a, sides[index].side.b)
            guard (a.y > y) != (b.y > y) else { return nil }
            return a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x)
        }.sorted()
        func middle(_ column: Int) -> Double? { tile(column).map { ($0.minX + $0.maxX) / 2 } }
        return stride(from: 0, to: crossings.count - 1, by: 2).compactMap { index in
            let (from, to) = (crossings[index], crossings[index + 1])
            var first = max(column(from) - 1, rectangle.columns.lowerBound)
            var last = min(column(to) + 1, rectangle.columns.upperBound)
            while first <= last, middle(first).map({ $0 < from }) ?? true { first += 1 }
            while first <= last, middle(last).map({ $0 >= to }) ?? true { last -= 1 }
            return first <= last ? first...last : nil
        }
    }

    /// Number of columns in any of the ranges.
    private static func count(_ ranges: [ClosedRange<Int>]) -> Int {
        var (count, end) = (0, Int.min)
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            let start = max(range.lowerBound, end)
            guard range.upperBound >= start else { continue }
            count += range.upperBound - start + 1
            end = range.upperBound + 1
        }
        return count
    }
}
