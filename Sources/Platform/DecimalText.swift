// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Numbers as decimal text, appended to bytes without a string in between.
public enum DecimalText {
    /// Appends a whole number.
    public static func append(_ value: Int64, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        append(value.magnitude, decimals: 0, to: &bytes)
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
        let scaled = (magnitude * 1e7).rounded()
        if magnitude >= 1e-4, scaled < 1e15, scaled / 1e7 == magnitude {
            if value < 0 { bytes.append(UInt8(ascii: "-")) }
            return append(UInt64(scaled), decimals: 7, to: &bytes)
        }
        var text = AppendedText(bytes: [])
        swap(&text.bytes, &bytes)
        value.write(to: &text)
        swap(&text.bytes, &bytes)
    }

    /// Appends `digits` / 10^`decimals` without zeros at the end of the fraction.
    private static func append(_ digits: UInt64, decimals: Int, to bytes: inout [UInt8]) {
        var text = InlineArray<24, UInt8>(repeating: 0)
        var start = 24
        var rest = digits
        var left = decimals
        while left > 0, rest.isMultiple(of: 10) {
            rest /= 10
            left -= 1
        }
        if left > 0 {
            while left > 0 {
                start -= 1
                text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
                left -= 1
            }
            start -= 1
            text[start] = UInt8(ascii: ".")
        }
        repeat {
            start -= 1
            text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        unsafe text.span.withUnsafeBufferPointer { text in
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
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
