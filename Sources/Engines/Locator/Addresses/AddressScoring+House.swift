// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// A house of a street.
enum AddressHouse: Hashable {
    /// One with a position of its own.
    case point(Int)
    /// One interpolated in a range, and the words of the text that specify it.
    case range(RangeMatch, words: UInt64 = 0)
}

/// The quality of a house match.
enum HouseLikeness: Int, Comparable {
    /// Interpolated along a line.
    case range
    /// The first of a range of numbers in the text.
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
    /// The house of the first unused number, with the suffix in it or after it, or a range that
    /// starts with it: preferably one with a position, else an interpolated one, else, where
    /// allowed, one beyond the end of a range.
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

    /// Among houses of one number, the one with a suffix, or a variant of it.
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
