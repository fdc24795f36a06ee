// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Platform

/// The file's form: a header of 64 bytes, then the arrays of ``RouteTopology`` in the order of its
/// properties, little-endian numbers without gaps, then four zeros.
///
/// The header: `CRNROUTE`, version (4 bytes), edges (4), turns (4), arcs (4), CRC-32C of what
/// follows the header (4), bytes of a number in each array (1 each), zeros, CRC-32C of the 60
/// bytes before (4). Where all bits of a number are set it is ``RouteTopology/none``.
///
/// In version 1 all numbers have four bytes, and nothing follows the arrays.
enum TopologyLayout {
    static let magic = Array("CRNROUTE".utf8)
    static let version: UInt32 = 2
    static let headerByteCount = 64
    static let widthsOffset = 28
    static let paddingByteCount = 4

    /// The number of numbers in each array.
    static func counts(edges: Int, turns: Int, arcs: Int) -> [Int] {
        [edges, edges, edges + 1, turns, turns, edges + 1, arcs, edges + 1, arcs, arcs]
    }

    static func bytes(edges: Int, turns: Int, arcs: Int, _ arrays: [[UInt32]]) -> [UInt8] {
        let widths = arrays.map { array in
            MappedNumbers.width(array.lazy.filter { $0 != RouteTopology.none })
        }
        var body = ByteWriter(
            capacity: paddingByteCount + zip(arrays, widths).reduce(0) { $0 + $1.0.count * $1.1 })
        for (array, width) in zip(arrays, widths) {
            for number in array { body.append(number, width: width) }
        }
        body.append([UInt8](repeating: 0, count: paddingByteCount))
        var header = ByteWriter()
        header.append(magic)
        for number in [version, UInt32(edges), UInt32(turns), UInt32(arcs)] {
            header.append(number)
        }
        header.append(CRC32C.checksum(body.bytes))
        header.append(widths.map { UInt8($0) })
        while header.bytes.count < headerByteCount - 4 { header.append(UInt8(0)) }
        header.append(CRC32C.checksum(header.bytes))
        return header.bytes + body.bytes
    }
}

extension RouteTopology {
    /// Opens a topology of these bytes, which are copied.
    ///
    /// Throws `Failure`: `corrupt`, `newerVersion`.
    public init(bytes: [UInt8]) throws(Failure) {
        let file: MappedFile
        do { file = try MappedFile(copying: bytes, path: "route topology") } catch {
            throw Failure(.internal, error.description)
        }
        try self.init(file, in: 0..<bytes.count)
    }

    /// Opens a topology that is a part of a file, which is read in place; a range that starts at a
    /// multiple of 4.
    ///
    /// Checks every number once, some 10 ns each. Throws `Failure`: `corrupt`, `newerVersion`.
    public init(_ file: MappedFile, in range: Range<Int>) throws(Failure) {
        func corrupt(_ what: String) -> Failure {
            Failure(.corrupt, "route topology in '\(file.path)': \(what)")
        }
        let header = TopologyLayout.headerByteCount
        guard range.lowerBound >= 0, range.upperBound <= file.byteCount,
            range.lowerBound % 4 == 0, range.count >= header
        else { throw corrupt("it is shorter than its header, or not within the file") }
        let start = range.lowerBound
        let (numbers, checksums) = file.withBytes { bytes in
            var (head, body) = (CRC32C(), CRC32C())
            head.update(bytes.extracting(start..<start + header - 4))
            body.update(bytes.extracting(start + header..<range.upperBound))
            return (
                stride(from: 8, to: header, by: 4).map { bytes.uint32(at: start + $0) },
                (head.value, body.value)
            )
        }
        guard file.copy(start..<start + 8) == TopologyLayout.magic else {
            throw corrupt("it does not begin with 'CRNROUTE'")
        }
        guard numbers[0] <= TopologyLayout.version else {
            throw Failure(
                .newerVersion,
                "route topology in '\(file.path)' has version \(numbers[0]); this build reads "
                    + "version \(TopologyLayout.version)")
        }
        guard numbers[0] >= 1, checksums.0 == numbers.last else {
            throw corrupt("the header's checksum is wrong")
        }
        let counts = TopologyLayout.counts(
            edges: Int(numbers[1]), turns: Int(numbers[2]), arcs: Int(numbers[3]))
        let isFirstVersion = numbers[0] == 1
        let widths = file.copy(
            start + TopologyLayout.widthsOffset..<start + TopologyLayout.widthsOffset + counts.count
        ).map { isFirstVersion ? 4 : Int($0) }
        let padding = isFirstVersion ? 0 : TopologyLayout.paddingByteCount
        guard widths.allSatisfy({ 1...4 ~= $0 }),
            zip(counts, widths).reduce(padding, { $0 + $1.0 * $1.1 }) == range.count - header
        else { throw corrupt("it has \(range.count) bytes, not what its counts need") }
        guard checksums.1 == numbers[4] else { throw corrupt("the checksum is wrong") }
        var arrays: [MappedNumbers] = []
        var place = start + header
        for (count, width) in zip(counts, widths) {
            guard let array = MappedNumbers(file, place..<place + width * count, width: width)
            else { throw corrupt("an array is not within the file") }
            arrays.append(array)
            place += width * count
        }
        self.init(file: file, range: range, arrays)
        do { try check() } catch { throw corrupt(error.what) }
    }

    private init(file: MappedFile, range: Range<Int>, _ arrays: [MappedNumbers]) {
        self.file = file
        self.range = range
        ranks = arrays[0]
        edges = arrays[1]
        turnStarts = arrays[2]
        turnTargets = arrays[3]
        turnArcs = arrays[4]
        upStarts = arrays[5]
        heads = arrays[6]
        downStarts = arrays[7]
        downArcs = arrays[8]
        lows = arrays[9]
    }

    /// A copy of the bytes, to be written into a file.
    public var bytes: [UInt8] { file.copy(range) }
}

/// What is wrong with the arrays of a topology.
private struct TopologyDamage: Error {
    var what: String
    init(_ what: String) { self.what = what }
}

extension RouteTopology {
    /// Whether every number is one that the search can follow, and the arcs are those of an
    /// elimination.
    private func check() throws(TopologyDamage) {
        let count = edgeCount
        for edge in 0..<count {
            guard ranks[edge] < count, Int(edges[Int(ranks[edge])]) == edge else {
                throw TopologyDamage("edge \(edge) has no rank of its own")
            }
        }
        guard rise(turnStarts, to: turnCount), rise(upStarts, to: arcCount),
            rise(downStarts, to: arcCount)
        else { throw TopologyDamage("the starts of turns or arcs do not rise") }
        for rank in 0..<count { try check(rank) }
        // The ranks below one in the elimination tree are those just before it.
        var sizes = [Int](repeating: 1, count: count)
        var firsts = Array(0..<count)
        for rank in 0..<count {
            guard rank + 1 - firsts[rank] == sizes[rank] else {
                throw TopologyDamage("the ranks below rank \(rank) are not together")
            }
            guard let parent = parent(rank) else { continue }
            sizes[parent] += sizes[rank]
            firsts[parent] = min(firsts[parent], firsts[rank])
        }
        var places = [UInt32](repeating: 0, count: count)
        for rank in 0..<count { places[rank] = downStarts[rank] }
        for rank in 0..<count {
            for arc in arcs(up: rank) {
                let head = Int(heads[arc])
                guard places[head] < downStarts[head + 1],
                    downArcs[Int(places[head])] == arc, lows[Int(places[head])] == rank
                else { throw TopologyDamage("arc \(arc) does not come up to rank \(head)") }
                places[head] += 1
            }
        }
        var lastEdges = [Int](repeating: -1, count: count)
        for edge in 0..<count {
            for turn in turns(edge) {
                let target = Int(turnTargets[turn])
                guard target < count, lastEdges[target] != edge else {
                    throw TopologyDamage("edge \(edge) turns twice into edge \(target)")
                }
                lastEdges[target] = edge
                guard turnArc(turn) == arcCode(from: edge, to: target) else {
                    throw TopologyDamage("turn \(turn) is not the arc between its edges")
                }
            }
        }
    }

    private func rise(_ starts: MappedNumbers, to end: Int) -> Bool {
        var before: UInt32 = 0
        for start in starts {
            guard start >= before else { return false }
            before = start
        }
        return starts.first == 0 && Int(before) == end
    }

    /// The arcs of a rank rise, and what it is joined to above its parent the parent is joined to
    /// as well.
    private func check(_ rank: Int) throws(TopologyDamage) {
        let arcs = arcs(up: rank)
        var before = rank
        for arc in arcs {
            guard heads[arc] > before, heads[arc] < edgeCount else {
                throw TopologyDamage("the arcs of rank \(rank) do not rise")
            }
            before = Int(heads[arc])
        }
        guard let first = arcs.first else { return }
        var above = self.arcs(up: Int(heads[first]))
        for arc in arcs.dropFirst() {
            while let next = above.first, heads[next] < heads[arc] { above = above.dropFirst() }
            guard let next = above.first, heads[next] == heads[arc] else {
                throw TopologyDamage("rank \(rank) and its parent do not form a triangle")
            }
        }
    }

    /// The number in ``turnArcs`` of a turn; nil where no arc joins its edges.
    private func arcCode(from edge: Int, to target: Int) -> UInt32? {
        guard edge != target else { return Self.none }
        let (from, to) = (Int(ranks[edge]), Int(ranks[target]))
        guard let arc = arc(min(from, to), max(from, to)) else { return nil }
        return UInt32(2 * arc + (from < to ? 0 : 1))
    }
}
