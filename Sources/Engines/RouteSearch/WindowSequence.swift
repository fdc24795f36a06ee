// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// An order in which to visit stops that are open at certain times only.
///
/// Of all orders that with the least lateness, and of these the cheapest; in the cost of a travel
/// mode that minimises time waits count. Times are whole milliseconds.
public struct WindowSequence: Hashable, Sendable {
    /// When a stop can be visited, in milliseconds after the departure.
    public struct Stop: Hashable, Sendable {
        /// An arrival before waits.
        public var earliest: Int64
        /// An arrival after is late.
        public var latest: Int64
        /// How long the visit takes.
        public var service: Int64

        /// A stop; without bounds it is open always.
        public init(earliest: Int64 = .min, latest: Int64 = .max, service: Int64 = 0) {
            self.earliest = earliest
            self.latest = latest
            self.service = service
        }
    }

    /// What an order costs.
    public struct Score: Hashable, Comparable, Sendable {
        /// The sum of the milliseconds by which stops are reached too late.
        public var lateness: Int64 = 0
        /// The sum of the costs, or where there are none the time at the end.
        public var cost: Int64 = 0
        /// The time at the end.
        public var time: Int64 = 0

        /// By lateness, then by cost, then by time.
        public static func < (left: Score, right: Score) -> Bool {
            (left.lateness, left.cost, left.time) < (right.lateness, right.cost, right.time)
        }

        func dominates(_ other: Score) -> Bool {
            lateness <= other.lateness && cost <= other.cost && time <= other.time
        }
    }

    /// The times and costs between stops.
    public struct Matrix: Hashable, Sendable {
        /// Milliseconds, row by row; nil where there is no route.
        public var durations: [Int64?]
        /// Costs, row by row; nil where the times are the costs.
        public var costs: [Int64]?

        /// States it.
        public init(durations: [Int64?], costs: [Int64]? = nil) {
            self.durations = durations
            self.costs = costs
        }
    }

    /// The stops by their numbers, each once.
    public var order: [Int]
    /// What it costs.
    public var score: Score
    /// Whether no order is better; else it was improved until no stop, no two and no three in a row
    /// could be moved with a gain, or as far as the work for it was bounded.
    public var isExact: Bool

    /// The most stops that can be moved and still give an exact answer.
    public static let exactCount = 10
    /// The most stops.
    public static let largestCount = 200
    private static let labelLimit = 1_000_000
    private static let workLimit = 50_000_000

    /// The best order; nil where some stop cannot be reached in any order that was tried.
    ///
    /// Up to ``exactCount`` stops that can be moved by dynamic programming over sets of stops with
    /// the scores that no other one beats in all respects. Equal scores give the same order always.
    /// Throws `tooLarge` above ``largestCount`` stops.
    public init?(
        _ stops: [Stop], _ matrix: Matrix, _ terminals: StopSequence.Terminals
    ) throws(Failure) {
        let count = stops.count
        guard count <= Self.largestCount else {
            throw Failure(
                .tooLarge,
                "stop sequence: \(count) stops with time windows; at most \(Self.largestCount)")
        }
        guard matrix.durations.count == count * count,
            matrix.costs.map({ $0.count == count * count }) ?? true
        else {
            throw Failure(
                .invalidParameter,
                "stop sequence: a table of \(matrix.durations.count) times; expected "
                    + "\(count * count)")
        }
        let problem = WindowProblem(stops, matrix, terminals)
        if problem.free.count <= Self.exactCount,
            let found = problem.exact(limit: Self.labelLimit)
        {
            guard let order = found.order else { return nil }
            isExact = true
            self.order = problem.whole(order)
        } else {
            isExact = false
            self.order = problem.whole(problem.improved(limit: Self.workLimit))
        }
        guard let score = problem.score(order) else { return nil }
        self.score = score
    }
}

private struct WindowProblem {
    typealias Score = WindowSequence.Score

    let stops: [WindowSequence.Stop]
    let matrix: WindowSequence.Matrix
    let first: Int?
    let last: Int?
    let isRound: Bool
    let free: [Int]

    init(
        _ stops: [WindowSequence.Stop], _ matrix: WindowSequence.Matrix,
        _ terminals: StopSequence.Terminals
    ) {
        self.stops = stops
        self.matrix = matrix
        var free = Array(stops.indices)
        switch terminals {
        case .kept(let keepsFirst, let keepsLast):
            isRound = false
            last = keepsLast && stops.count > 1 ? free.removeLast() : nil
            first = keepsFirst && !free.isEmpty ? free.removeFirst() : nil
        case .round:
            isRound = true
            last = nil
            first = free.isEmpty ? nil : free.removeFirst()
        }
        self.free = free
    }

    func whole(_ order: [Int]) -> [Int] {
        [first].compactMap { $0 } + order + [last].compactMap { $0 }
    }

    /// The score after visiting a stop from the one before; nil where it is not reached.
    func visit(_ stop: Int, after before: Int?, _ score: Score) -> Score? {
        guard var next = travel(to: stop, from: before, score) else { return nil }
        let own = stops[stop]
        if next.time > own.latest { next.lateness += next.time - own.latest }
        next.time = max(next.time, own.earliest) + own.service
        if matrix.costs == nil { next.cost = next.time }
        return next
    }

    private func travel(to stop: Int, from before: Int?, _ score: Score) -> Score? {
        guard let before else { return score }
        let place = before * stops.count + stop
        guard let duration = matrix.durations[place] else { return nil }
        var next = score
        next.time += duration
        next.cost = matrix.costs.map { score.cost + $0[place] } ?? next.time
        return next
    }

    /// The score of all stops in an order; nil where one is not reached.
    func score(_ order: [Int]) -> Score? {
        var score = Score()
        var before: Int?
        for stop in order {
            guard let next = visit(stop, after: before, score) else { return nil }
            score = next
            before = stop
        }
        return isRound && order.count > 1 ? travel(to: order[0], from: before, score) : score
    }

    private struct Label {
        var score: Score
        /// The place of the state before, and of the label in it; negative for none.
        var state: Int
        var label: Int
    }

    struct Found {
        var order: [Int]?
    }

    /// The best order of the free stops, absent where no order reaches all of them; nil where the
    /// search takes more than `limit` labels.
    func exact(limit: Int) -> Found? {
        let count = free.count
        var start = Score()
        if let first {
            guard let visited = visit(first, after: nil, start) else { return Found(order: nil) }
            start = visited
        }
        guard count > 0 else { return Found(order: []) }
        let size = 1 << count
        var labels = [[Label]](repeating: [], count: size * count)
        var labelCount = 0
        func add(_ label: Label, to place: Int) {
            guard !labels[place].contains(where: { $0.score.dominates(label.score) }) else {
                return
            }
            labels[place].append(label)
            labelCount += 1
        }
        for stop in 0..<count {
            if let score = visit(free[stop], after: first, start) {
                add(Label(score: score, state: -1, label: -1), to: (1 << stop) * count + stop)
            }
        }
        for visited in 1..<size {
            for here in 0..<count where visited & 1 << here != 0 {
                let place = visited * count + here
                for (number, label) in labels[place].enumerated() {
                    for next in 0..<count where visited & 1 << next == 0 {
                        guard let score = visit(free[next], after: free[here], label.score) else {
                            continue
                        }
                        add(
                            Label(score: score, state: place, label: number),
                            to: (visited | 1 << next) * count + next)
                    }
                }
                guard labelCount <= limit else { return nil }
            }
        }
        var best: (score: Score, state: Int, label: Int)?
        for stop in 0..<count {
            let place = (size - 1) * count + stop
            for (number, label) in labels[place].enumerated() {
                var end: Score? = label.score
                if let last { end = visit(last, after: free[stop], label.score) }
                if isRound, let first { end = travel(to: first, from: free[stop], label.score) }
                guard let end else { continue }
                if best.map({ end < $0.score }) ?? true { best = (end, place, number) }
            }
        }
        guard let best else { return Found(order: nil) }
        var order: [Int] = []
        var (state, number) = (best.state, best.label)
        while state >= 0 {
            order.append(free[state % count])
            let label = labels[state][number]
            (state, number) = (label.state, label.label)
        }
        return Found(order: order.reversed())
    }

    /// The better of two orders, that of the ends of the windows and that of the nearest stop again
    /// and again, improved by moves of one to three stops in a row as long as there is a gain.
    func improved(limit: Int) -> [Int] {
        let byEnd = free.sorted {
            (stops[$0].latest, stops[$0].earliest, $0) < (stops[$1].latest, stops[$1].earliest, $1)
        }
        var (left, near, here) = (free, [Int](), first)
        while !left.isEmpty {
            let next = left.indices.min { step(here, left[$0]) < step(here, left[$1]) } ?? 0
            here = left[next]
            near.append(left.remove(at: next))
        }
        func isBetter(_ order: [Int], than other: [Int]) -> Bool {
            guard let score = score(whole(order)) else { return false }
            return self.score(whole(other)).map { score < $0 } ?? true
        }
        var order = isBetter(near, than: byEnd) ? near : byEnd
        var work = 0
        var hasGained = true
        while hasGained, work < limit {
            hasGained = false
            for length in 1...3 where length < order.count {
                var start = 0
                while start + length <= order.count, work < limit {
                    var rest = order
                    let part = Array(rest[start..<start + length])
                    rest.removeSubrange(start..<start + length)
                    for place in 0...rest.count where place != start {
                        var other = rest
                        other.insert(contentsOf: part, at: place)
                        work += other.count
                        guard isBetter(other, than: order) else { continue }
                        order = other
                        hasGained = true
                        break
                    }
                    start += 1
                }
            }
        }
        return order
    }

    private func step(_ from: Int?, _ to: Int) -> Int64 {
        guard let from else { return 0 }
        return matrix.durations[from * stops.count + to] ?? .max
    }
}
