// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import Platform
internal import Synchronization

/// An opened road network: a directed graph of edges between vertices, and the turns between edges.
///
/// Immutable and thread-safe; mapped read-only, so processes share its pages. Costs that events
/// change are not in it. Edges, vertices, links, arcs and turns are numbered from 0; numbers
/// outside trap, so those that come from elsewhere are compared with the counts first.
///
/// - A *link* is a stretch of a way between two vertices; an *edge* is a link in one direction.
/// - An *arc* is an edge, of the same number, or a copy of one that stands for having come along
///   the beginning of a restricted sequence of edges. *Turns* lead from arc to arc: they are the
///   turn-expanded graph.
public final class RoadNetwork: Sendable {
    /// The SHA-256 of the file.
    public let id: ContentID
    /// The modes; every function with a mode takes the index of one.
    public let modes: [NetworkMode]
    /// The names of its sources, with their attributions.
    public let sources: [String]
    let mapped: MappedFile
    let file: NetworkFile
    let knownNodes = Mutex<[Int: UsableNodes]>([:])

    /// The cost of what cannot be passed: 2³¹ − 1, so that a sum of two fits into 32 bits.
    public static let unreachable: UInt32 = 0x7FFF_FFFF

    /// Maps a file and validates it: form, checksums, every number and offset.
    ///
    /// - Parameters:
    ///   - path: The file, `<networks>/<sha256>/network.bin`.
    ///   - id: Its name; trusted, because validation finds damage.
    /// - Throws: `notFound` when there is no such file, `corrupt` or `newerVersion` with its path.
    public init(path: String, id: ContentID) throws(Failure) {
        do {
            mapped = try MappedFile(path: path)
        } catch {
            throw Failure(error.isNotFound ? .notFound : .unreadable, error.description)
        }
        let opened = try mapped.withBytes { bytes throws(Failure) in
            try NetworkFile.open(bytes, path: path)
        }
        (file, modes, sources) = (opened.file, opened.description.modes, opened.description.sources)
        self.id = id
    }

    /// Number of vertices.
    public var vertexCount: Int { file.vertexCount }
    /// Number of edges.
    public var edgeCount: Int { file.edgeCount }
    /// Number of links.
    public var linkCount: Int { file.linkCount }
    /// Number of arcs: the edges, and copies of them.
    public var arcCount: Int { file.arcCount }
    /// Number of turns.
    public var turnCount: Int { file.turnCount }
    /// Number of classes of turns.
    public var turnClassCount: Int { file.classCount }
    /// Number of restrictions.
    public var restrictionCount: Int { file.restrictionCount }

    /// The rectangle of all vertices, longitude and latitude in degrees.
    public var extent: Envelope {
        var extent = Envelope.empty
        for vertex in 0..<vertexCount { extent.extend(to: self.vertex(vertex).position) }
        return extent
    }

    /// The index of a mode by its name; nil when the network lacks it.
    public func mode(named name: String) -> Int? { modes.firstIndex { $0.name == name } }

    // MARK: Whole tables, copied, for engines that keep their own

    /// The vertex that each edge leaves; edges are sorted by it.
    public func tails() -> [UInt32] { column(.tails) }
    /// The vertex that each edge enters.
    public func heads() -> [UInt32] { column(.heads) }
    /// First edge that leaves each vertex; one more ends the last.
    public func firstEdges() -> [UInt32] { column(.firstEdges) }
    /// The edge of each arc; arc `n` below ``edgeCount`` is edge `n`.
    public func arcEdges() -> [UInt32] {
        mapped.withBytes { bytes in (0..<arcCount).map { UInt32(file.edge(ofArc: $0, bytes)) } }
    }
    /// First turn that leaves each arc; one more ends the last.
    ///
    /// The turns of an arc are those onto each edge that leaves its head, in their order.
    public func turnStarts() -> [UInt32] { column(.turnStarts) }
    /// The arc that each turn leads to.
    public func turnTargets() -> [UInt32] { column(.turnTargets) }

    /// The length of each edge in millimetres.
    public func lengths() -> [UInt32] {
        mapped.withBytes { bytes in (0..<edgeCount).map { file.length($0, bytes) } }
    }

    /// Milliseconds of each edge; ``unreachable`` where the mode may not use it.
    public func durations(mode: Int) -> [UInt32] {
        mapped.withBytes { bytes in
            (0..<edgeCount).map { file.duration($0, mode: mode, bytes) }
        }
    }

    /// The access of each edge, the raw values of ``RoadAccess``.
    public func access(mode: Int) -> [UInt8] {
        mapped.withBytes { bytes in
            let start = file.offset(.access, mode * edgeCount)
            return bytes.copy(start..<start + edgeCount)
        }
    }

    /// Milliseconds of each turn; ``unreachable`` where the mode may not turn, by restrictions that
    /// hold always and by barriers.
    public func turnDurations(mode: Int) -> [UInt32] {
        mapped.withBytes { bytes in
            let costs = (0..<turnClassCount).map { file.classCost($0, mode: mode, bytes) }
            return (0..<turnCount).map { costs[file.turnClass($0, bytes)] }
        }
    }

    /// The strongly connected component of each edge for a mode, the largest 0; `UInt32.max` where
    /// the mode may not use it.
    public func components(mode: Int) -> [UInt32] {
        mapped.withBytes { bytes in
            (0..<edgeCount).map { file.component($0, mode: mode, bytes) }
        }
    }

    /// Number of edges of each component of a mode, largest first.
    public func componentSizes(mode: Int) -> [Int] {
        var sizes: [Int] = []
        for component in components(mode: mode) where component != NetworkLayout.none {
            while sizes.count <= Int(component) { sizes.append(0) }
            sizes[Int(component)] += 1
        }
        return sizes
    }

    private func column(_ section: NetworkLayout.Section) -> [UInt32] {
        mapped.withBytes { bytes in
            let column = file.columns[section.rawValue]
            let count = file.sections[section.rawValue].count / column.width
            return (0..<count).map { column[$0, bytes] }
        }
    }
}
