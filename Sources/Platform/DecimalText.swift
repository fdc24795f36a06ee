// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Numbers as decimal text, appended to bytes without a string in between.
public enum DecimalText {
    /// Appends a whole number.
    public static func append(_ value: Int64, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(addingCapacity: 20) { text in append(value.magnitude, to: &text) }
    }

    /// Appends a finite number: the shortest text that reads back equal, as `description` has it, but
    /// whole numbers of a magnitude below 2^53 without a fraction.
    public static func append(_ value: Double, to bytes: inout [UInt8]) {
        if let short = ShortDecimal(value) {
            bytes.append(addingCapacity: ShortDecimal.mostBytes) { text in short.write(to: &text) }
        } else {
            appendAny(value, to: &bytes)
        }
    }

    /// Appends `[x,y]`, two finite numbers.
    public static func append(_ x: Double, _ y: Double, to bytes: inout [UInt8]) {
        guard let first = ShortDecimal(x), let second = ShortDecimal(y) else {
            bytes.append(UInt8(ascii: "["))
            append(x, to: &bytes)
            bytes.append(UInt8(ascii: ","))
            append(y, to: &bytes)
            return bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(addingCapacity: 2 * ShortDecimal.mostBytes + 3) { text in
            text.append(UInt8(ascii: "["))
            first.write(to: &text)
            text.append(UInt8(ascii: ","))
            second.write(to: &text)
            text.append(UInt8(ascii: "]"))
        }
    }

    private static func appendAny(_ value: Double, to bytes: inout [UInt8]) {
        let magnitude = value.magnitude
        if magnitude < 0x1p53, magnitude == magnitude.rounded(.towardZero) {
            return append(Int64(value), to: &bytes)
        }
        var text = AppendedText(bytes: [])
        swap(&text.bytes, &bytes)
        value.write(to: &text)
        swap(&text.bytes, &bytes)
    }

    fileprivate static func append(_ value: UInt64, to text: inout OutputSpan<UInt8>) {
        var power: UInt64 = 1
        while value / power >= 10 { power *= 10 }
        var rest = value
        while power > 0 {
            text.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / power))
            rest %= power
            power /= 10
        }
    }
}

/// A number with seven decimals at most and below 10^8, as coordinates often are.
///
/// Fifteen digits or fewer are read as the double nearest to them, and no other text so short is. The
/// quotient of two doubles that are exact is that double, so comparing decides.
private struct ShortDecimal {
    static let mostBytes = 17
    private let isNegative: Bool
    private let whole: UInt32
    /// Of 10^7.
    private let fraction: UInt32

    @inline(__always)
    init?(_ value: Double) {
        let magnitude = value.magnitude
        let scaled = magnitude * 1e7 + 0.5
        // Not for NaN, which is below nothing.
        guard scaled < 1e15 else { return nil }
        // Of signed numbers the conversion is one instruction.
        let digits = Int64(scaled)
        // Below 10^-4 the shortest text has an exponent.
        guard Double(digits) / 1e7 == magnitude, digits >= 1_000 || digits == 0 else { return nil }
        isNegative = value < 0
        whole = UInt32(truncatingIfNeeded: digits / 10_000_000)
        fraction = UInt32(truncatingIfNeeded: digits % 10_000_000)
    }

    @inline(__always)
    func write(to text: inout OutputSpan<UInt8>) {
        if isNegative { text.append(UInt8(ascii: "-")) }
        if whole < 10 {
            text.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: whole))
        } else {
            DecimalText.append(UInt64(whole), to: &text)
        }
        guard fraction > 0 else { return }
        text.append(UInt8(ascii: "."))
        var digitCount = 7
        var significant = fraction
        while significant % 10 == 0 {
            significant /= 10
            digitCount -= 1
        }
        // The first digit stands above bit 57, rounded up by less than the last is worth; the next
        // follow by tens.
        var rest = UInt64(fraction) &* 144_115_188_076
        for _ in 0..<digitCount {
            text.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest >> 57))
            rest = (rest & (1 << 57 - 1)) &* 10
        }
    }
}

/// Takes text as it is written, ASCII without a string around it.
private struct AppendedText: TextOutputStream {
    var bytes: [UInt8]

    mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    // What the numbers of the standard library write to; without it they make a string.
    mutating func _writeASCII(_ text: UnsafeBufferPointer<UInt8>) {
        unsafe bytes.append(contentsOf: text)
    }
}
