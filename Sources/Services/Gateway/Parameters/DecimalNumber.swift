// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Double {
    /// Parses a finite decimal number, `-12.5` or `1e-3`, with spaces trimmed; nil for anything
    /// else.
    ///
    /// Correctly rounded, like `Double(_:)`.
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

    /// The fast path (Clinger 1990): where digits and power of ten are exact doubles, one division
    /// rounds correctly.
    private static func plain(_ text: some Collection<UInt8>) -> Double? {
        var magnitude: UInt64 = 0
        var digitCount = 0
        var decimals: Int?
        var isNegative = false
        for (place, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                magnitude = magnitude &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
                digitCount += 1
                decimals? += 1
            case UInt8(ascii: ".") where decimals == nil: decimals = 0
            case UInt8(ascii: "-") where place == 0: isNegative = true
            default: return nil
            }
        }
        // Eighteen digits fit the integer; 2^53 and 10^22 are the largest exact values.
        guard 1...18 ~= digitCount, magnitude <= 1 << 53 else { return nil }
        let value = Double(magnitude) / powersOfTen[decimals ?? 0]
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
