// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Areas of all places within a distance of geometries in the plane, with round corners.
public enum Buffering {
    /// Lines of more segments are put together from runs of this many, where neighbours overlap.
    private static let runLength = 24

    /// All places within the distance of the input; for a distance below 0, the places of its area
    /// that are farther than that from its border.
    ///
    /// Vertices of round corners are at the distance, and an arc has the vertices of a circle of
    /// ``OffsetRings/circleVertices``. A distance of 0 gives the input's area. Parts are as
    /// ``Overlay/area(where:)`` has them.
    public static func area(
        around input: OverlayInput, distance: Double
    ) throws(OverlayFailure) -> [[[Coordinate]]] {
        guard distance.isFinite else { throw .notFinite(Coordinate(x: distance, y: distance)) }
        var greatest = 0.0
        for chain in input.chains {
            for place in chain {
                guard place.isFinite else { throw .notFinite(place) }
                greatest = max(greatest, abs(place.x), abs(place.y))
            }
        }
        let reach = greatest + abs(distance)
        let parts = try Overlay(
            OverlayInput(rings: input.rings, rule: input.rule), reach: reach
        ).area { first, _ in first }
        let rings = parts.flatMap { $0 }
        if distance == 0 { return parts }
        let isDense = (input.paths + rings).contains { Self.isDense($0, abs(distance)) }
        if distance < 0 {
            var band = OffsetRings(distance: -distance)
            if isDense {
                let border = try united(along: rings, -distance, reach)
                return try Overlay(
                    OverlayInput(rings: rings), OverlayInput(rings: border), reach: reach
                ).area { $0 && !$1 }
            }
            for ring in rings { band.add(leftOf: ring.reversed(), includesRight: false) }
            return try Overlay(
                OverlayInput(rings: rings), OverlayInput(rings: band.rings, rule: .positive),
                reach: reach
            ).area { $0 && !$1 }
        }
        var band = OffsetRings(distance: distance)
        for place in input.points { band.add(around: place) }
        if isDense {
            let lines = try united(along: rings + input.paths, distance, reach)
            return try union(of: [lines, rings, union(of: band.rings, reach)], reach: reach)
        }
        for path in input.paths { band.add(along: path) }
        for ring in rings { band.add(leftOf: ring, includesRight: true) }
        return try Overlay(
            OverlayInput(rings: band.rings, rule: .positive), reach: reach
        ).area { first, _ in first }
    }

    /// The union of areas, each with outer rings clockwise, holes counterclockwise and no crossing,
    /// as connected parts.
    public static func union(
        of areas: [[[Coordinate]]], reach: Double = 0
    ) throws(OverlayFailure) -> [[[Coordinate]]] {
        try Overlay(
            OverlayInput(rings: areas.joined().map { $0.reversed() }, rule: .positive),
            reach: reach
        ).area { first, _ in first }
    }

    private static func union(
        of rings: [[Coordinate]], _ reach: Double
    ) throws(OverlayFailure) -> [[Coordinate]] {
        try Overlay(OverlayInput(rings: rings, rule: .positive), reach: reach)
            .area { first, _ in first }.flatMap { $0 }
    }

    /// Whether many pieces of the line's surroundings overlap at each place: the distance is more
    /// than a third of the mean diagonal of the boxes around its runs.
    private static func isDense(_ path: [Coordinate], _ distance: Double) -> Bool {
        guard path.count > 2 * runLength else { return false }
        var (sum, count) = (0.0, 0.0)
        for first in stride(from: 0, to: path.count, by: runLength) {
            var box = Envelope.empty
            for place in path[first..<min(first + runLength, path.count)] { box.extend(to: place) }
            sum += box.width / 2 + box.height / 2
            count += 1
        }
        return distance > sum / count * 2 / 3
    }

    /// Runs of a line whose surroundings are to be made one by one and joined by
    /// ``union(ofPieces:reach:)``: one where few of them would overlap.
    public static func runs(of path: [Coordinate], distance: Double) -> [ClosedRange<Int>] {
        let last = path.count - 1
        guard last > 0 else { return path.isEmpty ? [] : [0...0] }
        guard isDense(path, distance) else { return [0...last] }
        return stride(from: 0, to: last, by: runLength).map { $0...min($0 + runLength, last) }
    }

    /// The union of areas, each of rings whose windings are counted.
    ///
    /// Two neighbours at a time are joined, so that what they have in common is there once. Parts
    /// are as ``Overlay/area(where:)`` has them.
    ///
    /// - Parameters:
    ///   - pieces: The rings of each area, to be read by ``OverlayInput/Rule/positive``.
    ///   - reach: The grid is made for coordinates of this magnitude at least.
    public static func union(
        ofPieces pieces: [[[Coordinate]]], reach: Double = 0
    ) throws(OverlayFailure) -> [[[Coordinate]]] {
        var areas: [[[[Coordinate]]]] = []
        for rings in pieces {
            areas.append(
                try Overlay(OverlayInput(rings: rings, rule: .positive), reach: reach)
                    .area { first, _ in first })
        }
        while areas.count > 1 {
            var joined: [[[[Coordinate]]]] = []
            for index in stride(from: 0, to: areas.count, by: 2) {
                joined.append(
                    index + 1 == areas.count
                        ? areas[index]
                        : try union(of: areas[index] + areas[index + 1], reach: reach))
            }
            areas = joined
        }
        return areas.first ?? []
    }

    private static func united(
        along paths: [[Coordinate]], _ distance: Double, _ reach: Double
    ) throws(OverlayFailure) -> [[Coordinate]] {
        let pieces = paths.flatMap { path in
            runs(of: path, distance: distance).map { run in
                var band = OffsetRings(distance: distance)
                band.add(along: Array(path[run]))
                return band.rings
            }
        }
        return try union(ofPieces: pieces, reach: reach).flatMap { $0 }
    }
}
