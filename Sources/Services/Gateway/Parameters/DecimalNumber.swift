// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Double {
    /// Parses a finite decimal number, `-12.5` or `1e-3`, with spaces trimmed; nil for anything
    /// else.
    ///
    /// The nearest double, as `Double(_:)` reads it, which would take `nan` and `0x10` too.
    init?(decimal text: some Collection<UInt8>) {
        let space = UInt8(ascii: " ")
        guard !text.contains(space) else {
            self.init(decimal: text.filter { $0 != space })
            return
        }
        guard text.allSatisfy(Self.isNumeric),
            let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite
        else { return nil }
        self = value
    }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
