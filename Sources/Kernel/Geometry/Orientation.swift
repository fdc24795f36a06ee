// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The turn of the path `a` → `b` → `c`: positive to the left (counter-clockwise), negative to the
/// right, zero for collinear points.
///
/// The sign is exact for all finite coordinates; the value approximates twice the triangle's signed
/// area in square units, and is as good as zero where that would underflow. A coordinate that is
/// not finite gives an arbitrary sign.
///
/// A floating-point filter decides nearly always; else the determinant is computed without rounding
/// (J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
/// Predicates", 1997), and beyond the range of doubles, in whole numbers.
@inlinable
@inline(__always)
public func orientation(_ a: Coordinate, _ b: Coordinate, _ c: Coordinate) -> Double {
    let left = (a.x - c.x) * (b.y - c.y)
    let right = (a.y - c.y) * (b.x - c.x)
    let determinant = left - right
    let size = abs(left) + abs(right)
    // Far above the smallest double, so that what underflow takes is less than the filter's slack.
    if abs(determinant) > 3.330_669_073_875_471_6e-16 * size && size > 0x1p-900 {
        return determinant
    }
    return exactOrientation(a, b, c)
}

@inline(never)
@usableFromInline
func exactOrientation(_ a: Coordinate, _ b: Coordinate, _ c: Coordinate) -> Double {
    if (a.x == c.x || b.y == c.y) && (a.y == c.y || b.x == c.x) { return 0 }
    let isInRange =
        Expansion.holdsProducts(of: a.x, b.x, c.x) && Expansion.holdsProducts(of: a.y, b.y, c.y)
    guard isInRange else {
        let left = WholeProduct(WholeDifference(a.x, c.x), WholeDifference(b.y, c.y))
        let right = WholeProduct(WholeDifference(a.y, c.y), WholeDifference(b.x, c.x))
        return left == right ? 0 : left < right ? -.leastNonzeroMagnitude : .leastNonzeroMagnitude
    }
    var sum = Expansion()
    sum.addProduct(Expansion.difference(a.x, c.x), Expansion.difference(b.y, c.y), sign: 1)
    sum.addProduct(Expansion.difference(a.y, c.y), Expansion.difference(b.x, c.x), sign: -1)
    return sum.mostSignificant
}
