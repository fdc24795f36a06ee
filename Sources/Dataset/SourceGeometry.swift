// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// The four kinds of geometry a dataset can hold.
enum GeometryKind: Int, CaseIterable {
    case point, multipoint, polyline, polygon

    /// What a mixed layer's name gets appended.
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

    var isMixed: Bool { rawValue.nonzeroBitCount > 1 }
}

/// A feature's geometry on its way from a source into a dataset.
enum SourceGeometry: Hashable {
    case point(Coordinate)
    case multipoint([Coordinate])
    case polyline([[Coordinate]])
    case polygon([[[Coordinate]]])

    /// Why a geometry is not taken, in a few words.
    struct Refusal: Error, Hashable {
        var reason: String
    }

    var kind: GeometryKind {
        switch self {
        case .point: .point
        case .multipoint: .multipoint
        case .polyline: .polyline
        case .polygon: .polygon
        }
    }

    var envelope: Envelope {
        var bounds = Envelope.empty
        forEachCoordinate { bounds.extend(to: $0) }
        return bounds
    }

    var coordinateCount: Int {
        var count = 0
        forEachCoordinate { _ in count += 1 }
        return count
    }

    private func forEachCoordinate(_ body: (Coordinate) -> Void) {
        switch self {
        case .point(let coordinate): body(coordinate)
        case .multipoint(let coordinates): coordinates.forEach(body)
        case .polyline(let paths): paths.forEach { $0.forEach(body) }
        case .polygon(let parts): parts.forEach { $0.forEach { $0.forEach(body) } }
        }
    }

}

/// A geometry with what its coordinates have beside x and y.
struct MeasuredGeometry: Hashable {
    var geometry: SourceGeometry
    /// One for every coordinate in its order, NaN where there is none; empty when none has any.
    var z: [Double] = []
    /// As `z`.
    var m: [Double] = []

    /// The same geometry as it is stored in a dataset of `kind`, a point among multipoints being a
    /// multipoint; little-endian ISO WKB.
    ///
    /// With `isSingle` a polygon, which must have one part, is written as that part alone.
    func wkb(
        as kind: GeometryKind, hasZ: Bool, hasM: Bool, isSingle: Bool = false
    ) -> [UInt8] {
        var writer = WKBWriter(z: hasZ ? z : nil, m: hasM ? m : nil)
        switch geometry {
        case .point(let coordinate):
            if kind == .multipoint { writer.begin(.multipoint, count: 1) }
            writer.point(coordinate)
        case .multipoint(let coordinates):
            writer.begin(.multipoint, count: coordinates.count)
            coordinates.forEach { writer.point($0) }
        case .polyline(let paths):
            writer.begin(.multilinestring, count: paths.count)
            for path in paths {
                writer.begin(.linestring, count: path.count)
                path.forEach { writer.append($0) }
            }
        case .polygon(let parts):
            if !isSingle { writer.begin(.multipolygon, count: parts.count) }
            for rings in parts {
                writer.begin(.polygon, count: rings.count)
                for ring in rings {
                    writer.append(UInt32(ring.count))
                    ring.forEach { writer.append($0) }
                }
            }
        }
        return writer.bytes
    }
}

/// The numbers WKB has for the kinds of geometry met here.
enum WKBType: UInt32 {
    case point = 1
    case linestring, polygon, multipoint, multilinestring, multipolygon, collection
    case polyhedralSurface = 15
    case triangulatedSurface, triangle
}

/// Little-endian ISO WKB with two to four ordinates.
private struct WKBWriter {
    private(set) var bytes: [UInt8] = []
    /// Those of the coordinates in the order in which they will come, NaN beyond the end; nil when
    /// the ordinate is not written.
    let z: [Double]?
    let m: [Double]?
    private var place = 0

    init(z: [Double]?, m: [Double]?) {
        self.z = z
        self.m = m
    }

    private mutating func append(_ type: WKBType) {
        bytes.append(1)
        append(type.rawValue + (z == nil ? 0 : 1000) + (m == nil ? 0 : 2000))
    }

    mutating func begin(_ type: WKBType, count: Int) {
        append(type)
        append(UInt32(count))
    }

    mutating func point(_ coordinate: Coordinate) {
        append(.point)
        append(coordinate)
    }

    mutating func append(_ coordinate: Coordinate) {
        append(coordinate.x.bitPattern)
        append(coordinate.y.bitPattern)
        for ordinates in [z, m] {
            guard let ordinates else { continue }
            append((place < ordinates.count ? ordinates[place] : .nan).bitPattern)
        }
        place += 1
    }

    mutating func append(_ value: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}
