// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Between pixels and places: GDAL's six numbers and their inverse.
struct PixelTransform {
    private let forward: [Double]
    private let inverse: [Double]

    /// Nil when the numbers are not finite, or put all pixels on one line.
    init?(_ numbers: [Double]) {
        guard numbers.count == 6, numbers.allSatisfy(\.isFinite) else { return nil }
        let determinant = numbers[1] * numbers[5] - numbers[2] * numbers[4]
        guard determinant != 0, determinant.isFinite else { return nil }
        forward = numbers
        inverse = [
            (numbers[2] * numbers[3] - numbers[0] * numbers[5]) / determinant,
            numbers[5] / determinant, -numbers[2] / determinant,
            (numbers[0] * numbers[4] - numbers[1] * numbers[3]) / determinant,
            -numbers[4] / determinant, numbers[1] / determinant,
        ]
    }

    /// The position of a column and row; whole numbers are the upper left corners of pixels.
    func place(column: Double, row: Double) -> Coordinate {
        Coordinate(
            x: forward[0] + column * forward[1] + row * forward[2],
            y: forward[3] + column * forward[4] + row * forward[5])
    }

    /// The pixel at a place; nil outside.
    func pixel(at place: Coordinate, width: Int, height: Int) -> (column: Int, row: Int)? {
        let column: Double
        let row: Double
        if forward[2] == 0, forward[4] == 0 {
            // One rounding less than with the inverse, so a place on a line stays on it.
            column = (place.x - forward[0]) / forward[1]
            row = (place.y - forward[3]) / forward[5]
        } else {
            column = inverse[0] + place.x * inverse[1] + place.y * inverse[2]
            row = inverse[3] + place.x * inverse[4] + place.y * inverse[5]
        }
        guard column >= 0, column < Double(width), row >= 0, row < Double(height) else {
            return nil
        }
        return (Int(column), Int(row))
    }
}
