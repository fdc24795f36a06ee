// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Geometry
internal import Glibc

/// Fewer positions for a line that is shown as a whole.
package enum LineSimplification {
    /// Metres between two positions in degrees, on a sphere.
    package static func metres(_ first: Coordinate, _ second: Coordinate) -> Double {
        let radians = Double.pi / 180
        let (south, north) = (first.y * radians, second.y * radians)
        let (height, width) = (sin((north - south) / 2), sin((second.x - first.x) * radians / 2))
        let square = height * height + cos(south) * cos(north) * width * width
        return 2 * 6_371_008.8 * asin(min(1, square.squareRoot()))
    }

    /// A line in degrees, generalised to a thousandth of its extent: what a screen shows of it.
    package static func simplified(_ line: [Coordinate]) -> [Coordinate] {
        guard let first = line.first else { return line }
        let scale = cos(first.y * .pi / 180)
        let flat = line.map { Coordinate(x: $0.x * scale, y: $0.y) }
        var extent = Envelope.empty
        for place in flat { extent.extend(to: place) }
        let tolerance = max(extent.width, extent.height) / 1000
        return kept(flat, tolerance).map { line[$0] }
    }

    /// The line with no position farther off than `tolerance`, by Douglas and Peucker.
    package static func simplified(_ line: [Coordinate], within tolerance: Double) -> [Coordinate] {
        tolerance > 0 ? kept(line, tolerance).map { line[$0] } : line
    }

    /// The indices of the positions that stay, ascending.
    private static func kept(_ line: [Coordinate], _ tolerance: Double) -> [Int] {
        guard line.count > 2 else { return Array(line.indices) }
        var stays = [Bool](repeating: false, count: line.count)
        (stays[0], stays[line.count - 1]) = (true, true)
        var open = [(0, line.count - 1)]
        while let (first, last) = open.popLast() {
            var (farthest, most) = (first, tolerance)
            for index in first..<last where index > first {
                let distance = distance(line[index], line[first], line[last])
                if distance > most { (farthest, most) = (index, distance) }
            }
            guard farthest > first else { continue }
            stays[farthest] = true
            open += [(first, farthest), (farthest, last)]
        }
        return stays.indices.filter { stays[$0] }
    }

    private static func distance(
        _ place: Coordinate, _ start: Coordinate, _ end: Coordinate
    ) -> Double {
        let (width, height) = (end.x - start.x, end.y - start.y)
        let square = width * width + height * height
        var share = 0.0
        if square > 0 {
            share = ((place.x - start.x) * width + (place.y - start.y) * height) / square
            share = min(1, max(0, share))
        }
        let (x, y) = (start.x + share * width - place.x, start.y + share * height - place.y)
        return (x * x + y * y).squareRoot()
    }
}
