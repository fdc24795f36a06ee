// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension String {
    /// The text; nil for an empty one.
    var orNil: String? { isEmpty ? nil : self }

    /// As a form has it (`application/x-www-form-urlencoded`).
    var formEncoded: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(Self.hexDigit(byte >> 4))
                bytes.append(Self.hexDigit(byte & 15))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ half: UInt8) -> UInt8 {
        half + (half < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10)
    }
}

extension Double {
    /// Digits without an exponent where that is possible, as parameters have numbers.
    var plainText: String {
        if let whole = Int64(exactly: self) { return String(whole) }
        return description
    }
}
