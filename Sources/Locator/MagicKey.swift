// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Names one place, street or house of one locator file.
///
/// It is the beginning of the file's hash, `x`, `s` or `h`, and the number of the place, street or
/// house, in hexadecimal; or `l` or `r`, for the side of a segment, its number, `-` and the house
/// number on it. Opaque to clients; URL-safe and without commas.
struct MagicKey {
    /// What a key names.
    enum Target: Hashable {
        case place(Int)
        case street(Int)
        case house(Int)
        /// A house by the range of numbers on a side of a street; its suffix is not kept.
        case range(RangeMatch)

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
            }
        text = locator.rawValue.prefix(Self.hashDigits) + end
    }

    /// What it names, when it was made by this very file; nil for anything else.
    func target(in locator: ContentID, _ file: LocatorFile) -> Target? {
        guard text.hasPrefix(locator.rawValue.prefix(Self.hashDigits)),
            text.utf8.count <= Self.hashDigits + 15
        else { return nil }
        let end = text.dropFirst(Self.hashDigits)
        if end.first == "l" || end.first == "r" { return range(end, file) }
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

    private func range(_ end: Substring, _ file: LocatorFile) -> Target? {
        let numbers = end.dropFirst().split(separator: "-", omittingEmptySubsequences: false)
            .compactMap { $0.first?.isHexDigit == true ? Int($0, radix: 16) : nil }
        guard numbers.count == 2, numbers[0] < file.addresses?.segmentCount ?? 0,
            numbers[1] <= Int(AddressGazetteer.mostNumber)
        else { return nil }
        return .range(
            RangeMatch(
                segment: numbers[0], side: end.first == "l" ? .left : .right, number: numbers[1]))
    }
}
