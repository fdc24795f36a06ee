// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Names one place, street or house of one locator file.
///
/// It is the beginning of the file's hash, `x`, `s` or `h`, and the number of the place, street or
/// house, in hexadecimal. Opaque to clients; URL-safe and without commas.
struct MagicKey {
    /// What a key names.
    enum Target: Hashable {
        case place(Int)
        case street(Int)
        case house(Int)
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
            }
        text = locator.rawValue.prefix(Self.hashDigits) + end
    }

    /// What it names, when it was made by this very file; nil for anything else.
    func target(in locator: ContentID, _ file: LocatorFile) -> Target? {
        guard text.hasPrefix(locator.rawValue.prefix(Self.hashDigits)),
            text.utf8.count <= Self.hashDigits + 9
        else { return nil }
        let end = text.dropFirst(Self.hashDigits)
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
}
