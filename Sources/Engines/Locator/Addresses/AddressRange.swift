// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A side of a street, in the direction of its line.
enum StreetSide: Int, CaseIterable {
    case left
    case right

    /// Esri's letter.
    var letter: String { self == .left ? "L" : "R" }
}

/// The house numbers along one side of a segment: from its start to its end, falling where `to` is
/// below `from`.
struct AddressRange: Hashable {
    /// The numbers that occur in a range.
    enum Parity: UInt8 {
        case even = 1
        case odd
        /// For ends of different parity.
        case both
    }

    let from: UInt32
    let to: UInt32
    let parity: Parity
    /// Difference between consecutive houses, counted from `from`, at least ``leastStep``; 0 where
    /// the parity determines it.
    let step: UInt16

    /// Smaller steps follow from the parity.
    static let leastStep: UInt16 = 3

    /// Creates a range, by default with the parity of its ends.
    init(from: UInt32, to: UInt32, parity: Parity? = nil, step: UInt16 = 0) {
        self.from = from
        self.to = to
        self.parity = parity ?? (from % 2 != to % 2 ? .both : from % 2 == 0 ? .even : .odd)
        self.step = step
    }

    var low: Int { Int(min(from, to)) }
    var high: Int { Int(max(from, to)) }
    var isFalling: Bool { to < from }

    /// Difference between consecutive houses.
    var spacing: Int { step > 0 ? Int(step) : parity == .both ? 1 : 2 }

    /// Whether a number is in the sequence of its houses, inside the range or beyond.
    func fits(_ number: Int) -> Bool {
        if step > 0 { return (number - Int(from)).isMultiple(of: Int(step)) }
        return switch parity {
        case .even: number.isMultiple(of: 2)
        case .odd: !number.isMultiple(of: 2)
        case .both: true
        }
    }
}

/// One side of a line in a draft.
struct DraftSide {
    /// Nil without known houses.
    var range: AddressRange?
    var postal = ""
}

/// A line of a street with the house numbers along it.
struct DraftSegment {
    var left: AddressRange?
    var right: AddressRange?
    /// Two or more vertices, without house numbers.
    var line: [DraftHouse]
    /// Whether it meets other streets only at common vertices, since it may be above or below them.
    var isApart = false
}
