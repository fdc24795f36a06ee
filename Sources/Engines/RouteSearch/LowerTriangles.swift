// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The ranks below two others that are joined to both, rising, with their arcs to them.
///
/// Steps through the shorter list of lower ranks; in the other one it goes on by steps that double,
/// so that a rank of a large separator does not cost its whole list.
struct LowerTriangles {
    private let lows: MappedNumbers
    private let arcs: DownArcs
    private var short: Range<Int>
    private var long: Range<Int>
    private let isSwapped: Bool
    /// The rank that was found last.
    private(set) var low = 0

    init(_ topology: RouteTopology, _ first: Int, _ second: Int) {
        lows = topology.lows
        arcs = topology.downArcs
        short = topology.places(down: first)
        long = topology.places(down: second)
        isSwapped = short.count > long.count
        if isSwapped { swap(&short, &long) }
    }

    /// The arcs from the next rank up to the first and to the second.
    @inline(__always)
    mutating func next() -> (first: Int, second: Int)? {
        var (place, other) = (short.lowerBound, long.lowerBound)
        while place < short.upperBound, other < long.upperBound {
            let wanted = lows[place]
            other = lows.first(from: wanted, other..<long.upperBound)
            if other == long.upperBound { break }
            place += 1
            if lows[other] == wanted {
                low = Int(wanted)
                let (one, two) = (arcs[place - 1, from: low], arcs[other, from: low])
                short = place..<short.upperBound
                long = other + 1..<long.upperBound
                return isSwapped ? (two, one) : (one, two)
            }
        }
        return nil
    }
}

extension MappedNumbers {
    /// The place of the first of some rising numbers that is not below one, found in steps that
    /// double; the end of the places where all are below.
    @inline(__always)
    func first(from wanted: UInt32, _ places: Range<Int>) -> Int {
        guard let first = places.first, self[first] < wanted else { return places.lowerBound }
        // The last place that is known to be too low, and one that is not.
        var (before, step) = (first, 1)
        while before + step < places.upperBound, self[before + step] < wanted {
            before += step
            step *= 2
        }
        var after = Swift.min(before + step, places.upperBound)
        while before + 1 < after {
            let middle = (before + after) / 2
            if self[middle] < wanted { before = middle } else { after = middle }
        }
        return after
    }
}
