// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Makes the bytes that ``StripedArea`` reads.
struct StripedAreaBuilder {
    /// Approximate number of edges in a stripe: fewer make larger files and faster answers.
    static let edgesPerStripe = 16

    private let data: Memory
    private let place: Int
    private let vertexCount: Int
    private let origin: Coordinate
    /// The first coordinate of every edge.
    private var edges: [Int] = []
    private var minY = Double.infinity
    private var maxY = -Double.infinity

    private struct Reference {
        var minX: Float
        var maxX: Float
        var edge: Int
    }

    /// A polygon part whose coordinates are at `place`, with the end index of each ring.
    ///
    /// `data` holds them all.
    init(_ data: Memory, place: Int, ringEnds: [Int], origin: Coordinate) {
        self.data = data
        self.place = place
        self.origin = origin
        vertexCount = ringEnds.last ?? 0
        var start = 0
        for end in ringEnds {
            for vertex in start..<max(start, end) {
                let y = coordinate(vertex).y
                (minY, maxY) = (min(minY, y), max(maxY, y))
                // A ring of one coordinate cannot be: rings are closed and have four or more.
                if vertex + 1 < end { edges.append(vertex) }
            }
            start = end
        }
    }

    private func coordinate(_ vertex: Int) -> Coordinate { data.coordinate(place + 16 * vertex) }

    /// The bytes, a whole number of eights.
    func bytes() -> [UInt8] {
        var count = max(1, edges.count / Self.edgesPerStripe)
        while true {
            let scale = count == 1 ? 0 : Double(count) / (maxY - minY)
            if count == 1 || scale.isFinite && scale > 0 && references(count, scale) <= limit {
                if let bytes = bytes(count, scale) { return bytes }
            }
            count = max(1, count / 2)
        }
    }

    /// Most entries of edges in total.
    private var limit: Int { 2 * edges.count + 64 }

    private func stripes(_ edge: Int, _ count: Int, _ scale: Double) -> ClosedRange<Int> {
        let (a, b) = (coordinate(edge).y, coordinate(edge + 1).y)
        let low = StripedArea.stripe(min(a, b), minY, scale, count)
        return low...StripedArea.stripe(max(a, b), minY, scale, count)
    }

    private func references(_ count: Int, _ scale: Double) -> Int {
        var sum = 0
        for edge in edges {
            sum += stripes(edge, count, scale).count
            if sum > limit { break }
        }
        return sum
    }

    /// Nil when rounding leaves a stripe without an ordinate of its own; one stripe always works.
    private func bytes(_ count: Int, _ scale: Double) -> [UInt8]? {
        var listed = [[Reference]](repeating: [], count: count)
        for edge in edges {
            let (a, b) = (coordinate(edge), coordinate(edge + 1))
            let reference = Reference(
                minX: Float(below: min(a.x, b.x) - origin.x),
                maxX: Float(above: max(a.x, b.x) - origin.x), edge: edge)
            for stripe in stripes(edge, count, scale) { listed[stripe].append(reference) }
        }
        var starts: [UInt32] = [0]
        var runs: [UInt32] = []
        var intervals: [UInt32] = []
        for stripe in 0..<count {
            let found = Self.runs(listed[stripe])
            guard let level = level(of: stripe, count, scale, listed[stripe]) else { return nil }
            append(found, level, &runs, &intervals)
            starts.append(UInt32(runs.count / 4))
        }
        var bytes = ByteWriter()
        bytes.append(UInt64(place))
        bytes.append(minY.bitPattern)
        bytes.append(scale.bitPattern)
        for number in [vertexCount, count, runs.count / 4, intervals.count / 2] {
            bytes.append(UInt32(number))
        }
        for list in [starts, runs, intervals] { for number in list { bytes.append(number) } }
        bytes.pad(to: 8)
        return bytes.bytes
    }

    /// Edges whose rectangles, in x, form one piece.
    private struct Run {
        var minX: Float
        var maxX: Float
        var edges: [Int]
    }

    /// The runs of a stripe, from left to right.
    private static func runs(_ references: [Reference]) -> [Run] {
        var runs: [Run] = []
        for reference in references.sorted(by: { ($0.minX, $0.edge) < ($1.minX, $1.edge) }) {
            if let last = runs.indices.last, reference.minX <= runs[last].maxX {
                runs[last].maxX = max(runs[last].maxX, reference.maxX)
                runs[last].edges.append(reference.edge)
            } else {
                runs.append(
                    Run(minX: reference.minX, maxX: reference.maxX, edges: [reference.edge]))
            }
        }
        return runs
    }

    /// An ordinate in the stripe; 0 for one without edges.
    private func level(
        of stripe: Int, _ count: Int, _ scale: Double, _ references: [Reference]
    ) -> Double? {
        guard let first = references.first else { return 0 }
        let middle = scale == 0 ? minY : minY + (Double(stripe) + 0.5) / scale
        return [middle, coordinate(first.edge).y, coordinate(first.edge + 1).y].first {
            StripedArea.stripe($0, minY, scale, count) == stripe
        }
    }

    /// The location of the gaps between runs is decided on one ray per stripe, at `level`, from the
    /// right.
    private func append(
        _ found: [Run], _ level: Double, _ runs: inout [UInt32], _ intervals: inout [UInt32]
    ) {
        var isInside = false
        var numbers: [[UInt32]] = []
        for run in found.reversed() {
            let stretches = Self.stretches(run.edges)
            var entry = [run.minX.bitPattern, run.maxX.bitPattern]
            var count: Int
            if stretches.count == 1 {
                entry.append(UInt32(stretches[0].first))
                count = stretches[0].count
            } else {
                entry.append(UInt32(intervals.count / 2))
                count = stretches.count | StripedArea.intervalsBit
                for stretch in stretches {
                    intervals.append(UInt32(stretch.first))
                    intervals.append(UInt32(stretch.count))
                }
            }
            if isInside { count |= StripedArea.insideBit }
            entry.append(UInt32(count))
            numbers.append(entry)
            for edge in run.edges
            where (coordinate(edge).y > level) != (coordinate(edge + 1).y > level) {
                isInside.toggle()
            }
        }
        for entry in numbers.reversed() { runs.append(contentsOf: entry) }
    }

    /// Edges as stretches of neighbours.
    private static func stretches(_ edges: [Int]) -> [(first: Int, count: Int)] {
        var result: [(first: Int, count: Int)] = []
        for edge in edges.sorted() {
            if let last = result.last, last.first + last.count == edge {
                result[result.count - 1].count += 1
            } else {
                result.append((edge, 1))
            }
        }
        return result
    }
}

/// Little-endian numbers, one after the other.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(_ other: [UInt8]) { bytes.append(contentsOf: other) }

    mutating func pad(to alignment: Int) {
        while bytes.count % alignment != 0 { bytes.append(0) }
    }
}
