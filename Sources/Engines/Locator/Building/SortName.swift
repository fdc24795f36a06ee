// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ICU

/// A name with its sort key: ICU's root collation, then its bytes.
struct SortName: Comparable {
    let text: String
    private let key: [UInt8]

    private static let collator = Collator()

    init(_ text: String) {
        self.text = text
        key = Self.collator?.key(text) ?? []
    }

    static func == (left: SortName, right: SortName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    static func < (left: SortName, right: SortName) -> Bool {
        if left.key != right.key { return left.key.lexicographicallyPrecedes(right.key) }
        return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
