// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// The even-odd rule in whole numbers of any length, so nothing is ever rounded: a way of its own,
/// sharing nothing with what it is compared with.
enum ExactRule {
    /// Whether a part holds the position, on its rings too.
    static func holds(_ position: Coordinate, _ parts: [[[Coordinate]]]) -> Bool {
        parts.contains { rings in
            var isOdd = false
            for ring in rings {
                for (a, b) in zip(ring, ring.dropFirst())
                where min(a.y, b.y) <= position.y && position.y <= max(a.y, b.y) {
                    let turn = sign(a, b, position)
                    if turn == 0, min(a.x, b.x) <= position.x, position.x <= max(a.x, b.x),
                        min(a.y, b.y) <= position.y, position.y <= max(a.y, b.y)
                    {
                        return true
                    }
                    if (a.y > position.y) != (b.y > position.y), (turn > 0) == (b.y > a.y) {
                        isOdd.toggle()
                    }
                }
            }
            return isOdd
        }
    }

    /// The sign of the determinant, by whole numbers.
    static func sign(_ a: Coordinate, _ b: Coordinate, _ c: Coordinate) -> Int {
        let left = Wide(a.x, minus: c.x) * Wide(b.y, minus: c.y)
        let right = Wide(a.y, minus: c.y) * Wide(b.x, minus: c.x)
        return left.compare(right)
    }
}

/// A whole number of any length with a sign, in units of 2^-1074, or of its square after a
/// product.
private struct Wide {
    var isNegative = false
    /// 32-bit digits, least first, no leading zeros.
    var digits: [UInt32] = []

    /// `a - b`, exactly.
    init(_ a: Double, minus b: Double) {
        let (x, y) = (Wide(a), Wide(b))
        if x.isNegative != y.isNegative {
            digits = Wide.sum(x.digits, y.digits)
            isNegative = x.isNegative
        } else if Wide.compare(x.digits, y.digits) >= 0 {
            digits = Wide.difference(x.digits, y.digits)
            isNegative = x.isNegative
        } else {
            digits = Wide.difference(y.digits, x.digits)
            isNegative = !x.isNegative
        }
    }

    private init(_ value: Double) {
        isNegative = value < 0
        guard value != 0 else { return }
        let shift = max(1, Int(value.exponentBitPattern)) - 1
        let mantissa =
            value.significandBitPattern | (value.isNormal ? UInt64(1) << 52 : 0)
        digits = [UInt32](repeating: 0, count: shift / 32 + 3)
        let low = mantissa << UInt64(shift % 32)
        let high = shift % 32 == 0 ? 0 : mantissa >> UInt64(64 - shift % 32)
        digits[shift / 32] = UInt32(truncatingIfNeeded: low)
        digits[shift / 32 + 1] = UInt32(truncatingIfNeeded: low >> 32)
        digits[shift / 32 + 2] = UInt32(truncatingIfNeeded: high)
        trim()
    }

    private init(isNegative: Bool, digits: [UInt32]) {
        self.isNegative = isNegative
        self.digits = digits
        trim()
    }

    private mutating func trim() { while digits.last == 0 { digits.removeLast() } }

    static func * (a: Wide, b: Wide) -> Wide {
        // Most low digits are zero; they are passed over.
        var product = [UInt32](repeating: 0, count: a.digits.count + b.digits.count + 1)
        for (i, x) in a.digits.enumerated() where x != 0 {
            var carry: UInt64 = 0
            for (j, y) in b.digits.enumerated() {
                let sum = UInt64(x) * UInt64(y) + UInt64(product[i + j]) + carry
                product[i + j] = UInt32(truncatingIfNeeded: sum)
                carry = sum >> 32
            }
            product[i + b.digits.count] = UInt32(carry)
        }
        return Wide(isNegative: a.isNegative != b.isNegative, digits: product)
    }

    func compare(_ other: Wide) -> Int {
        if digits.isEmpty && other.digits.isEmpty { return 0 }
        let signs = (
            digits.isEmpty ? false : isNegative, other.digits.isEmpty ? false : other.isNegative
        )
        if signs.0 != signs.1 { return signs.0 ? -1 : 1 }
        let order = Wide.compare(digits, other.digits)
        return signs.0 ? -order : order
    }

    static func compare(_ a: [UInt32], _ b: [UInt32]) -> Int {
        if a.count != b.count { return a.count < b.count ? -1 : 1 }
        for (x, y) in zip(a.reversed(), b.reversed()) where x != y { return x < y ? -1 : 1 }
        return 0
    }

    private static func sum(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        var result: [UInt32] = []
        var carry: UInt64 = 0
        for index in 0..<max(a.count, b.count) {
            let sum =
                UInt64(index < a.count ? a[index] : 0) + UInt64(index < b.count ? b[index] : 0)
                + carry
            result.append(UInt32(truncatingIfNeeded: sum))
            carry = sum >> 32
        }
        return carry == 0 ? result : result + [UInt32(carry)]
    }

    private static func difference(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        var result: [UInt32] = []
        var borrow: Int64 = 0
        for index in a.indices {
            var digit = Int64(a[index]) - Int64(index < b.count ? b[index] : 0) - borrow
            borrow = digit < 0 ? 1 : 0
            if digit < 0 { digit += 1 << 32 }
            result.append(UInt32(digit))
        }
        while result.last == 0 { result.removeLast() }
        return result
    }
}
