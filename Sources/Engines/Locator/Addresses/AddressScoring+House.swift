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
}

/// How well a house is what a text says.
enum HouseLikeness: Int, Comparable {
    /// It is estimated along a line.
    case range
    /// It is the first of a range of numbers in the text.
    case beginning
    case exact

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
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
    /// The house that the first number left is, with the suffix in it or after it, or a range of
    /// which it is the beginning: one with a position, else one on a range of numbers, else, where
    /// that is allowed, one beyond the end of such a range.
    func house(
        on street: Int, _ text: AddressText, _ used: inout UInt64, _ bytes: RawSpan
    ) -> (AddressHouse?, HouseLikeness)? {
        let taken = used | forbidden.street
        for number in text.houseNumbers where taken & number.mask == 0 {
            let houses = addresses.houses(number.number, ofStreet: street, bytes)
            guard !houses.isEmpty else { continue }
            let written = number.reading(without: taken)
            if let found = house(houses, suffix: written.next.word, bytes) {
                used |= written.next.mask
                return (.point(found), .exact)
            }
            let found =
                written.suffix.isEmpty
                ? houses.first { addresses.suffix(ofHouse: $0, bytes) == 0 }
                : house(houses, suffix: written.suffix, bytes)
            if let found {
                used |= written.mask
                return (.point(found), written.end == nil ? .exact : .beginning)
            }
        }
        guard !addresses.segments(ofStreet: street, bytes).isEmpty else { return nil }
        for outside in filter.takesOutside ? [false, true] : [false] {
            for number in text.houseNumbers where taken & number.mask == 0 {
                guard
                    var match = addresses.match(
                        number.number, onStreet: street, outside: outside, bytes)
                else { continue }
                let written = number.reading(without: taken)
                match.end = written.end
                match.suffix = written.suffixText
                used |= written.mask
                return (.range(match, words: written.mask), .range)
            }
        }
        return nil
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
}
