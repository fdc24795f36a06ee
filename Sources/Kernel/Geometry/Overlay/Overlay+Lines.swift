// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Overlay {
    /// Where a piece of a line, or a position, lies.
    public struct Lie: Sendable {
        /// Inside the area of the first input, or on its border.
        public let isInFirst: Bool
        /// Inside the area of the second input, or on its border.
        public let isInSecond: Bool
        /// On a line of the first input.
        public let isOnFirst: Bool
        /// On a line of the second input.
        public let isOnSecond: Bool
    }

    /// The pieces of lines of both inputs for which the predicate holds, each piece once, joined
    /// where one follows another along the line that it came from.
    public func lines(where isWanted: (Lie) -> Bool) -> [[Coordinate]] {
        var isDone = Array(repeating: false, count: graph.edges.count)
        var result: [[Coordinate]] = []
        for path in paths.joined() {
            var run: [Int32] = []
            func end() {
                if run.count > 1 { result.append(run.map { places[Int($0)] }) }
                run = []
            }
            for (a, b) in zip(path, path.dropFirst()) {
                guard let half = half(from: a, to: b), !isDone[half >> 1] else {
                    end()
                    continue
                }
                isDone[half >> 1] = true
                let left = insides(graph.windings[half])
                let right = insides(graph.windings[half ^ 1])
                let lines = graph.edges[half >> 1].lines
                let lie = Lie(
                    isInFirst: left.0 || right.0, isInSecond: left.1 || right.1,
                    isOnFirst: lines & 1 != 0, isOnSecond: lines & 2 != 0)
                guard isWanted(lie) else {
                    end()
                    continue
                }
                if run.isEmpty { run = [a] }
                run.append(b)
            }
            end()
        }
        return result
    }

    /// The positions of the first input for which the predicate holds, each place once, in order.
    public func points(where isWanted: (Lie) -> Bool) -> [Coordinate] {
        var isDone: Set<Int32> = []
        let others = Set(points[1])
        return points[0].filter { node in
            guard isDone.insert(node).inserted else { return false }
            let around = graph.windings(around: Int(node)).map(insides)
            let lines = graph.halves(of: Int(node)).reduce(UInt8(0)) {
                $0 | graph.edges[Int($1 >> 1)].lines
            }
            return isWanted(
                Lie(
                    isInFirst: around.contains { $0.0 }, isInSecond: around.contains { $0.1 },
                    isOnFirst: lines & 1 != 0,
                    isOnSecond: lines & 2 != 0 || others.contains(node)))
        }.map { places[Int($0)] }
    }
}
