// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The line of a street made of the paths of one feature.
enum StreetPath {
    /// Joins the paths where one starts at the end of the previous one, without duplicate vertices.
    ///
    /// Of several results the longest; nil without a path.
    static func joined(_ paths: [[Coordinate]]) -> [Coordinate]? {
        var lines: [[Coordinate]] = []
        for path in paths where !path.isEmpty {
            if let last = lines.last?.last, last == path[0] {
                lines[lines.count - 1] += path.dropFirst()
            } else {
                lines.append(path)
            }
        }
        let longest = lines.enumerated().max { left, right in
            let (first, second) = (length(left.element), length(right.element))
            return first != second ? first < second : left.offset > right.offset
        }
        guard let longest else { return nil }
        var result: [Coordinate] = []
        for vertex in longest.element where vertex != result.last { result.append(vertex) }
        return result
    }

    private static func length(_ line: [Coordinate]) -> Double {
        zip(line, line.dropFirst()).reduce(0) { sum, step in
            let (dx, dy) = (step.1.x - step.0.x, step.1.y - step.0.y)
            return sum + (dx * dx + dy * dy).squareRoot()
        }
    }
}
