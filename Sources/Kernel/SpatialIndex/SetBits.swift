// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The places of the bits that are set, lowest first.
struct SetBits: Sequence, IteratorProtocol {
    private var rest: UInt64

    @inline(__always)
    init(_ bits: some FixedWidthInteger & UnsignedInteger) { rest = UInt64(bits) }

    @inline(__always)
    mutating func next() -> Int? {
        guard rest != 0 else { return nil }
        let place = rest.trailingZeroBitCount
        rest &= rest &- 1
        return place
    }
}
