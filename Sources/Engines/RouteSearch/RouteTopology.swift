// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
public import Platform

/// What the search needs to know of a road graph whatever its costs: the turns, an order of the
/// edges, and the chordal graph that eliminating them in that order gives.
///
/// A customizable contraction hierarchy (Dibbelt, Strasser, Wagner: Customizable Contraction
/// Hierarchies, ACM JEA 21, 2016) over the turn-expanded graph: its vertices are the edges of the
/// road graph, named by *rank*, their place in the order. Its *arcs* join two ranks, lower to
/// higher, and stand for ways in both directions; they are numbered by lower rank, then by higher.
///
/// A topology of some turns alone has no arcs for the others, which must cost infinity in its
/// metrics: see ``RouteTopologies``.
///
/// The arrays lie in a file, which is read in place; any thread may read.
public struct RouteTopology: Sendable {
    /// The file it was read from, and its place among those in it.
    let file: MappedFile
    let number: Int

    /// Of each edge.
    let ranks: MappedNumbers
    /// Of each rank.
    let edges: MappedNumbers
    /// Start of each edge's turns in ``turnTargets``, then the end.
    public let turnStarts: MappedNumbers
    /// The edge that each turn leads into.
    public let turnTargets: MappedNumbers
    /// Of each turn, see ``turnArc(_:)``.
    let turnArcs: MappedNumbers
    /// Start of the arcs that go up from each rank, then the end.
    let upStarts: MappedNumbers
    /// The higher rank of each arc.
    let heads: MappedNumbers
    /// Start in ``lows`` of the arcs that come up to each rank, then the end.
    let downStarts: MappedNumbers
    /// Of each arc of ``lows`` its number.
    let downArcs: DownArcs
    /// The lower ranks of the arcs by higher rank, then by lower.
    let lows: MappedNumbers

    /// No arc, no rank.
    static let none = UInt32.max

    /// Number of edges of the road graph.
    public var edgeCount: Int { ranks.count }
    /// Number of turns of the road graph.
    public var turnCount: Int { turnTargets.count }
    /// Number of arcs.
    public var arcCount: Int { heads.count }

    /// The arcs that go up from a rank.
    @inline(__always)
    func arcs(up rank: Int) -> Range<Int> {
        Int(upStarts[rank])..<Int(upStarts[rank + 1])
    }

    /// The places in ``lows`` of the arcs that come up to a rank.
    @inline(__always)
    func places(down rank: Int) -> Range<Int> {
        Int(downStarts[rank])..<Int(downStarts[rank + 1])
    }

    /// The lowest rank above that is joined to a rank: its parent in the elimination tree.
    @inline(__always)
    func parent(_ rank: Int) -> Int? {
        let arcs = arcs(up: rank)
        return arcs.isEmpty ? nil : Int(heads[arcs.lowerBound])
    }

    /// The turns out of an edge.
    @inline(__always)
    func turns(_ edge: Int) -> Range<Int> {
        Int(turnStarts[edge])..<Int(turnStarts[edge + 1])
    }

    /// Of a turn twice its arc, one more where it leads from the higher rank to the lower; ``none``
    /// for a turn from an edge into itself, and one between edges that no arc joins.
    @inline(__always)
    func turnArc(_ turn: Int) -> UInt32 {
        let code = turnArcs[turn]
        return code == turnArcs.largest ? Self.none : code
    }

    /// The turn from one edge into another.
    func turn(from edge: Int, to target: Int) -> Int? {
        turns(edge).first { Int(turnTargets[$0]) == target }
    }

    /// The arc between two ranks; nil where none joins them.
    func arc(_ low: Int, _ high: Int) -> Int? {
        var arcs = arcs(up: low)
        while !arcs.isEmpty {
            let middle = arcs.lowerBound + arcs.count / 2
            let head = Int(heads[middle])
            if head == high { return middle }
            arcs = head < high ? middle + 1..<arcs.upperBound : arcs.lowerBound..<middle
        }
        return nil
    }
}

/// The numbers of the arcs that come up to each rank.
///
/// The file has the place of each among the arcs that go up from its lower rank, mostly in one
/// byte; before version 3 it has the numbers.
struct DownArcs: Sendable {
    private let places: MappedNumbers
    private let upStarts: MappedNumbers
    private let areNumbers: Bool

    init(_ places: MappedNumbers, upStarts: MappedNumbers, areNumbers: Bool) {
        (self.places, self.upStarts, self.areNumbers) = (places, upStarts, areNumbers)
    }

    /// The arc at a place of ``RouteTopology/lows``, where its lower rank stands.
    @inline(__always)
    subscript(place: Int, from low: Int) -> Int {
        Int(places[place]) + (areNumbers ? 0 : Int(upStarts[low]))
    }
}
