// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The length, the first and the last byte of a word: looked up before the word itself, whose copy
/// and hash cost a hundred times as much.
struct WordOutline: Hashable {
    private let value: UInt32

    /// The outline of a word; nil for an empty one.
    init?(_ word: some Collection<UInt8> & BidirectionalCollection) {
        guard let first = word.first, let last = word.last else { return nil }
        value = UInt32(truncatingIfNeeded: word.count) << 16 | UInt32(first) << 8 | UInt32(last)
    }

    /// The outline of a range of bytes; nil for an empty one.
    init?(_ range: Range<Int>, _ bytes: RawSpan) {
        guard !range.isEmpty else { return nil }
        value =
            UInt32(truncatingIfNeeded: range.count) << 16
            | UInt32(bytes.byte(at: range.lowerBound)) << 8
            | UInt32(bytes.byte(at: range.upperBound - 1))
    }
}
