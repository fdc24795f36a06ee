// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Platform

/// The topologies of a network in one file: each of the turns that some modes can ever take.
///
/// A route by car is not searched among footpaths: the arcs of turns that a mode never takes make
/// the searches of the others slower and nothing better. Modes that take nearly the same turns
/// share a topology, that of the turns of each.
///
/// The file: a header of 64 bytes, `CRNROUTE`, version (4 bytes), edges (4), turns (4), topologies
/// (4), CRC-32C of what follows the header (4), modes (4), bytes of a number in `turnStarts` and
/// `turnTargets` (1 each), zeros, CRC-32C of the 60 bytes before (4). Then the topology of each
/// mode (1); of each topology the number of arcs (4) and bytes of a number in its arrays (1 each);
/// `turnStarts` and `turnTargets`; the arrays of each topology in the order of ``RouteTopology``'s
/// other properties; four zeros. Numbers are little-endian, without gaps; where all bits of one are
/// set it is ``RouteTopology/none``.
///
/// In versions 1 and 2 there is one topology, for all modes. Its number of arcs stands in the
/// place of the topologies', and from byte 28 on are the bytes of a number in all arrays, of which
/// the turns' are the third and fourth; `downArcs` has the numbers of arcs. In version 1 all
/// numbers have four bytes, and nothing follows the arrays.
public struct RouteTopologies: Sendable {
    private let all: [RouteTopology]
    /// Of each mode the place in ``all``; empty where one is for all.
    private let places: [UInt8]

    /// The topology of a mode.
    public subscript(mode: Int) -> RouteTopology {
        places.isEmpty ? all[0] : all[Int(places[mode])]
    }

    /// Number of modes that the file is for; nil for any.
    public var modeCount: Int? { places.isEmpty ? nil : places.count }
    /// Number of topologies.
    public var count: Int { all.count }

    // MARK: Building

    /// The bytes of the topologies of a graph, given for each mode, of 1 to 255, whether it may
    /// ever take each turn.
    ///
    /// The same graph gives the same bytes with the same version of METIS. Takes some 15 µs for
    /// each turn of a road network and topology, and 100 bytes of memory for each arc.
    ///
    /// - Parameter arcLimit: A graph that is not like a road network, of many crossings without
    ///   nodes, has arcs without bound: `tooLarge` above this many.
    public static func build(
        _ graph: RoadGraph, turns: [[Bool]], arcLimit: Int = RouteTopology.largestArcCount
    ) throws(Failure) -> [UInt8] {
        guard 1...255 ~= turns.count, turns.allSatisfy({ $0.count == graph.turnCount }) else {
            throw Failure(
                .invalidParameter,
                "route topology: turns of \(turns.count) modes; expected 1 to 255 modes, of each "
                    + "whether it takes each of \(graph.turnCount) turns")
        }
        let (sets, places) = share(turns)
        var built: [BuiltTopology] = []
        for set in sets { built.append(try BuiltTopology(graph, turns: set, arcLimit: arcLimit)) }
        return bytes(graph, places, built)
    }

    /// The turns of each topology, and the topology of each mode.
    ///
    /// A mode joins the first with whose turns it has nine tenths in common of what either has.
    private static func share(_ turns: [[Bool]]) -> (sets: [[Bool]], places: [UInt8]) {
        var sets: [[Bool]] = []
        let places = turns.map { own in
            let place =
                sets.firstIndex { set in
                    let common = zip(set, own).count { $0 && $1 }
                    let either = zip(set, own).count { $0 || $1 }
                    return 10 * common >= 9 * either
                } ?? sets.count
            if place == sets.count {
                sets.append(own)
            } else {
                sets[place] = zip(sets[place], own).map { $0 || $1 }
            }
            return UInt8(place)
        }
        return (sets, places)
    }

    private static func bytes(
        _ graph: RoadGraph, _ places: [UInt8], _ built: [BuiltTopology]
    ) -> [UInt8] {
        func width(_ array: [UInt32]) -> UInt8 {
            UInt8(MappedNumbers.width(array.lazy.filter { $0 != RouteTopology.none }))
        }
        let shared = [graph.turnStarts, graph.turnTargets]
        var arrays = shared.map { ($0, width($0)) }
        var body = ByteWriter()
        body.append(places)
        for topology in built {
            body.append(UInt32(topology.arcCount))
            for array in topology.arrays {
                arrays.append((array, width(array)))
                body.append(width(array))
            }
        }
        for (array, width) in arrays {
            for number in array { body.append(number, width: Int(width)) }
        }
        body.append([UInt8](repeating: 0, count: TopologyLayout.paddingByteCount))
        var header = ByteWriter()
        header.append(TopologyLayout.magic)
        for number in [
            Int(TopologyLayout.version), graph.edgeCount, graph.turnCount, built.count,
        ] {
            header.append(UInt32(number))
        }
        header.append(CRC32C.checksum(body.bytes))
        header.append(UInt32(places.count))
        header.append(shared.map(width))
        let zeros = TopologyLayout.headerByteCount - 4 - header.byteCount
        header.append([UInt8](repeating: 0, count: zeros))
        header.append(CRC32C.checksum(header.bytes))
        return header.bytes + body.bytes
    }

    // MARK: Opening

    /// Opens topologies of these bytes, which are copied.
    ///
    /// Throws `Failure`: `corrupt`, `newerVersion`.
    public init(bytes: [UInt8]) throws(Failure) {
        let file: MappedFile
        do { file = try MappedFile(copying: bytes, path: "route topology") } catch {
            throw Failure(.internal, error.description)
        }
        try self.init(file)
    }

    /// Opens the topologies of a file, which is read in place.
    ///
    /// Checks every number once, some 10 ns each. Throws `Failure`: `corrupt`, `newerVersion`.
    public init(_ file: MappedFile) throws(Failure) {
        do throws(TopologyDamage) {
            let layout = try TopologyLayout(file)
            var topologies: [RouteTopology] = []
            for number in layout.topologies.indices {
                let topology = RouteTopology(
                    file, number, try layout.arrays(number), hasArcNumbers: layout.hasArcNumbers)
                try topology.check()
                topologies.append(topology)
            }
            (all, places) = (topologies, layout.places)
        } catch {
            throw Failure(error.code, "route topology in '\(file.path)': \(error.what)")
        }
    }
}

extension RouteTopology {
    /// A topology of arrays in the order of the properties.
    fileprivate init(
        _ file: MappedFile, _ number: Int, _ arrays: [MappedNumbers], hasArcNumbers: Bool
    ) {
        self.file = file
        self.number = number
        ranks = arrays[0]
        edges = arrays[1]
        turnStarts = arrays[2]
        turnTargets = arrays[3]
        turnArcs = arrays[4]
        upStarts = arrays[5]
        heads = arrays[6]
        downStarts = arrays[7]
        downArcs = DownArcs(arrays[8], upStarts: arrays[5], areNumbers: hasArcNumbers)
        lows = arrays[9]
    }
}

/// Where the arrays lie in a file of topologies; see ``RouteTopologies`` for its form.
private struct TopologyLayout {
    static let magic = Array("CRNROUTE".utf8)
    static let version: UInt32 = 3
    static let headerByteCount = 64
    static let paddingByteCount = 4

    /// Of each mode the number of its topology; empty where the first is that of all.
    private(set) var places: [UInt8] = []
    /// Of each topology its arrays, as numbers of ``columns``.
    private(set) var topologies: [[Int]] = []
    /// Whether `downArcs` has numbers of arcs.
    private(set) var hasArcNumbers = false
    private var columns: [(bytes: Range<Int>, width: Int)] = []
    private let file: MappedFile

    init(_ file: MappedFile) throws(TopologyDamage) {
        self.file = file
        let header = Self.headerByteCount
        guard file.byteCount >= header else {
            throw TopologyDamage("it is shorter than its header")
        }
        let (numbers, checksums) = file.withBytes { bytes in
            var (head, body) = (CRC32C(), CRC32C())
            head.update(bytes.extracting(0..<header - 4))
            body.update(bytes.extracting(header..<file.byteCount))
            return (
                stride(from: 8, to: header, by: 4).map { bytes.uint32(at: $0) },
                (head.value, body.value)
            )
        }
        guard file.copy(0..<8) == Self.magic else {
            throw TopologyDamage("it does not begin with 'CRNROUTE'")
        }
        guard numbers[0] <= Self.version else {
            throw TopologyDamage(
                "it has version \(numbers[0]); this build reads version \(Self.version)",
                code: .newerVersion)
        }
        guard numbers[0] >= 1, checksums.0 == numbers.last else {
            throw TopologyDamage("the header's checksum is wrong")
        }
        guard checksums.1 == numbers[4] else { throw TopologyDamage("the checksum is wrong") }
        let (edges, turns) = (Int(numbers[1]), Int(numbers[2]))
        if numbers[0] < 3 {
            try addOnly(version: numbers[0], edges: edges, turns: turns, arcs: Int(numbers[3]))
        } else {
            try addAll(
                edges: edges, turns: turns, topologies: Int(numbers[3]), modes: Int(numbers[5]))
        }
    }

    /// The arrays of a topology.
    func arrays(_ number: Int) throws(TopologyDamage) -> [MappedNumbers] {
        var arrays: [MappedNumbers] = []
        for place in topologies[number] {
            let (bytes, width) = columns[place]
            guard let array = MappedNumbers(file, bytes, width: width) else {
                throw TopologyDamage("an array is not within the file")
            }
            arrays.append(array)
        }
        return arrays
    }

    /// The number of numbers in the arrays of one topology, those of the turns apart.
    private static func counts(edges: Int, turns: Int, arcs: Int) -> [Int] {
        [edges, edges, turns, edges + 1, arcs, edges + 1, arcs, arcs]
    }

    /// Reads the form before version 3.
    private mutating func addOnly(
        version: UInt32, edges: Int, turns: Int, arcs: Int
    ) throws(TopologyDamage) {
        var counts = Self.counts(edges: edges, turns: turns, arcs: arcs)
        counts.insert(contentsOf: [edges + 1, turns], at: 2)
        let widths = version == 1 ? counts.map { _ in 4 } : file.copy(28..<38).map { Int($0) }
        try add(
            zip(counts, widths), from: Self.headerByteCount,
            padding: version == 1 ? 0 : Self.paddingByteCount)
        topologies = [Array(counts.indices)]
        hasArcNumbers = true
    }

    private mutating func addAll(
        edges: Int, turns: Int, topologies count: Int, modes: Int
    ) throws(TopologyDamage) {
        let (start, entryByteCount) = (Self.headerByteCount + modes, 12)
        let end = start + count * entryByteCount
        guard 1...255 ~= modes, 1...modes ~= count, end <= file.byteCount else {
            throw TopologyDamage("it has \(count) topologies of \(modes) modes")
        }
        places = file.copy(Self.headerByteCount..<start)
        guard places.allSatisfy({ $0 < count }) else {
            throw TopologyDamage("a mode has no topology")
        }
        var (counts, widths) = ([edges + 1, turns], file.copy(32..<34).map { Int($0) })
        for entry in stride(from: start, to: end, by: entryByteCount) {
            let arcs = file.withBytes { Int($0.uint32(at: entry)) }
            let first = counts.count
            counts += Self.counts(edges: edges, turns: turns, arcs: arcs)
            widths += file.copy(entry + 4..<entry + entryByteCount).map { Int($0) }
            topologies.append([first, first + 1, 0, 1] + Array(first + 2..<counts.count))
        }
        try add(zip(counts, widths), from: end, padding: Self.paddingByteCount)
    }

    /// Adds arrays that lie one after the other, up to the end of the file.
    private mutating func add(
        _ arrays: Zip2Sequence<[Int], [Int]>, from start: Int, padding: Int
    ) throws(TopologyDamage) {
        var place = start
        for (count, width) in arrays {
            guard 1...4 ~= width else { throw TopologyDamage("a number has \(width) bytes") }
            columns.append((place..<place + count * width, width))
            place += count * width
        }
        guard place + padding == file.byteCount else {
            throw TopologyDamage("it has \(file.byteCount) bytes, not what its counts need")
        }
    }
}
