// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Which way the path `a` → `b` → `c` turns: positive to the left (counter-clockwise), negative to
/// the right, zero when the three lie on one line.
///
/// The sign is exact for coordinates that are 0 or between 1e-120 and 1e120 in magnitude; the value
/// approximates twice the triangle's signed area in square units. A coordinate that is not finite
/// gives an arbitrary sign.
///
/// A floating-point filter decides nearly always; else the determinant is computed without rounding
/// (J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
/// Predicates", 1997).
@inlinable
@inline(__always)
public func orientation(_ a: Coordinate, _ b: Coordinate, _ c: Coordinate) -> Double {
    let left = (a.x - c.x) * (b.y - c.y)
    let right = (a.y - c.y) * (b.x - c.x)
    let determinant = left - right
    let bound = 3.330_669_073_875_471_6e-16 * (abs(left) + abs(right))
    if determinant > bound || -determinant > bound || left == 0 || right == 0 {
        return determinant
    }
    return exactOrientation(a, b, c)
}

/// The determinant as the sum of sixteen doubles, none of them rounded.
@inline(never)
@usableFromInline
func exactOrientation(_ a: Coordinate, _ b: Coordinate, _ c: Coordinate) -> Double {
    let magnitude = max(abs(a.x), abs(a.y), abs(b.x), abs(b.y), abs(c.x), abs(c.y))
    if magnitude > 0x1p480 && magnitude.isFinite {
        // A power of two scales without rounding and keeps the products finite.
        func scaled(_ coordinate: Coordinate) -> Coordinate {
            Coordinate(x: coordinate.x * 0x1p-560, y: coordinate.y * 0x1p-560)
        }
        return exactOrientation(scaled(a), scaled(b), scaled(c))
    }
    var sum = Expansion()
    sum.addProduct(Expansion.difference(a.x, c.x), Expansion.difference(b.y, c.y), sign: 1)
    sum.addProduct(Expansion.difference(a.y, c.y), Expansion.difference(b.x, c.x), sign: -1)
    return sum.mostSignificant
}
