// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Glibc

/// The geometry that a label belongs to, in pixels.
enum LabelAnchor {
    /// A position, and the radius of its marker.
    case point(Coordinate, reach: Double)
    /// Pieces of a line, the longest first, and half its width.
    case paths([[Coordinate]], reach: Double)
    /// The centre of an area, and the width of its visible part.
    case area(InnerPlace, width: Double)
}

/// A label's rectangle, rotated around its centre.
struct LabelBox {
    let center: Coordinate
    let halfWidth: Double
    let halfHeight: Double
    /// The direction of the text, a unit vector.
    let along: Coordinate
    /// The direction in radians, clockwise.
    var angle: Double { atan2(along.y, along.x) }

    init(center: Coordinate, width: Double, height: Double, along: Coordinate = .init(x: 1, y: 0)) {
        self.center = center
        halfWidth = width / 2
        halfHeight = height / 2
        self.along = along
    }

    var corners: [Coordinate] {
        [(-1.0, -1.0), (1, -1), (1, 1), (-1, 1)].map { side in
            let (along, across) = (side.0 * halfWidth, side.1 * halfHeight)
            return Coordinate(
                x: center.x + along * self.along.x - across * self.along.y,
                y: center.y + along * self.along.y + across * self.along.x)
        }
    }

    var bounds: Envelope { Shape.multipoint(corners).envelope }

    /// Whether the two intersect: no line parallel to a side separates them.
    func overlaps(_ other: LabelBox) -> Bool {
        let (mine, others) = (corners, other.corners)
        for axis in [along, Coordinate(x: -along.y, y: along.x)]
            + [other.along, Coordinate(x: -other.along.y, y: other.along.x)]
        {
            let (first, second) = (Self.span(mine, axis), Self.span(others, axis))
            if first.upper <= second.lower || second.upper <= first.lower { return false }
        }
        return true
    }

    private static func span(
        _ corners: [Coordinate], _ axis: Coordinate
    ) -> (lower: Double, upper: Double) {
        var (lower, upper) = (Double.infinity, -Double.infinity)
        for corner in corners {
            let place = corner.x * axis.x + corner.y * axis.y
            lower = min(lower, place)
            upper = max(upper, place)
        }
        return (lower, upper)
    }
}

extension LabelAnchor {
    /// Candidate boxes for a text of that size, the best first.
    func boxes(
        width: Double, height: Double, _ placement: LabelPlacement?
    ) -> [LabelBox] {
        switch self {
        case .point(let place, let reach):
            return Self.boxes(around: place, reach, width, height, placement ?? .aboveRight)
        case .paths(let paths, let reach):
            return paths.flatMap {
                Self.boxes(along: $0, reach, width, height, placement ?? .aboveAlong)
            }
        case .area(let inner, let areaWidth):
            // A name much wider than its area would look like a neighbour's.
            guard width <= areaWidth * 1.15 else { return [] }
            return Self.boxes(inside: inner, width, height)
        }
    }

    /// Candidates in an area: the centre, then positions farther and farther above and below, left
    /// and right, with their centre far enough from the border.
    private static func boxes(
        inside inner: InnerPlace, _ width: Double, _ height: Double
    ) -> [LabelBox] {
        let reach = inner.distance - height / 2
        let rings = reach > 0 ? Int(min(6, reach / (height / 2))) : 0
        let places = (0...rings).flatMap { ring -> [(Double, Double)] in
            let far = Double(ring) * height / 2
            return ring == 0 ? [(0, 0)] : [(0, far), (0, -far), (far, 0), (-far, 0)]
        }
        return places.map { x, y in
            LabelBox(
                center: Coordinate(x: inner.place.x + x, y: inner.place.y + y), width: width,
                height: height)
        }
    }

    private static func boxes(
        around place: Coordinate, _ reach: Double, _ width: Double, _ height: Double,
        _ placement: LabelPlacement
    ) -> [LabelBox] {
        // After Imhof: right before left, above before below.
        let order: [LabelPlacement] = [
            .aboveRight, .belowRight, .centerRight, .aboveLeft, .belowLeft, .centerLeft,
            .aboveCenter, .belowCenter,
        ]
        let tried =
            placement == .center ? [.center] : [placement] + order.filter { $0 != placement }
        let (slanted, straight) = (reach * 0.75, reach + 1.5)
        return tried.map { each in
            let (side, rise): (Double, Double) =
                switch each {
                case .aboveLeft: (-1, -1)
                case .centerLeft: (-1, 0)
                case .belowLeft: (-1, 1)
                case .aboveCenter: (0, -1)
                case .belowCenter: (0, 1)
                case .centerRight: (1, 0)
                case .belowRight: (1, 1)
                case .center: (0, 0)
                case .aboveRight, .aboveAlong, .belowAlong, .centerAlong, .horizontal: (1, -1)
                }
            let gap = side != 0 && rise != 0 ? slanted : straight
            // Letters do not fill the height of their line.
            return LabelBox(
                center: Coordinate(
                    x: place.x + side * (gap + width / 2),
                    y: place.y + rise * (gap + height * 0.4)),
                width: width, height: height)
        }
    }

    /// Candidates along paths, on nearly straight stretches from the middle outwards.
    private static func boxes(
        along path: [Coordinate], _ reach: Double, _ width: Double, _ height: Double,
        _ placement: LabelPlacement
    ) -> [LabelBox] {
        let walk = PathWalk(path)
        let slack = walk.length - width
        guard slack >= 0 else { return [] }
        let count = min(10, Int(slack / max(width / 4, 1)))
        let starts = (0...count).flatMap { step -> [Double] in
            let shift = count == 0 ? 0 : slack / 2 * Double(step) / Double(count)
            return step == 0 ? [slack / 2] : [slack / 2 - shift, slack / 2 + shift]
        }
        return starts.compactMap { start in
            let stretch = walk.stretch(from: start, to: start + width)
            guard let first = stretch.first, let last = stretch.last else { return nil }
            let (dx, dy) = (last.x - first.x, last.y - first.y)
            let chord = (dx * dx + dy * dy).squareRoot()
            guard chord >= width * 0.97, chord > 0 else { return nil }
            // Never upside down.
            let sign: Double = dx < 0 || (dx == 0 && dy > 0) ? -1 : 1
            let along = Coordinate(x: sign * dx / chord, y: sign * dy / chord)
            let deviations = stretch.map {
                ($0.x - first.x) * -along.y + ($0.y - first.y) * along.x
            }
            let (least, most) = (deviations.min() ?? 0, deviations.max() ?? 0)
            guard most - least <= height * 0.5 else { return nil }
            let across: Double =
                switch placement {
                case .belowAlong: most + reach + height / 2
                case .centerAlong: 0
                default: least - reach - height / 2
                }
            let middle = Coordinate(x: (first.x + last.x) / 2, y: (first.y + last.y) / 2)
            return LabelBox(
                center: Coordinate(
                    x: middle.x - across * along.y, y: middle.y + across * along.x),
                width: width, height: height, along: along)
        }
    }
}

/// A path parametrised by the distance from its start.
private struct PathWalk {
    private let path: [Coordinate]
    private var distances: [Double] = [0]

    init(_ path: [Coordinate]) {
        self.path = path
        for (from, to) in zip(path, path.dropFirst()) {
            let (dx, dy) = (to.x - from.x, to.y - from.y)
            distances.append((distances.last ?? 0) + (dx * dx + dy * dy).squareRoot())
        }
    }

    var length: Double { distances.last ?? 0 }

    /// The piece between two distances, ends interpolated.
    func stretch(from start: Double, to end: Double) -> [Coordinate] {
        let first = distances.firstIndex { $0 > start } ?? path.count
        let past = distances.firstIndex { $0 >= end } ?? path.count
        return [place(start)] + (first < past ? Array(path[first..<past]) : []) + [place(end)]
    }

    private func place(_ distance: Double) -> Coordinate {
        guard let next = distances.firstIndex(where: { $0 > distance }), next > 0 else {
            return distance <= 0 ? path[0] : path[path.count - 1]
        }
        let (from, to) = (path[next - 1], path[next])
        let share = (distance - distances[next - 1]) / (distances[next] - distances[next - 1])
        return Coordinate(x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share)
    }
}

extension LabelAnchor {
    /// Whether it is a line.
    var isLine: Bool { if case .paths = self { true } else { false } }
}

extension [Coordinate] {
    /// The length of the path.
    var length: Double {
        zip(self, dropFirst()).reduce(0) { sum, edge in
            let (dx, dy) = (edge.1.x - edge.0.x, edge.1.y - edge.0.y)
            return sum + (dx * dx + dy * dy).squareRoot()
        }
    }
}
