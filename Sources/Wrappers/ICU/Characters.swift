// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CICU

/// Unicode properties of texts and characters, by ICU; pure, on any thread.
public enum Characters {
    /// The text by NFKC_Casefold: lower case, full-width and other compatibility letters as the
    /// usual ones, composed, without soft hyphens, joiners and other invisible signs.
    ///
    /// For assigned characters the result is the same in all later versions (Unicode's stability
    /// policy). Costs about a microsecond for a name. Unpaired surrogates cannot occur.
    public static func casefold(_ text: String) -> String {
        let units = Array(text.utf16)
        var capacity = units.count + 16
        while true {
            var length: Int32 = 0
            let result = unsafe [UInt16](unsafeUninitializedCapacity: capacity) { buffer, count in
                length = unsafe cairn_icu_casefold(
                    units, Int32(units.count), buffer.baseAddress, Int32(capacity))
                count = min(max(0, Int(length)), capacity)
            }
            // Without its data ICU folds nothing; then the text itself is compared.
            if length < 0 { return text }
            if Int(length) <= capacity { return String(decoding: result, as: UTF16.self) }
            capacity = Int(length)
        }
    }

    /// The full canonical decomposition; nil for a character that does not decompose.
    public static func decomposition(of character: Unicode.Scalar) -> String? {
        var buffer = InlineArray<20, UInt16>(repeating: 0)
        var span = buffer.mutableSpan
        let length = unsafe span.withUnsafeMutableBufferPointer {
            unsafe cairn_icu_decomposition(Int32(character.value), $0.baseAddress, 20)
        }
        guard length > 0 else { return nil }
        return String(decoding: (0..<Int(min(length, 20))).map { buffer[$0] }, as: UTF16.self)
    }

    /// The major version of Unicode that has had the character first; 0 where this ICU's has it
    /// not.
    public static func age(of character: Unicode.Scalar) -> Int {
        Int(cairn_icu_age(Int32(character.value)))
    }

    /// The value of a decimal digit of any script; nil for other characters.
    public static func digit(_ character: Unicode.Scalar) -> Int? {
        let value = cairn_icu_digit(Int32(character.value))
        return value < 0 ? nil : Int(value)
    }
}
