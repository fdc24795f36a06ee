// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GDAL
import Geometry

/// The four kinds of geometry a dataset can hold.
enum GeometryKind: Int, CaseIterable {
    case point, multipoint, polyline, polygon

    /// Suffix for the name of a mixed layer's dataset of this kind.
    var suffix: String {
        switch self {
        case .point, .multipoint: "points"
        case .polyline: "lines"
        case .polygon: "polygons"
        }
    }
}

/// A set of kinds, in one byte.
struct GeometryKinds: OptionSet, Hashable {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ kind: GeometryKind) { rawValue = 1 << UInt8(kind.rawValue) }
}

/// A feature's geometry of one kind on its way from a source into a dataset.
///
/// Its memory is kept from one feature to the next.
struct FlatGeometry {
    /// The reason for refusing a geometry, in a few words.
    struct Refusal: Error, Hashable {
        var reason: String
    }

    /// Kind of the geometry.
    var kind: GeometryKind
    /// The coordinates of all chains one after the other, x before y.
    private(set) var xy: [Double] = []
    /// Z of every coordinate, NaN for a missing one; empty when all are missing.
    private(set) var z: [Double] = []
    /// M of every coordinate, as `z`.
    private(set) var m: [Double] = []
    /// The number of coordinates up to the end of each path or ring.
    private(set) var ends: [UInt32] = []
    /// The number of rings up to the end of each part of a polygon.
    private(set) var parts: [UInt32] = []
    /// The rectangle around it.
    private(set) var envelope = Envelope.empty

    init(_ kind: GeometryKind) { self.kind = kind }

    /// Number of coordinates.
    var coordinateCount: Int { xy.count / 2 }

    /// The area of a polygon's shells without that of their holes.
    var area: Double {
        var (area, start, ring) = (0.0, 0, 0)
        for part in parts {
            for number in ring..<Int(part) {
                var sum = 0.0
                let end = Int(ends[number])
                for place in start..<max(start, end - 1) {
                    sum +=
                        xy[2 * place] * xy[2 * place + 3] - xy[2 * place + 2] * xy[2 * place + 1]
                }
                area += number == ring ? abs(sum) / 2 : -abs(sum) / 2
                start = end
            }
            ring = Int(part)
        }
        return area
    }

    var isEmpty: Bool { xy.isEmpty }

    mutating func removeAll() {
        xy.removeAll(keepingCapacity: true)
        z.removeAll(keepingCapacity: true)
        m.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        envelope = .empty
    }

    /// Adds a chain of coordinates: x, y, Z where `hasZ`, M where `hasM`, whatever the numbers are.
    mutating func append(_ chain: UnsafeRawBufferPointer, hasZ: Bool, hasM: Bool) -> LastChain {
        let ordinates = 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0)
        let count = chain.count / (8 * ordinates)
        let before = coordinateCount
        Self.fill(&z, hasZ, before, count)
        Self.fill(&m, hasM, before, count)
        // Not finite times 0 is not 0.
        var nothing = 0.0
        var bounds = Envelope.empty
        xy.reserveCapacity(xy.count + 2 * count)
        for index in 0..<count {
            let place = 8 * ordinates * index
            let x = unsafe chain.loadUnaligned(fromByteOffset: place, as: Double.self)
            let y = unsafe chain.loadUnaligned(fromByteOffset: place + 8, as: Double.self)
            nothing += x * 0 + y * 0
            bounds.extend(to: Coordinate(x: x, y: y))
            xy.append(x)
            xy.append(y)
            if hasZ {
                z.append(unsafe chain.loadUnaligned(fromByteOffset: place + 16, as: Double.self))
            }
            if hasM {
                let measure = unsafe chain.loadUnaligned(
                    fromByteOffset: place + 8 * ordinates - 8, as: Double.self)
                m.append(measure < Self.noMeasure ? .nan : measure)
            }
        }
        envelope = envelope.union(bounds)
        ends.append(UInt32(coordinateCount))
        let isClosed =
            count > 0 && xy[2 * before] == xy[xy.count - 2]
            && xy[2 * before + 1] == xy[xy.count - 1]
        let reach = max(-bounds.minX, -bounds.minY, bounds.maxX, bounds.maxY)
        return LastChain(
            count: count, isFinite: nothing == 0, isFar: reach > Coordinate.bound,
            isClosed: isClosed)
    }

    /// Below it there is no measure, by the description of shapefiles.
    private static let noMeasure = -1e38

    /// The checks of a chain before it is accepted.
    struct LastChain {
        var count: Int
        var isFinite: Bool
        /// Whether a coordinate is beyond the bound.
        var isFar: Bool
        var isClosed: Bool
    }

    /// Ends a part: all rings added since the one before.
    mutating func endPart() { parts.append(UInt32(ends.count)) }

    /// Makes room for ordinates of `count` more coordinates; NaN for those that have none.
    private static func fill(
        _ ordinates: inout [Double], _ has: Bool, _ before: Int, _ count: Int
    ) {
        guard has || !ordinates.isEmpty else { return }
        let missing = before - ordinates.count + (has ? 0 : count)
        ordinates.append(contentsOf: repeatElement(.nan, count: missing))
    }
}

extension GeometryKind {
    /// The kind of a source's geometry.
    init(_ kind: SourceGeometry.Kind) {
        self =
            switch kind {
            case .point: .point
            case .multipoint: .multipoint
            case .polyline: .polyline
            case .polygon: .polygon
            }
    }
}
