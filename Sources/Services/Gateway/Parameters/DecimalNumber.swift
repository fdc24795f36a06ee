// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Double {
    /// Parses a finite decimal number, `-12.5` or `1e-3`, with spaces trimmed; nil for anything
    /// else.
    ///
    /// The nearest double, as `Double(_:)` reads it, which would take `nan` and `0x10` too.
    init?(decimal text: some Collection<UInt8>) {
        if let plain = Self.plain(text) {
            self = plain
            return
        }
        let digits = text.filter { $0 != UInt8(ascii: " ") }
        guard digits.allSatisfy(Self.isNumeric),
            let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite
        else { return nil }
        self = value
    }

    /// Digits with or without sign and point, few enough that the number without its point and the
    /// power of ten are exact doubles: their quotient is rounded once (Clinger 1990).
    ///
    /// Without it, the numbers of a click cost 1.5 µs more of its 33.
    private static func plain(_ text: some Collection<UInt8>) -> Double? {
        var (magnitude, digitCount, decimalCount): (UInt64, Int, Int?) = (0, 0, nil)
        var rest = text.makeIterator()
        var next = rest.next()
        let isNegative = next == UInt8(ascii: "-")
        if isNegative { next = rest.next() }
        while let byte = next {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                magnitude = magnitude &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
                digitCount += 1
                decimalCount? += 1
            case UInt8(ascii: ".") where decimalCount == nil: decimalCount = 0
            default: return nil
            }
            next = rest.next()
        }
        // Eighteen digits fit the integer; 2^53 and 10^18 are exact.
        guard 1...18 ~= digitCount, magnitude <= 1 << 53 else { return nil }
        let value = Double(magnitude) / powersOfTen[decimalCount ?? 0]
        return isNegative ? -value : value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18,
    ]

    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
