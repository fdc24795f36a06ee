// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Glibc

extension CoverageGrid {
    /// Adds the outline of a line with round joins and caps; a line of length zero is a disc.
    ///
    /// A line whose last coordinate is its first has no caps. To be painted with the winding rule.
    ///
    /// - Parameter width: In pixels, above 0.
    mutating func add(line: ArraySlice<Coordinate>, width: Double) {
        var outline = LineOutline(half: width / 2)
        outline.add(line, to: &self)
    }
}

/// Builds both sides of a line in one pass, the left forward and the right backward.
///
/// A corner within an eighth of a pixel of the arc replaces it.
private struct LineOutline {
    /// Half the line's width, in pixels.
    let half: Double
    /// The cosine of the largest turn whose outer corner is kept.
    let slightTurn: Double
    /// The largest angle between two coordinates of an arc, in radians.
    let arcStep: Double
    /// The present end of each side.
    var left = Coordinate(x: 0, y: 0)
    var right = Coordinate(x: 0, y: 0)

    /// Tolerance of an arc, in pixels.
    private static let detail = 1.0 / 8

    /// A straight segment: its start, direction and length.
    struct Step {
        var start: Coordinate
        var x, y, length: Double
    }

    init(half: Double) {
        self.half = half
        let cosine = half / (half + Self.detail)
        slightTurn = 2 * cosine * cosine - 1
        arcStep = 2 * acos(max(0, 1 - Self.detail / half))
    }

    mutating func add(_ line: ArraySlice<Coordinate>, to grid: inout CoverageGrid) {
        guard let origin = line.first else { return }
        var last = origin
        var first: Step?
        var before: Step?
        for place in line.dropFirst() {
            let (x, y) = (place.x - last.x, place.y - last.y)
            let length = (x * x + y * y).squareRoot()
            guard length > 1e-3 else { continue }
            let step = Step(start: last, x: x / length, y: y / length, length: length)
            if let before {
                join(before, step, &grid)
            } else {
                first = step
                (left, right) = sides(of: step, at: last)
            }
            before = step
            last = place
        }
        guard let first, let final = before else {
            (left, right) = (Coordinate(x: origin.x + half, y: origin.y), origin)
            return addArc(.left, around: origin, (half, 0), to: (half, 0), 2 * .pi, &grid)
        }
        let begin = sides(of: first, at: origin)
        if origin == line.last && final.start != origin {
            join(final, Step(start: origin, x: first.x, y: first.y, length: first.length), &grid)
            move(.left, to: begin.left, &grid)
            move(.right, to: begin.right, &grid)
        } else {
            let end = sides(of: final, at: last)
            move(.left, to: end.left, &grid)
            move(.right, to: end.right, &grid)
            let (x, y) = (-final.y * half, final.x * half)
            addArc(.left, around: last, (x, y), to: (-x, -y), -.pi, &grid)
            left = begin.right
            addArc(
                .left, around: origin, (first.y * half, -first.x * half),
                to: (-first.y * half, first.x * half), -.pi, &grid)
        }
    }

    private enum Side { case left, right }

    private func sides(of step: Step, at place: Coordinate) -> (left: Coordinate, right: Coordinate)
    {
        (
            Coordinate(x: place.x - step.y * half, y: place.y + step.x * half),
            Coordinate(x: place.x + step.y * half, y: place.y - step.x * half)
        )
    }

    private mutating func move(_ side: Side, to place: Coordinate, _ grid: inout CoverageGrid) {
        switch side {
        case .left:
            grid.add(from: left, to: place)
            left = place
        case .right:
            grid.add(from: place, to: right)
            right = place
        }
    }

    /// Adds the join between two segments.
    private mutating func join(_ before: Step, _ after: Step, _ grid: inout CoverageGrid) {
        let corner = after.start
        let dot = before.x * after.x + before.y * after.y
        let cross = before.x * after.y - before.y * after.x
        // The left sides' directions from the corner.
        let from = (x: -before.y * half, y: before.x * half)
        let to = (x: -after.y * half, y: after.x * half)
        let meeting = (x: (from.x + to.x) / (1 + dot), y: (from.y + to.y) / (1 + dot))
        let (inner, outer): (Side, Side) = cross > 0 ? (.left, .right) : (.right, .left)

        // Each segment may give half of its length to the corner at either end.
        let room = min(before.length, after.length) / 2
        if dot > -0.999, half * abs(cross) <= room * (1 + dot) {
            move(inner, to: corner + (inner == .left ? meeting : (-meeting.x, -meeting.y)), &grid)
        } else {
            // One of the two is too short for the sides to meet.
            let sign: Double = inner == .left ? 1 : -1
            move(inner, to: corner + (sign * from.x, sign * from.y), &grid)
            move(inner, to: corner, &grid)
            move(inner, to: corner + (sign * to.x, sign * to.y), &grid)
        }
        let sign: Double = outer == .left ? 1 : -1
        if dot >= slightTurn {
            move(outer, to: corner + (sign * meeting.x, sign * meeting.y), &grid)
        } else {
            move(outer, to: corner + (sign * from.x, sign * from.y), &grid)
            addArc(
                outer, around: corner, (sign * from.x, sign * from.y),
                to: (sign * to.x, sign * to.y), sign * -atan2(abs(cross), dot), &grid)
        }
    }

    /// Adds an arc around a centre from one direction to another, `angle` from x towards y.
    private mutating func addArc(
        _ side: Side, around center: Coordinate, _ from: (x: Double, y: Double),
        to: (x: Double, y: Double), _ angle: Double, _ grid: inout CoverageGrid
    ) {
        let count = Int((abs(angle) / arcStep).rounded(.up))
        if count > 1 {
            let (sine, cosine) = (sin(angle / Double(count)), cos(angle / Double(count)))
            var spoke = from
            for _ in 1..<count {
                spoke = (spoke.x * cosine - spoke.y * sine, spoke.x * sine + spoke.y * cosine)
                move(side, to: center + spoke, &grid)
            }
        }
        move(side, to: center + to, &grid)
    }
}

private func + (place: Coordinate, way: (x: Double, y: Double)) -> Coordinate {
    Coordinate(x: place.x + way.x, y: place.y + way.y)
}
