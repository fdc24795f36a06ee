// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Decodes little-endian ISO WKB and checks the requirements of a dataset.
///
/// Required: every x and y finite, paths of two or more coordinates, rings closed and of four or
/// more. Empty parts are dropped; a collection becomes one multi geometry per kind in it.
struct WKBReader {
    private var points = FlatGeometry(.point)
    private var paths = FlatGeometry(.polyline)
    private var polygons = FlatGeometry(.polygon)
    private var isMultipoint = false
    private static let depthLimit = 32

    /// Reads the geometry in the first `count` of the bytes; throws why it is not taken.
    mutating func read(_ bytes: [UInt8], count: Int) throws(FlatGeometry.Refusal) {
        let bytes = unsafe bytes.span.bytes.extracting(0..<count)
        try unsafe bytes.withUnsafeBytes { bytes throws(FlatGeometry.Refusal) in
            try unsafe parse(bytes)
        }
    }

    /// Whether the geometry is empty.
    var isEmpty: Bool { points.isEmpty && paths.isEmpty && polygons.isEmpty }

    /// Calls `body` with the geometry, once per kind: several times only for a collection.
    func forEachGeometry(_ body: (FlatGeometry) throws -> Void) rethrows {
        if !points.isEmpty { try body(points) }
        if !paths.isEmpty { try body(paths) }
        if !polygons.isEmpty { try body(polygons) }
    }

    private mutating func parse(
        _ bytes: UnsafeRawBufferPointer
    ) throws(FlatGeometry.Refusal) {
        points.removeAll()
        paths.removeAll()
        polygons.removeAll()
        isMultipoint = false
        var cursor = unsafe WKBCursor(bytes: bytes)
        try unsafe geometry(&cursor, depth: 0)
        points.kind = points.coordinateCount > 1 || isMultipoint ? .multipoint : .point
    }

    private mutating func geometry(
        _ cursor: inout WKBCursor, depth: Int
    ) throws(FlatGeometry.Refusal) {
        guard depth < Self.depthLimit else {
            throw .init(reason: "collections nested deeper than \(Self.depthLimit)")
        }
        guard try unsafe cursor.number(UInt8.self) == 1 else { throw unsafe WKBCursor.unreadable }
        let code = try unsafe cursor.number(UInt32.self)
        guard code < 4000, let type = WKBType(rawValue: code % 1000) else {
            throw .init(reason: "a kind of geometry that is not supported")
        }
        unsafe (cursor.hasZ, cursor.hasM) = (code / 1000 & 1 == 1, code / 1000 & 2 == 2)
        switch type {
        case .point: try unsafe point(&cursor)
        case .linestring:
            let count = try unsafe cursor.count(ofAtLeast: 16)
            guard count > 0 else { return }
            let path = try unsafe cursor.append(count, to: &paths)
            guard path.count >= 2 else { throw .init(reason: "a line of one coordinate") }
        case .polygon, .triangle: try unsafe polygon(&cursor)
        case .multipoint, .multilinestring, .multipolygon, .collection, .polyhedralSurface,
            .triangulatedSurface:
            if type == .multipoint { isMultipoint = true }
            for _ in 0..<(try unsafe cursor.count(ofAtLeast: 5)) {
                try unsafe geometry(&cursor, depth: depth + 1)
            }
        }
    }

    private mutating func point(_ cursor: inout WKBCursor) throws(FlatGeometry.Refusal) {
        if try unsafe cursor.isNoPoint() { return try unsafe cursor.skipPoint() }
        _ = try unsafe cursor.append(1, to: &points)
    }

    private mutating func polygon(_ cursor: inout WKBCursor) throws(FlatGeometry.Refusal) {
        var isNothing = false  // Holes in an empty shell are nothing.
        let before = polygons.ends.count
        for index in 0..<(try unsafe cursor.count(ofAtLeast: 4)) {
            let count = try unsafe cursor.count(ofAtLeast: 16)
            if count == 0 && index == 0 { isNothing = true }
            guard count > 0 else { continue }
            if isNothing {
                var hole = FlatGeometry(.polygon)
                try Self.check(try unsafe cursor.append(count, to: &hole))
            } else {
                try Self.check(try unsafe cursor.append(count, to: &polygons))
            }
        }
        if polygons.ends.count > before { polygons.endPart() }
    }

    private static func check(
        _ ring: FlatGeometry.LastChain
    ) throws(FlatGeometry.Refusal) {
        guard ring.isClosed else { throw .init(reason: "a ring that is not closed") }
        guard ring.count >= 4 else {
            throw .init(reason: "a ring of fewer than four coordinates")
        }
    }
}

/// The numbers WKB has for the kinds of geometry met here.
private enum WKBType: UInt32 {
    case point = 1
    case linestring, polygon, multipoint, multilinestring, multipolygon, collection
    case polyhedralSurface = 15
    case triangulatedSurface, triangle
}

/// A place in WKB, and which ordinates beside x and y the part being read has.
@unsafe
private struct WKBCursor {
    let bytes: UnsafeRawBufferPointer
    var place = 0
    var hasZ = false
    var hasM = false

    init(bytes: UnsafeRawBufferPointer) { unsafe self.bytes = unsafe bytes }

    private var coordinateByteCount: Int { unsafe 16 + (hasZ ? 8 : 0) + (hasM ? 8 : 0) }

    mutating func number<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type
    ) throws(FlatGeometry.Refusal) -> T {
        guard unsafe place + MemoryLayout<T>.size <= bytes.count else {
            throw unsafe Self.unreadable
        }
        defer { unsafe place += MemoryLayout<T>.size }
        return T(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: place, as: T.self))
    }

    /// A count of things of which each takes at least `byteCount` bytes.
    mutating func count(ofAtLeast byteCount: Int) throws(FlatGeometry.Refusal) -> Int {
        let count = Int(try unsafe number(UInt32.self))
        guard unsafe count <= (bytes.count - place) / byteCount else {
            throw unsafe Self.unreadable
        }
        return count
    }

    /// The next coordinates as a chain of `geometry`; they must be finite.
    mutating func append(
        _ count: Int, to geometry: inout FlatGeometry
    ) throws(FlatGeometry.Refusal) -> FlatGeometry.LastChain {
        let byteCount = unsafe count * coordinateByteCount
        guard unsafe byteCount <= bytes.count - place else { throw unsafe Self.unreadable }
        let chain = unsafe UnsafeRawBufferPointer(rebasing: bytes[place..<place + byteCount])
        unsafe place += byteCount
        let last = unsafe geometry.append(chain, hasZ: hasZ, hasM: hasM)
        guard last.isFinite else {
            throw .init(reason: "a coordinate that is not a finite number")
        }
        guard !last.isFar else { throw .init(reason: "a coordinate beyond 10¹²") }
        return last
    }

    /// Whether the point that comes is the empty one, NaN by NaN.
    func isNoPoint() throws(FlatGeometry.Refusal) -> Bool {
        guard unsafe place + 16 <= bytes.count else { throw unsafe Self.unreadable }
        return unsafe bytes.loadUnaligned(fromByteOffset: place, as: Double.self).isNaN
            && bytes.loadUnaligned(fromByteOffset: place + 8, as: Double.self).isNaN
    }

    mutating func skipPoint() throws(FlatGeometry.Refusal) {
        guard unsafe place + coordinateByteCount <= bytes.count else {
            throw unsafe Self.unreadable
        }
        unsafe place += coordinateByteCount
    }

    static let unreadable = FlatGeometry.Refusal(reason: "unreadable geometry")
}
