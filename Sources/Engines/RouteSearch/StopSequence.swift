// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// An order in which to visit stops.
public struct StopSequence: Hashable, Sendable {
    /// The stops by their numbers, each once.
    public var order: [Int]
    /// The sum of the costs between one and the next.
    public var cost: UInt64
    /// Whether no order is cheaper; else it was improved until no stop, no two and no three in a
    /// row could be moved with a gain (Or-opt).
    public var isExact: Bool

    /// What is fixed of an order.
    public enum Terminals: Hashable, Sendable {
        /// The first stop stays first where asked, and the last one last.
        case kept(first: Bool, last: Bool)
        /// The first stop is the end, too; the way back to it counts.
        case round
    }

    /// The most stops that can be moved and still give an exact answer.
    public static let exactCount = 12
    /// The most stops.
    public static let largestCount = 1_000

    /// The cheapest order of stops by a square table of costs; nil where some stop cannot be
    /// reached in any order that was tried.
    ///
    /// Up to ``exactCount`` stops that can be moved by dynamic programming (Held, Karp, 1962).
    /// Equal costs give the same order always. Throws `tooLarge` above ``largestCount`` stops.
    public init?(_ table: RouteTable, _ terminals: Terminals) throws(Failure) {
        let count = table.columnCount
        guard count <= Self.largestCount else {
            throw Failure(
                .tooLarge, "stop sequence: \(count) stops; at most \(Self.largestCount)")
        }
        guard table.costs.count == count * count else {
            throw Failure(
                .invalidParameter,
                "stop sequence: a table of \(table.costs.count) costs; expected \(count * count)")
        }
        let (isFirstKept, isLastKept) =
            switch terminals {
            case .kept(let first, let last): (first, last && count > 1)
            case .round: (true, false)
            }
        var free = Array(0..<count)
        if isLastKept { free.removeLast() }
        if isFirstKept, !free.isEmpty { free.removeFirst() }
        let problem = SequenceProblem(
            table: table, first: isFirstKept && count > 0 ? 0 : nil,
            last: terminals == .round ? (count > 0 ? 0 : nil) : (isLastKept ? count - 1 : nil),
            free: free)
        isExact = free.count <= Self.exactCount
        guard let best = isExact ? problem.exact() : problem.improved() else { return nil }
        cost = problem.cost(best)
        order = (isFirstKept && count > 0 ? [0] : []) + best + (isLastKept ? [count - 1] : [])
    }
}

private struct SequenceProblem {
    let table: RouteTable
    let first: Int?
    let last: Int?
    let free: [Int]

    /// More than any order costs.
    private static let none = UInt64(1) << 50

    private func step(_ from: Int?, _ to: Int?) -> UInt64 {
        guard let from, let to, from != to else { return 0 }
        return table[from, to].map(UInt64.init) ?? Self.none
    }

    func cost(_ order: [Int]) -> UInt64 {
        var sum: UInt64 = 0
        var before = first
        for stop in order {
            sum += step(before, stop)
            before = stop
        }
        return sum + step(before, last)
    }

    func exact() -> [Int]? {
        let count = free.count
        guard count > 0 else { return cost([]) < Self.none ? [] : nil }
        let size = 1 << count
        var costs = [UInt64](repeating: Self.none, count: size * count)
        var before = [Int8](repeating: -1, count: size * count)
        for stop in 0..<count { costs[(1 << stop) * count + stop] = step(first, free[stop]) }
        for visited in 1..<size {
            for here in 0..<count where visited & 1 << here != 0 {
                let cost = costs[visited * count + here]
                guard cost < Self.none else { continue }
                for next in 0..<count where visited & 1 << next == 0 {
                    let place = (visited | 1 << next) * count + next
                    let sum = cost + step(free[here], free[next])
                    if sum < costs[place] {
                        costs[place] = sum
                        before[place] = Int8(here)
                    }
                }
            }
        }
        var (best, end) = (Self.none, -1)
        for stop in 0..<count {
            let sum = costs[(size - 1) * count + stop] + step(free[stop], last)
            if sum < best { (best, end) = (sum, stop) }
        }
        guard end >= 0 else { return nil }
        var order: [Int] = []
        var visited = size - 1
        while end >= 0 {
            order.append(free[end])
            (visited, end) = (visited & ~(1 << end), Int(before[visited * count + end]))
        }
        return order.reversed()
    }

    /// The nearest stop again and again, then the best move of one to three stops in a row, as long
    /// as there is a gain; at most as many moves as ten times the stops.
    func improved() -> [Int]? {
        var left = free
        var order: [Int] = []
        while !left.isEmpty {
            let here = order.last ?? first
            let next = left.indices.min { step(here, left[$0]) < step(here, left[$1]) } ?? 0
            order.append(left.remove(at: next))
        }
        for _ in 0..<10 * free.count {
            guard let move = bestMove(order) else { break }
            let moved = Array(order[move.part])
            order.removeSubrange(move.part)
            order.insert(contentsOf: moved, at: move.place)
        }
        return cost(order) < Self.none ? order : nil
    }

    /// Stops in a row, and where they go in what is left without them.
    private func bestMove(_ order: [Int]) -> (part: Range<Int>, place: Int)? {
        func stop(_ place: Int) -> Int? {
            place < 0 ? first : place < order.count ? order[place] : last
        }
        var best: (gain: Int64, part: Range<Int>, place: Int)?
        for length in 1...min(3, max(1, order.count - 1)) {
            for start in 0...order.count - length {
                let end = start + length
                let (head, tail) = (order[start], order[end - 1])
                let (before, after) = (stop(start - 1), stop(end))
                let taken = step(before, head) + step(tail, after)
                let closed = step(before, after)
                for place in 0...order.count where place < start || place > end {
                    let (left, right) = (stop(place - 1), stop(place))
                    let opened = step(left, head) + step(tail, right)
                    let gain =
                        Int64(taken + step(left, right)) - Int64(closed + opened)
                    if gain > best?.gain ?? 0 {
                        best = (gain, start..<end, place > start ? place - length : place)
                    }
                }
            }
        }
        return best.map { ($0.part, $0.place) }
    }
}
