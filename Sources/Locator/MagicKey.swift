// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Names one place of one locator file.
///
/// It is the beginning of the file's hash and the place's number, in hexadecimal. Opaque to clients; URL-safe and without commas.
struct MagicKey {
    let text: String
    private static let hashDigits = 16

    init(parsing text: String) { self.text = text }

    init(place: Int, in locator: ContentID) {
        text = locator.rawValue.prefix(Self.hashDigits) + "x" + String(place, radix: 16)
    }

    /// The place, when the key was made by this very file; nil for anything else.
    func place(in locator: ContentID, count: Int) -> Int? {
        let prefix = locator.rawValue.prefix(Self.hashDigits) + "x"
        guard text.hasPrefix(prefix), text.utf8.count <= Self.hashDigits + 9 else { return nil }
        let digits = text.dropFirst(Self.hashDigits + 1)
        guard digits.first?.isHexDigit == true, let place = Int(digits, radix: 16), place < count
        else { return nil }
        return place
    }
}
