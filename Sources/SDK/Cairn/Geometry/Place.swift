// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A vertex.
struct Place: Hashable, Sendable {
    var x: Double
    var y: Double
    var z: Double?
    var m: Double?

    init(_ x: Double, _ y: Double, z: Double? = nil, m: Double? = nil) {
        (self.x, self.y, self.z, self.m) = (x, y, z, m)
    }

    /// Reads `[x, y]`, `[x, y, z]`, `[x, y, z, m]`; nil for anything else.
    init?(_ json: JSON, hasZ: Bool) {
        let numbers = json.elements
        guard numbers.count >= 2, let x = numbers[0].number, let y = numbers[1].number,
            x.isFinite, y.isFinite
        else { return nil }
        self.init(x, y)
        guard numbers.count > 2 else { return }
        if hasZ { z = numbers[2].number } else { m = numbers[2].number }
        if hasZ, numbers.count > 3 { m = numbers[3].number }
    }

    func json(hasZ: Bool) -> JSON {
        .array([.real(x), .real(y)] + (hasZ ? [.real(z ?? 0)] : []))
    }

    /// The distance in the plane to a segment.
    func distance(to start: Place, _ end: Place) -> Double {
        let (dx, dy) = (end.x - start.x, end.y - start.y)
        let square = dx * dx + dy * dy
        let share = square == 0 ? 0 : ((x - start.x) * dx + (y - start.y) * dy) / square
        let nearest = min(max(share, 0), 1)
        return hypot(start.x + nearest * dx - x, start.y + nearest * dy - y)
    }

    /// Whether it is inside the closed rings of these segments, by the parity of crossings.
    func isInside(_ segments: some Sequence<(Place, Place)>) -> Bool {
        var isInside = false
        for (start, end) in segments where (start.y > y) != (end.y > y) {
            let crossing = start.x + (y - start.y) / (end.y - start.y) * (end.x - start.x)
            if x < crossing { isInside.toggle() }
        }
        return isInside
    }
}

/// Lists of vertices.
enum Lines: Sendable {
    case places([[Place]])
    /// As an answer has them, which is a third of the memory.
    case packed(JSONPositions, hasZ: Bool)

    var places: [[Place]] {
        guard case .packed(let positions, let hasZ) = self else {
            guard case .places(let places) = self else { return [] }
            return places
        }
        let (numbers, stride) = (positions.numbers, positions.stride)
        var start = 0
        return positions.ends.map { end in
            defer { start = end }
            return (start..<end).map { position in
                let first = position * stride
                var place = Place(numbers[first], numbers[first + 1])
                guard stride > 2 else { return place }
                if hasZ { place.z = numbers[first + 2] } else { place.m = numbers[first + 2] }
                if hasZ, stride > 3 { place.m = numbers[first + 3] }
                return place
            }
        }
    }

    /// With the first vertex of each line also at its end.
    var closed: Lines {
        if case .packed(let positions, _) = self, positions.areClosed { return self }
        return .places(
            places.map { line in
                guard let first = line.first, line.last != first else { return line }
                return line + [first]
            })
    }
}
