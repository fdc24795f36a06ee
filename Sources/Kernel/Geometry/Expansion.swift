// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A number as the exact sum of doubles of rising magnitude that do not overlap (Shewchuk 1997), so
/// sums and products lose nothing while no product underflows.
struct Expansion {
    /// A double with its rounding error.
    typealias Pair = (high: Double, low: Double)

    private var terms: [Double] = []

    /// The term that has the sign of the whole and approximates it.
    var mostSignificant: Double { terms.last ?? 0 }

    /// Adds one double (Grow-Expansion with zero elimination).
    mutating func add(_ value: Double) {
        guard value != 0 else { return }
        var carry = value
        var kept = 0
        for index in terms.indices {
            let sum = Self.sum(carry, terms[index])
            carry = sum.high
            if sum.low != 0 {
                terms[kept] = sum.low
                kept += 1
            }
        }
        terms.removeSubrange(kept...)
        if carry != 0 { terms.append(carry) }
    }

    /// Adds the product of two doubles; `sign` is 1 or -1.
    mutating func addProduct(_ a: Double, _ b: Double, sign: Double) {
        let high = a * b
        add(sign * (-high).addingProduct(a, b))
        add(sign * high)
    }

    /// Adds the product of two pairs; `sign` is 1 or -1.
    mutating func addProduct(_ a: Pair, _ b: Pair, sign: Double) {
        addProduct(a.low, b.low, sign: sign)
        addProduct(a.high, b.low, sign: sign)
        addProduct(a.low, b.high, sign: sign)
        addProduct(a.high, b.high, sign: sign)
    }

    /// Whether products of the numbers' differences are held exactly: no number is so small that
    /// what rounding leaves out of them would underflow, or so large that they overflow.
    static func holdsProducts(of a: Double, _ b: Double, _ c: Double) -> Bool {
        func isOrdinary(_ number: Double) -> Bool {
            number == 0 || (abs(number) >= 0x1p-400 && abs(number) <= 0x1p480)
        }
        return isOrdinary(a) && isOrdinary(b) && isOrdinary(c)
    }

    /// Two-Diff: `a - b` without rounding.
    static func difference(_ a: Double, _ b: Double) -> Pair { sum(a, -b) }

    /// Two-Sum: `a + b` without rounding.
    private static func sum(_ a: Double, _ b: Double) -> Pair {
        let high = a + b
        let virtual = high - a
        return (high, (a - (high - virtual)) + (b - virtual))
    }
}
