// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// How two geometries lie to each other, in the plane of their reference.
///
/// What is nearer than a hundred-billionth of the greatest coordinate lies on each other: 0.2 mm in
/// Web Mercator. Each call compares all pairs of segments in the part that both share. Geometries
/// of different references are compared where one can be had in the other's, otherwise no relation
/// holds. An empty geometry has none, except that it is disjoint.
extension GeometryEngine {
    /// Whether everything of the second geometry is in the first, not on its border alone.
    public static func doesGeometry(
        _ geometry1: Geometry, contain geometry2: Geometry
    ) -> Bool { relation(geometry1, geometry2).contains }

    /// Whether everything of the first geometry is in the second, not on its border alone.
    public static func isGeometry(
        _ geometry1: Geometry, within geometry2: Geometry
    ) -> Bool { relation(geometry2, geometry1).contains }

    /// Whether the geometries have a position in common, also on their borders.
    public static func isGeometry(
        _ geometry1: Geometry, intersecting geometry2: Geometry
    ) -> Bool { relation(geometry1, geometry2).intersects }

    /// Whether the geometries have no position in common.
    public static func isGeometry(
        _ geometry1: Geometry, disjointWith geometry2: Geometry
    ) -> Bool { !relation(geometry1, geometry2).intersects }

    /// Whether lines cross in single positions, or a line or positions lie partly in and partly
    /// beside the other geometry.
    public static func isGeometry(
        _ geometry1: Geometry, crossing geometry2: Geometry
    ) -> Bool { relation(geometry1, geometry2).crosses }

    /// Whether the borders have positions in common and the insides none.
    public static func isGeometry(
        _ geometry1: Geometry, touching geometry2: Geometry
    ) -> Bool { relation(geometry1, geometry2).touches }

    /// Whether two geometries of one kind share a part of their insides, and each has some more.
    public static func isGeometry(
        _ geometry1: Geometry, overlapping geometry2: Geometry
    ) -> Bool { relation(geometry1, geometry2).overlaps }

    /// Whether the geometries cover the same, whatever the order of their vertices.
    public static func isGeometry(
        _ geometry1: Geometry, equivalentTo geometry2: Geometry
    ) -> Bool { relation(geometry1, geometry2).isEqual }

    static func relation(_ first: Geometry, _ second: Geometry) -> Relation {
        guard !first.isEmpty, !second.isEmpty else { return Relation() }
        var other = second
        if first.spatialReference != second.spatialReference {
            guard let reference = first.spatialReference, second.spatialReference != nil,
                let projected = try? projected(second, into: reference)
            else { return Relation() }
            other = projected
        }
        return Relation(first, other)
    }

    /// What the insides, borders and outsides of two geometries have in common.
    struct Relation {
        private var dimensions = (0, 0)
        /// Whether they share any position.
        private(set) var intersects = false
        /// Whether their insides share something: 0 for single positions, 1 for a line or more; nil
        /// for nothing.
        private var shared: Int?
        /// Whether something of the first lies outside the second.
        private var isFirstBeyond = false
        /// Whether something of the second lies outside the first.
        private var isSecondBeyond = false

        var contains: Bool { shared != nil && !isSecondBeyond }
        var touches: Bool { intersects && shared == nil }
        var isEqual: Bool {
            intersects && dimensions.0 == dimensions.1 && !isFirstBeyond && !isSecondBeyond
        }
        var overlaps: Bool {
            dimensions.0 == dimensions.1 && isFirstBeyond && isSecondBeyond
                && (shared ?? -1) >= min(dimensions.0, 1)
        }
        var crosses: Bool {
            guard let shared else { return false }
            if dimensions.0 == dimensions.1 { return dimensions.0 == 1 && shared == 0 }
            return dimensions.0 < dimensions.1 ? isFirstBeyond : isSecondBeyond
        }

        init() {}

        init(_ first: Geometry, _ second: Geometry) {
            let extents = [first.extent, second.extent]
            let greatest =
                extents.flatMap { [$0.xMin, $0.xMax, $0.yMin, $0.yMax] }
                .map(abs).max() ?? 0
            let tolerance = max(greatest, 1e-6) * 1e-11
            let (one, two) = (Parts(first, tolerance), Parts(second, tolerance))
            dimensions = (one.dimension, two.dimension)
            (isFirstBeyond, isSecondBeyond) = (false, false)
            compare(one, two, isFirst: true)
            compare(two, one, isFirst: false)
            // An area has something beside whatever is no area.
            if dimensions.0 == 2, dimensions.1 < 2 { isFirstBeyond = true }
            if dimensions.1 == 2, dimensions.0 < 2 { isSecondBeyond = true }
            if dimensions.0 == 1, dimensions.1 == 0 { isFirstBeyond = true }
            if dimensions.1 == 1, dimensions.0 == 0 { isSecondBeyond = true }
        }

        private mutating func share(_ dimension: Int) {
            intersects = true
            shared = max(shared ?? 0, dimension)
        }

        private mutating func setBeyond(_ isFirst: Bool) {
            if isFirst { isFirstBeyond = true } else { isSecondBeyond = true }
        }

        /// Looks at the positions and the pieces of lines of one geometry in the other.
        private mutating func compare(_ one: Parts, _ other: Parts, isFirst: Bool) {
            for place in one.points {
                switch other.location(place) {
                case .inside: share(0)
                case .border: intersects = true
                case .outside: setBeyond(isFirst)
                }
            }
            for segment in one.segments {
                let places = other.cuts(segment)
                for place in places {
                    let there = other.location(place)
                    guard there != .outside else { continue }
                    intersects = true
                    // Of areas the pieces say more.
                    guard one.dimension == 1, there == .inside, one.location(place) == .inside
                    else { continue }
                    share(0)
                }
                for (start, end) in zip(places, places.dropFirst()) {
                    look(at: (start, end), of: one, in: other, isFirst: isFirst)
                }
            }
        }

        private mutating func look(
            at piece: (Place, Place), of one: Parts, in other: Parts, isFirst: Bool
        ) {
            let (start, end) = piece
            let length = hypot(end.x - start.x, end.y - start.y)
            guard length > 2 * one.tolerance else { return }
            let middle = Place((start.x + end.x) / 2, (start.y + end.y) / 2)
            let there = other.location(middle)
            switch (one.dimension, there) {
            case (_, .outside): setBeyond(isFirst)
            case (1, .inside): share(1)
            case (1, .border): intersects = true
            case (_, .inside):
                if other.dimension == 2 {
                    share(1)
                    // On the other side of the border is what the first has not.
                    setBeyond(!isFirst)
                } else {
                    intersects = true
                }
            case (_, .border):
                intersects = true
                guard other.dimension == 2 else { return }
                let step = min(length / 4, one.tolerance * 100)
                let (dx, dy) = (
                    -(end.y - start.y) / length * step, (end.x - start.x) / length * step
                )
                for side in [
                    Place(middle.x + dx, middle.y + dy), Place(middle.x - dx, middle.y - dy),
                ] {
                    let (here, there) = (one.contains(side), other.contains(side))
                    if here, there { share(1) }
                    if here, !there { setBeyond(isFirst) }
                    if there, !here { setBeyond(!isFirst) }
                }
            }
        }
    }

    private enum Location { case inside, border, outside }

    /// A geometry as positions, or as segments of lines or of borders.
    private struct Parts {
        let dimension: Int
        let tolerance: Double
        var points: [Place] = []
        var segments: [(Place, Place)] = []
        /// Ends of lines that an odd number of lines has.
        private var ends: Set<Place> = []
        private var extent: Envelope

        init(_ geometry: Geometry, _ tolerance: Double) {
            self.tolerance = tolerance
            extent = geometry.extent
            let shape = geometry.parted
            func flat(_ place: Place) -> Place { Place(place.x, place.y) }
            guard let lines = (shape as? Multipart)?.lines.map({ $0.map(flat) }) else {
                dimension = 0
                points = shape.places.map(flat)
                return
            }
            dimension = shape is Polygon ? 2 : 1
            for line in lines {
                for (start, end) in zip(line, line.dropFirst()) where start != end {
                    segments.append((start, end))
                }
                guard dimension == 1, let first = line.first, let last = line.last else { continue }
                for end in [first, last] where ends.remove(end) == nil { ends.insert(end) }
            }
            // Lines and areas without length.
            if segments.isEmpty { points = lines.compactMap(\.first) }
        }

        private func isNear(_ place: Place, _ segment: (Place, Place)) -> Bool {
            place.distance(to: segment.0, segment.1) <= tolerance
        }

        func location(_ place: Place) -> Location {
            guard place.x >= extent.xMin - tolerance, place.x <= extent.xMax + tolerance,
                place.y >= extent.yMin - tolerance, place.y <= extent.yMax + tolerance
            else { return .outside }
            let isPoint = points.contains {
                hypot($0.x - place.x, $0.y - place.y) <= tolerance
            }
            if isPoint { return .inside }
            if segments.contains(where: { isNear(place, $0) }) {
                guard dimension == 1 else { return .border }
                let isEnd = ends.contains {
                    hypot($0.x - place.x, $0.y - place.y) <= tolerance
                }
                return isEnd ? .border : .inside
            }
            return dimension == 2 && contains(place) ? .inside : .outside
        }

        func contains(_ place: Place) -> Bool { place.isInside(segments) }

        /// The ends of a segment and where this geometry meets it, in order.
        func cuts(_ segment: (Place, Place)) -> [Place] {
            let (start, end) = segment
            let (dx, dy) = (end.x - start.x, end.y - start.y)
            let square = dx * dx + dy * dy
            let length = square.squareRoot()
            var shares: [Double] = [0, 1]
            let (left, right) = (min(start.x, end.x) - tolerance, max(start.x, end.x) + tolerance)
            let (low, high) = (min(start.y, end.y) - tolerance, max(start.y, end.y) + tolerance)
            func add(_ place: Place) {
                guard isNear(place, segment) else { return }
                shares.append(((place.x - start.x) * dx + (place.y - start.y) * dy) / square)
            }
            for (first, last) in segments {
                guard max(first.x, last.x) >= left, min(first.x, last.x) <= right,
                    max(first.y, last.y) >= low, min(first.y, last.y) <= high
                else { continue }
                add(first)
                add(last)
                let (ex, ey) = (last.x - first.x, last.y - first.y)
                let cross = dx * ey - dy * ex
                guard abs(cross) > 1e-14 * length * hypot(ex, ey) else { continue }
                let (fx, fy) = (first.x - start.x, first.y - start.y)
                let share = (fx * ey - fy * ex) / cross
                let other = (fx * dy - fy * dx) / cross
                if 0...1 ~= share, 0...1 ~= other { shares.append(share) }
            }
            for point in points { add(point) }
            return shares.map { min(max($0, 0), 1) }.sorted().map { share in
                share == 1 ? end : Place(start.x + share * dx, start.y + share * dy)
            }
        }
    }
}
