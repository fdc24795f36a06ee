// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Glibc
internal import Platform

/// A house located by interpolation along a range of its street.
struct RangeMatch: Hashable {
    var segment: Int
    var side: StreetSide
    /// In the range, or outside by `gap`.
    var number: Int
    /// The second number of `12-14`; nil for a single house.
    var end: Int?
    /// The suffix of the number in the text, folded.
    var suffix = ""
    /// Distance of the number from the range; 0 inside.
    var gap = 0
}

extension AddressFile {
    /// Offset of an interpolated house from the line, in metres.
    ///
    /// The optimum for every second address of Cambridge, Massachusetts (`Docs/accuracy.md`).
    static let houseOffsetMeters = 20.0
    /// Largest distance of a number from a street's ranges.
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

    /// The range of house numbers on a side; nil for none.
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

    /// Whether the sides of a segment's houses are known; if not, both have the same numbers.
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

    /// The side of a street for a number: the narrowest range that contains it, else, with
    /// `outside`, the nearest range.
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

    /// The house number at a fraction of a segment's length, 0…1; nil where the side has no houses.
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

    /// The interpolated location of a match.
    ///
    /// Every number of the range has a stretch of the line, all of one length; the house is in the
    /// middle of its own, or of those of `12-14`, offset to its side where that is known.
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

/// The line of a segment on a plane of metres around its first vertex; valid for some tens of
/// kilometres.
struct StreetLine {
    private let origin: Coordinate
    /// Metres per degree of longitude.
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
        // Along the shorter way around the Earth.
        let x = location.x - origin.x
        let turns = (x / 360).rounded()
        return Coordinate(x: (x - 360 * turns) * scaleX, y: (location.y - origin.y) * Self.scaleY)
    }

    /// The position at a fraction of the length, 0…1, offset to a side; longitude within ±180.
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

    /// The distance of a location from the line, the fraction of the nearest position on it, 0…1,
    /// and the side.
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
