// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A side of a street, seen along its line.
enum StreetSide: Int, CaseIterable {
    case left
    case right

    /// Esri's letter.
    var letter: String { self == .left ? "L" : "R" }
}

/// The house numbers along one side of a segment: from its line's beginning to its end, falling
/// where `to` is below `from`.
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
    /// From one house to the next, counted from `from`, at least ``leastStep``; 0 where the parity
    /// says which numbers there are.
    let step: UInt16

    /// Of smaller steps the parity tells.
    static let leastStep: UInt16 = 3

    /// With the parity of its ends, unless another is given.
    init(from: UInt32, to: UInt32, parity: Parity? = nil, step: UInt16 = 0) {
        self.from = from
        self.to = to
        self.parity = parity ?? (from % 2 != to % 2 ? .both : from % 2 == 0 ? .even : .odd)
        self.step = step
    }

    var low: Int { Int(min(from, to)) }
    var high: Int { Int(max(from, to)) }
    var isFalling: Bool { to < from }

    /// From one house to the next.
    var spacing: Int { step > 0 ? Int(step) : parity == .both ? 1 : 2 }

    /// Whether a number is one of its houses, or would be if the range went on that far.
    func fits(_ number: Int) -> Bool {
        if step > 0 { return (number - Int(from)).isMultiple(of: Int(step)) }
        return switch parity {
        case .even: number.isMultiple(of: 2)
        case .odd: !number.isMultiple(of: 2)
        case .both: true
        }
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
    /// Whether it meets other streets at vertices in common only, since it may lie above or below
    /// them.
    var isApart = false
}
