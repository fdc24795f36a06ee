// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Takes little-endian ISO WKB apart and checks what a dataset demands of it.
///
/// Demanded: every x and y finite, paths of two or more coordinates, rings closed and of four or
/// more. Empty parts are dropped; a collection becomes one multi geometry per kind found in it.
struct WKBReader {
    private let bytes: [UInt8]
    private var place = 0
    /// Which ordinates beside x and y the part being read has.
    private var hasZ = false
    private var hasM = false
    private static let depthLimit = 32

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The geometry, or why it is not taken: one per kind, several only from a collection.
    static func read(_ bytes: [UInt8]) throws(SourceGeometry.Refusal) -> [MeasuredGeometry] {
        var reader = WKBReader(bytes)
        var parts = Parts()
        try reader.geometry(into: &parts, depth: 0)
        let geometries = parts.geometries
        guard !geometries.isEmpty else { throw .init(reason: "empty geometry") }
        return geometries
    }

    /// The simple geometries found, by kind.
    private struct Parts {
        var points = Vertices()
        var isMultipoint = false
        var paths = Vertices()
        var polygons: [[[Coordinate]]] = []
        var corners = Vertices()

        var geometries: [MeasuredGeometry] {
            var result: [MeasuredGeometry] = []
            let positions = points.chains.flatMap { $0 }
            if !positions.isEmpty {
                result.append(
                    points.measuring(
                        positions.count == 1 && !isMultipoint
                            ? .point(positions[0]) : .multipoint(positions)))
            }
            if !paths.chains.isEmpty { result.append(paths.measuring(.polyline(paths.chains))) }
            if !polygons.isEmpty { result.append(corners.measuring(.polygon(polygons))) }
            return result
        }
    }

    /// Chains of coordinates with their further ordinates, which are only kept once there are any.
    private struct Vertices {
        private(set) var chains: [[Coordinate]] = []
        private(set) var z: [Double] = []
        private(set) var m: [Double] = []
        private var count = 0

        mutating func append(_ chain: Chain) {
            Self.append(chain.z, chain.coordinates.count, after: count, to: &z)
            Self.append(chain.m, chain.coordinates.count, after: count, to: &m)
            chains.append(chain.coordinates)
            count += chain.coordinates.count
        }

        private static func append(
            _ ordinates: [Double], _ count: Int, after before: Int, to all: inout [Double]
        ) {
            if ordinates.isEmpty && all.isEmpty { return }
            all += Array(repeating: .nan, count: before - all.count)
            all += ordinates.isEmpty ? Array(repeating: .nan, count: count) : ordinates
        }

        func measuring(_ geometry: SourceGeometry) -> MeasuredGeometry {
            MeasuredGeometry(geometry: geometry, z: z, m: m)
        }
    }

    /// Some coordinates in a row; `z` and `m` are empty when they have none.
    private struct Chain {
        var coordinates: [Coordinate] = []
        var z: [Double] = []
        var m: [Double] = []
    }

    private mutating func geometry(
        into parts: inout Parts, depth: Int
    ) throws(SourceGeometry.Refusal) {
        guard depth < Self.depthLimit else {
            throw .init(reason: "collections nested deeper than \(Self.depthLimit)")
        }
        guard try number(UInt8.self) == 1 else { throw Self.unreadable }
        let code = try number(UInt32.self)
        guard code < 4000, let type = WKBType(rawValue: code % 1000) else {
            throw .init(reason: "a kind of geometry that is not supported")
        }
        (hasZ, hasM) = (code / 1000 & 1 == 1, code / 1000 & 2 == 2)
        switch type {
        case .point:
            let chain = try chain(1)
            let point = chain.coordinates[0]
            if point.x.isNaN && point.y.isNaN { return }
            guard point.isFinite else { throw Self.notFinite }
            parts.points.append(chain)
        case .linestring:
            let path = try coordinates()
            if path.coordinates.isEmpty { return }
            guard path.coordinates.count >= 2 else {
                throw .init(reason: "a line of one coordinate")
            }
            parts.paths.append(path)
        case .polygon, .triangle:
            let rings = try polygon()
            if !rings.isEmpty { parts.polygons.append(rings.map(\.coordinates)) }
            rings.forEach { parts.corners.append($0) }
        case .multipoint, .multilinestring, .multipolygon, .collection, .polyhedralSurface,
            .triangulatedSurface:
            if type == .multipoint { parts.isMultipoint = true }
            for _ in 0..<(try count(ofAtLeast: 5)) {
                try geometry(into: &parts, depth: depth + 1)
            }
        }
    }

    private mutating func polygon() throws(SourceGeometry.Refusal) -> [Chain] {
        var rings: [Chain] = []
        var isNothing = false  // Holes in an empty shell are nothing.
        for index in 0..<(try count(ofAtLeast: 4)) {
            let chain = try coordinates()
            let ring = chain.coordinates
            if ring.isEmpty {
                if index == 0 { isNothing = true }
                continue
            }
            guard ring.first == ring.last else { throw .init(reason: "a ring that is not closed") }
            guard ring.count >= 4 else {
                throw .init(reason: "a ring of fewer than four coordinates")
            }
            rings.append(chain)
        }
        return isNothing ? [] : rings
    }

    private mutating func coordinates() throws(SourceGeometry.Refusal) -> Chain {
        let chain = try chain(try count(ofAtLeast: 16))
        guard chain.coordinates.allSatisfy(\.isFinite) else { throw Self.notFinite }
        return chain
    }

    /// That many coordinates with the ordinates that the part has.
    private mutating func chain(_ count: Int) throws(SourceGeometry.Refusal) -> Chain {
        var result = Chain()
        result.coordinates.reserveCapacity(count)
        if hasZ { result.z.reserveCapacity(count) }
        if hasM { result.m.reserveCapacity(count) }
        for _ in 0..<count {
            let x = try ordinate()
            result.coordinates.append(Coordinate(x: x, y: try ordinate()))
            if hasZ { result.z.append(try ordinate()) }
            if hasM { result.m.append(try ordinate()) }
        }
        return result
    }

    private mutating func ordinate() throws(SourceGeometry.Refusal) -> Double {
        Double(bitPattern: try number(UInt64.self))
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
