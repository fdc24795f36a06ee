// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Dataset
internal import Geometry

/// Well-known binary, little-endian (OGC 06-103r4, 8.2).
struct WellKnownBytes {
    private(set) var bytes: [UInt8] = []
    private var hasZ = false
    private var hasM = false

    /// Encodes a shape; all rings of a polygon become those of one polygon.
    init(_ shape: Shape) {
        switch shape {
        case .point(let coordinate):
            begin(1)
            append(coordinate)
        case .multipoint(let coordinates): append(positions: coordinates[...])
        case .polyline(let paths):
            begin(5, count: paths.count)
            for path in paths {
                begin(2)
                append(path[...])
            }
        case .polygon(let rings):
            begin(3, count: rings.count)
            for ring in rings { append(ring[...]) }
        case .envelope(let box):
            begin(3, count: 1)
            append(box.corners[...])
        }
    }

    /// A feature; nil where it has no coordinates.
    ///
    /// With `hasZ` and `hasM` in ISO's form, NaN where a coordinate lacks the ordinate; `isPoint`
    /// makes a point of the first position, else positions are a multipoint.
    init?(
        _ chains: FeatureChains, _ type: GeometryKind, hasZ: Bool = false, hasM: Bool = false,
        isPoint: Bool = false
    ) {
        guard !chains.coordinates.isEmpty else { return nil }
        self.hasZ = hasZ
        self.hasM = hasM
        let all = 0..<chains.coordinates.count
        switch type {
        case .positions where isPoint:
            begin(1)
            append(chains, 0)
        case .positions:
            begin(4, count: all.count)
            for index in all {
                begin(1)
                append(chains, index)
            }
        case .paths:
            begin(5, count: chains.ends.count)
            for chain in chains.ends.indices {
                begin(2)
                append(chains, chains.range(chain))
            }
        case .areas:
            begin(6, count: chains.parts.count)
            for part in chains.parts.indices {
                let rings = chains.rings(part)
                begin(3, count: rings.count)
                for ring in rings { append(chains, chains.range(ring)) }
            }
        }
    }

    private mutating func append(_ chains: FeatureChains, _ range: Range<Int>) {
        append(UInt32(range.count))
        for index in range { append(chains, index) }
    }

    private mutating func append(_ chains: FeatureChains, _ index: Int) {
        append(chains.coordinates[index])
        if hasZ { append((index < chains.z.count ? chains.z[index] : .nan).bitPattern) }
        if hasM { append((index < chains.m.count ? chains.m[index] : .nan).bitPattern) }
    }

    private mutating func append(positions: ArraySlice<Coordinate>) {
        begin(4, count: positions.count)
        for position in positions {
            begin(1)
            append(position)
        }
    }

    private mutating func begin(_ type: UInt32) {
        bytes.append(1)
        append(type + (hasZ ? 1000 : 0) + (hasM ? 2000 : 0))
    }

    private mutating func begin(_ type: UInt32, count: Int) {
        begin(type)
        append(UInt32(count))
    }

    private mutating func append(_ chain: ArraySlice<Coordinate>) {
        append(UInt32(chain.count))
        for coordinate in chain { append(coordinate) }
    }

    private mutating func append(_ coordinate: Coordinate) {
        append(coordinate.x.bitPattern)
        append(coordinate.y.bitPattern)
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

/// The kind of geometry that a feature's chains form.
enum GeometryKind {
    case positions, paths, areas
}

extension Envelope {
    /// Its closed ring of corners, from the lower left.
    var corners: [Coordinate] {
        [
            Coordinate(x: minX, y: minY), Coordinate(x: maxX, y: minY),
            Coordinate(x: maxX, y: maxY), Coordinate(x: minX, y: maxY),
            Coordinate(x: minX, y: minY),
        ]
    }
}
