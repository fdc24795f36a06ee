// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// JSON in a form whose quotes and brackets are not percent-encoded.
///
/// QGIS since 3.28.3 percent-encodes the strings in it and nothing around them; scripts encode
/// nothing. Strings count as encoded if there is a `%`, each `%` begins an escape, and no string
/// but a member's name has a blank or a byte beyond ASCII, which an encoder would not leave.
enum RawJSONForm {
    /// The JSON with its strings decoded.
    static func decode(_ slice: ArraySlice<UInt8>) -> String {
        let bytes = Array(slice)
        guard bytes.contains(UInt8(ascii: "%")) else { return Parameters.text(bytes) }
        let texts = texts(bytes)
        let areEncoded =
            texts.contains { bytes[$0].contains(UInt8(ascii: "%")) }
            && texts.allSatisfy { isEncoded(bytes[$0]) }
        guard areEncoded else { return Parameters.text(bytes) }
        var result: [UInt8] = []
        var place = 0
        for text in texts {
            result += bytes[place..<text.lowerBound]
            result += escaped(Array(Parameters.decode(bytes[text]).utf8))
            place = text.upperBound
        }
        return Parameters.text(result + bytes[place...])
    }

    /// Ranges of the strings without their quotes; members' names are omitted.
    private static func texts(_ bytes: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var place = 0
        while let open = bytes[place...].firstIndex(of: UInt8(ascii: "\"")) {
            var end = open + 1
            while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
                end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            end = min(end, bytes.count)
            place = min(end + 1, bytes.count)
            let next = bytes[place...].first { $0 > UInt8(ascii: " ") }
            if next != UInt8(ascii: ":") { found.append(open + 1..<end) }
        }
        return found
    }

    private static func isEncoded(_ text: ArraySlice<UInt8>) -> Bool {
        for (index, byte) in zip(text.indices, text) {
            if byte <= UInt8(ascii: " ") || byte >= 0x80 { return false }
            if byte == UInt8(ascii: "%"), Parameters.escape(text[index...]) == nil { return false }
        }
        return true
    }

    /// A valid JSON string: unescaped quotes and control characters are escaped.
    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var isEscaped = false
        for byte in text {
            if byte < 0x20 {
                let digits = Array("0123456789abcdef".utf8)
                result += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                isEscaped = false
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { result.append(UInt8(ascii: "\\")) }
            result.append(byte)
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return result
    }
}
