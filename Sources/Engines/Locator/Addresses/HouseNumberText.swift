// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A house number in a text: `12`, `12bis`, `12 b`, `12-14`, `12 1/2`.
///
/// The roles of the following words are determined once per text; which of them are unused differs
/// from street to street.
struct HouseNumberText {
    let number: Int
    /// The word with the number.
    let mask: UInt64
    /// The rest of the word after the digits.
    private let attached: ArraySlice<UInt8>
    /// The next word, a possible suffix; empty for none.
    private let next: ArraySlice<UInt8>
    /// Whether the next word is always a suffix after a number.
    private let isSuffix: Bool
    /// The second number of `12-14`.
    private let end: Int?
    /// The next two words joined where they are a half, a third or quarters.
    private let fraction: ArraySlice<UInt8>?

    /// A house number without words used elsewhere.
    struct Reading {
        var number: Int
        /// The second number of `12-14`.
        var end: Int?
        /// The suffix, from the same word or the following ones.
        var suffix: ArraySlice<UInt8> = []
        /// The words of the number.
        var mask: UInt64
        /// The next word, of any kind, and both words.
        var next: (word: ArraySlice<UInt8>, mask: UInt64) = ([], 0)

        /// The suffix as text: `b`, `1/2`.
        var suffixText: String {
            let text = String(decoding: suffix, as: UTF8.self)
            return suffix.first.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false
                ? text.prefix(1) + "/" + text.dropFirst() : text
        }
    }

    /// Parses a number at a word that starts with a digit; nil for more than seven digits.
    ///
    /// - Parameters:
    ///   - isNumber: Whether the next word starts with a digit.
    ///   - suffixes: Groups of variants of suffixes.
    init?(
        _ own: ArraySlice<UInt8>, mask: UInt64, next: ArraySlice<UInt8>, isNumber: Bool,
        after: ArraySlice<UInt8>, suffixes: [[[UInt8]]]
    ) {
        let digits = own.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard digits.count <= 7 else { return nil }
        let value = digits.reduce(0) { $0 * 10 + Int($1 & 15) }
        number = value
        self.mask = mask
        attached = own.dropFirst(digits.count)
        self.next = next
        isSuffix = Self.isSuffix(next, suffixes)
        let last = next.reduce(0) { min($0 * 10 + Int($1 & 15), 10_000_000) }
        end = isNumber && value < last && last <= value + 100 ? last : nil
        let both = next + after
        fraction =
            next.count == 1
                && ["12", "13", "23", "14", "34"].contains { both.elementsEqual($0.utf8) }
            ? both : nil
    }

    /// The house number, given words used elsewhere.
    func reading(without used: UInt64) -> Reading {
        var reading = Reading(number: number, suffix: attached, mask: mask)
        let two = mask | mask << 2
        guard attached.isEmpty, !next.isEmpty, used & (mask << 2) == 0 else { return reading }
        reading.next = (next, two)
        if let fraction, used & (mask << 4) == 0 {
            (reading.suffix, reading.mask) = (fraction, two | mask << 4)
        } else if isSuffix {
            // Without such a house, `12 bis` is not number 12.
            (reading.suffix, reading.mask) = (next, two)
        } else if let end {
            (reading.end, reading.mask) = (end, two)
        }
        return reading
    }

    /// Whether a word after a number belongs to it: `bis`, or a single letter that is no remnant of
    /// an elision.
    private static func isSuffix(_ word: ArraySlice<UInt8>, _ suffixes: [[[UInt8]]]) -> Bool {
        if word.count == 1, let letter = word.first {
            return UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter
                && !"adlns".utf8.contains(letter)
        }
        return suffixes.contains { $0.contains { $0[...] == word } }
    }
}
