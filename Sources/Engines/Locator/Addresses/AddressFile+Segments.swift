// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Glibc
internal import Platform

/// Where a house stands that is known by the range of its street alone.
struct RangeMatch: Hashable {
    var segment: Int
    var side: StreetSide
    /// Inside the range, or so far outside as `gap` says.
    var number: Int
    /// The second number of `12-14`; nil for one house.
    var end: Int?
    /// What follows the number in the text, folded.
    var suffix = ""
    /// How far the number lies outside the range; 0 inside.
    var gap = 0
}

extension AddressFile {
    /// How far to the side of the line a house is taken to stand, in metres.
    ///
    /// The best for every second address of Cambridge, Massachusetts (`Docs/accuracy.md`).
    static let houseOffsetMeters = 20.0
    /// Numbers farther outside every range of a street are no house of it.
    static let widestGap = 100

    func segments(ofStreet street: Int, _ bytes: RawSpan) -> Range<Int> {
        guard segmentCount > 0 else { return 0..<0 }
        return number(.segmentStarts, street, bytes)..<number(.segmentStarts, street + 1, bytes)
    }

    /// The street of a segment.
    func street(ofSegment segment: Int, _ bytes: RawSpan) -> Int {
        var range = 0..<streetCount
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            if number(.segmentStarts, middle, bytes) <= segment {
                range = middle..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    /// The house numbers on a side; nil for none.
    func range(
        ofSegment segment: Int, _ side: StreetSide, _ bytes: RawSpan
    ) -> AddressRange? {
        let at = offset(.segments, segment)
        let kind = bytes.byte(at: at + 20 + side.rawValue)
        guard let parity = AddressRange.Parity(rawValue: kind) else { return nil }
        return AddressRange(
            from: bytes.uint32(at: at + 4 + 8 * side.rawValue),
            to: bytes.uint32(at: at + 8 + 8 * side.rawValue), parity: parity,
            step: bytes.uint16(at: at + 22))
    }

    /// Whether it is known which side of a segment houses are on; where not, both have the same
    /// numbers.
    func tellsSides(_ segment: Int, _ bytes: RawSpan) -> Bool {
        guard let left = range(ofSegment: segment, .left, bytes),
            let right = range(ofSegment: segment, .right, bytes)
        else { return true }
        return left != right
    }

    func vertices(ofSegment segment: Int, _ bytes: RawSpan) -> Range<Int> {
        number(.segments, 6 * segment, bytes)..<number(.segments, 6 * segment + 6, bytes)
    }

    func location(ofVertex vertex: Int, _ bytes: RawSpan) -> Coordinate {
        position(at: offset(.vertices, vertex), bytes)
    }

    /// The side of a street along which a number lies: in the narrowest range that has it, else,
    /// where `outside` allows, beyond the nearest end of one.
    func match(
        _ number: Int, onStreet street: Int, outside: Bool, _ bytes: RawSpan
    ) -> RangeMatch? {
        var best: (match: RangeMatch, width: Int)?
        for segment in segments(ofStreet: street, bytes) {
            for side in StreetSide.allCases {
                guard let range = range(ofSegment: segment, side, bytes) else { continue }
                let (low, high) = (range.low, range.high)
                let gap = max(0, low - number, number - high)
                guard range.fits(number), gap == 0 || outside && gap <= Self.widestGap,
                    best.map({ (gap, high - low) < ($0.match.gap, $0.width) }) ?? true
                else { continue }
                best = (
                    RangeMatch(segment: segment, side: side, number: number, gap: gap), high - low
                )
            }
        }
        return best?.match
    }

    /// The house whose stretch of a segment is at a share of its length, 0…1; nil where the side
    /// has no houses.
    func house(
        ofSegment segment: Int, _ side: StreetSide, at share: Double, _ bytes: RawSpan
    ) -> RangeMatch? {
        guard let range = range(ofSegment: segment, side, bytes) else { return nil }
        let count = (range.high - range.low) / range.spacing + 1
        let along = range.isFalling ? 1 - share : share
        let place = min(count - 1, max(0, Int(along * Double(count))))
        return RangeMatch(
            segment: segment, side: side, number: range.low + place * range.spacing)
    }

    /// Where on the Earth the house of a match stands.
    ///
    /// Every number of the range has a stretch of the line of its own, all of one length; the house
    /// stands in the middle of its own, or of those of `12-14`, set off to the side where that is
    /// known.
    func location(of match: RangeMatch, _ bytes: RawSpan) -> Coordinate {
        let line = StreetLine(self, segment: match.segment, bytes)
        guard let range = range(ofSegment: match.segment, match.side, bytes) else {
            return line.location(at: 0.5, side: match.side, offsetMeters: 0)
        }
        let (low, high) = (range.low, range.high)
        var number = Double(min(max(match.number, low), high))
        if let end = match.end, end <= high, match.gap == 0 { number = (number + Double(end)) / 2 }
        let step = Double(range.spacing)
        let along = (number - Double(low) + step / 2) / (Double(high - low) + step)
        return line.location(
            at: range.isFalling ? 1 - along : along, side: match.side,
            offsetMeters: tellsSides(match.segment, bytes) ? Self.houseOffsetMeters : 0)
    }
}

/// The line of a segment on a plane of metres around its first vertex; good for some tens of
/// kilometres.
struct StreetLine {
    private let origin: Coordinate
    /// Metres in a degree of longitude.
    private let scaleX: Double
    private var points: [Coordinate] = []
    private static let scaleY = Sphere.radius * .pi / 180

    init(_ file: AddressFile, segment: Int, _ bytes: RawSpan) {
        let vertices = file.vertices(ofSegment: segment, bytes)
        origin = file.location(ofVertex: vertices.lowerBound, bytes)
        scaleX = Self.scaleY * max(0.01, cos(origin.y * .pi / 180))
        points.reserveCapacity(vertices.count)
        for vertex in vertices { points.append(plane(file.location(ofVertex: vertex, bytes))) }
    }

    private func plane(_ location: Coordinate) -> Coordinate {
        // The shorter way round the Earth.
        let x = location.x - origin.x
        let turns = (x / 360).rounded()
        return Coordinate(x: (x - 360 * turns) * scaleX, y: (location.y - origin.y) * Self.scaleY)
    }

    /// The position at a share of the length, 0…1, set off to a side; longitude within ±180.
    func location(at share: Double, side: StreetSide, offsetMeters: Double) -> Coordinate {
        let steps = zip(points, points.dropFirst()).map { hypot($1.x - $0.x, $1.y - $0.y) }
        let total = steps.reduce(0, +)
        var left = share * total
        var index = 0
        while index < steps.count - 1, left > steps[index] {
            left -= steps[index]
            index += 1
        }
        let (start, end) = (points[index], points[index + 1])
        let length = steps[index]
        let unit =
            length > 0
            ? Coordinate(x: (end.x - start.x) / length, y: (end.y - start.y) / length)
            : Coordinate(x: 0, y: 0)
        let offset = side == .left ? offsetMeters : -offsetMeters
        let place = Coordinate(
            x: start.x + unit.x * left - unit.y * offset,
            y: start.y + unit.y * left + unit.x * offset)
        let x = origin.x + place.x / scaleX
        return Coordinate(
            x: x - 360 * (x / 360).rounded(),
            y: min(90, max(-90, origin.y + place.y / Self.scaleY)))
    }

    /// How far a location is from the line, where along it is nearest, 0…1, and on which side it
    /// lies.
    func nearest(to location: Coordinate) -> (meters: Double, share: Double, side: StreetSide) {
        let point = plane(location)
        var best = (meters: Double.infinity, along: 0.0, side: StreetSide.left)
        var passed = 0.0
        for (start, end) in zip(points, points.dropFirst()) {
            let (dx, dy) = (end.x - start.x, end.y - start.y)
            let length = hypot(dx, dy)
            let (px, py) = (point.x - start.x, point.y - start.y)
            let share =
                length > 0 ? min(1, max(0, (px * dx + py * dy) / (length * length))) : 0
            let meters = hypot(px - share * dx, py - share * dy)
            if meters < best.meters {
                best = (
                    meters, passed + share * length, dx * py - dy * px >= 0 ? .left : .right
                )
            }
            passed += length
        }
        return (best.meters, passed > 0 ? best.along / passed : 0.5, best.side)
    }
}
