// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A picture as pixels of four bytes: red, green, blue, alpha, not multiplied; rows from the top.
public struct Raster: Sendable {
    /// Pixels of a row.
    public let width: Int
    /// Rows.
    public let height: Int
    /// The pixels, four bytes each, row after row.
    public internal(set) var bytes: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeating: 0, count: width * height * 4)
    }

    /// The color of a pixel, counted from the upper left; both numbers inside the picture.
    public func pixel(_ x: Int, _ y: Int) -> SymbolColor {
        let place = (y * width + x) * 4
        return SymbolColor(
            red: bytes[place], green: bytes[place + 1], blue: bytes[place + 2],
            alpha: bytes[place + 3])
    }

    /// Lays a color over a pixel (source over).
    mutating func blend(_ color: SymbolColor, _ opacity: Float, _ x: Int, _ y: Int) {
        let above = Float(color.alpha) / 255 * opacity
        guard above > 0 else { return }
        let place = (y * width + x) * 4
        let below = Float(bytes[place + 3]) / 255 * (1 - above)
        let alpha = above + below
        func mixed(_ upper: UInt8, _ lower: UInt8) -> UInt8 {
            UInt8(min(255, ((Float(upper) * above + Float(lower) * below) / alpha).rounded()))
        }
        bytes[place] = mixed(color.red, bytes[place])
        bytes[place + 1] = mixed(color.green, bytes[place + 1])
        bytes[place + 2] = mixed(color.blue, bytes[place + 2])
        bytes[place + 3] = UInt8(min(255, (alpha * 255).rounded()))
    }

    // MARK: Shapes

    /// The pixels of a row, or the rows, that something from one number to another touches; empty
    /// for what lies beside the picture, and for what are no numbers.
    static func pixels(from least: Double, to most: Double, of count: Int) -> Range<Int> {
        func place(_ value: Double) -> Int { value > 0 ? Int(min(value, Double(count))) : 0 }
        guard most >= 0, least <= most else { return 0..<0 }
        return place(least)..<max(place(least), min(count, place(most) + 1))
    }

    private static let samples = 4

    /// Fills rings by the parity of crossings, with four lines of samples a pixel: the pixels that
    /// `pattern` has.
    mutating func fill(
        _ rings: [[(x: Double, y: Double)]], _ color: SymbolColor, _ opacity: Float,
        where pattern: (_ x: Int, _ y: Int) -> Bool = { _, _ in true }
    ) {
        guard color.alpha > 0 else { return }
        let ys = rings.joined().map(\.y)
        guard let least = ys.min(), let most = ys.max(), least.isFinite, most.isFinite else {
            return
        }
        let rows = Self.pixels(from: least, to: most, of: height)
        guard !rows.isEmpty else { return }
        var cover = [Float](repeating: 0, count: width)
        for row in rows {
            for index in cover.indices { cover[index] = 0 }
            for sample in 0..<Self.samples {
                let y = Double(row) + (Double(sample) + 0.5) / Double(Self.samples)
                var crossings: [Double] = []
                for ring in rings {
                    for (start, end) in zip(ring, ring.dropFirst())
                    where (start.y > y) != (end.y > y) {
                        crossings.append(
                            start.x + (y - start.y) / (end.y - start.y) * (end.x - start.x))
                    }
                }
                crossings.sort()
                var index = 0
                while index + 1 < crossings.count {
                    Self.add(crossings[index], crossings[index + 1], to: &cover)
                    index += 2
                }
            }
            for x in 0..<width where cover[x] > 0 && pattern(x, row) {
                blend(color, opacity * min(1, cover[x] / Float(Self.samples)), x, row)
            }
        }
    }

    private static func add(_ start: Double, _ end: Double, to cover: inout [Float]) {
        let (left, right) = (max(start, 0), min(end, Double(cover.count)))
        guard left < right else { return }
        var x = Int(left)
        while Double(x) < right, x < cover.count {
            cover[x] += Float(min(right, Double(x + 1)) - max(left, Double(x)))
            x += 1
        }
    }

    /// The pieces of a line that a pattern draws; its lengths are drawn and left out by turns.
    static func dashes(
        _ line: [(x: Double, y: Double)], _ pattern: [Double]
    ) -> [[(x: Double, y: Double)]] {
        let points = line.filter { abs($0.x) < 1e6 && abs($0.y) < 1e6 }
        let whole = zip(points, points.dropFirst()).reduce(0) {
            $0 + hypot($1.1.x - $1.0.x, $1.1.y - $1.0.y)
        }
        // Beyond it a pattern is not to be seen, and a shape far larger than the view costs much.
        guard pattern.count > 1, pattern.allSatisfy({ $0 >= 0.5 }), whole < 1e5,
            var last = points.first
        else { return [line] }
        var pieces: [[(x: Double, y: Double)]] = []
        var (place, left) = (0, pattern[0])
        var piece = [last]
        for next in points.dropFirst() {
            var length = hypot(next.x - last.x, next.y - last.y)
            while length > left {
                let share = left / length
                last = (last.x + (next.x - last.x) * share, last.y + (next.y - last.y) * share)
                length -= left
                if place % 2 == 0 { pieces.append(piece + [last]) }
                place += 1
                left = pattern[place % pattern.count]
                piece = [last]
            }
            left -= length
            last = next
            piece.append(next)
        }
        if place % 2 == 0, piece.count > 1 { pieces.append(piece) }
        return pieces
    }

    /// Strokes a line of a width in pixels: a rectangle for each piece, a disc at each bend, and at
    /// the ends of a round one.
    mutating func stroke(
        _ line: [(x: Double, y: Double)], _ lineWidth: Double, _ color: SymbolColor,
        _ opacity: Float, isRound: Bool = false
    ) {
        let half = max(lineWidth, 1) / 2
        let points = line.filter { abs($0.x) < 1e6 && abs($0.y) < 1e6 }
        for (start, end) in zip(points, points.dropFirst()) {
            let length = hypot(end.x - start.x, end.y - start.y)
            guard length > 0 else { continue }
            let (dx, dy) = ((end.x - start.x) / length * half, (end.y - start.y) / length * half)
            let box = [
                (x: start.x - dy, y: start.y + dx), (x: end.x - dy, y: end.y + dx),
                (x: end.x + dy, y: end.y - dx), (x: start.x + dy, y: start.y - dx),
                (x: start.x - dy, y: start.y + dx),
            ]
            fill([box], color, opacity)
        }
        guard lineWidth > 2 else { return }
        for point in isRound ? points[...] : points.dropFirst().dropLast() {
            mark(.circle, point, lineWidth, color, opacity)
        }
    }

    /// The lines of a mark of a size in pixels, turned clockwise: closed rings, and of a cross its
    /// two lines.
    static func outline(
        _ style: SimpleMarkerSymbol.Style, _ center: (x: Double, y: Double), _ size: Double,
        angle: Double = 0
    ) -> [[(x: Double, y: Double)]] {
        let half = size / 2
        let (sine, cosine) = (sin(angle * .pi / 180), cos(angle * .pi / 180))
        func line(_ points: [(Double, Double)], isClosed: Bool = true) -> [(x: Double, y: Double)] {
            (isClosed ? points + points.prefix(1) : points).map { x, y in
                let (right, down) = (x * half, y * half)
                return (
                    center.x + right * cosine - down * sine,
                    center.y + right * sine + down * cosine
                )
            }
        }
        switch style {
        case .circle:
            let steps = 24
            return [
                line(
                    (0..<steps).map { step in
                        let angle = Double(step) / Double(steps) * 2 * .pi
                        return (cos(angle), sin(angle))
                    })
            ]
        case .square: return [line([(-1, -1), (1, -1), (1, 1), (-1, 1)])]
        case .diamond: return [line([(0, -1), (1, 0), (0, 1), (-1, 0)])]
        case .triangle: return [line([(0, -1), (1, 1), (-1, 1)])]
        case .cross:
            return [
                line([(-1, 0), (1, 0)], isClosed: false), line([(0, -1), (0, 1)], isClosed: false),
            ]
        case .x:
            return [
                line([(-1, -1), (1, 1)], isClosed: false),
                line([(-1, 1), (1, -1)], isClosed: false),
            ]
        }
    }

    /// Draws a mark of a size in pixels, turned clockwise.
    mutating func mark(
        _ style: SimpleMarkerSymbol.Style, _ center: (x: Double, y: Double), _ size: Double,
        _ color: SymbolColor, _ opacity: Float, angle: Double = 0
    ) {
        guard abs(center.x) < 1e6, abs(center.y) < 1e6 else { return }
        let lines = Self.outline(style, center, size, angle: angle)
        guard style == .cross || style == .x else { return fill(lines, color, opacity) }
        for line in lines { stroke(line, 2, color, opacity) }
    }
}
