// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
public import Geometry

extension RoadNetwork {
    /// The parts of edges that lie in a line or an area.
    ///
    /// Longitude and latitude are treated as a plane. For one thread.
    public struct CoveredParts {
        private let roads: RoadNetwork
        private let shape: PreparedShape
        private let segments: [Segment]
        private let isArea: Bool

        /// Room for rounding: shares of segments by which crossings may lie beyond their ends.
        private static let tolerance = 1e-9
        /// Most pairs of segments that are compared for one shape.
        public static let comparisonLimit = 20_000_000

        /// Nil for points.
        public init?(_ shape: Shape, of roads: RoadNetwork) {
            let chains: [[Coordinate]]
            switch shape {
            case .point, .multipoint: return nil
            case .polyline(let paths): (chains, isArea) = (paths, false)
            case .polygon(let rings): (chains, isArea) = (rings.map { $0 + $0.prefix(1) }, true)
            case .envelope(let box):
                let (low, high) = (box.minX, box.maxX)
                let corners = [
                    (low, box.minY), (high, box.minY), (high, box.maxY), (low, box.maxY),
                    (low, box.minY),
                ]
                (chains, isArea) = ([corners.map { Coordinate(x: $0.0, y: $0.1) }], true)
            }
            segments = chains.flatMap { zip($0, $0.dropFirst()).map { Segment(a: $0, b: $1) } }
            self.shape = PreparedShape(shape)
            self.roads = roads
        }

        /// Number of pairs of segments to compare for some edges.
        public func comparisonCount(_ edges: [Int]) -> Int {
            edges.reduce(0) { $0 + (roads.shape(of: $1).count - 1) * segments.count }
        }

        /// The covered parts of an edge, shares of its length from its tail, rising and apart from
        /// each other: a single share where it is crossed; the whole edge where none is found.
        public subscript(edge: Int) -> [ClosedRange<Double>] {
            let line = roads.shape(of: edge)
            var lengths = [0.0]
            for (start, end) in zip(line, line.dropFirst()) {
                let east = Sphere.metersPerDegreeEast(latitude: (start.y + end.y) / 2)
                let (x, y) = ((end.x - start.x) * east, (end.y - start.y) * Sphere.metersPerDegree)
                lengths.append(lengths[lengths.count - 1] + (x * x + y * y).squareRoot())
            }
            guard let whole = lengths.last, whole > 0 else { return [0...1] }
            var parts: [ClosedRange<Double>] = []
            for (place, (start, end)) in zip(line, line.dropFirst()).enumerated() {
                let length = lengths[place + 1] - lengths[place]
                func share(_ part: Double) -> Double {
                    min(max((lengths[place] + part * length) / whole, 0), 1)
                }
                for part in covered(Segment(a: start, b: end)) {
                    let part = share(part.lowerBound)...share(part.upperBound)
                    if let last = parts.last, part.lowerBound - last.upperBound <= Self.tolerance {
                        parts[parts.count - 1] =
                            last.lowerBound...max(last.upperBound, part.upperBound)
                    } else {
                        parts.append(part)
                    }
                }
            }
            // The exact test finds a touch that rounding may miss here.
            return parts.isEmpty ? [0...1] : parts
        }

        /// The covered parts of a segment, shares of it, rising.
        private func covered(_ segment: Segment) -> [ClosedRange<Double>] {
            var parts: [ClosedRange<Double>] = []
            let box = Envelope(
                minX: min(segment.a.x, segment.b.x), minY: min(segment.a.y, segment.b.y),
                maxX: max(segment.a.x, segment.b.x), maxY: max(segment.a.y, segment.b.y))
            for other in segments {
                guard min(other.a.x, other.b.x) <= box.maxX, max(other.a.x, other.b.x) >= box.minX,
                    min(other.a.y, other.b.y) <= box.maxY, max(other.a.y, other.b.y) >= box.minY,
                    let part = Self.common(segment, other)
                else { continue }
                parts.append(part)
            }
            if isArea {
                let cuts = ([0, 1] + parts.flatMap { [$0.lowerBound, $0.upperBound] }).sorted()
                for (start, end) in zip(cuts, cuts.dropFirst()) where start < end {
                    let middle = (start + end) / 2
                    let position = Coordinate(
                        x: segment.a.x + middle * (segment.b.x - segment.a.x),
                        y: segment.a.y + middle * (segment.b.y - segment.a.y))
                    if shape.contains(position) { parts.append(start...end) }
                }
            }
            return parts.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
        }

        /// The part of a segment that it has in common with another; nil for none.
        private static func common(_ segment: Segment, _ other: Segment) -> ClosedRange<Double>? {
            let (dx, dy) = (segment.b.x - segment.a.x, segment.b.y - segment.a.y)
            let (ex, ey) = (other.b.x - other.a.x, other.b.y - other.a.y)
            let (px, py) = (other.a.x - segment.a.x, other.a.y - segment.a.y)
            let range = -tolerance...1 + tolerance
            let area = dx * ey - dy * ex
            if area != 0 {
                let part = (px * ey - py * ex) / area
                guard range ~= part, range ~= (px * dy - py * dx) / area else { return nil }
                let place = min(max(part, 0), 1)
                return place...place
            }
            let square = dx * dx + dy * dy
            guard square > 0, px * dy == py * dx else { return nil }
            let first = (px * dx + py * dy) / square
            let second = first + (ex * dx + ey * dy) / square
            let (low, high) = (min(first, second), max(first, second))
            guard high >= 0, low <= 1 else { return nil }
            return max(low, 0)...min(high, 1)
        }
    }
}
