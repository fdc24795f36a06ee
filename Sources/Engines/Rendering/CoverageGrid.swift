// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Cairo
internal import Geometry

/// Computes the coverage of each pixel by closed rings, and paints it.
///
/// Coordinates are rounded to 1/256 of a pixel; all later arithmetic is exact in integers, so two
/// areas that share a border cover its pixels once together. Each edge adds, in each row, the area
/// between itself and the row's right end, as a difference from one pixel to the next; prefix sums
/// along the row are the coverage. It is the method of FreeType's smooth rasteriser (`ftgrays.c`)
/// on a dense grid, as in Raph Levien's font-rs, without cells to find and sort.
struct CoverageGrid {
    private let width: Int
    private let height: Int
    private var edges: [Edge] = []
    /// Vertical range of the edges, in 1/256 pixel.
    private var bottom = Int32.min
    private var top = Int32.max
    /// Difference buffer of some rows, two columns wider than the picture; all 0 between shapes.
    private var differences: [Int32] = []
    /// First and last touched column of those rows.
    private var touched: [(first: Int32, last: Int32)] = []
    /// Whether a cell of some columns was touched, by row: in others coverage does not change.
    private var cells: [Bool] = []
    private let cellCount: Int
    private var mask: CoverageMask

    /// An edge, in 1/256 pixel.
    private struct Edge {
        var x0, y0, x1, y1: Int32

        /// A vertical edge of the same height at `x`.
        func at(x: Int) -> Edge { Edge(x0: Int32(x), y0: y0, x1: Int32(x), y1: y1) }
    }

    /// Value of a fully covered pixel: 256 rows high, twice 256 columns wide.
    private static let full: Int32 = 256 * 512
    /// Limit of pixels per pass, a few rows of a large picture: the size of a cache.
    private static let bandPixels = 1 << 18
    /// Columns of a cell, as a power of two.
    private static let cellShift: Int32 = 5

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        mask = CoverageMask(width: width)
        cellCount = (width + 2) >> Int(Self.cellShift) + 1
    }

    /// Whether there are no edges to paint.
    var isEmpty: Bool { edges.isEmpty }

    /// Adds a ring, which is closed from its last coordinate to the first.
    mutating func add(ring: [Coordinate]) {
        guard var last = ring.last else { return }
        for place in ring {
            add(from: last, to: place)
            last = place
        }
    }

    /// Adds an edge in pixels, y down; the caller closes the ring.
    mutating func add(from start: Coordinate, to end: Coordinate) {
        let edge = Edge(
            x0: Self.fixed(start.x), y0: Self.fixed(start.y), x1: Self.fixed(end.x),
            y1: Self.fixed(end.y))
        guard edge.y0 != edge.y1 else { return }
        top = min(top, edge.y0, edge.y1)
        bottom = max(bottom, edge.y0, edge.y1)
        edges.append(edge)
    }

    /// Rounds to 1/256 pixel, clamping far coordinates.
    ///
    /// Halves round up; truncation of a positive number is one instruction, unlike `rounded`.
    private static func fixed(_ ordinate: Double) -> Int32 {
        let offset = 1 << 30
        let value = max(-4e6, min(4e6, ordinate)) * 256
        return Int32(truncatingIfNeeded: Int(value + (Double(offset) + 0.5)) - offset)
    }

    /// Paints the enclosed area, and clears the edges.
    mutating func paint(_ color: PaintColor, _ rule: Canvas.FillRule, on canvas: Canvas) {
        let rows = (Int(top) >> 8..<(max(Int(top), Int(bottom)) + 255) >> 8)
            .clamped(to: 0..<height)
        let bandHeight = max(1, Self.bandPixels / width)
        for first in stride(from: rows.lowerBound, to: rows.upperBound, by: bandHeight) {
            let band = first..<min(first + bandHeight, rows.upperBound)
            if differences.count < band.count * (width + 2) {
                differences = [Int32](repeating: 0, count: band.count * (width + 2))
            }
            touched.removeAll(keepingCapacity: true)
            touched.append(
                contentsOf: repeatElement((first: Int32(width) + 1, last: -1), count: band.count))
            if cells.count < band.count * cellCount {
                cells = [Bool](repeating: false, count: band.count * cellCount)
            }
            for edge in edges { sum(edge, band) }
            mask.reset(rows: band)
            for row in band { cover(row, band, rule) }
            canvas.paint(color, through: mask)
        }
        edges.removeAll(keepingCapacity: true)
        (top, bottom) = (.max, .min)
    }

    // MARK: Edges to differences

    /// Accumulates an edge in the rows of a band; parts to the left of the picture count at its
    /// border.
    private mutating func sum(_ edge: Edge, _ band: Range<Int>) {
        let limit = width << 8
        let (x0, x1) = (Int(edge.x0), Int(edge.x1))
        if max(x0, x1) <= 0 { return sumWithin(edge.at(x: 0), band) }
        if min(x0, x1) >= limit { return sumWithin(edge.at(x: limit), band) }
        if min(x0, x1) >= 0 && max(x0, x1) <= limit { return sumWithin(edge, band) }
        // Split where it crosses a border of the picture.
        let border = min(x0, x1) < 0 ? 0 : limit
        let (y0, y1) = (Int(edge.y0), Int(edge.y1))
        let y = Int32(y0 + (border - x0) * (y1 - y0) / (x1 - x0))
        sum(Edge(x0: edge.x0, y0: edge.y0, x1: Int32(border), y1: y), band)
        sum(Edge(x0: Int32(border), y0: y, x1: edge.x1, y1: edge.y1), band)
    }

    /// Accumulates an edge between the picture's left and right border, row by row.
    private mutating func sumWithin(_ edge: Edge, _ band: Range<Int>) {
        let isDown = edge.y0 < edge.y1
        // From the upper end on; the sign gives the direction.
        let (upper, lower) = isDown ? (edge.y0, edge.y1) : (edge.y1, edge.y0)
        let (start, end) = isDown ? (edge.x0, edge.x1) : (edge.x1, edge.x0)
        let sign: Int32 = isDown ? 1 : -1
        let rows = (Int(upper) >> 8..<(Int(lower) + 255) >> 8).clamped(to: band)
        guard !rows.isEmpty else { return }
        let (height, slope) = (Int(lower) - Int(upper), Int(end) - Int(start))
        func x(at y: Int) -> Int32 {
            if y == Int(lower) { return end }
            return y == Int(upper) ? start : start + Int32((y - Int(upper)) * slope / height)
        }
        var y = max(Int(upper), rows.lowerBound << 8)
        var x0 = x(at: y)
        for row in rows {
            let next = min(Int(lower), (row + 1) << 8)
            let x1 = x(at: next)
            sumRow(row - band.lowerBound, x0, x1, Int32(next - y), sign)
            (y, x0) = (next, x1)
        }
    }

    /// Accumulates a part of an edge within one row, `height` high, from `x0` to `x1`.
    private mutating func sumRow(
        _ row: Int, _ x0: Int32, _ x1: Int32, _ height: Int32, _ sign: Int32
    ) {
        let base = row * (width + 2)
        let (low, high) = x0 < x1 ? (x0, x1) : (x1, x0)
        let (first, last) = (low >> 8, high >> 8)
        touched[row].first = min(touched[row].first, first)
        touched[row].last = max(touched[row].last, last + 1)
        let cellBase = row * cellCount
        for cell in (first >> Self.cellShift)...((last + 1) >> Self.cellShift) {
            cells[cellBase + Int(cell)] = true
        }
        if first == last {
            put(base + Int(first), height &* sign, (low & 255) + (high & 255))
            return
        }
        // The area does not depend on which end is the upper one.
        let length = Int(high - low)
        var done: Int32 = 0
        var from = low & 255
        for column in first..<last {
            let border = (column + 1) << 8
            let y = Int32(Int(border - low) * Int(height) / length)
            put(base + Int(column), (y - done) &* sign, from + 256)
            (done, from) = (y, 0)
        }
        put(base + Int(last), (height - done) &* sign, high & 255)
    }

    /// Accumulates an edge within one pixel; `columns` is the sum of its start and end column.
    private mutating func put(_ index: Int, _ height: Int32, _ columns: Int32) {
        // Wraps around only at thousands of overlapping rings: a wrong shade, no trap.
        differences[index] &+= height &* (512 - columns)
        differences[index + 1] &+= height &* columns
    }

    // MARK: Differences to coverage

    private mutating func cover(_ row: Int, _ band: Range<Int>, _ rule: Canvas.FillRule) {
        let number = row - band.lowerBound
        let (first, last) = touched[number]
        guard first <= last else { return }
        let base = number * (width + 2)
        var sum: Int32 = 0
        let covered = Int(first)..<Int(last) + 1
        mask.begin(row, covered)
        let cellWidth = 1 << Int(Self.cellShift)
        for cell in Int(first) / cellWidth...Int(last) / cellWidth {
            let part = (cell * cellWidth..<(cell + 1) * cellWidth).clamped(to: covered)
            guard cells[number * cellCount + cell] else {
                mask.cover(row, part, all: Self.coverage(sum, rule))
                continue
            }
            cells[number * cellCount + cell] = false
            for column in part {
                sum &+= differences[base + column]
                differences[base + column] = 0
                mask.set(row, column, Self.coverage(sum, rule))
            }
        }
    }

    private static func coverage(_ sum: Int32, _ rule: Canvas.FillRule) -> UInt8 {
        var area = Int32(bitPattern: sum.magnitude & 0x7FFF_FFFF)
        switch rule {
        case .winding: area = min(area, full)
        case .evenOdd:
            area &= 2 * full - 1
            if area > full { area = 2 * full - area }
        }
        return UInt8(truncatingIfNeeded: (area * 255 + full / 2) >> 17)
    }
}
