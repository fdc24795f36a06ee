// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Numbers as decimal text, appended to bytes without a string in between.
public enum DecimalText {
    /// Appends a whole number.
    public static func append(_ value: Int64, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        append(value.magnitude, to: &bytes)
    }

    /// Appends a finite number: the shortest text that reads back equal, as `description` has it, but
    /// whole numbers of a magnitude below 2^53 without a fraction.
    public static func append(_ value: Double, to bytes: inout [UInt8]) {
        let magnitude = value.magnitude
        if magnitude < 0x1p53, magnitude == magnitude.rounded(.towardZero) {
            return append(Int64(value), to: &bytes)
        }
        // Fifteen digits or fewer are read as the double nearest to them, and no other text so short is.
        // The quotient of two doubles that are exact is that double, so comparing decides.
        let scaled = magnitude * 1e7 + 0.5
        if magnitude >= 1e-4, scaled < 1e15 {
            // Truncation of what is above 0 is one instruction, which `rounded` is not.
            let digits = UInt64(scaled)
            if Double(digits) / 1e7 == magnitude {
                if value < 0 { bytes.append(UInt8(ascii: "-")) }
                return append(digits / 10_000_000, UInt32(digits % 10_000_000), to: &bytes)
            }
        }
        var text = AppendedText(bytes: [])
        swap(&text.bytes, &bytes)
        value.write(to: &text)
        swap(&text.bytes, &bytes)
    }

    /// Appends `whole` and, unless it is 0, `fraction` / 10^7 without zeros at its end.
    private static func append(_ whole: UInt64, _ fraction: UInt32 = 0, to bytes: inout [UInt8]) {
        var text = InlineArray<28, UInt8>(repeating: UInt8(ascii: "0"))
        var start = 20
        var end = 20
        if fraction > 0 {
            text[20] = UInt8(ascii: ".")
            var rest = fraction
            for index in stride(from: 27, to: 20, by: -1) {
                let digit = UInt8(truncatingIfNeeded: rest % 10)
                text[index] = UInt8(ascii: "0") + digit
                if digit > 0 { end = max(end, index + 1) }
                rest /= 10
            }
        }
        // Numbers of 32 bits are divided faster.
        var rest = whole
        while rest > UInt64(UInt32.max) {
            start -= 1
            text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        var short = UInt32(rest)
        repeat {
            start -= 1
            text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: short % 10)
            short /= 10
        } while short > 0
        unsafe text.span.withUnsafeBufferPointer { text in
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
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
