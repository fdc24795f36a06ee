// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import Geometry
internal import Platform
public import RoadNetwork
internal import RouteSearch
internal import Synchronization

/// A road network with what searches on it need: its file, the order of its edges, the tables that
/// weights are made of.
///
/// Immutable but for caches; any thread may use it.
public final class RoutableNetwork: Sendable {
    /// The publication it was opened from.
    public let published: NetworkPublished
    /// The roads.
    public let roads: RoadNetwork
    let topologies: RouteTopologies
    /// The edge of each arc.
    let arcEdges: ArcEdges
    private let knownEntries = Mutex<TurnEntries?>(nil)
    /// Start of each arc's turns in ``turnTargets``, then the end.
    let turnStarts: MappedNumbers
    /// The arc that each turn leads into.
    let turnTargets: MappedNumbers
    /// What each turn is.
    let turnKinds: [TurnKind]
    /// The copies of edges: of each edge that has some, its further arcs.
    let copies: [UInt32: [UInt32]]
    /// Whether whole millimetres of a route over all of it may exceed what a search can add up, so
    /// that distances are searched in centimetres.
    let usesCentimetres: Bool
    /// What holds on the roads at times only.
    let timed: TimedRoads
    let metrics = MetricShelf()
    let standing = StandingShelf()
    private let searchers = Mutex<[RouteSearcher]>([])

    /// A turn back along the same road, where it is.
    enum TurnKind: UInt8 {
        case ahead, backAtDeadEnd, backAtIntersection, backElsewhere
    }

    /// The files of a published network in the directory of all networks: the roads, and the orders
    /// of edges.
    public static func paths(of published: NetworkPublished, in directory: String) -> [String] {
        let folder = directory + "/" + published.network.rawValue
        return [
            folder + "/" + NetworkBuilder.fileName,
            folder + "/" + topologyFile(published.topology),
        ]
    }

    private static func topologyFile(_ id: ContentID) -> String { "topology-\(id.rawValue).bin" }

    /// Opens the files of a published network, and checks both.
    ///
    /// - Parameters:
    ///   - published: The publication.
    ///   - directory: The directory of all networks of the site.
    /// - Throws: `Failure`: `notFound` for missing files, `corrupt` or `newerVersion` with the path
    ///   for others than those that were published.
    public init(_ published: NetworkPublished, in directory: String) throws(Failure) {
        let paths = Self.paths(of: published, in: directory)
        let roads = try RoadNetwork(path: paths[0], id: published.network)
        let path = paths[1]
        let file: MappedFile
        do { file = try MappedFile(path: path) } catch {
            throw Failure(error.isNotFound ? .notFound : .unreadable, error.description)
        }
        let topologies = try RouteTopologies(file)
        let topology = topologies[0]
        guard topologies.modeCount ?? roads.modes.count == roads.modes.count,
            topology.edgeCount == roads.arcCount, topology.turnCount == roads.turnCount
        else {
            throw Failure(.corrupt, "'\(path)' is the order of another network's edges")
        }
        self.published = published
        self.roads = roads
        self.topologies = topologies
        (turnStarts, turnTargets) = (topology.turnStarts, topology.turnTargets)
        let starts = roads.turnStarts()
        guard turnStarts.elementsEqual(starts), turnTargets.elementsEqual(roads.turnTargets())
        else { throw Failure(.corrupt, "'\(path)' is the order of another network's edges") }
        arcEdges = ArcEdges(roads)
        var copies: [UInt32: [UInt32]] = [:]
        for arc in roads.edgeCount..<roads.arcCount {
            copies[arcEdges[arc], default: []].append(UInt32(arc))
        }
        self.copies = copies
        turnKinds = Self.kinds(roads, starts)
        timed = TimedRoads(roads)
        // The longest way that is no detour is some multiple of the extent's diagonal.
        let extent = published.extent
        let degrees = max(extent.maxX - extent.minX, extent.maxY - extent.minY)
        usesCentimetres = degrees > 3
    }

    private static func kinds(_ roads: RoadNetwork, _ starts: [UInt32]) -> [TurnKind] {
        var kinds = [TurnKind](repeating: .ahead, count: roads.turnCount)
        for arc in 0..<roads.arcCount {
            for number in Int(starts[arc])..<Int(starts[arc + 1]) {
                let flags = roads.turn(number).flags
                guard flags.contains(.back) else { continue }
                kinds[number] =
                    flags.contains(.deadEnd)
                    ? .backAtDeadEnd
                    : starts[arc + 1] - starts[arc] > 2 ? .backAtIntersection : .backElsewhere
            }
        }
        return kinds
    }

    /// The turns into an arc, with the arcs they come from.
    func turns(into arc: Int) -> [(turn: Int, source: Int)] {
        let entries = knownEntries.withLock { known in
            let entries = known ?? TurnEntries(starts: turnStarts, targets: turnTargets)
            known = entries
            return entries
        }
        return entries.into(arc).map { (Int($0), source(ofTurn: Int($0))) }
    }

    /// The arcs of an edge: itself, and its copies.
    func arcs(of edge: Int) -> [UInt32] { [UInt32(edge)] + (copies[UInt32(edge)] ?? []) }

    /// Lends a searcher of a metric's topology, which is given back after the search.
    func search<Result>(
        in metric: RouteMetric, _ body: (inout RouteSearcher) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let known = searchers.withLock { known in
            known.lastIndex { $0.topology.isSame(as: metric.topology) }.map { known.remove(at: $0) }
        }
        var searcher = known ?? RouteSearcher(metric.topology)
        defer { searchers.withLock { if $0.count < 8 { $0.append(searcher) } } }
        return try body(&searcher)
    }

    /// Builds the file with the orders of a network's edges; returns its SHA-256.
    ///
    /// Takes some 15 µs for each turn of modes that use other roads. Throws `Failure`: `tooLarge`,
    /// `noSpace`.
    public static func writeTopology(
        of roads: RoadNetwork, in directory: String
    ) throws(Failure) -> ContentID {
        let edges = roads.arcEdges()
        let (tails, heads) = (roads.tails(), roads.heads())
        let graph = try RoadGraph(
            nodeCount: roads.vertexCount, tails: edges.map { tails[Int($0)] },
            heads: edges.map { heads[Int($0)] }, turnStarts: roads.turnStarts(),
            turnTargets: roads.turnTargets())
        let timed = roads.timedEdges()
        let turns = roads.modes.indices.map {
            roads.usableTurns(graph, edges, mode: $0, timed)
        }
        let bytes = try RouteTopologies.build(graph, turns: turns)
        do {
            let folder = directory + "/" + roads.id.rawValue
            var file = try StagedFile(inDirectory: folder)
            try file.write(bytes)
            let id = ContentID(file.digest)
            try file.publish(as: folder + "/" + topologyFile(id), replacing: false)
            return id
        } catch { throw Failure(error.isNoSpace ? .noSpace : .unreadable, error.description) }
    }
}

extension RoadNetwork {
    /// Whether a mode can ever take each turn: it may use the arc before it at some time and enter
    /// the one behind it, and no restriction that holds always is against it.
    ///
    /// Events and requests close roads and turns, and open none that the map closes.
    fileprivate func usableTurns(
        _ graph: RoadGraph, _ arcEdges: [UInt32], mode: Int,
        _ timed: [(edge: Int, passages: TimedPassages)]
    ) -> [Bool] {
        let access = access(mode: mode)
        var isPassed = access.map { $0 == RoadAccess.open.rawValue }
        var isEntered = access.map { $0 != RoadAccess.closed.rawValue }
        for (edge, passages) in timed {
            for passage in passages.passages where passage[mode].access != .closed {
                isEntered[edge] = true
                isPassed[edge] = isPassed[edge] || passage[mode].access == .open
            }
        }
        var isUsable = turnDurations(mode: mode).map { $0 < RouteWeights.infinity }
        for arc in 0..<graph.edgeCount {
            let mayLeave = isPassed[Int(arcEdges[arc])]
            for turn in Int(graph.turnStarts[arc])..<Int(graph.turnStarts[arc + 1]) {
                let target = arcEdges[Int(graph.turnTargets[turn])]
                isUsable[turn] = isUsable[turn] && mayLeave && isEntered[Int(target)]
            }
        }
        return isUsable
    }
}

/// The edge of each arc of a network.
struct ArcEdges: Sendable, RandomAccessCollection {
    let endIndex: Int
    private let edgeCount: Int
    /// The edges of the arcs behind the first ones, which are the edges themselves.
    private let copied: [UInt32]

    init(_ roads: RoadNetwork) {
        endIndex = roads.arcCount
        edgeCount = roads.edgeCount
        copied = (edgeCount..<endIndex).map { UInt32(roads.edge(ofArc: $0)) }
    }

    var startIndex: Int { 0 }

    subscript(arc: Int) -> UInt32 { arc < edgeCount ? UInt32(arc) : copied[arc - edgeCount] }
}

/// The turns of a network by the arc that they lead to; 4 bytes for each turn and each arc.
private struct TurnEntries: Sendable {
    private let starts: [UInt32]
    private let turns: [UInt32]

    init(starts turnStarts: MappedNumbers, targets: MappedNumbers) {
        let count = turnStarts.count - 1
        var starts = [UInt32](repeating: 0, count: count + 1)
        for target in targets { starts[Int(target) + 1] += 1 }
        for arc in 0..<count { starts[arc + 1] += starts[arc] }
        var places = starts
        var turns = [UInt32](repeating: 0, count: targets.count)
        for arc in 0..<count {
            for turn in Int(turnStarts[arc])..<Int(turnStarts[arc + 1]) {
                let place = Int(places[Int(targets[turn])])
                places[Int(targets[turn])] += 1
                turns[place] = UInt32(turn)
            }
        }
        (self.starts, self.turns) = (starts, turns)
    }

    func into(_ arc: Int) -> ArraySlice<UInt32> { turns[Int(starts[arc])..<Int(starts[arc + 1])] }
}
