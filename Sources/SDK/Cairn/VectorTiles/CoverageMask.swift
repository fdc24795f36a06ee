// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// How much of each pixel of a rectangle shapes cover, summed up from the areas beside their edges.
///
/// What is drawn together is one shape: pixels that several of its parts cover are laid over what
/// is below once. Rings whose orientations differ are holes in each other.
struct CoverageMask {
    typealias Point = (x: Double, y: Double)

    /// The pixels that may be drawn.
    let columns, rows: Range<Int>
    private var cells: [Float]
    /// The cells of each row that hold something.
    private var spans: [Range<Int>]
    private let stride: Int

    init(columns: Range<Int>, rows: Range<Int>) {
        self.columns = columns
        self.rows = rows
        // An edge at the right end also writes into the cell after the last.
        stride = columns.count + 2
        cells = [Float](repeating: 0, count: stride * rows.count)
        spans = [Range<Int>](repeating: 0..<0, count: rows.count)
    }

    /// Adds a ring; its last position is joined to the first.
    mutating func add(_ ring: [Point], _ budget: DrawingBudget) {
        guard var last = ring.last, !columns.isEmpty else { return }
        budget.spend(ring.count)
        for point in ring {
            add(last, point, budget)
            last = point
        }
    }

    private mutating func add(_ from: Point, _ to: Point, _ budget: DrawingBudget) {
        let direction: Double = from.y < to.y ? 1 : -1
        let (upper, lower) = from.y < to.y ? (from, to) : (to, from)
        let base = (x: Double(columns.lowerBound), y: Double(rows.lowerBound))
        let (y0, y1) = (max(upper.y - base.y, 0), min(lower.y - base.y, Double(rows.count)))
        // A piece as flat as this covers nothing, and its slope is no number.
        guard y0 < y1, lower.y - upper.y > 1e-9 else { return }
        let slope = (lower.x - upper.x) / (lower.y - upper.y)
        func x(_ y: Double) -> Double { upper.x - base.x + (y + base.y - upper.y) * slope }
        // The part to the left of the rectangle counts as its left side, what is to the right not.
        let width = Double(columns.count)
        var cuts = [y0, y1]
        for side in [0, width] where slope != 0 {
            let y = upper.y - base.y + (side + base.x - upper.x) / slope
            if y > y0, y < y1 { cuts.append(y) }
        }
        cuts.sort()
        budget.spend(Int(y1 - y0) + 1)
        for (start, end) in zip(cuts, cuts.dropFirst()) where start < end {
            let (left, right) = (min(max(x(start), 0), width), min(max(x(end), 0), width))
            if left >= width, right >= width { continue }
            addPiece((left, start), (right, end), direction)
        }
    }

    /// Adds an edge that lies in the rectangle and leads downwards.
    private mutating func addPiece(_ from: Point, _ to: Point, _ direction: Double) {
        let slope = (to.x - from.x) / (to.y - from.y)
        var row = Int(from.y)
        var (x, y) = from
        while y < to.y, row < rows.count {
            let end = min(Double(row + 1), to.y)
            let next = end == to.y ? to.x : from.x + (end - from.y) * slope
            addRow(row, min(x, next), max(x, next), Float((end - y) * direction))
            (x, y) = (next, end)
            row += 1
        }
    }

    /// Adds the area to the right of an edge within a row.
    private mutating func addRow(_ row: Int, _ left: Double, _ right: Double, _ height: Float) {
        let first = min(Int(left), stride - 2)
        let last = min(Int(right.rounded(.up)), stride - 1)
        let start = row * stride
        let span = spans[row]
        let end = max(last, first + 1) + 1
        spans[row] =
            span.isEmpty ? first..<end : min(span.lowerBound, first)..<max(span.upperBound, end)
        if last <= first + 1 {
            let beside = Float((left + right) / 2 - Double(first))
            cells[start + first] += height * (1 - beside)
            cells[start + first + 1] += height * beside
            return
        }
        // The edge crosses several columns: what of each is to the right of it.
        let steepness = 1 / (right - left)
        var before: Double = 0
        for column in first..<last {
            let (from, to) = (max(left, Double(column)), min(right, Double(column + 1)))
            let share = (to - from) * steepness
            let middle = (from + to) / 2 - Double(column)
            let covered = before + share * (1 - middle)
            cells[start + column] += height * Float(covered - before)
            cells[start + column + 1] += height * Float(share - (covered - before))
            before += share
        }
    }

    /// Lays a color over what is covered, and is empty afterwards.
    ///
    /// - Parameter owns: Which of the pixels may be drawn.
    mutating func flush(
        into raster: inout Raster, _ color: SymbolColor, _ opacity: Double,
        _ budget: DrawingBudget, where owns: ((_ x: Int, _ y: Int) -> Bool)?
    ) {
        for row in spans.indices where !spans[row].isEmpty {
            let start = row * stride
            var sum: Float = 0
            budget.spend(spans[row].count)
            for column in spans[row] {
                sum += cells[start + column]
                cells[start + column] = 0
                let cover = min(1, abs(sum))
                guard column < columns.count, cover > 1 / 512 else { continue }
                let (x, y) = (columns.lowerBound + column, rows.lowerBound + row)
                guard owns?(x, y) ?? true else { continue }
                raster.blend(color, Float(opacity) * cover, x, y)
            }
            // What is covered up to the right end.
            if abs(sum) > 1 / 512, spans[row].upperBound < columns.count {
                budget.spend(columns.count)
                for column in spans[row].upperBound..<columns.count {
                    let (x, y) = (columns.lowerBound + column, rows.lowerBound + row)
                    if owns?(x, y) ?? true {
                        raster.blend(color, Float(opacity) * min(1, abs(sum)), x, y)
                    }
                }
            }
            spans[row] = 0..<0
        }
    }
}
