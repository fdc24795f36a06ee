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

    /// The same geometry as it is stored in a dataset of `kind`, a point among multipoints being a
    /// multipoint; little-endian WKB.
    func wkb(as kind: GeometryKind) -> [UInt8] {
        var writer = WKBWriter()
        switch self {
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
            writer.begin(.multipolygon, count: parts.count)
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

/// Little-endian WKB with two ordinates.
private struct WKBWriter {
    private(set) var bytes: [UInt8] = []

    mutating func begin(_ type: WKBType, count: Int) {
        bytes.append(1)
        append(type.rawValue)
        append(UInt32(count))
    }

    mutating func point(_ coordinate: Coordinate) {
        bytes.append(1)
        append(WKBType.point.rawValue)
        append(coordinate)
    }

    mutating func append(_ coordinate: Coordinate) {
        append(coordinate.x.bitPattern)
        append(coordinate.y.bitPattern)
    }

    mutating func append(_ value: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}
