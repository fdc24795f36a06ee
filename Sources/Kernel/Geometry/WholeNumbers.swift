// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The exact difference of two finite doubles: a whole number of the smallest double, 2^-1074, of
/// which every double is a multiple.
///
/// A difference has at most 2,099 bits. Takes microseconds, so it is for numbers beyond other
/// representations.
struct WholeDifference {
    /// -1, 0 or 1.
    let sign: Int
    /// Least significant word first.
    private(set) var magnitude: [UInt64]

    /// `a - b`; zero where one of them is not finite.
    init(_ a: Double, _ b: Double) {
        magnitude = [UInt64](repeating: 0, count: 34)
        guard a.isFinite, b.isFinite, a != b else {
            sign = 0
            return
        }
        sign = a < b ? -1 : 1
        // Modulo 2^2176, so that it does not matter which comes first; the sum is positive.
        add(max(a, b))
        add(-min(a, b))
    }

    private mutating func add(_ number: Double) {
        let hidden: UInt64 = number.isNormal ? 1 << 52 : 0
        let significand = number.significandBitPattern | hidden
        let shift = max(Int(number.exponentBitPattern), 1) - 1
        let place = shift / 64
        let parts = (low: significand << (shift % 64), high: significand >> (64 - shift % 64))
        var carry = false
        for index in place..<magnitude.count {
            let part = index == place ? parts.low : index == place + 1 ? parts.high : 0
            let (once, first) =
                number < 0
                ? magnitude[index].subtractingReportingOverflow(part)
                : magnitude[index].addingReportingOverflow(part)
            let (twice, second) =
                number < 0
                ? once.subtractingReportingOverflow(carry ? 1 : 0)
                : once.addingReportingOverflow(carry ? 1 : 0)
            magnitude[index] = twice
            carry = first || second
        }
    }
}

/// The product of two differences, exactly.
struct WholeProduct: Comparable {
    private let sign: Int
    /// Least significant word first.
    private let magnitude: [UInt64]

    /// `a * b`.
    init(_ a: WholeDifference, _ b: WholeDifference) {
        sign = a.sign * b.sign
        var product = [UInt64](repeating: 0, count: a.magnitude.count + b.magnitude.count)
        for (i, x) in a.magnitude.enumerated() where x != 0 {
            var carry: UInt64 = 0
            for (j, y) in b.magnitude.enumerated() {
                // At most (2^64 - 1)^2 + 2 (2^64 - 1), which fits two words.
                var (high, low) = x.multipliedFullWidth(by: y)
                for part in [product[i + j], carry] {
                    let (sum, overflow) = low.addingReportingOverflow(part)
                    low = sum
                    if overflow { high += 1 }
                }
                product[i + j] = low
                carry = high
            }
            product[i + b.magnitude.count] = carry
        }
        magnitude = product
    }

    static func < (a: WholeProduct, b: WholeProduct) -> Bool {
        if a.sign != b.sign { return a.sign < b.sign }
        let (less, greater) = a.sign < 0 ? (b, a) : (a, b)
        return less.magnitude.reversed().lexicographicallyPrecedes(greater.magnitude.reversed())
    }
}
