// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Sequences of edges that restrictions forbid, as one automaton over all of them (Aho and
/// Corasick, 1975): an arc is an edge, or a copy of it that stands for having come along the
/// beginning of a sequence.
struct TurnPatterns {
    /// Beginnings of two or more edges, ascending; each is an arc behind those that are edges.
    private(set) var beginnings: [[UInt32]] = []
    private var arcs: [[UInt32]: UInt32] = [:]
    private var bans: [[UInt32]: [Int]] = [:]
    private var firsts: Set<UInt32> = []
    private let edgeCount: Int

    /// Most edges of a sequence.
    static let longest = 64

    /// - Parameter patterns: Sequences of at least two edges with the restriction that each is of.
    init(_ patterns: [(edges: [UInt32], restriction: Int)], edgeCount: Int) {
        self.edgeCount = edgeCount
        var begun: Set<[UInt32]> = []
        for (edges, restriction) in patterns {
            bans[edges, default: []].append(restriction)
            firsts.insert(edges[0])
            for count in 2..<max(2, edges.count) { begun.insert(Array(edges.prefix(count))) }
        }
        beginnings = begun.sorted { $0.lexicographicallyPrecedes($1) }
        for (number, edges) in beginnings.enumerated() {
            arcs[edges] = UInt32(edgeCount + number)
        }
    }

    var arcCount: Int { edgeCount + beginnings.count }

    /// The edges that an arc stands for, its own last.
    func history(_ arc: Int) -> [UInt32] {
        arc < edgeCount ? [UInt32(arc)] : beginnings[arc - edgeCount]
    }

    /// The arc behind a turn from an arc onto an edge, and the restrictions that forbid the turn.
    func turn(from history: [UInt32], onto edge: UInt32) -> (arc: UInt32, bans: [Int]) {
        // Most edges begin nothing.
        if history.count == 1, !firsts.contains(history[0]) { return (edge, []) }
        var (arc, forbidding): (UInt32?, [Int]) = (nil, [])
        let path = history + [edge]
        for start in 0..<history.count {
            let end = Array(path[start...])
            if arc == nil { arc = arcs[end] }
            forbidding += bans[end] ?? []
        }
        return (arc ?? edge, forbidding)
    }
}
