// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Glibc
internal import Platform

extension AddressFile {
    /// The streets with the rectangles nearest to a location, by distance on a local plane of
    /// degrees, at most `most`.
    func streets(near location: Coordinate, most: Int, _ bytes: RawSpan) -> [Int] {
        guard streetCount > 0, most > 0 else { return [] }
        let east = max(0.01, cos(location.y * .pi / 180))
        func distance(_ entry: Int) -> Double {
            let (west, south, eastmost, north) = rectangle(entry, bytes)
            var dx = Double.infinity
            for turn in [-360.0, 0, 360] {
                dx = min(
                    dx,
                    max(
                        0, Double(west) / 1e7 - location.x - turn,
                        location.x + turn - Double(eastmost) / 1e7))
            }
            let dy = max(0, Double(south) / 1e7 - location.y, location.y - Double(north) / 1e7)
            return dx * dx * east * east + dy * dy
        }
        var result: [Int] = []
        // The farthest first, so that the next is the last.
        var waiting: [(distance: Double, level: Int, number: Int)] = [
            (0, rectangleLevels.count - 1, 0)
        ]
        while result.count < most, let next = waiting.popLast() {
            guard next.level > 0 else {
                result.append(street(atOrder: next.number, bytes))
                continue
            }
            let width = rectangleLevels[next.level] - rectangleLevels[next.level - 1]
            let first = next.number * LocatorLayout.rectangleFanout
            for child in first..<min(first + LocatorLayout.rectangleFanout, width) {
                let found = (
                    distance(rectangleLevels[next.level - 1] + child), next.level - 1, child
                )
                var range = 0..<waiting.count
                while !range.isEmpty {
                    let middle = range.lowerBound + range.count / 2
                    if waiting[middle].distance > found.0 {
                        range = middle + 1..<range.upperBound
                    } else {
                        range = range.lowerBound..<middle
                    }
                }
                waiting.insert(found, at: range.lowerBound)
            }
        }
        return result
    }
}
