// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Geometry

enum Haversine {
    /// Metres on the great circle, by the formula as it is written in textbooks.
    static func meters(_ left: Coordinate, _ right: Coordinate) -> Double {
        let radians = Double.pi / 180
        let dy = (right.y - left.y) * radians
        let dx = (right.x - left.x) * radians
        let a =
            sin(dy / 2) * sin(dy / 2)
            + cos(left.y * radians) * cos(right.y * radians) * sin(dx / 2) * sin(dx / 2)
        return 2 * 6_371_008.8 * asin(min(1, a.squareRoot()))
    }
}
