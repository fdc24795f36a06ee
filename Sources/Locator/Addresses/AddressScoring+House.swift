// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// A house of a street.
enum AddressHouse: Hashable {
    /// One whose position a source states.
    case point(Int)
    /// One on a range, and the words of the text that say so.
    case range(RangeMatch, words: UInt64 = 0)

    var isRange: Bool { if case .range = self { true } else { false } }
}

extension RangeMatch {
    /// Whether it is a single number, without a suffix, inside its range.
    var isPlain: Bool { suffix.isEmpty && gap == 0 }
}

extension AddressFile {
    func location(of house: AddressHouse, _ bytes: RawSpan) -> Coordinate {
        switch house {
        case .point(let number): location(ofHouse: number, bytes)
        case .range(let match, _): location(of: match, bytes)
        }
    }
}

extension AddressScoring {
    /// A house number as the text writes it.
    private struct Written {
        var number: Int
        /// The second number of `12-14`.
        var end: Int?
        var suffix: ArraySlice<UInt8> = []
        var mask: UInt64
        /// The word after it, which some houses have for a suffix, and both words.
        var next: (word: ArraySlice<UInt8>, mask: UInt64) = ([], 0)

        /// `b`, `1/2`.
        var suffixText: String {
            let text = String(decoding: suffix, as: UTF8.self)
            return suffix.first.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false
                ? text.prefix(1) + "/" + text.dropFirst() : text
        }
    }

    /// The house that the first number left is, with the suffix in it or after it, or a range of which
    /// it is the beginning: one with a position, else one on a range of numbers, else, where that is
    /// allowed, one beyond the end of such a range.
    func house(
        on street: Int, _ text: AddressText, _ used: inout UInt64, _ bytes: RawSpan
    ) -> AddressHouse? {
        var numbers: [Written] = []
        let taken = used | forbidden.street
        for number in 0..<text.count where text.isNumber[number] && taken & text.mask(number) == 0 {
            guard let written = written(number, text, taken) else { continue }
            numbers.append(written)
            let houses = addresses.houses(written.number, ofStreet: street, bytes)
            if let found = house(houses, suffix: written.next.word, bytes) {
                used |= written.next.mask
                return .point(found)
            }
            let found =
                written.suffix.isEmpty
                ? houses.first { addresses.suffix(ofHouse: $0, bytes) == 0 }
                : house(houses, suffix: written.suffix, bytes)
            if let found {
                used |= written.mask
                return .point(found)
            }
        }
        guard !addresses.segments(ofStreet: street, bytes).isEmpty else { return nil }
        for outside in filter.takesOutside ? [false, true] : [false] {
            for written in numbers {
                guard
                    var match = addresses.match(
                        written.number, onStreet: street, outside: outside, bytes)
                else { continue }
                match.end = written.end
                match.suffix = written.suffixText
                used |= written.mask
                return .range(match, words: written.mask)
            }
        }
        return nil
    }

    /// The house number that begins at a word; nil where it is none.
    private func written(_ number: Int, _ text: AddressText, _ used: UInt64) -> Written? {
        func word(_ at: Int) -> ArraySlice<UInt8> {
            at < text.count && used & text.mask(at) == 0
                ? text.text.bytes[text.text.words[at]] : []
        }
        let own = word(number)
        let digits = own.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard digits.count <= 7 else { return nil }
        let value = digits.reduce(0) { $0 * 10 + Int($1 & 15) }
        let attached = own.dropFirst(digits.count)
        if !attached.isEmpty {
            return Written(number: value, suffix: attached, mask: text.mask(number))
        }
        let (next, after) = (word(number + 1), word(number + 2))
        var written = Written(number: value, mask: text.mask(number))
        guard !next.isEmpty else { return written }
        let two = text.mask(number..<number + 2)
        written.next = (next, two)
        if Self.isFraction(next, after) {
            // `12 1/2`
            (written.suffix, written.mask) = (next + after, text.mask(number..<number + 3))
        } else if isSuffix(next) {
            // `12 bis` without such a house is not number 12.
            (written.suffix, written.mask) = (next, two)
        } else if text.isNumber[number + 1], isEnd(next, after: value) {
            (written.end, written.mask) = (next.reduce(0) { $0 * 10 + Int($1 & 15) }, two)
        }
        return written
    }

    /// Whether two words are a half, a third or quarters.
    private static func isFraction(
        _ upper: ArraySlice<UInt8>, _ lower: ArraySlice<UInt8>
    ) -> Bool {
        ["12", "13", "23", "14", "34"].contains { Array($0.utf8) == Array(upper + lower) }
            && upper.count == 1
    }

    /// Of houses of one number the one with a suffix, or another writing of it.
    private func house(_ houses: Range<Int>, suffix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        guard !houses.isEmpty, !suffix.isEmpty else { return nil }
        var writings = [suffix]
        for group in suffixes where group.contains(where: { $0[...] == suffix }) {
            writings += group.filter { $0[...] != suffix }.map { $0[...] }
        }
        for writing in writings {
            for house in houses {
                let own = addresses.suffix(ofHouse: house, bytes)
                if own != 0, addresses.suffix(own, is: writing, bytes) { return house }
            }
        }
        return nil
    }

    /// Whether a word after a number belongs to it: `bis`, or a letter that no elision leaves alone.
    private func isSuffix(_ word: ArraySlice<UInt8>) -> Bool {
        if word.count == 1, let letter = word.first {
            return UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter
                && !"adlns".utf8.contains(letter)
        }
        return suffixes.contains { $0.contains { $0[...] == word } }
    }

    /// Whether a word may be the second number of `12-14`.
    private func isEnd(_ word: ArraySlice<UInt8>, after first: Int) -> Bool {
        let end = word.reduce(0) { min($0 * 10 + Int($1 & 15), 10_000_000) }
        return end > first && end <= first + 100
    }
}
