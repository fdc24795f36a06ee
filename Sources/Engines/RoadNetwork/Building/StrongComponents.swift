// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The strongly connected components of a directed graph (Tarjan, 1972), without recursion.
struct StrongComponents {
    /// The component of each vertex; ``NetworkLayout/none`` for those that are left out.
    private(set) var numbers: [UInt32]

    /// Components are numbered as they are completed.
    ///
    /// O(vertices + arcs).
    ///
    /// - Parameters:
    ///   - count: Number of vertices.
    ///   - isIncluded: Whether a vertex is part of the graph.
    ///   - degree: Number of a vertex's successors.
    ///   - successor: A vertex's successor by place; nil where that one does not count.
    init(
        count: Int, isIncluded: (Int) -> Bool, degree: (Int) -> Int,
        successor: (Int, Int) -> Int?
    ) {
        numbers = [UInt32](repeating: NetworkLayout.none, count: count)
        var index = [UInt32](repeating: 0, count: count)
        var low = [UInt32](repeating: 0, count: count)
        var open: [Int] = []
        var calls: [(vertex: Int, place: Int)] = []
        var (visited, completed): (UInt32, UInt32) = (0, 0)
        for root in 0..<count where index[root] == 0 && isIncluded(root) {
            calls.append((root, 0))
            while let call = calls.last {
                let vertex = call.vertex
                if call.place == 0 {
                    visited += 1
                    (index[vertex], low[vertex]) = (visited, visited)
                    open.append(vertex)
                }
                var place = call.place
                var next: Int?
                while place < degree(vertex) {
                    let other = successor(vertex, place)
                    place += 1
                    guard let other, isIncluded(other) else { continue }
                    if index[other] == 0 {
                        next = other
                        break
                    }
                    if numbers[other] == NetworkLayout.none {
                        low[vertex] = min(low[vertex], index[other])
                    }
                }
                // A vertex without successors is not entered again.
                calls[calls.count - 1].place = max(place, 1)
                if let next {
                    calls.append((next, 0))
                    continue
                }
                calls.removeLast()
                if let parent = calls.last?.vertex { low[parent] = min(low[parent], low[vertex]) }
                guard low[vertex] == index[vertex] else { continue }
                while let member = open.popLast() {
                    numbers[member] = completed
                    if member == vertex { break }
                }
                completed += 1
            }
        }
    }
}
