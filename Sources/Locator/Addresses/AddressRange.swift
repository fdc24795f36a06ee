// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A side of a street, seen along its line.
enum StreetSide: Int, CaseIterable {
    case left
    case right

    /// Esri's letter.
    var letter: String { self == .left ? "L" : "R" }
}

/// The house numbers along one side of a segment: from its line's beginning to its end, falling where
/// `to` is below `from`.
struct AddressRange: Hashable {
    /// Which numbers of the range there are.
    enum Parity: UInt8 {
        case even = 1
        case odd
        /// Where one end is even and the other odd.
        case both
    }

    let from: UInt32
    let to: UInt32
    let parity: Parity

    /// With the parity of its ends, unless another is given.
    init(from: UInt32, to: UInt32, parity: Parity? = nil) {
        self.from = from
        self.to = to
        self.parity = parity ?? (from % 2 != to % 2 ? .both : from % 2 == 0 ? .even : .odd)
    }
}

/// One side of a line on its way into the file.
struct DraftSide {
    /// Nil where no house is known.
    var range: AddressRange?
    var postal = ""
}

/// A line of a street with the house numbers along it.
struct DraftSegment {
    var left: AddressRange?
    var right: AddressRange?
    /// Two vertices or more, without numbers.
    var line: [DraftHouse]
}
