// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The 36 characters of a UUID, without the C library's general formatter, which takes a
/// microsecond.
public enum UUIDText {
    /// Reads digits of either case; nil unless these are 36 characters of that form.
    ///
    /// The two numbers have the first byte on top of the first.
    public static func words(_ text: RawSpan) -> (UInt64, UInt64)? {
        read(text, caseBit: 0x20, first: UInt8(ascii: "a"))
    }

    /// Parses a text as `words` does.
    public static func words(_ text: String) -> (UInt64, UInt64)? {
        var text = text
        return text.withUTF8 { unsafe words(UnsafeRawBufferPointer($0).bytes) }
    }

    /// Parses as `words` does, lower case only, after this prefix.
    public static func words(_ text: String, after prefix: StaticString) -> (UInt64, UInt64)? {
        var text = text
        return text.withUTF8 { bytes in
            let count = prefix.utf8CodeUnitCount
            guard bytes.count == count + 36,
                (0..<count).allSatisfy({ unsafe bytes[$0] == prefix.utf8Start[$0] })
            else { return nil }
            let digits = unsafe UnsafeRawBufferPointer(bytes).bytes.extracting(count...)
            return read(digits, caseBit: 0, first: UInt8(ascii: "a"))
        }
    }

    /// Parses as `words` does, capitals only.
    public static func capitals(_ text: RawSpan) -> (UInt64, UInt64)? {
        read(text, caseBit: 0, first: UInt8(ascii: "A"))
    }

    @inline(__always)
    private static func read(
        _ text: RawSpan, caseBit: UInt8, first: UInt8
    ) -> (UInt64, UInt64)? {
        guard text.byteCount == 36, text.byte(at: 8) == dash, text.byte(at: 13) == dash,
            text.byte(at: 18) == dash, text.byte(at: 23) == dash
        else { return nil }
        var isWrong = false
        func digits(_ range: Range<Int>) -> UInt64 {
            var number: UInt64 = 0
            for offset in range {
                let byte = text.byte(at: offset)
                let digit = byte &- UInt8(ascii: "0")
                let letter = (byte | caseBit) &- first
                if digit >= 10, letter >= 6 { isWrong = true }
                number = number << 4 | UInt64(digit < 10 ? digit : letter &+ 10)
            }
            return number
        }
        let high = digits(0..<8) << 32 | digits(9..<13) << 16 | digits(14..<18)
        let low = digits(19..<23) << 48 | digits(24..<36)
        return isWrong ? nil : (high, low)
    }

    private static let dash = UInt8(ascii: "-")

    /// A text that ends with the 36 characters.
    public static func text(
        _ words: (UInt64, UInt64), inCapitals: Bool, after prefix: StaticString = ""
    ) -> String {
        let letters = (inCapitals ? UInt8(ascii: "A") : UInt8(ascii: "a")) - 10
        let start = prefix.utf8CodeUnitCount
        return unsafe String(unsafeUninitializedCapacity: start + 36) { text in
            for offset in 0..<start { unsafe text[offset] = prefix.utf8Start[offset] }
            var place = start
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    unsafe text[place] = dash
                    place += 1
                }
                let word = digit < 16 ? words.0 : words.1
                let value = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (digit & 15))) & 15
                unsafe text[place] = value + (value < 10 ? UInt8(ascii: "0") : letters)
                place += 1
            }
            return place
        }
    }
}
