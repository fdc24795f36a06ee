// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Dataset
internal import Geometry

/// Well-known binary, little-endian, of two-dimensional geometries.
struct WellKnownBytes {
    private(set) var bytes: [UInt8] = []

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

    /// Encodes a feature; nil without coordinates.
    init?(_ chains: FeatureChains, _ type: GeometryKind) {
        guard !chains.coordinates.isEmpty else { return nil }
        switch type {
        case .positions: append(positions: chains.coordinates[...])
        case .paths:
            begin(5, count: chains.ends.count)
            for chain in chains.ends.indices {
                begin(2)
                append(chains.coordinates[chains.range(chain)])
            }
        case .areas:
            begin(6, count: chains.parts.count)
            for part in chains.parts.indices {
                let rings = chains.rings(part)
                begin(3, count: rings.count)
                for ring in rings { append(chains.coordinates[chains.range(ring)]) }
            }
        }
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
        append(type)
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
