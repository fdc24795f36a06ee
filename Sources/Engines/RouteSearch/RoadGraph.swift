// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// A road network without costs: directed edges between nodes, and the turns between edges.
///
/// A road that is open both ways is two edges. A route is a sequence of edges, each joined to the
/// next by a turn; so turns are what the search runs over. A turn that is only forbidden for now,
/// or for some vehicles, belongs to the graph with an infinite cost.
public struct RoadGraph: Hashable, Sendable {
    /// Number of nodes.
    public let nodeCount: Int
    /// The node that each edge leaves.
    public let tails: [UInt32]
    /// The node that each edge enters.
    public let heads: [UInt32]
    /// Start of each edge's turns in ``turnTargets``, then the end.
    public let turnStarts: [UInt32]
    /// The edges that can follow an edge, each once.
    public let turnTargets: [UInt32]

    /// The most edges, and the most turns.
    public static let largestCount = 1 << 28

    /// Number of edges.
    public var edgeCount: Int { tails.count }
    /// Number of turns.
    public var turnCount: Int { turnTargets.count }

    /// A graph in which every edge into a node is followed by every edge out of it, back along the
    /// same road included.
    ///
    /// Throws `invalidParameter` for ends that are not nodes, `tooLarge` above
    /// ``largestCount``.
    public init(nodeCount: Int, tails: [UInt32], heads: [UInt32]) throws(Failure) {
        try Self.check(nodeCount, tails, heads)
        var outStarts = [Int](repeating: 0, count: nodeCount + 1)
        for tail in tails { outStarts[Int(tail) + 1] += 1 }
        for node in 0..<nodeCount { outStarts[node + 1] += outStarts[node] }
        var turnStarts: [UInt32] = [0]
        turnStarts.reserveCapacity(tails.count + 1)
        var count = 0
        for head in heads {
            count += outStarts[Int(head) + 1] - outStarts[Int(head)]
            guard count <= Self.largestCount else { throw Self.tooMany("turns") }
            turnStarts.append(UInt32(count))
        }
        var places = outStarts
        var outgoing = [UInt32](repeating: 0, count: tails.count)
        for (edge, tail) in tails.enumerated() {
            outgoing[places[Int(tail)]] = UInt32(edge)
            places[Int(tail)] += 1
        }
        var turnTargets: [UInt32] = []
        turnTargets.reserveCapacity(count)
        for head in heads {
            turnTargets += outgoing[outStarts[Int(head)]..<outStarts[Int(head) + 1]]
        }
        self.nodeCount = nodeCount
        self.tails = tails
        self.heads = heads
        self.turnStarts = turnStarts
        self.turnTargets = turnTargets
    }

    /// A graph with listed turns: where a restriction over several edges has given an edge copies,
    /// each copy has turns of its own.
    ///
    /// Throws `invalidParameter` for ends that are not nodes, and for turns that occur twice or do
    /// not begin where the edge ends; `tooLarge` above ``largestCount``.
    public init(
        nodeCount: Int, tails: [UInt32], heads: [UInt32], turnStarts: [UInt32],
        turnTargets: [UInt32]
    ) throws(Failure) {
        try Self.check(nodeCount, tails, heads)
        guard turnTargets.count <= Self.largestCount else { throw Self.tooMany("turns") }
        guard turnStarts.count == tails.count + 1, turnStarts.first == 0,
            turnStarts.last.map(Int.init) == turnTargets.count,
            zip(turnStarts, turnStarts.dropFirst()).allSatisfy(<=)
        else {
            throw Failure(
                .invalidParameter,
                "road graph: the starts of turns must rise from 0 to \(turnTargets.count), one for "
                    + "each edge and the end")
        }
        var lastEdges = [Int](repeating: -1, count: tails.count)
        for edge in tails.indices {
            for target in turnTargets[Int(turnStarts[edge])..<Int(turnStarts[edge + 1])] {
                guard Int(target) < tails.count, tails[Int(target)] == heads[edge],
                    lastEdges[Int(target)] != edge
                else {
                    throw Failure(
                        .invalidParameter,
                        "road graph: edge \(edge) turns into edge \(target); it must turn into "
                            + "each once, and into those that leave its head")
                }
                lastEdges[Int(target)] = edge
            }
        }
        self.nodeCount = nodeCount
        self.tails = tails
        self.heads = heads
        self.turnStarts = turnStarts
        self.turnTargets = turnTargets
    }

    private static func check(
        _ nodeCount: Int, _ tails: [UInt32], _ heads: [UInt32]
    ) throws(Failure) {
        guard tails.count <= largestCount, nodeCount <= largestCount else {
            throw tooMany("nodes or edges")
        }
        guard nodeCount >= 0, tails.count == heads.count else {
            throw Failure(
                .invalidParameter,
                "road graph: \(tails.count) tails and \(heads.count) heads of edges between "
                    + "\(nodeCount) nodes; each edge has one of each")
        }
        for (edge, ends) in zip(tails, heads).enumerated() {
            guard Int(max(ends.0, ends.1)) < nodeCount else {
                throw Failure(
                    .invalidParameter,
                    "road graph: edge \(edge) joins \(ends.0) and \(ends.1); nodes are below "
                        + "\(nodeCount)")
            }
        }
    }

    private static func tooMany(_ what: String) -> Failure {
        Failure(.tooLarge, "road graph: more than \(largestCount) \(what)")
    }

    /// The place of a turn in ``turnTargets``; nil where the graph has none.
    public func turn(from edge: Int, to target: Int) -> Int? {
        guard tails.indices ~= edge else { return nil }
        let turns = Int(turnStarts[edge])..<Int(turnStarts[edge + 1])
        return turns.first { Int(turnTargets[$0]) == target }
    }
}
