// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A reference to one place, street, house or intersection of one locator file.
///
/// It consists of a prefix of the file's hash, `x`, `s` or `h`, and the number of the place, street
/// or house, in hexadecimal; or `l` or `r`, for the side of a segment, its number, `-` and the
/// house number on it; or `i`, the numbers of two streets and the index of their intersection,
/// separated by `-`. Opaque to clients; URL-safe and without commas.
struct MagicKey {
    /// The target of a key.
    enum Target: Hashable {
        case place(Int)
        case street(Int)
        case house(Int)
        /// An interpolated house on a side of a street; without its suffix.
        case range(RangeMatch)
        /// Two intersecting streets, and the index of their intersection, from 0.
        case intersection(Intersection, place: Int)

        init(_ reading: AddressReading) {
            switch reading.house {
            case .point(let house)?: self = .house(house)
            case .range(let match, _)?: self = .range(match)
            case nil: self = .street(reading.street)
            }
        }
    }

    let text: String
    private static let hashDigits = 16

    init(parsing text: String) { self.text = text }

    init(_ target: Target, in locator: ContentID) {
        let end =
            switch target {
            case .place(let number): "x" + String(number, radix: 16)
            case .street(let number): "s" + String(number, radix: 16)
            case .house(let number): "h" + String(number, radix: 16)
            case .range(let match):
                match.side.letter.lowercased() + String(match.segment, radix: 16) + "-"
                    + String(match.number, radix: 16)
            case .intersection(let intersection, let place):
                "i"
                    + [intersection.first, intersection.second, place].map {
                        String($0, radix: 16)
                    }.joined(separator: "-")
            }
        text = locator.rawValue.prefix(Self.hashDigits) + end
    }

    /// The target, for a key of this very file; nil for any other text.
    func target(in locator: ContentID, _ file: LocatorFile, _ bytes: RawSpan) -> Target? {
        guard text.hasPrefix(locator.rawValue.prefix(Self.hashDigits)),
            text.utf8.count <= Self.hashDigits + 27
        else { return nil }
        let end = text.dropFirst(Self.hashDigits)
        if end.first == "l" || end.first == "r" { return range(end, file) }
        if end.first == "i" { return intersection(end, file, bytes) }
        let digits = end.dropFirst()
        guard digits.first?.isHexDigit == true, let number = Int(digits, radix: 16) else {
            return nil
        }
        switch end.first {
        case "x": return number < file.placeCount ? .place(number) : nil
        case "s": return number < file.addresses?.streetCount ?? 0 ? .street(number) : nil
        case "h": return number < file.addresses?.houseCount ?? 0 ? .house(number) : nil
        default: return nil
        }
    }

    /// The hexadecimal numbers after the letter, separated by `-`.
    private static func numbers(_ end: Substring) -> [Int] {
        end.dropFirst().split(separator: "-", omittingEmptySubsequences: false)
            .compactMap { $0.first?.isHexDigit == true ? Int($0, radix: 16) : nil }
    }

    private func intersection(
        _ end: Substring, _ file: LocatorFile, _ bytes: RawSpan
    ) -> Target? {
        let numbers = Self.numbers(end)
        guard numbers.count == 3, let addresses = file.addresses,
            max(numbers[0], numbers[1]) < addresses.streetCount
        else { return nil }
        var unbounded = Int.max
        let meetings = IntersectionSearch.meetings(
            numbers[0], numbers[1], addresses, &unbounded, bytes)
        guard numbers[2] < meetings.count else { return nil }
        return .intersection(
            Intersection(first: numbers[0], second: numbers[1], location: meetings[numbers[2]]),
            place: numbers[2])
    }

    private func range(_ end: Substring, _ file: LocatorFile) -> Target? {
        let numbers = Self.numbers(end)
        guard numbers.count == 2, numbers[0] < file.addresses?.segmentCount ?? 0,
            numbers[1] <= Int(AddressGazetteer.mostNumber)
        else { return nil }
        return .range(
            RangeMatch(
                segment: numbers[0], side: end.first == "l" ? .left : .right, number: numbers[1]))
    }
}
