// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

extension CoverageMask {
    /// How a line ends and bends.
    struct LineForm {
        var width: Double
        var cap = "butt"
        var join = "miter"
        /// Lengths that are drawn and left out by turns, in pixels; empty for a whole line.
        var dashes: [Double] = []
    }

    /// Adds a line of a width in pixels.
    mutating func add(line: [Point], _ form: LineForm, _ budget: DrawingBudget) {
        let half = form.width / 2
        guard half > 0, !columns.isEmpty, !rows.isEmpty else { return }
        // What is further away than ends and corners reach is not drawn.
        let room = 2 * form.width + 2
        let box = (
            left: Double(columns.lowerBound) - room, top: Double(rows.lowerBound) - room,
            right: Double(columns.upperBound) + room, bottom: Double(rows.upperBound) + room
        )
        budget.spend(line.count)
        for piece in Self.clipped(line, to: box) {
            guard !form.dashes.isEmpty else {
                stroke(piece, half, form, budget)
                continue
            }
            for dash in Self.dashes(piece, form.dashes, budget) {
                stroke(dash, half, form, budget)
            }
        }
    }

    /// The pieces of a line in a box.
    private static func clipped(
        _ line: [Point], to box: (left: Double, top: Double, right: Double, bottom: Double)
    ) -> [[Point]] {
        var pieces: [[Point]] = []
        var piece: [Point] = []
        func finish() {
            if piece.count > 1 { pieces.append(piece) }
            piece = []
        }
        for (from, to) in zip(line, line.dropFirst()) {
            let (dx, dy) = (to.x - from.x, to.y - from.y)
            var (first, last) = (0.0, 1.0)
            for (step, room) in [
                (-dx, from.x - box.left), (dx, box.right - from.x), (-dy, from.y - box.top),
                (dy, box.bottom - from.y),
            ] {
                if step == 0 {
                    if room < 0 { last = -1 }
                } else if step < 0 {
                    first = max(first, room / step)
                } else {
                    last = min(last, room / step)
                }
            }
            guard first < last else {
                finish()
                continue
            }
            if first > 0 || piece.isEmpty {
                finish()
                piece = [(from.x + dx * first, from.y + dy * first)]
            }
            piece.append(last < 1 ? (from.x + dx * last, from.y + dy * last) : to)
            if last < 1 { finish() }
        }
        finish()
        return pieces
    }

    /// The parts of a line that a pattern draws; dots of no length are there for their round ends.
    private static func dashes(
        _ line: [Point], _ pattern: [Double], _ budget: DrawingBudget
    ) -> [[Point]] {
        let period = pattern.reduce(0, +)
        // Of less than a pixel nothing of a pattern is to be seen.
        guard period >= 1, period < 1e9, var last = line.first else { return [line] }
        var parts: [[Point]] = []
        var (place, left) = (0, max(pattern[0], 1e-3))
        var part = [last]
        for next in line.dropFirst() {
            var length = hypot(next.x - last.x, next.y - last.y)
            while length > left, !budget.isSpent {
                budget.spend(1)
                let share = left / length
                last = (last.x + (next.x - last.x) * share, last.y + (next.y - last.y) * share)
                length -= left
                if place % 2 == 0 { parts.append(part + [last]) }
                place = (place + 1) % pattern.count
                left = max(pattern[place], 1e-3)
                part = [last]
            }
            left -= length
            last = next
            part.append(next)
        }
        if place % 2 == 0, part.count > 1 { parts.append(part) }
        return parts
    }

    /// Adds a rectangle for each piece, what joins them, and what ends them; all of them turn the
    /// same way.
    private mutating func stroke(
        _ line: [Point], _ half: Double, _ form: LineForm, _ budget: DrawingBudget
    ) {
        var points: [Point] = []
        for point in line where points.last.map({ $0 != point }) ?? true { points.append(point) }
        guard points.count > 1 else { return }
        let normals = zip(points, points.dropFirst()).map { from, to -> Point in
            let length = hypot(to.x - from.x, to.y - from.y)
            return (-(to.y - from.y) / length * half, (to.x - from.x) / length * half)
        }
        let isClosed = points.count > 3 && points[0] == points[points.count - 1]
        for (index, normal) in normals.enumerated() {
            var (from, to) = (points[index], points[index + 1])
            // Square ends are half a width longer.
            if form.cap == "square", !isClosed {
                if index == 0 { from = (from.x - normal.y, from.y + normal.x) }
                if index == normals.count - 1 { to = (to.x + normal.y, to.y - normal.x) }
            }
            add(
                [
                    (from.x + normal.x, from.y + normal.y), (to.x + normal.x, to.y + normal.y),
                    (to.x - normal.x, to.y - normal.y), (from.x - normal.x, from.y - normal.y),
                ], budget)
        }
        guard half > 0.5 else { return }
        for index in points.indices {
            let isEnd = index == 0 || index == points.count - 1
            if isEnd, !isClosed {
                if form.cap == "round" { addDisc(points[index], half, budget) }
            } else if index > 0 {
                let next = index == points.count - 1 ? normals[0] : normals[index]
                join(points[index], normals[index - 1], next, half, form.join, budget)
            }
        }
    }

    /// Adds the corner outside a bend.
    private mutating func join(
        _ point: Point, _ before: Point, _ after: Point, _ half: Double, _ form: String,
        _ budget: DrawingBudget
    ) {
        if form == "round" { return addDisc(point, half, budget) }
        let turn = before.x * after.y - before.y * after.x
        guard turn.magnitude > 1e-9 * half * half else { return }
        let side: Double = turn > 0 ? -1 : 1
        let (a, b) = (
            (x: point.x + side * before.x, y: point.y + side * before.y),
            (x: point.x + side * after.x, y: point.y + side * after.y)
        )
        var corner: [Point] = [point, a, b]
        let middle = (x: before.x + after.x, y: before.y + after.y)
        let square = middle.x * middle.x + middle.y * middle.y
        // Sharper corners than the specification's limit of 2 are cut off.
        if form == "miter", square >= half * half {
            let reach = 2 * half * half / square * side
            corner = [point, a, (point.x + middle.x * reach, point.y + middle.y * reach), b]
        }
        add(turn > 0 ? corner.reversed() : corner, budget)
    }

    /// Adds a disc.
    mutating func addDisc(_ center: Point, _ radius: Double, _ budget: DrawingBudget) {
        add(Self.circle(center, radius), budget)
    }

    /// A circle that turns as the rectangles of lines do.
    static func circle(_ center: Point, _ radius: Double) -> [Point] {
        let count = max(12, min(128, Int(min(radius, 100) * 4)))
        return (0..<count).map { step in
            let angle = -Double(step) / Double(count) * 2 * .pi
            return (center.x + radius * cos(angle), center.y + radius * sin(angle))
        }
    }
}
