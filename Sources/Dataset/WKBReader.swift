// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Takes little-endian WKB with two ordinates apart and checks what a dataset demands of it.
///
/// Demanded: every ordinate finite, paths of two or more coordinates, rings closed and of four or
/// more. Empty parts are dropped; a collection becomes one multi geometry per kind found in it.
struct WKBReader {
    private let bytes: [UInt8]
    private var place = 0
    private static let depthLimit = 32

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The geometry, or why it is not taken: one per kind, several only from a collection.
    static func read(_ bytes: [UInt8]) throws(SourceGeometry.Refusal) -> [SourceGeometry] {
        var reader = WKBReader(bytes)
        var parts = Parts()
        try reader.geometry(into: &parts, depth: 0)
        guard !parts.geometries.isEmpty else { throw .init(reason: "empty geometry") }
        return parts.geometries
    }

    /// The simple geometries found, by kind.
    private struct Parts {
        var points: [Coordinate] = []
        var isMultipoint = false
        var paths: [[Coordinate]] = []
        var polygons: [[[Coordinate]]] = []

        var geometries: [SourceGeometry] {
            var result: [SourceGeometry] = []
            if !points.isEmpty {
                result.append(
                    points.count == 1 && !isMultipoint ? .point(points[0]) : .multipoint(points))
            }
            if !paths.isEmpty { result.append(.polyline(paths)) }
            if !polygons.isEmpty { result.append(.polygon(polygons)) }
            return result
        }
    }

    private mutating func geometry(
        into parts: inout Parts, depth: Int
    ) throws(SourceGeometry.Refusal) {
        guard depth < Self.depthLimit else {
            throw .init(reason: "collections nested deeper than \(Self.depthLimit)")
        }
        guard try number(UInt8.self) == 1 else { throw Self.unreadable }
        guard let type = WKBType(rawValue: try number(UInt32.self)) else {
            throw .init(reason: "a kind of geometry that is not supported")
        }
        switch type {
        case .point:
            let point = try coordinate()
            if point.x.isNaN && point.y.isNaN { return }
            guard point.isFinite else { throw Self.notFinite }
            parts.points.append(point)
        case .linestring:
            let path = try coordinates()
            if path.isEmpty { return }
            guard path.count >= 2 else { throw .init(reason: "a line of one coordinate") }
            parts.paths.append(path)
        case .polygon, .triangle:
            let rings = try polygon()
            if !rings.isEmpty { parts.polygons.append(rings) }
        case .multipoint, .multilinestring, .multipolygon, .collection, .polyhedralSurface,
            .triangulatedSurface:
            if type == .multipoint { parts.isMultipoint = true }
            for _ in 0..<(try count(ofAtLeast: 5)) {
                try geometry(into: &parts, depth: depth + 1)
            }
        }
    }

    private mutating func polygon() throws(SourceGeometry.Refusal) -> [[Coordinate]] {
        var rings: [[Coordinate]] = []
        var isNothing = false  // Holes in an empty shell are nothing.
        for index in 0..<(try count(ofAtLeast: 4)) {
            let ring = try coordinates()
            if ring.isEmpty {
                if index == 0 { isNothing = true }
                continue
            }
            guard ring.first == ring.last else { throw .init(reason: "a ring that is not closed") }
            guard ring.count >= 4 else {
                throw .init(reason: "a ring of fewer than four coordinates")
            }
            rings.append(ring)
        }
        return isNothing ? [] : rings
    }

    private mutating func coordinates() throws(SourceGeometry.Refusal) -> [Coordinate] {
        let count = try count(ofAtLeast: 16)
        var result: [Coordinate] = []
        result.reserveCapacity(count)
        for _ in 0..<count {
            let next = try coordinate()
            guard next.isFinite else { throw Self.notFinite }
            result.append(next)
        }
        return result
    }

    private mutating func coordinate() throws(SourceGeometry.Refusal) -> Coordinate {
        let x = Double(bitPattern: try number(UInt64.self))
        return Coordinate(x: x, y: Double(bitPattern: try number(UInt64.self)))
    }

    /// A count of things of which each takes at least `byteCount` bytes.
    private mutating func count(
        ofAtLeast byteCount: Int
    ) throws(SourceGeometry.Refusal) -> Int {
        let count = Int(try number(UInt32.self))
        guard count <= (bytes.count - place) / byteCount else { throw Self.unreadable }
        return count
    }

    private mutating func number<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type
    ) throws(SourceGeometry.Refusal) -> T {
        guard place + MemoryLayout<T>.size <= bytes.count else { throw Self.unreadable }
        defer { place += MemoryLayout<T>.size }
        return T(
            littleEndian: unsafe bytes.span.bytes.unsafeLoadUnaligned(
                fromByteOffset: place, as: T.self))
    }

    private static let unreadable = SourceGeometry.Refusal(reason: "unreadable geometry")
    private static let notFinite = SourceGeometry.Refusal(
        reason: "a coordinate that is not a finite number")
}
